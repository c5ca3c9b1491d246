"""Descriptors, matrices and permutations from files.

Flows that start, stop and count their packets, when each is complete, and bursts with a rate.
"""

from __future__ import annotations

import contextlib
import io
import random
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from fabriloom import Scenario, ScenarioError, run, topology
from fabriloom.codes import ARRIVAL
from fabriloom.report import for_run
from fabriloom.results import columns
from fabriloom.simulate import compare
from fabriloom.technology import technology
from fabriloom.traffic import TrafficError, demand

from .common import build, grid


def write(folder: Path, text: str, name: str = "table.csv") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def listed(path: str, **pattern: Any) -> dict[str, Any]:
    """Columns of a descriptor file on a 2 x 2 grid with 2 terminals a switch."""
    return build(grid(2, 2, terminals=2), {"kind": "descriptors", "path": path, **pattern}, load=None)


ROWS = """\
source,target,length,wait
1,"t(1,1).1",64 B,2 us
# a comment
"t(0,0).0",3,32,100

1,0,0 B,0 s
"""


def test_descriptors_by_name_and_number_with_and_without_units(tmp_path: Path) -> None:
    columns = listed(write(tmp_path, ROWS), repeat=False)
    assert columns["source_arrival"].tolist() == [ARRIVAL.LIST, ARRIVAL.LIST] + [ARRIVAL.SILENT] * 6
    assert columns["list_start"].tolist() == [0, 1, 3] + [3] * 6
    assert columns["list_target"].tolist() == [3, 7, 0]
    assert columns["list_length"].tolist() == [32, 64, 0]
    assert columns["list_wait_ps"].tolist() == [100_000, 2_000_000, 0]
    assert columns["list_repeat"].tolist() == [0] * 8


TIMES = """\
at,source,target,length
2 us,1,0,32
1.5us,0,3,64 B
1500,0,4,8
0 s,1,7,16
1 us,0,5,8
1.0009 us,0,6,8
"""


def test_times_are_sorted_per_source_and_kept_in_order(tmp_path: Path) -> None:
    columns = listed(write(tmp_path, TIMES))
    assert columns["source_arrival"].tolist() == [ARRIVAL.TIMED, ARRIVAL.TIMED] + [ARRIVAL.SILENT] * 6
    assert columns["list_start"].tolist() == [0, 4, 6] + [6] * 6
    assert columns["list_at_grains"].tolist() == [1000, 1000, 1500, 1500, 0, 2000]
    assert columns["list_target"].tolist() == [5, 6, 3, 4, 7, 0]
    assert columns["source_interval_grains"].tolist() == [500, 1000] + [0] * 6
    assert not columns["list_repeat"].any()


def test_times_of_parquet_and_of_other_columns(tmp_path: Path) -> None:
    frame = {"source": [0, 0], "target": [1, 2], "length": [8, 8]}
    pl.DataFrame({"at_ns": [2**40, 17], **frame}).write_parquet(tmp_path / "table.parquet")
    assert listed(str(tmp_path / "table.parquet"))["list_at_grains"].tolist() == [17, 2**40]
    text = "at_ns,source,target,length\n17.75,0,1,8\n3e2,0,1,8\n20 us,0,1,8\n"
    assert listed(write(tmp_path, text))["list_at_grains"].tolist() == [17, 300, 20_000]


def test_units_in_headings_of_lists(tmp_path: Path) -> None:
    text = "From;To;Packet size [kB];at (µs)\n0;1;1,5;0,25\n0;2;8;3\n"
    columns = listed(write(tmp_path, text))
    assert columns["list_length"].tolist() == [1500, 8000]
    assert columns["list_at_grains"].tolist() == [250, 3000]


