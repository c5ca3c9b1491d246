"""Texts that are read line by line, in blocks, are those that are read whole.

Tables whose columns have the words and units of a spreadsheet rather than ours.

Files that are small and would take minutes or gigabytes are refused at once.

The page of limits says what the program does.

Tables in files of users: Parquet in a process with limits, CSV with columns that can be told apart.

TOML that is written: any text can be read again.
"""

from __future__ import annotations

import io
import random
import re
import time
import tomllib
import tracemalloc
from pathlib import Path

import polars as pl
import pytest
from fabriloom import reading, run, units
from fabriloom.compile import compile
from fabriloom.imports.packets import Packets
from fabriloom.programs import kinds as programs
from fabriloom.reading import Heading, ReadError, headings, toml_text
from fabriloom.reading.parquet import MOST_ROWS, parquet
from fabriloom.reading.texts import _BLOCK_BYTES
from fabriloom.routing import table
from fabriloom.scenario import Scenario, ScenarioError, load, read
from fabriloom.scenario import studies as studied
from fabriloom.studies import seeds
from fabriloom.technology import lanes, model
from fabriloom.topology.clos import MAX_PORTS
from fabriloom.topology.file import MAX_FILE_BYTES
from fabriloom.topology.graph import MAX_LINKS, MAX_TERMINALS
from fabriloom.topology.grid import MAX_DIMENSIONS
from fabriloom.topology.joined import MOST_PORTS
from fabriloom.topology.rings import MAX_STATIONS
from fabriloom.traffic import kinds as traffic
from fabriloom.traffic import tables

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
    ids=["long line", "gzip", "NUL", "half", "large"],
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


GRID = '[topology]\nkind = "grid"\nshape = [4, 4]\n'
CASES = {
    "wrong-keys.yaml": "topology: {kind: grid, shape: [4, 4]}\n" + "".join(f"k{i}: 1\n" for i in range(2000)),
    "wrong-keys.json": '{"topology": 1,' + ",".join(f'"k{i}": 1' for i in range(20_000)) + "}",
    "wrong-keys.toml": GRID + "".join(f"k{i} = 1\n" for i in range(5000)),
    "brackets.yaml": "topology: " + "[" * 100_000 + "\n",
    "brackets.json": "[" * 100_000,
    "brackets.toml": "x = " + "[" * 100_000,
    "steps.toml": GRID + "a." * 20_000 + "b = 1\n",
    "many-steps.toml": GRID + "".join(f"k{i}" + ".a" * 70 + " = 1\n" for i in range(3000)),
    "swept-steps.toml": GRID + '[sweep]\n"' + "a." * 20_000 + '" = [1, 2, 3]\n',
    "swept-list.toml": GRID
    + "[traffic.pattern]\nkind = 'permutation'\nmap = ["
    + "1, " * 20_000
    + '1]\n[sweep]\n"traffic.load" = ['
    + "0.5, " * 9999
    + "0.5]\n",
}


@pytest.mark.parametrize("name", CASES)
def test_refused_quickly(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(CASES[name], encoding="utf-8")
    tracemalloc.start()
    began = time.process_time()
    with pytest.raises(ScenarioError):
        load(file)
    took_s = time.process_time() - began
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert took_s < 20  # under a second on a quiet machine, some times that while memory is traced
    assert peak_bytes < 200e6


def test_counted_mistakes(tmp_path: Path) -> None:
    """All mistakes are counted, although only some are looked up."""
    file = tmp_path / "wrong.toml"
    file.write_text(CASES["wrong-keys.toml"], encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        load(file)
    assert str(caught.value).endswith("and 4997 more mistakes")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(ScenarioError, match="a pipe or a device"):
        load(tmp_path / "pipe.toml")


PAGE = Path(__file__).parents[2] / "docs" / "reference" / "limits.md"
KNOWN = {
    "terminals of a network": MAX_TERMINALS,
    "links of a network, one per direction": MAX_LINKS,
    "entries of routing tables, if not kept as runs": table.MOST_ENTRIES,
    "queues per output, flit by flit": lanes.MOST_QUEUES,
    "stations of networks of rings": MAX_STATIONS,
    "ports of a terminal": MOST_PORTS,
    "ports of a Clos switch": MAX_PORTS,
    "dimensions of a grid or torus": MAX_DIMENSIONS,
    "characters of a packet": traffic.MOST_CHARACTERS,
    "characters of a buffer": model.MOST_CHARS,
    "bytes of a message": programs.MOST_BYTES,
    "operations of all programs": programs.MOST_OPERATIONS,
    "length of a cable": units.LONGEST_CABLE_M,
    "scenario file, TOML or JSON": read.LARGEST_BYTES,
    "scenario file, YAML": read.LARGEST_YAML_BYTES,
    "graph file": MAX_FILE_BYTES,
    "traffic table": tables.LARGEST_BYTES,
    "points of a study": studied.MOST_POINTS,
    "seeds of `fabriloom run --seeds`": seeds.MOST_SEEDS,
}


def test_the_page_has_the_limits_of_the_program() -> None:
    rows = re.findall(r"^\| ([^|]+) \| ([\d,]+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {what: int(most.replace(",", "")) for what, most in rows} == KNOWN


TABLES_GRID = {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 1}


def descriptors(path: Path) -> object:
    pattern = {"kind": "descriptors", "path": path.name}
    return compile(
        Scenario.from_dict({"topology": TABLES_GRID, "traffic": {"pattern": pattern}}, path.parent)
    )


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["0", "1", "2"]), pl.String, pl.UInt64, pl.Int8])
def test_terminals_in_columns_of_any_sensible_type(kind: pl.DataType, tmp_path: Path) -> None:
    source = (
        pl.Series(["0", "1"]).cast(kind)
        if kind in (pl.UInt64, pl.Int8)
        else pl.Series(["0", "1"], dtype=kind)
    )
    frame = pl.DataFrame({"source": source, "target": [1, 2], "length": ["64 B", "8 B"]})
    frame.write_parquet(tmp_path / "packets.parquet")
    assert descriptors(tmp_path / "packets.parquet")


def test_a_small_file_that_unpacks_to_gigabytes(tmp_path: Path) -> None:
    file = tmp_path / "bomb.parquet"
    pl.select(pl.repeat(0, MOST_ROWS + 1, dtype=pl.Int8).alias("source")).write_parquet(file)
    assert file.stat().st_size < 100_000
    with pytest.raises(ReadError, match="33,554,433 rows; at most 33,554,432 are read"):
        parquet(file, file.stat().st_size)


def test_a_long_cell(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    file.write_text("source,target,length\n0,1," + "9" * 200_000 + "\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"long\.csv"):
        descriptors(file)


def test_wide_header_and_short_lines(tmp_path: Path) -> None:
    """They would be filled up to ten thousand million cells."""
    file = tmp_path / "wide.csv"
    file.write_text(",".join(f"c{i}" for i in range(50_000)) + "\n0" * 200_000 + "\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match="50,000 columns, but the lines that follow are shorter"):
        descriptors(file)


def test_any_text_survives() -> None:
    data = {
        "name": 'a "b" \\ \x7f\x00\n\u2028 é',
        "x y": {"z.w": [1, 2.5, True, {"a": "b"}], "n": 10**12},
        "": 0,
    }
    assert tomllib.loads(toml_text(data)) == data


def test_a_scenario_that_is_imported_keeps_any_name() -> None:
    name = "a \x7f file"
    found = Packets(rows=io.BytesIO(), packets=1, terminals=2, last=3, flits=1).files(name)["scenario.toml"]
    assert tomllib.loads("".join(found))["name"] == name
