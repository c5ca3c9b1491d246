"""The page of limits says what the program does."""

from __future__ import annotations

import re
from pathlib import Path

from fabriloom import units
from fabriloom.programs import kinds as programs
from fabriloom.routing import table
from fabriloom.scenario import read
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

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "limits.md"
KNOWN = {
    "terminals of a network": MAX_TERMINALS,
    "links of a network, one per direction": MAX_LINKS,
    "entries of routing tables": table.MOST_ENTRIES,
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
