"""Files of others: what is read from them, and what is said of those that are cut short or are none."""

from __future__ import annotations

from pathlib import Path

import pytest
from fabriloom.fit import FitError, fit, imports

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
# [ pairs: 4 ] [ window size: 64 ]
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
    assert values(tmp_path, RATE) == {"gap": {8: 500.0}}
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
