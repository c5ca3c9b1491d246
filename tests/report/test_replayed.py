"""The replay inside a report: packed, played in a frame and the same file as `fabriloom replay` writes."""

from __future__ import annotations

import base64
import gzip
import re
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from fabriloom import load
from fabriloom.cli.replays import with_replay
from fabriloom.page.replay_file import replay_html, side_in_report
from fabriloom.report import for_run
from fabriloom.scenario import Scenario
from fabriloom.simulate import run
from page.browser import PROGRAM, browser

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
