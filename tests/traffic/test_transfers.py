"""Flows that start, stop and count their packets, when each is complete, and bursts with a rate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fabriloom import Scenario, ScenarioError, run
from fabriloom.report import for_run
from fabriloom.results import columns
from fabriloom.simulate import compare

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
