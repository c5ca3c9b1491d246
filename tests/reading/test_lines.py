"""Texts that are read line by line, in blocks, are those that are read whole.

Tables whose columns have the words and units of a spreadsheet rather than ours.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from fabriloom import Scenario, ScenarioError, load, reading, run
from fabriloom.compile import compile
from fabriloom.reading import Heading, ReadError, headings
from fabriloom.reading.texts import _BLOCK_BYTES

WIDE = "ä€😀"


def lines(path: Path, most_bytes: int = 1 << 24) -> list[str]:
    return list(reading.lines(path, most_bytes, "16 MB", "split it"))


@pytest.mark.parametrize("code", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_those_of_the_whole_text(code: str, end: str, tmp_path: Path) -> None:
    """Characters and ends of lines lie across the borders of blocks."""
    draw, path = random.Random(f"{code} {end!r}"), tmp_path / "long"
    for size in (0, 1, _BLOCK_BYTES // 40, _BLOCK_BYTES // 9):
        told = ["".join(draw.choices(WIDE + "abc ", k=draw.randrange(40))) for _ in range(size)]
        path.write_bytes(end.join(told).encode(code))
        assert lines(path) == (told or [""])


def test_a_byte_that_is_no_text_has_the_place_that_it_has_in_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "wrong"
    for before in (0, 3, _BLOCK_BYTES - 3, _BLOCK_BYTES - 1, 3 * _BLOCK_BYTES):
        whole = b"ab\n" * (before // 3) + WIDE.encode() + b" \xff here\nmore\n"
        path.write_bytes(whole)
        with pytest.raises(ReadError, match="byte 0xff") as ours:
            lines(path)
        with pytest.raises(ReadError, match="byte 0xff") as theirs:
            reading.text_of(whole, str(path))
        assert ours.value.place == theirs.value.place


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x" * (1 << 21), "a line of more than 1,048,576 characters"),
        (b"\x1f\x8bmore", "compressed by gzip"),
        (b"ab\0", "holds NUL bytes"),
        (b"\xff\xfeabc", "not whole text in UTF-16"),
        (b"a\n" * (1 << 24), "larger than 16 MB"),
    ],
)
def test_what_is_no_such_text_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "wrong").write_bytes(content)
    with pytest.raises(ReadError, match=message):
        lines(tmp_path / "wrong")


def test_a_line_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "three"
    path.write_text("one\ntwo\n", encoding="utf-8")
    assert reading.numbered_line(path, 2) == (str(path), 2, 1, 3, "two")
    assert reading.numbered_line(path, 3)[4] == reading.numbered_line(path, 9)[4] == ""


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