def test_cycles_are_those_of_the_technology(tmp_path: Path) -> None:
    path = write(tmp_path, "cycle,source,target,length\n9,0,1,8\n3,0,1,8\n")
    pattern = {"kind": "descriptors", "path": path}
    odd = technology("generic", {"cycle_ps": Fraction(10_000, 13)})
    columns = build(grid(2, 2), pattern, load=None, technology=odd)
    assert columns["list_at_grains"].tolist() == [3, 9]
    times = write(tmp_path, "at,source,target,length\n100 ns,0,1,8\n1 s,0,1,8\n")
    columns = build(grid(2, 2), {**pattern, "path": times}, load=None, technology=odd)
    assert columns["list_at_grains"].tolist() == [130, 1_300_000_000]


def test_a_long_list_is_read_in_seconds(tmp_path: Path) -> None:
    count = 200_000
    dice = np.random.default_rng(1)
    at = dice.integers(0, 10**9, count)
    rows = (f"{one / 1000:.3f} us,{one % 8},{(one + 3) % 8},64\n" for one in at.tolist())
    path = write(tmp_path, "at,source,target,length\n" + "".join(rows))
    before = time.process_time()
    columns = listed(path)
    assert time.process_time() - before < 10
    for source in range(8):
        own = slice(*columns["list_start"][source : source + 2].tolist())
        assert columns["list_at_grains"][own].tolist() == sorted(at[at % 8 == source].tolist())


def test_parquet_is_the_same(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"source": [1, 0, 1], "target": [7, 3, 0], "length_bytes": [64, 32, 0], "wait_ns": [2000, 100, 0]}
    )
    frame.write_parquet(tmp_path / "table.parquet")
    names = frame.with_columns(pl.Series("source", ["t(0,0).1", "t(0,0).0", "t(0,0).1"]))
    names.write_parquet(tmp_path / "names.parquet")
    reference = listed(write(tmp_path, ROWS))
    for name in ("table.parquet", "names.parquet"):
        columns = listed(str(tmp_path / name))
        for key, column in reference.items():
            assert np.array_equal(columns[key], column), key


def test_wait_may_be_missing(tmp_path: Path) -> None:
    columns = listed(write(tmp_path, "source,target,length\n0,1,64\n"))
    assert columns["list_wait_ps"].tolist() == [0]


def test_windows_line_ends_and_byte_order_mark(tmp_path: Path) -> None:
    text = "\ufeffsource,target,length\r\n0,1,64\r\n0,9,64\r\n"
    with pytest.raises(TrafficError) as caught:
        listed(write(tmp_path, text))
    assert caught.value.place is not None
    assert caught.value.place[1:] == (3, 3, 1, "0,9,64")


