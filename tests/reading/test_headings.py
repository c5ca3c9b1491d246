"""Tables whose columns have the words and units of a spreadsheet rather than ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from fabriloom import Scenario, ScenarioError, load, run
from fabriloom.compile import compile
from fabriloom.reading import Heading, headings

CABLES = """Kind;From;To;Port from;Port to;Speed (Mbps);Cable (m);Logical address
Router;R1;;;;;;
Router;R2;;;;;;
Cable;R1;R2;8;8;200;2,5;
Node;Camera;R1;;1;100;1,2;40
Node;Memory;R2;;1;0.2 Gbit/s;0,8;50
"""
FLOWS = """Flow;Producer;Consumer;Size (bytes);Period (ms);Deadline [µs]
img;Camera;Memory;4096;1,5;2500
tc;Memory;Camera;32;125;1 ms
"""
TABLE = """Router;Logical address;Port
R1;40;1
R1;50;8
R2;40;8
R2;50;1
"""
SCENARIO = """
topology = { kind = "file", path = "cables.csv" }
technology = { preset = "spacewire-200" }
routing = { kind = "table", path = "table.csv" }
traffic = { pattern = { kind = "flows", path = "flows.csv" } }
run = { duration = "1 ms" }
"""


def _scenario(folder: Path, **changed: str) -> Scenario:
    texts = {"cables.csv": CABLES, "flows.csv": FLOWS, "table.csv": TABLE, "scenario.toml": SCENARIO}
    for name, text in (texts | {f"{name}.csv": text for name, text in changed.items()}).items():
        (folder / name).write_text(text, encoding="utf-8")
    return load(folder / "scenario.toml")


def test_three_sheets_are_read_as_they_are(tmp_path: Path) -> None:
    compiled = compile(_scenario(tmp_path))
    graph = compiled.graph
    assert (graph.switch_names, graph.terminal_names) == (["R1", "R2"], ["Camera", "Memory"])
    cable = graph.link_names.index("R1>R2")
    camera = graph.link_names.index("Camera>R1")
    memory = graph.link_names.index("R2>Memory")
    rates = graph.attributes["rate_bits_per_s"]
    assert [int(rates[link]) for link in (cable, camera, memory)] == [200_000_000, 100_000_000, 200_000_000]
    assert float(graph.attributes["length_m"][cable]) == 2.5
    assert list(compiled.arrays["flow_length"]) == [4096, 32]
    resolved = run(compiled).requirements
    assert dict(resolved.select("flow", "requirement_ns").iter_rows()) == {"img": 2_500_000, "tc": 1_000_000}


def test_a_unit_that_is_not_known_is_not_guessed(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r'unknown column "period \(moons\)"'):
        compile(_scenario(tmp_path, flows=FLOWS.replace("(ms)", "(moons)")))


def test_speeds_without_a_unit_are_passed_over_with_a_remark(tmp_path: Path) -> None:
    graph = compile(_scenario(tmp_path, cables=CABLES.replace("Speed (Mbps)", "Speed"))).graph
    assert any('"Speed"' in remark for remark in graph.remarks)


def test_bits_and_bytes_differ_by_a_capital() -> None:
    words = {"rate": ("speed",), "source": ()}
    written = ["Source", "Speed (Mbps)", "Speed (MB/s)"]
    assert headings(written, words) == [Heading("source"), Heading("rate", "Mbit/s"), Heading("Speed (MB/s)")]
    assert headings(written[2:], words, ("rate",)) == [Heading("rate", "MB/s")]
    assert Heading("rate", "MB/s").with_unit("25") == "25 MB/s"
    assert Heading("rate", "MB/s").with_unit("25 kB/s") == "25 kB/s"
