"""Reports: whole, self-contained, and deaf to markup in names. In a real browser too, if one is installed."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import fabriloom_papers
import pytest
from fabriloom import Results, Scenario, curve, report, run, saturate
from fabriloom.cli import show
from fabriloom.report import pages as drawn
from fabriloom.report.page import Prose, number, plus_minus, script_safe_json
from fabriloom.report.sections import shared as sections
from fabriloom.report.tally import HEAD, TOTAL, said, tally
from fabriloom.studies import compare

EVIL = (
    "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">&amp;'\""
)
VOID = {"meta", "link", "br", "hr", "img", "input", "path", "circle", "rect", "line", "use", "stop"}
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def scenario(name: str = "Small", **sections: Any) -> Scenario:
    base: dict[str, Any] = {
        "name": name,
        "description": f"About {name}",
        "topology": {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 2},
        "traffic": {"pattern": "uniform", "length": "32 B", "load": 0.2},
        "run": {"duration": "1 ms", "warmup": "100 us", "precision": 0.0},
        "output": {"flows": True},
    }
    return Scenario.from_dict({**base, **sections})


def rings() -> Scenario:
    """A switch of rings whose bus is full."""
    traffic = {"pattern": "local", "arrivals": "together", "load": 0.5}
    topology = {"kind": "sci-switch", "roles": "pairs"}
    brief = {"duration": "200 us", "warmup": "20 us", "precision": 0.0}
    return scenario("Rings", topology=topology, traffic=traffic, run=brief)


def evil_results() -> Results:
    """A run in which every name is an attack."""
    results = run(scenario(EVIL))
    graph = results.graph
    names = {
        field: [f"{EVIL}{index}" for index in range(len(getattr(graph, field)))]
        for field in ("switch_names", "terminal_names", "link_names")
    }
    provenance = dataclasses.replace(
        results.provenance, description=EVIL, source_text=EVIL, source_name=EVIL, resolved={EVIL: EVIL}
    )
    native = {**results.native, "deadlock_links": [0, 1], "end_reason": "deadlocked"}
    evil = Results(native, dataclasses.replace(graph, **names), results.tick_ps, provenance, 1.0)
    evil.warnings.append(EVIL)
    return evil


def rows() -> list[dict[str, Any]]:
    """Lines of a reproduction, one of each verdict."""
    base = {"paper": "macrame", "where": "figure 1", "unit": "MB/s", "published": 10.0, "ci95": None}
    base |= {"parameter": None, "reason": None}
    return [
        {**base, "id": "a", "quantity": EVIL, "ours": 10.1, "deviation": 0.01, "kind": "predicted",
         "tolerance": [9.0, 11.0], "within": True},
        {**base, "id": "b", "quantity": "b", "ours": 12.0, "deviation": 0.2, "kind": "predicted",
         "tolerance": [9.0, 11.0], "within": False},
        {**base, "id": "c", "quantity": "c", "ours": None, "deviation": None, "kind": "reported",
         "tolerance": None, "within": None, "reason": "not modelled"},
    ]  # fmt: skip


def series() -> list[dict[str, Any]]:
    return [
        {"figure": "5", "title": EVIL, "label": label, "x_quantity": "throughput (MB/s)",
         "y_quantity": "latency (us)", "x": [1.0, 2.0], "y": [3.0, float("nan")], "ci": [0.1, float("nan")],
         "published": [{"x": 1.0, "y": 3.0, "id": "a"}], "log": "y"}
        for label in ("Clos 64", "Clos 128")
    ]  # fmt: skip


def reproduced() -> report.Reproduced:
    """A paper with every kind of line, and a name that must be escaped."""
    return report.Reproduced("macrame", EVIL, EVIL, EVIL, None, rows(), series())


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Every kind of report."""
    found = curve(scenario(sweep={"traffic.length": ["16 B", "64 B"]}), [0.1, 0.5])
    published = [{"accepted_mbytes_per_s": 20.0, "latency_us": 10.0, "label": EVIL}]
    return {
        "run": report.for_run(run(scenario())),
        "evil": report.for_run(evil_results()),
        "rings": report.for_run(run(rings())),
        "curve": report.for_curve(found, published),
        "saturation": report.for_saturation(saturate(scenario(), "backlog")),
        "reproduction": report.for_reproduction([reproduced()], version="1"),
    }


