"""Figures for papers: every chart of a report, the same bytes each time.

The replay inside a report: packed, played in a frame and the same file as `fabriloom replay` writes.
"""

from __future__ import annotations

import base64
import gzip
import os
import re
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import matplotlib
import pytest
from fabriloom import load
from fabriloom.cli.app import app
from fabriloom.cli.replays import with_replay
from fabriloom.page.replay_file import replay_html, side_in_report
from fabriloom.report import for_run, page, plot
from fabriloom.scenario import Scenario
from fabriloom.simulate import run
from page.browser import PROGRAM, browser
from typer.testing import CliRunner


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
    done = CliRunner().invoke(app, ["plot", str(report), "--out", str(tmp_path / "out"), "--figure", "2"])
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
    done = CliRunner().invoke(app, ["plot", str(report), "--out", str(out), "--figure", "2"])
    assert done.exit_code == 0
    names = {"2-latency-against-script-throughput.svg", "fabriloom.sha256"}
    assert {file.name for file in out.iterdir()} == names


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["--format", "gif"], "choose from svg, pdf, png"), (["--figure", "3"], "has 2 charts")],
)
def test_mistakes_are_said(arguments: list[str], says: str, report: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["plot", str(report), "--out", str(tmp_path / "out"), *arguments])
    assert done.exit_code == 2
    assert says in done.output


def test_no_pipe_is_waited_for_and_no_device_read_to_its_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "report.html")
    for file in (tmp_path / "report.html", tmp_path, Path("/dev/zero")):
        done = CliRunner().invoke(app, ["plot", str(file), "--out", str(tmp_path / "out")])
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
        b"[" * 100_000,
    ],
)
def test_what_is_no_report_is_refused(text: bytes, tmp_path: Path) -> None:
    file = tmp_path / "other.html"
    file.write_bytes(b'<script id="charts">' + text if text.startswith(b"[") else text)
    done = CliRunner().invoke(app, ["plot", str(file), "--out", str(tmp_path / "out")])
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
    done = CliRunner().invoke(app, ["plot", str(report), "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert says in done.output
    assert not (tmp_path / "out").exists()


def test_a_missing_library_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'fabriloom\[plots\]'"):
        plot.of_figures()
    refused = CliRunner().invoke(app, ["plot", str(tmp_path)])
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


@pytest.mark.skipif(PROGRAM is None, reason="no Chromium here")
def test_the_button_plays_it(tmp_path: Path) -> None:
    scenario = load(ROOT / "scenarios" / "teaching-torus-deadlock.toml")
    results = run(scenario)
    page = tmp_path / "report.html"
    page.write_text(with_replay(for_run(results), [(scenario, results, "")]), encoding="utf-8")
    # A page from a disk may not look into its frames, so here it comes from a server.
    served = partial(SimpleHTTPRequestHandler, directory=tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), served) as server, browser() as running:
        Thread(target=server.serve_forever, daemon=True).start()
        tab = running.tab()
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
        server.shutdown()