def test_random_damage_to_parquet_is_one_error(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    pl.DataFrame({"source": [0, 1], "target": [1, 2], "length": [64, 32]}).write_parquet(buffer)
    whole, dice = buffer.getvalue(), random.Random(1)
    path = tmp_path / "table.parquet"
    refused: list[str | None] = []
    for _ in range(15):
        content = bytearray(whole)
        for _ in range(dice.randint(1, 8)):
            content[dice.randrange(len(content))] = dice.randrange(256)
        path.write_bytes(content[: dice.choice([len(content), dice.randrange(len(content))])])
        try:
            listed(str(path))
        except TrafficError as error:
            refused.append(error.parameter)
    assert len(refused) > 5
    assert set(refused) == {"pattern.path"}


def test_random_text_for_csv_is_one_error(tmp_path: Path) -> None:
    dice = random.Random(2)
    for _ in range(150):
        text = list(ROWS)
        for _ in range(dice.randint(1, 6)):
            text[dice.randrange(len(text))] = dice.choice(["", ",", '"', "\n", "x", "-", "\0", "#", "é", " "])
        path = write(tmp_path, "".join(text))
        with contextlib.suppress(TrafficError):
            assert "list_start" in listed(path)


def weights(columns: dict[str, Any], terminal: int) -> dict[int, float]:
    start = columns["weight_start"]
    row = slice(int(start[terminal]), int(start[terminal + 1]))
    shares = np.diff(columns["weight_cumulative"][row], prepend=0.0)
    return dict(zip(columns["weight_target"][row].tolist(), shares.tolist(), strict=True))


def test_matrix_in_both_forms(tmp_path: Path) -> None:
    crossbar = topology.build("crossbar", terminals=3)
    dense = write(tmp_path, "0,1,3\n2,0,0\n0,0,0\n", "dense.csv")
    sparse = write(tmp_path, "source,target,weight\n1,0,2\n0,2,3\n0,1,1\n", "sparse.csv")
    for path in (dense, sparse):
        columns = build(crossbar, {"kind": "matrix", "path": path})
        assert weights(columns, 0) == {1: 0.25, 2: 0.75}
        assert weights(columns, 1) == {0: 1.0}
        assert columns["source_arrival"].tolist() == [3, 3, 0]
        assert columns["source_interval_grains"][0] == columns["source_interval_grains"][1]
    columns = build(crossbar, {"kind": "matrix", "path": dense, "rows": "proportional"})
    assert columns["source_interval_grains"][1] == pytest.approx(2 * columns["source_interval_grains"][0])


def test_permutation_file(tmp_path: Path) -> None:
    crossbar = topology.build("crossbar", terminals=4)
    path = write(tmp_path, "source,target\n0,1\n1,0\n3,2\n")
    columns = build(crossbar, {"kind": "permutation", "path": path})
    assert columns["target_fixed"].tolist() == [1, 0, 2, 2]
    assert columns["source_arrival"].tolist() == [3, 3, 0, 3]
    for text in ("source,target\n0,1\n0,2\n", "source,target\n0,1\n2,1\n"):
        with pytest.raises(TrafficError, match="twice") as caught:
            build(crossbar, {"kind": "permutation", "path": write(tmp_path, text)})
        assert caught.value.place is not None
        assert caught.value.place[1] == 3


def test_demand(tmp_path: Path) -> None:
    graph = topology.build("crossbar", terminals=3)
    alike = demand(build(graph))
    assert (alike.even.tolist(), len(alike.source)) == ([1, 1, 1], 0)
    found = demand(build(graph, {"kind": "shift", "by": 1}))
    assert [column.tolist() for column in found.pairs] == [[0, 1, 2], [1, 2, 0], [1, 1, 1]]
    assert found.even.tolist() == [0, 0, 0]
    hot = demand(build(graph, {"kind": "hot-spot", "target": 0, "share": 0.5}))
    assert hot.even.tolist() == [1, 0.5, 0.5]
    assert hot.sent() == pytest.approx([1, 1, 1])
    assert hot.received() == pytest.approx([1.5, 0.75, 0.75])
    path = write(tmp_path, "0,1,3\n2,0,0\n0,0,0\n")
    matrix = demand(build(graph, {"kind": "matrix", "path": path, "rows": "proportional"}))
    sent = {(int(a), int(b)): float(c) for a, b, c in zip(*matrix.pairs, strict=True)}
    assert sent == pytest.approx({(0, 1): 0.25, (0, 2): 0.75, (1, 0): 0.5})
    descriptors = write(tmp_path, "source,target,length\n0,1,64\n0,2,64\n1,0,64\n")
    lists = demand(build(graph, {"kind": "descriptors", "path": descriptors}))
    assert lists.packets.tolist() == [0.5, 0.5, 0.5]
    assert lists.even.tolist() == [0, 0, 0]


def test_what_lists_fill_counts_the_length_of_each_packet(tmp_path: Path) -> None:
    """Of two packets each way, those from 0 to 2 are short: the link from 0 is half as full as that to 1."""
    graph = grid(3, terminals=1)
    path = write(tmp_path, "at_ns,source,target,length\n0,0,1,499\n0,0,2,9\n0,2,1,499\n0,2,1,499\n")
    lists = demand(build(graph, {"kind": "descriptors", "path": path}))
    assert lists.payload is not None
    assert lists.payload.bytes.tolist() == [499, 9, 499, 499]
    filled = lists.by_length(1)
    assert filled.sent() == pytest.approx([0.51, 0, 1])
    assert filled.received() == pytest.approx([0, 1.5, 0.01])


TABLE = "source,target,length,rate,start,stop\n0,15,64 B,100 MB/s,2 us,5 us\n3,12,64 B,50 MB/s,,\n"


def scenario(flows: list[dict[str, Any]] | str, folder: Path | str = ".", **more: Any) -> Scenario:
    pattern = {"kind": "flows", **({"path": flows} if isinstance(flows, str) else {"flows": flows})}
    traffic = {"pattern": pattern, "length": "64 B", **more.pop("traffic", {})}
    data = {
        "topology": {"kind": "grid", "shape": [4, 4]},
        "technology": {"preset": "generic"},
        "traffic": traffic,
        "run": {"duration": "20 us"},
        **more,
    }
    return Scenario.from_dict(data, folder)


def test_a_table_with_times_per_flow(tmp_path: Path) -> None:
    """100 MB/s for 3 us are 300 B: 4 or 5 packets of 64 B."""
    (tmp_path / "nox.csv").write_text(TABLE)
    for arrivals in ("constant", "poisson"):
        given = scenario("nox.csv", tmp_path, traffic={"arrivals": arrivals}, output={"trace": True})
        results = run(given)
        first, other = results.completions.iter_rows(named=True)
        assert first["created"] in (4, 5)
        assert first["created"] == first["delivered"]
        made = results.trace.filter(pl.col("source") == "t(0,0).0")["created_ns"]
        assert 2000 <= made.min() <= made.max() < 5000
        assert first["completion_ns"] == first["last_delivered_ns"] - first["first_created_ns"] > 0
        assert other["completion_ns"] is None, "it goes on"
        assert results.flows["packets"].sum() == results.summary["packets"]["delivered"], "no warm-up"


def test_plain_numbers_and_the_list_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(TABLE)
    frame = pl.DataFrame(
        {
            "source": [0, 3],
            "target": [15, 12],
            "length_bytes": [64, 64],
            "rate": ["100 MB/s", "50 MB/s"],
            "start_ns": [2000, None],
            "stop_ns": [5000, None],
        }
    )
    frame.write_parquet(tmp_path / "b.parquet")
    listed = [
        {"source": 0, "target": 15, "rate": "100 MB/s", "start": "2 us", "stop": "5 us"},
        {"source": 3, "target": 12, "rate": "50 MB/s"},
    ]
    found = [run(scenario(flows, tmp_path)).completions for flows in ("a.csv", "b.parquet", listed)]
    assert found[0].equals(found[1])
    assert found[0].equals(found[2])


def test_a_count_without_a_rate_is_a_transfer() -> None:
    """All packets are created at the start; the last arrives after as many packet times."""
    results = run(scenario([{"source": 0, "target": 15, "count": 50, "start": "3 us"}]))
    (row,) = results.completions.iter_rows(named=True)
    assert (row["created"], row["first_created_ns"], row["bytes"]) == (50, 3000.0, 3200)
    one = run(scenario([{"source": 0, "target": 15, "count": 1, "start": "3 us"}])).completions
    assert row["completion_ns"] == pytest.approx(one["completion_ns"][0] + 49 * 9, abs=8), "with a hand-over"
    assert results.summary["end"]["reason"] == "drained"
    assert results.summary["warmup_ns"] == 0


def test_one_shot_flows_are_in_every_table() -> None:
    flows = [
        {"source": at, "target": 15 - at, "period": "1 s", "phase": f"{at} us", "count": 1} for at in range(8)
    ]
    results = run(scenario(flows, run={"duration": "10 ms"}))
    assert results.summary["packets"]["measured"] == 8
    assert "Nothing was delivered" not in results.summary["verdict"]
    assert len(results.flows) == 8
    assert "Completion of flows" in for_run(results)
    assert results.completions.columns == columns.COMPLETIONS.names


def test_the_last_packets_of_a_count_may_be_fewer() -> None:
    flows = [{"source": 0, "target": 5, "period": "1 us", "phase": "0 us", "packets": 4, "count": 10}]
    trace = run(scenario(flows, output={"trace": True})).trace
    assert trace.group_by("created_ns").len().sort("created_ns")["len"].to_list() == [4, 4, 2]


@pytest.mark.parametrize("kind", ["poisson", "constant"])
def test_engine_and_twin_agree_on_flows_that_begin_and_end(kind: str) -> None:
    flows = [
        {
            "source": at,
            "target": (at + 5) % 16,
            "rate": "400 MB/s",
            "start": f"{at} us",
            "stop": f"{at + 9} us",
        }
        for at in range(10)
    ]
    found = compare(scenario(flows, traffic={"arrivals": kind}))
    assert found.identical
    assert found.packets > 300


def test_what_is_lost_and_refused_is_counted_by_flow() -> None:
    flows = [{"source": 0, "target": 1, "count": 30}, {"source": 2, "target": 3, "count": 30}]
    results = run(
        scenario(flows, traffic={"source_queue": 4}, fault=[{"link": "s(0,2)>t(0,2).0", "at": "0 us"}])
    )
    row = results.completions.row(0, named=True)
    assert row["created"] == 30
    assert row["refused"] > 0
    for row in results.completions.iter_rows(named=True):
        parts = ("delivered", "lost", "refused", "under_way")
        assert sum(row[part] for part in parts) == row["created"]
        assert row["completion_ns"] is None


def test_flows_on_rings_complete_too() -> None:
    flows = [{"source": 0, "target": 2, "count": 20}, {"source": 0, "target": 2, "count": 5, "start": "1 us"}]
    ring = {"topology": {"kind": "sci-ring", "terminals": 4}, "technology": {"preset": "sci-lc2"}}
    results = run(scenario(flows, run={"duration": "1 ms"}, **ring))
    assert results.completions["delivered"].to_list() == [20, 5]
    assert results.completions["completion_ns"].null_count() == 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"rate": "1 MB/s", "start": "5 us", "stop": "5 us"}, "a flow stops before it starts"),
        ({"period": "1 us", "phase": "3 us", "stop": "2 us"}, "a flow stops before its first packet"),
        ({}, "a flow has neither a rate nor a period"),
        ({"packets": 3, "count": 9}, "a flow has neither a rate nor a period"),
    ],
)
def test_times_that_cannot_be_are_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        run(scenario([{"source": 0, "target": 1, **more}]))


