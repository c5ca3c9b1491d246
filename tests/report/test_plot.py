"""Figures for papers: every chart of a report, the same bytes each time.

The replay inside a report: packed, played in a frame and the same file as `fabriloom replay` writes.

What is seen in the light and in the dark, and where the axes of charts end.

Reports of checks: the page says what the command prints, and the picture has the loads of the bound.
"""

from __future__ import annotations

import base64
import gzip
import html
import os
import re
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from itertools import pairwise
from pathlib import Path
from threading import Thread

import matplotlib
import numpy as np
import pytest
from commands import command
from fabriloom import load, routing
from fabriloom.cli.replays import with_replay
from fabriloom.compile import compile
from fabriloom.page.replay_file import replay_html, side_in_report
from fabriloom.report import for_check, for_run, page, plot
from fabriloom.report.drawing import style as drawing_style
from fabriloom.report.page import Axis, Chart, Series
from fabriloom.report.plot import figure
from fabriloom.scenario import Scenario
from fabriloom.simulate import run
from fabriloom.studies import failures, inspection
from fabriloom.studies.inspection import Checked
from page.browser import Browser


def chart() -> page.Chart:
    """Two lines, one with intervals, and a published point."""
    series = [
        page.Series("a <b> & \u2028", [[1.0, 2.0, 1.5, 2.5, ""], [3.0, 4.0, 3.0, 5.0, "label"]]),
        page.Series("steps", [[1.0, 1.0, None, None, ""], [4.0, 0.01, None, None, ""]], "step"),
        page.Series("published", [[2.0, 3.0, None, None, ""]], "published"),
    ]
    return page.Chart(
        "Latency against </script> throughput", page.Axis("x (MB/s)"), page.Axis("y", True), series
    )


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A report with two charts."""
    shown = page.Page(title="t", kind="run")
    shown.sections = [chart(), chart()]
    file = tmp_path / "report.html"
    file.write_text(page.render(shown), encoding="utf-8")
    return file


def test_charts_come_back_as_they_were(report: Path) -> None:
    assert plot.charts_in(report.read_text(encoding="utf-8")) == [chart(), chart()]


def test_maps_come_back_behind_the_charts_and_are_drawn(report: Path, tmp_path: Path) -> None:
    kept = page.HeatMap(
        "Throughput over both", "a.$x$", ["1", "2"], "b", ["u", "v", "w"], [[1.0, None, 3.5], [4.0, 5.0, 6e5]]
    )
    shown = page.Page(title="t", kind="sweep")
    shown.sections = [page.Drawing("m", "<svg></svg>", heat_map=kept), chart()]
    report.write_text(page.render(shown), encoding="utf-8")
    assert plot.charts_in(report.read_text(encoding="utf-8")) == [chart(), kept]
    done = command("plot", report, "--out", tmp_path / "out", "--figure", "2")
    assert done.exit_code == 0
    svg = (tmp_path / "out" / "2-throughput-over-both.svg").read_text(encoding="utf-8")
    assert all(text in svg for text in (">a.$x$<", ">w<", ">3.5<", "600\u202f000"))
    assert plot.drawn(kept, "png") == plot.drawn(kept, "png")


@pytest.mark.parametrize("form", plot.FORMATS)
def test_the_same_chart_gives_the_same_bytes(form: str) -> None:
    with matplotlib.rc_context():
        first = plot.drawn(chart(), form)
        matplotlib.rcParams["axes.facecolor"] = "red"  # as a matplotlibrc in the present folder says
        assert plot.drawn(chart(), form) == first
    assert len(first) > 3000


def test_signs_of_formulas_in_names_are_text() -> None:
    series = page.Series("$_^$ and $\\frac$", [[1.0, 2.0, None, None, ""]])
    drawn = page.Chart("$$", page.Axis("$\\x$"), page.Axis("$}$"), [series])
    assert b"$}$" in plot.drawn(drawn, "svg")


def test_the_command_writes_what_is_asked_for(report: Path, tmp_path: Path) -> None:
    out = tmp_path / "figures"
    done = command("plot", report, "--out", out, "--figure", "2")
    assert done.exit_code == 0
    names = {"2-latency-against-script-throughput.svg", "fabriloom.sha256"}
    assert {file.name for file in out.iterdir()} == names


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["--format", "gif"], "choose from svg, pdf, png"), (["--figure", "3"], "has 2 charts")],
)
def test_mistakes_are_said(arguments: list[str], says: str, report: Path, tmp_path: Path) -> None:
    done = command("plot", report, "--out", tmp_path / "out", *arguments)
    assert done.exit_code == 2
    assert says in done.output


def test_no_pipe_is_waited_for_and_no_device_read_to_its_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "report.html")
    for file in (tmp_path / "report.html", tmp_path, Path("/dev/zero")):
        done = command("plot", file, "--out", tmp_path / "out")
        assert done.exit_code == 2
        assert "this is a pipe or a device, not a file" in done.output


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"<html></html>",
        b'<script id="charts">[1]</script>',
        b'<script id="charts">[]</script><script id="maps">[{}]</script>',
        b"\xff\xfe",
        pytest.param(b"[" * 100_000, id="deep"),
    ],
)
def test_what_is_no_report_is_refused(text: bytes, tmp_path: Path) -> None:
    file = tmp_path / "other.html"
    file.write_bytes(b'<script id="charts">' + text if text.startswith(b"[") else text)
    done = command("plot", file, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "no report of fabriloom" in done.output


@pytest.mark.parametrize(
    ("was", "damaged", "says"),
    [
        ("[1.0,2.0,1.5,2.5,", "[1.0,2.0,1.5,null,", "no report of fabriloom"),
        ("[1.0,2.0,1.5,2.5,", '["1",2.0,1.5,2.5,', "no report of fabriloom"),
        ('"label":"y"', '"label":"\\ud800"', "no report of fabriloom"),
        ("[1.0,2.0,1.5,2.5,", "[1.0,2.0,2.5,1.5,", "Latency against </script> throughput cannot be drawn"),
    ],
)
def test_a_damaged_chart_is_refused(was: str, damaged: str, says: str, report: Path, tmp_path: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert was in text
    report.write_text(text.replace(was, damaged), encoding="utf-8")
    done = command("plot", report, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert says in done.output
    assert not (tmp_path / "out").exists()


def test_a_missing_library_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'fabriloom\[plots\]'"):
        plot.of_figures()
    refused = command("plot", tmp_path)
    assert refused.exit_code == 2
    assert "fabriloom[plots]" in refused.stderr


ROOT = Path(__file__).resolve().parents[2]
SMALL = {
    "topology": {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 2},
    "run": {"duration": "1 ms"},
}


def packed(report: str) -> str:
    """The file that a report holds."""
    found = re.search(r'id="replay">([^<]*)</script>', report)
    assert found
    return gzip.decompress(base64.b64decode(found[1])).decode()


def test_a_report_holds_the_file_of_its_run() -> None:
    scenario = Scenario.from_dict(SMALL)
    results = run(scenario)
    report = with_replay(for_run(results), [(scenario, results, "")])
    side = side_in_report(scenario, results)
    assert side is not None
    assert packed(report) == replay_html([side])
    assert side.live["end"]["reason"] == results.end_reason
    assert "under way from 0" in report


def test_names_of_users_end_no_element(tmp_path: Path) -> None:
    graph = tmp_path / "cables.csv"
    graph.write_text("from,to\n<b>,s\nc,s\n")
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "file", "path": str(graph), "terminals_per_switch": 1},
            "name": "<!-- replay -->",
        }
    )
    report = with_replay(for_run(run(scenario)), [(scenario, None, "")])
    assert "<b>" not in report.split("<body>")[1].split("<script")[0]


def test_a_large_report_of_5000_packets_is_below_3_mb() -> None:
    scenario = load(ROOT / "scenarios" / "macrame-clos-256.toml").alone()
    scenario = scenario.with_settings({"run.duration": "200 us", "traffic.load": 0.3})
    results = run(scenario)
    report = with_replay(for_run(results), [(scenario, results, "")])
    assert len(report) < 3_000_000


def test_none_where_it_would_take_long_or_cannot_be_seen() -> None:
    large = Scenario.from_dict(
        {"topology": {"kind": "torus", "shape": [40, 40]}, "run": {"duration": "1 us"}}
    )
    assert side_in_report(large) is None
    assert with_replay("anything", [(large, None, "")]) == "anything"


def test_the_button_plays_it(tmp_path: Path, chromium: Browser) -> None:
    scenario = load(ROOT / "scenarios" / "teaching-torus-deadlock.toml")
    results = run(scenario)
    page = tmp_path / "report.html"
    page.write_text(with_replay(for_run(results), [(scenario, results, "")]), encoding="utf-8")
    # A page from a disk may not look into its frames, so here it comes from a server.
    served = partial(SimpleHTTPRequestHandler, directory=tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), served) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        tab = chromium.tab()
        tab.open(
            f"http://127.0.0.1:{server.server_port}/report.html", "document.documentElement?.dataset.charts"
        )
        tab.js("document.getElementById('play').click()")
        tab.until(
            "document.querySelector('section.replay iframe')?.contentDocument?.documentElement?.dataset.ready"
        )
        inside = "document.querySelector('section.replay iframe').contentDocument"
        assert results.summary["end"]["message"] in tab.js(f"{inside}.body.textContent")
        assert tab.js(f"{inside}.querySelectorAll('[data-links]').length") > 0
        tab.js("document.getElementById('play').click()")
        assert tab.js("document.querySelectorAll('iframe').length") == 0
        chromium.close(tab)
        server.shutdown()


STYLE = resources.files("fabriloom.report").joinpath("style.css").read_text(encoding="utf-8")


def ramps() -> list[list[str]]:
    """Return the stops of the light and of the dark ramp."""
    return [found.split(", ") for found in re.findall(r"--ramp: ([^;]+);", STYLE)]


def test_the_ramp_of_the_style_sheet_is_that_of_the_drawing() -> None:
    """The dark one gets lighter where the other gets darker, evenly enough to read an order from it."""
    light, dark = ramps()
    assert tuple(light) == drawing_style.RAMP
    for stops, way in ((light, -1), (dark, 1)):
        grey = [
            sum(w * int(c[at : at + 2], 16) for w, at in ((0.2126, 1), (0.7152, 3), (0.0722, 5)))
            for c in stops
        ]
        steps = [way * (after - before) for before, after in pairwise(grey)]
        assert min(steps) > 6, grey


def test_every_colour_of_a_drawing_has_one_for_the_dark() -> None:
    for name in ("PAPER", "INK", "SOFT", "LINE", "BOX", "BOX_EDGE", "NO_VALUE"):
        assert f'.fabric [fill="{getattr(drawing_style, name)}"]' in STYLE, name
    assert "invert(" not in STYLE


def curve(*total: float, network: tuple[float, ...] = (27.0, 31.0, 48.0)) -> list[Series]:
    def points(ys: tuple[float, ...]) -> list[list[float | str | None]]:
        return [[x, y, None, None, ""] for x, y in enumerate(ys)]

    return [Series("", points(network), "line"), Series("with the wait", points(total), "dashed", of="")]


@pytest.mark.parametrize(
    ("total", "log", "top"),
    [
        ((27.0, 31.5, 60.0), False, None),
        ((27.0, 40.0, 400_000.0), False, 100.0),
        ((1.0, 40.0, 96.0), False, None),
    ],
)
def test_the_wait_before_the_network_does_not_flatten_its_curve(
    total: tuple[float, ...], log: bool, top: float | None
) -> None:
    series = curve(*total)
    assert page.is_log(series) == log
    assert page.top(series, log) == top


def test_a_long_span_within_the_network_is_logarithmic_and_still_ends() -> None:
    series = curve(1.0, 60.0, 4e6, network=(1.0, 5.0, 90.0))
    assert page.is_log(series)
    assert page.top(series, True) == 1000.0


def test_figures_end_where_reports_do_and_have_gaps() -> None:
    series = curve(27.0, 40.0, 400_000.0)
    series[0].points[1][1] = None  # type: ignore[index]
    drawn = figure(Chart("t", Axis("x"), Axis("y", top=100.0), series)).axes[0]
    assert drawn.get_ylim() == (0, 100)
    assert [y == y for y in drawn.lines[0].get_ydata()] == [True, False, True]


SCENARIOS = Path(__file__).parents[2] / "scenarios"


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("teaching-credit-loop", "Deadlock can happen"),
        ("teaching-pause", "at the given rates"),
        ("sci-omega-16-ringlet", "at the load at which the first part of the network carries no more"),
        ("macrame-clos-256", "Deadlock cannot happen"),
    ],
)
def test_a_page_says_what_the_command_prints(name: str, more: str) -> None:
    compiled = compile(load(SCENARIOS / f"{name}.toml"))
    page = for_check(Checked.of(compiled, inspection.inspect(compiled), None))
    assert more in page
    for _, value in inspection.lines(inspection.inspect(compiled)):
        assert html.escape(value, quote=False).replace("'", "&#39;").replace('"', "&#34;") in page


def test_the_fullest_links_name_the_terminals_that_share_them() -> None:
    """A path from a terminal at the switch before a link crosses it if, and only if, its end is named."""
    fabric = {
        "topology": {
            "kind": "clos",
            "terminals": 32,
            "terminals_per_switch": 8,
            "centre_switches": 2,
            "links_per_pair": 2,
        },
        "routing": {"adaptive": False},
    }
    compiled = compile(Scenario.from_dict(fabric))
    checked = Checked.of(compiled, inspection.inspect(compiled), None)
    graph, table = compiled.graph, compiled.routes.table
    assert len(checked.leads_to) == 20
    assert any(graph.link_names[link].startswith("edge(0)>centre") for link in checked.leads_to)
    for link, names in checked.leads_to.items():
        before = int(graph.link_source[link])
        sources = [at for at in range(32) if int(graph.link_target[graph.terminal_out_links[at]]) == before]
        for source in sources:
            on = {at for at in range(32) if at != source and link in routing.path(graph, table, source, at)}
            assert set(names) - {graph.terminal_names[source]} == {graph.terminal_names[at] for at in on}
    assert "Leads to" in for_check(checked)


@pytest.mark.parametrize("name", ["macrame-clos-256", "own-graph", "sci-ring-8", "sci-omega-16-long-ring"])
def test_the_first_link_is_full_or_a_bus_is(name: str) -> None:
    compiled = compile(load(SCENARIOS / f"{name}.toml"))
    used, _ = inspection.use_of_links(compiled)
    first = inspection.inspect(compiled)["channel_load"]["busiest_link"]
    assert len(used) == compiled.graph.links
    if first in compiled.graph.link_names:
        # A link one way has less flow control at load 1 than is counted for it.
        assert used[compiled.graph.link_names.index(first)] > 0.95
        assert used.max() <= 1.0 + 1e-9
    else:
        assert 0 < used.max() < 1
    assert np.all(used >= 0)


def test_every_failure_is_on_the_page_and_a_file_is_not_replaced(tmp_path: Path) -> None:
    scenario, out = SCENARIOS / "own-graph.toml", tmp_path / "page.html"
    told = command("check", scenario, "--fault", "all", "--out", out)
    assert told.exit_code == 0
    found = failures.look(compile(load(scenario)))
    assert html.escape(failures.verdict(found)).replace("&#x27;", "&#39;") in out.read_text()
    assert failures.verdict(found) in told.output
    assert f"Written to {out}" in told.output
    other = command("check", scenario, "--out", tmp_path / "page.pdf")
    assert (other.exit_code, "a report is HTML; name it page.html" in other.stderr) == (2, True)
    again = command("check", scenario, "--out", out)
    assert again.exit_code == 2
    assert "--out" in again.stderr
