"""Files of others: what is read from them, and what is said of those that are cut short or are none.

The measured event building of an XC40: what is found in it, and the frozen numbers for more senders.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from fabriloom.fit import FitError, fit, imports
from fabriloom_papers import event_building
from fabriloom_papers.published import measured

LATENCY = """# OSU MPI Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
0                       1.60
1                       1.62
1024                    2.31
"""
BANDWIDTH = """# OSU MPI Bandwidth Test v5.9
# Size      Bandwidth (MB/s)
1                       3.20
1024                 2048.00
"""
RATE = """# OSU MPI Multiple Bandwidth / Message Rate Test v7.4
# [ pairs: 1 ] [ window size: 64 ]
# Size                  MB/s        Messages/s
8                      64.00        8000000.00
"""
NETGAUGE = """# Info:  (0): netgauge v2.4.6, pattern loggp
L=2.1000 s=1 o_s=0.4000 o_r=0.5000 g=1.2000 G=0.0000 (inf GiB/s) lsqu(g,G)=0.0
L=2.1000 s=1001 o_s=0.6000 o_r=0.5000 g=1.2000 G=0.0004 (2.33 GiB/s) lsqu(g,G)=0.0
"""
CSV = "bytes,half_round_us,gap_ns\n1,1.5,400\n0,1.4,\n4096,3.5,1900\n"


def values(folder: Path, text: str, name: str = "a.txt") -> dict[str, dict[int, float]]:
    (folder / name).write_text(text, encoding="utf-8")
    found = imports.read(folder / name).values
    return {key: {size: pytest.approx(one) for size, (one, _) in rows.items()} for key, rows in found.items()}


def test_what_is_read(tmp_path: Path) -> None:
    assert values(tmp_path, LATENCY) == {"half_round": {1: 1620.0, 1024: 2310.0}}
    assert values(tmp_path, BANDWIDTH) == {"gap": {1: 312.5, 1024: 500.0}}
    assert values(tmp_path, RATE) == {"gap": {8: 125.0}}
    both = f"2 nodes\n{LATENCY}\n{BANDWIDTH.replace('OSU MPI', 'OSU MPI-CUDA')}"
    assert values(tmp_path, both) == values(tmp_path, LATENCY) | values(tmp_path, BANDWIDTH)
    found = values(tmp_path, NETGAUGE)
    assert found["send"] == {1: 400.0, 1001: 600.0}
    assert found["gap"] == {1: 1200.0, 1001: 1600.0}
    assert found["half_round"] == {1: 3000.0, 1001: 3600.0}
    assert values(tmp_path, CSV, "a.csv") == {
        "half_round": {1: 1500.0, 4096: 3500.0},
        "gap": {1: 400.0, 4096: 1900.0},
    }


def test_several_files_make_one_model(tmp_path: Path) -> None:
    for name, text in (("latency.txt", LATENCY), ("bw.txt", BANDWIDTH)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = fit([tmp_path / "latency.txt", tmp_path / "bw.txt"])
    assert found.model.samples.sources == ["latency.txt", "bw.txt"]
    assert [row.gap for row in found.model.rows] == pytest.approx([312.5, 500.0])
    with pytest.raises(FitError, match="nothing says how often messages can be sent"):
        fit([tmp_path / "latency.txt"])


WRONG = {
    "cut.txt": (LATENCY[:-3], 'cut.txt:6: "1024                    2.": the file is cut short here'),
    "word.txt": (
        LATENCY.replace("1.62", "nan?"),
        'word.txt:5: "1                       nan?": 2 numbers are expected',
    ),
    "short.txt": (LATENCY + "2048\n", 'short.txt:7: "2048": the file is cut short here'),
    "none.txt": (LATENCY[:60], "none.txt: it has no values"),
    "zero.txt": (BANDWIDTH.replace("3.20", "0.00"), "zero.txt:3: 0 is not a measured value"),
    "huge.txt": (LATENCY + "1e999 2\n", "huge.txt:7: inf is not a message size"),
    "late.txt": (LATENCY + "2048 1e999\n", "late.txt:7: inf is not a measured value"),
    "multi.txt": (LATENCY.replace("Latency Test", "Multi Latency Test"), "is of several at once"),
    "pairs.txt": (
        RATE.replace("pairs: 1", "pairs: 4"),
        "pairs.txt:1: OSU MPI Multiple Bandwidth / Message Rate Test of 4 pairs is of several at once",
    ),
    "all.txt": (
        LATENCY + LATENCY.replace("MPI Latency", "MPI Allreduce Latency"),
        "all.txt:7: OSU MPI Allreduce Latency Test says nothing of single messages",
    ),
    "put.txt": (LATENCY.replace("MPI Lat", "MPI_Put Lat"), "says nothing of single messages"),
    "ibcast.txt": ("# OSU MPI Allgather v7.4\n1 2\n", "says nothing of single messages"),
    "loggp.txt": ("# netgauge v2.4.6\nnothing\n", "loggp.txt: netgauge printed no LogGP parameters here"),
    "empty.csv": ("", "empty.csv: it has no values"),
    "columns.csv": ("bytes,gap\n1,2\n", 'columns.csv:1: not a table of measured values: column "gap"'),
    "cell.csv": ("bytes,gap_us\n1,two\n", 'cell.csv:2: gap_us cannot be "two"'),
    "cells.csv": ("bytes,gap_us\n1\n", "cells.csv:2: 1 cells, the header has 2"),
    "size.csv": ("bytes,gap_us\n1.5,2\n", "size.csv:2: 1.5 is not a message size"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told(name: str, tmp_path: Path) -> None:
    text, said = WRONG[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(FitError) as caught:
        imports.read(tmp_path / name)
    message = str(caught.value)
    assert said in message.splitlines()[0]
    assert message.splitlines()[1].startswith("  = ")


DOCS = Path(__file__).resolve().parents[2] / "docs"
TABLE = DOCS / "generated" / "event-building-xc40.csv"
PAGE = DOCS / "background" / "event-building-xc40.md"


def test_the_gap_and_the_change_of_protocol_are_found() -> None:
    (curve,) = event_building.model().curves.values()
    first, change = curve.lines[0], curve.jumps()[-1]
    assert (first.first, first.last) == (2.0, 1024.0)
    assert first.base == pytest.approx(2352, abs=1)
    assert first.slope * 256 < 0.02 * first.base
    assert change == (4096.0, 8192.0, pytest.approx(-first.base, rel=0.01))
    assert len(measured(event_building.DATA)) == 22


def rows() -> list[dict[str, float]]:
    """The table that is kept."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def test_the_table_has_the_numbers_of_the_model() -> None:
    """Those of 16 senders by the model's own arithmetic, all others by runs of some sizes."""
    kept = {row["bytes"]: row for row in rows()}
    assert list(kept) == [int(row["bytes"]) for row in measured(event_building.DATA)]
    for size in (2, 4096, 8192):
        (ours,) = event_building.table([size])
        assert kept[size] == pytest.approx(ours, rel=1e-3), size


def test_the_page_shows_rows_of_the_table() -> None:
    shown = re.findall(r"^\| [\d,]+ \|.*", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    kept = [list(row.values()) for row in rows()]
    assert len(shown) == 6
    for line in shown:
        cells = [float(re.sub(r"[^\d.+-]", "", cell)) for cell in line.strip("|").split("|")]
        deviation = cells.pop(3)
        assert cells in kept
        assert deviation == pytest.approx(100 * (cells[2] / cells[1] - 1), abs=0.15)


def test_the_order_of_the_receivers_makes_no_difference() -> None:
    assert event_building.round_us(16, 8192, "same") == pytest.approx(
        event_building.round_us(16, 8192), rel=0.01
    )