def burst(**arrivals: Any) -> Scenario:
    given = scenario([{"source": 0, "target": 1, "count": 1}])
    data = {**given.resolve(), "output": {"trace": True}}
    data["traffic"] = {
        "pattern": {"kind": "shift", "by": 1},
        "length": "64 B",
        "arrivals": {"kind": "burst", **arrivals},
    }
    return Scenario.from_dict(data)


def test_a_burst_has_a_rate_and_lasts() -> None:
    """64 MB/s for 5 us are 5 packets of 64 B, 1 us apart, again every 10 us."""
    found = run(burst(rate="64 MB/s", lasts="5 us", every="10 us", at="1 us"))
    moments = found.trace.filter(pl.col("source") == "t(0,0).0")["created_ns"].sort() / 1000
    assert moments.to_list() == [1, 2, 3, 4, 5, 11, 12, 13, 14, 15]


@pytest.mark.parametrize(
    ("arrivals", "message"),
    [
        ({}, "a burst has packets"),
        ({"packets": 3, "rate": "1 MB/s", "lasts": "1 us"}, "a burst has packets"),
        ({"rate": "1 MB/s"}, "a burst has packets"),
        ({"rate": "1 MB/s", "lasts": "9 us", "every": "5 us"}, "before the one before has ended"),
        ({"rate": "900 GB/s", "lasts": "9 us"}, "more often than once in a grain"),
    ],
)
def test_a_burst_that_cannot_be_is_refused(arrivals: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        run(burst(**arrivals))