KINDS = ["run", "evil", "rings", "curve", "saturation", "reproduction"]


class Reader(HTMLParser):
    """Collects elements and complains about what is not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@pytest.mark.parametrize("kind", KINDS)
def test_elements_are_closed_and_ids_unique(pages: dict[str, str], kind: str) -> None:
    reader = read(pages[kind])
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {"h1", "main", "header", "style"} <= {tag for tag, _ in reader.elements}


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_fetched(pages: dict[str, str], kind: str) -> None:
    reader = read(pages[kind])
    for tag, attributes in reader.elements:
        assert tag not in {"link", "iframe", "object", "embed", "base"}
        for name in ("src", "href", "srcset", "action", "xlink:href", "data"):
            within = tag == "a" and str(attributes.get(name)).startswith("#")
            assert within or name not in attributes, f"{tag} has {name}={attributes[name]}"
    assert "@import" not in pages[kind]
    assert not re.search(
        r"url\(\s*['\"]?(?!data:|#)[a-z]", re.sub(r"<script>.*?</script>", "", pages[kind], flags=re.S)
    )
    addresses = set(re.findall(r"https?://[^\s\"'<>)\\]+", pages[kind]))
    assert all(address.startswith("http://www.w3.org/") for address in addresses), addresses


@pytest.mark.parametrize("kind", KINDS)
def test_only_our_own_scripts_may_run(pages: dict[str, str], kind: str) -> None:
    reader = read(pages[kind])
    policy = next(a["content"] for tag, a in reader.elements if tag == "meta" and "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    scripts = [attributes for tag, attributes in reader.elements if tag == "script"]
    assert len(scripts) == 8
    charts, fabrics, maps, *running = reader.scripts
    assert isinstance(json.loads(charts), list)
    assert isinstance(json.loads(fabrics), list)
    assert isinstance(json.loads(maps), list)
    for script in running:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert not any(name.startswith("on") for _, attributes in reader.elements for name in attributes)


def test_names_are_shown_as_they_are(pages: dict[str, str]) -> None:
    reader = read(pages["evil"])
    assert "img" not in {tag for tag, _ in reader.elements}
    assert "document.title=&#39;taken&#39;" in pages["evil"]


def test_data_cannot_end_its_script() -> None:
    text = script_safe_json({"a": EVIL, "b": "\u2028"})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"a": EVIL, "b": "\u2028"}


def test_what_a_reader_looks_for_is_there(pages: dict[str, str]) -> None:
    for page, words in (
        ("run", "Mean latency|The fabric|The tail of the latency|Links|Flows|Seed|SHA-256|95 %"),
        ("curve", "Latency against throughput|Throughput against load|published|length 16 B"),
        ("saturation", "infinite backlog"),
        ("reproduction", "1 of 2 agree|✗ does not agree|▲\u00a0+20 %|not modelled|Predicted|Figure 5"),
    ):
        for one in words.split("|"):
            assert one in pages[page]


def test_an_interrupted_run_is_marked() -> None:
    results = run(scenario())
    native = {**results.native, "end_reason": "interrupted"}
    page = report.for_run(Results(native, results.graph, results.tick_ps, results.provenance, 1.0))
    assert "these results are partial" in page


def test_a_run_that_measured_nothing_still_has_a_report() -> None:
    results = run(scenario(run={"duration": "1 us", "warmup": "0 us", "precision": 0.0}))
    read(report.for_run(results))


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.0, "0"), (1234.5678, "1\u202f235"), (0.012346, "0.01235"), (-2.5, "\u22122.5")],
)
def test_numbers_for_reading(value: float | None, text: str) -> None:
    assert number(value) == text


def test_half_widths_have_two_figures() -> None:
    assert plus_minus(12.3456, 0.12345) == "12.35 ± 0.12"
    assert plus_minus(12.3456, None) == "12.35"


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed (Debian: apt install chromium)")
@pytest.mark.parametrize("kind", KINDS)
def test_a_browser_draws_every_chart_and_runs_nothing_else(
    pages: dict[str, str], kind: str, tmp_path: Path
) -> None:
    assert BROWSER is not None
    path = tmp_path / "report.html"
    path.write_text(pages[kind], encoding="utf-8")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000", "--dump-dom"]
    options += [f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr"]
    done = subprocess.run(
        [BROWSER, *options, path.as_uri()], capture_output=True, text=True, timeout=60, check=True
    )
    dom = done.stdout
    places = dom.count('class="canvas"')
    assert f'data-charts="{places}"' in dom, "the script ran to its end"
    charts = re.findall(r'<div class="canvas".*?</svg>', dom, flags=re.S)
    assert len(charts) == places
    assert all("<path" in chart for chart in charts)
    assert "<title>taken</title>" not in dom
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert complaints == []


def test_a_report_of_rings_shows_buses_and_retries(pages: dict[str, str]) -> None:
    for words in ("Buses", "Packets moved", "Retries", "Echoes", "Busied at its end", "ring(0)"):
        assert words in pages["rings"]
    assert "Busied at its end" not in pages["run"]


@pytest.mark.parametrize("topology", [{"kind": "sci-ring", "terminals": 3}, {"kind": "sci-long-rings"}])
def test_every_network_of_rings_has_a_report(topology: dict[str, Any]) -> None:
    brief = {"duration": "50 us", "warmup": "5 us", "precision": 0.0}
    made = scenario("Rings", topology=topology, traffic={"load": 0.1}, run=brief)
    read(report.for_run(run(made)))


def test_settings_that_are_names_are_not_set_like_numbers() -> None:
    """A column of names of different lengths is read from the left."""
    found = curve(scenario(sweep={"traffic.load": [0.1], "traffic.length": ["16 B"], "seed": [1]}))
    assert sections.points_table(found.points, found.varied).numbers[:3] == [True, False, True]


@pytest.mark.parametrize(("kind", "column"), [("run", "blocked"), ("rings", "retries")])
def test_links_have_their_own_numbers(pages: dict[str, str], kind: str, column: str) -> None:
    fabric = next(one for one in json.loads(read(pages[kind]).scripts[1]) if one)
    named = {one["label"]: one["values"] for one in fabric["columns"]}
    assert len(named[column]) == len(fabric["names"]) > 0
    assert max(named["utilisation"]) <= 1


def test_microseconds_are_written_one_way() -> None:
    """Data have "us"; what is printed or read as HTML has the sign that charts have."""
    line = {"quantity": "latency", "where": "p. 3: 7.4 us", "published": 7.4, "ours": 7.3, "unit": "us"}
    cells = sections.published_rows([line])[0].rows[0]
    assert [cells[0].below, cells[3].text] == ["p. 3: 7.4 µs", "µs"]
    shown = run(scenario())._repr_html_()
    assert " µs" in shown
    assert not re.search(r" us\b", shown)


@pytest.mark.parametrize(("longest_ns", "log"), [(6900.0, False), (69000.0, True)])
def test_a_tail_within_a_power_of_ten_has_marks_between_its_ends(longest_ns: float, log: bool) -> None:
    chart = sections.tail({"": {"latency_ns": [4800.0, longest_ns], "share_longer": [1.0, 0.01]}}, "")[0]
    assert (chart.x.log, chart.y.log) == (log, True)


def test_a_tail_of_equal_latencies_is_said_in_words() -> None:
    equal, spread = (
        {"latency_ns": [6784.0], "share_longer": [0.0]},
        {"latency_ns": [1e3, 2e3], "share_longer": [0.5, 0.0]},
    )
    (said,) = sections.tail({"network latency": equal}, "")
    assert isinstance(said, Prose)
    assert said.text == "There is no tail, because all latencies are equal: network latency 6.784 µs."
    (chart,) = sections.tail({"network latency": equal, "total latency": spread}, "")
    assert [one.name for one in chart.series] == ["total latency"]
    assert "All equal, so not drawn: network latency 6.784 µs." in chart.note


def test_a_run_whose_sources_wait_shows_both_tails() -> None:
    for load, names in (
        (0.05, ["network latency"]),
        (0.9, ["network latency", "total latency, from creation"]),
    ):
        found = run(scenario(traffic={"load": load}))
        (tail,) = [one for one in drawn.run_charts(found) if one.title == "The tail of the latency"]
        assert [one.name for one in tail.series] == names, load
        assert (
            tail.series[-1].points[-1][0]
            == found.summary["total_latency_ns" if load > 0.5 else "latency_ns"]["max"] / 1e3
        )


def test_compared_programs_have_charts() -> None:
    program = {"kind": "fixed-pairs", "size": "200 B", "rounds": 20}
    own = {"topology": {"kind": "crossbar", "terminals": 4}, "program": program}
    changed = {"large": {"program.size": "400 B"}}
    page = report.for_comparison(compare(Scenario.from_dict({**own, "variants": changed})))
    charts = json.loads(re.findall(r'id="charts">(.*?)</script>', page, re.DOTALL)[0])
    assert [chart["title"] for chart in charts][:1] == ["Rate against latency"]
    assert [one["name"] for one in charts[0]["series"]][1] == "large"


def test_a_sweep_over_two_settings_is_drawn_as_a_map() -> None:
    from fabriloom import curve
    from fabriloom.report import for_curve

    sweep = {"traffic.load": [0.1, 0.4], "technology.input_buffer": ["16 B", "64 B", "128 B"]}
    html = for_curve(curve(scenario(sweep=sweep)))
    assert "Throughput over both settings (MB/s)" in html
    assert html.count('rx="3"') == 2 * 6
    assert "technology.input_buffer" in html
    one = for_curve(curve(scenario(sweep={"traffic.load": [0.1, 0.4]})))
    assert "over both settings" not in one


def test_agreement_is_one_number_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    """On the page, in the terminal and in the documentation; what is predicted is a number of its own."""
    found = said(tally(rows()))
    assert found == (
        "1 of 2 scored numbers agree; of those that a simulation predicts, with nothing set by them, 1 of 2"
    )
    page = report.for_reproduction([reproduced()], version="1")
    assert all(part in page for part in found.split("; "))
    show.agreement(rows())
    assert capsys.readouterr().out == f"{found}.\n"
    kept = Path(__file__).parents[2] / "docs" / "reproduction" / "README.md"
    table = [line.strip("| ").split(" | ") for line in kept.read_text(encoding="utf-8").splitlines()]
    total = next(row for row in table if row[0] == TOTAL)
    assert f"{total[6]} of {int(total[6]) + int(total[7])} scored numbers agree" in kept.read_text("utf-8")
    papers = table[table.index(total) - len(fabriloom_papers.names()) : table.index(total)]
    for at in range(1, len(HEAD)):
        assert int(total[at]) == sum(int(row[at]) for row in papers)


def test_a_reproduction_has_contents_that_lead_to_its_papers() -> None:
    two = [reproduced(), dataclasses.replace(reproduced(), name="scinet")]
    page = report.for_reproduction(two, version="1")
    for name in ("macrame", "scinet"):
        assert f'href="#{name}"' in page
        assert f'id="{name}"' in page
    assert "all papers" in page


def test_long_tables_are_folded() -> None:
    many = [{**rows()[0], "id": f"macrame.n{at}"} for at in range(100)]
    page = report.for_reproduction([dataclasses.replace(reproduced(), lines=many)], version="1")
    assert "<details><summary>100 lines</summary>" in page
