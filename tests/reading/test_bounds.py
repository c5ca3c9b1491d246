"""Files that are small and would take minutes or gigabytes are refused at once.

The page of limits says what the program does.

Tables in files of users: Parquet in a process with limits, CSV with columns that can be told apart.

TOML that is written: any text can be read again.
"""

from __future__ import annotations

import io
import re
import time
import tomllib
import tracemalloc
from pathlib import Path

import polars as pl
import pytest
from fabriloom import units
from fabriloom.compile import compile
from fabriloom.imports.packets import Packets
from fabriloom.programs import kinds as programs
from fabriloom.reading import ReadError, toml_text
from fabriloom.reading.parquet import MOST_ROWS, parquet
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
    found = Packets(rows=io.BytesIO(), packets=1, terminals=2, last=3).files(name)["scenario.toml"]
    assert tomllib.loads("".join(found))["name"] == name
