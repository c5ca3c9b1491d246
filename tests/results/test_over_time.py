"""Throughput over time by flow: whose it is, and that it is that of all together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fabriloom import Scenario, run
from fabriloom.report.pages import for_run
from fabriloom.results import columns, shares
from fabriloom.traffic import Demand

from .common import results

FLOWS = [
    {"source": 0, "target": 5, "rate": "20 Mbit/s"},
    {"source": 0, "target": 6, "rate": "10 Mbit/s"},
    {"source": 3, "target": 5, "rate": "5 Mbit/s"},
]


def of_pairs(pairs: list[tuple[int, int]], terminals: int, even: float = 0.0) -> Demand:
    source, target = (np.array(ends) for ends in zip(*pairs, strict=True))
    return Demand(source, target, np.ones(len(pairs)), np.full(terminals, even))


def test_few_flows_are_flows_and_many_are_terminals_or_groups_of_them() -> None:
    names = [f"t{number}" for number in range(40)]
    few = of_pairs([(3, 1), (0, 2)], 40)
    assert shares.wanted(names, few) == ({"pairs": [(0, 2), (3, 1)]}, ["t0 to t2", "t3 to t1"])
    many = of_pairs([(0, target) for target in range(1, 20)], 40)
    for demand in (many, None, of_pairs([(0, 1)], 40, even=1.0)):
        found, called = shares.wanted(names, demand)
        assert found == {"sources": [number // 5 for number in range(40)]}
        assert (len(called), called[0], called[-1]) == (8, "t0 … t4", "t35 … t39")
    assert shares.wanted(names[:4], None) == ({"sources": [0, 1, 2, 3]}, names[:4])


@pytest.mark.parametrize("pattern", [{"kind": "flows", "flows": FLOWS}, "uniform"])
def test_the_rows_of_a_batch_are_all_of_it(pattern: Any) -> None:
    traffic = {"pattern": pattern, "length": "64 B", "arrivals": "poisson"}
    if pattern == "uniform":
        traffic["load"] = 0.3
    found = results(traffic=traffic, run={"duration": "2 ms", "warmup": "100 us", "precision": 0.0})
    table, batches = found.over_time, found.batches
    assert table.columns == columns.OVER_TIME.names
    assert len(table) == len(batches) * (3 if pattern != "uniform" else 6)
    sums = table.drop("of").group_by("start_ns").sum().sort("start_ns")
    assert sums["packets"].to_list() == batches["packets"].to_list()
    assert sums["mbytes_per_s"].to_numpy() == pytest.approx(batches["accepted_mbytes_per_s"].to_numpy())
    assert "Through the run, by flow" in for_run(found)


def test_a_single_flow_has_no_table() -> None:
    pattern = {"kind": "flows", "flows": FLOWS[:1]}
    assert not len(results(traffic={"pattern": pattern, "length": "64 B"}).over_time)


def test_a_run_that_ends_before_its_first_batch_has_no_rows() -> None:
    program = {
        "kind": "operations",
        "terminals": [{"terminal": "t.0", "do": ["send t.1 64 B", "send t.2 64 B"]}],
    }
    topology = {"kind": "crossbar", "terminals": 3}
    found = run(Scenario.from_dict({"topology": topology, "program": program}))
    assert found.end_reason == "drained"
    assert not len(found.over_time)


def test_a_hot_spot_that_takes_everything_has_flows() -> None:
    pattern = {"kind": "hot-spot", "target": 0, "share": 1.0}
    traffic = {"pattern": pattern, "senders": [1, 2, 3, 4], "load": 0.1}
    data = {"topology": {"kind": "crossbar", "terminals": 5}, "traffic": traffic}
    found = run(Scenario.from_dict({**data, "run": {"duration": "1 ms", "precision": 0.0}}))
    assert found.over_time["of"].unique(maintain_order=True).to_list() == [
        f"{name} to {found.graph.terminal_names[0]}" for name in found.graph.terminal_names[1:]
    ]
