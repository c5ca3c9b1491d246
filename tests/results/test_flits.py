"""Networks of flits say the same in flits per node and cycle, and in cycles."""

from __future__ import annotations

from typing import Any

import pytest
from fabriloom.report.axes import units_of
from fabriloom.scenario import Scenario
from fabriloom.simulate import run
from fabriloom.studies import curve


def mesh(**technology: Any) -> Scenario:
    """A mesh of 16 nodes."""
    return Scenario.from_dict(
        {
            "topology": {"kind": "grid", "shape": [4, 4], "terminals_per_switch": 1},
            "technology": {"preset": "generic", "cycle": "2 ns", "flit": "4 B", **technology},
            "traffic": {"pattern": "uniform", "length": "32 B", "load": 0.1},
            "run": {"duration": "40 us"},
        }
    )


def test_throughput_and_latency_in_flits_and_cycles() -> None:
    results = run(mesh())
    flits, summary = results.summary["flits"], results.summary
    assert (flits["cycle_ns"], flits["flit_bytes"]) == (2.0, 4)
    # Counted another way: a link out of a terminal that is in use carries one flit in each cycle.
    sent = results.utilisation[results.graph.link_source >= results.graph.switches]
    assert flits["accepted_per_node_cycle"] == pytest.approx(sent.mean(), rel=0.02)
    assert flits["latency_cycles_mean"] == summary["latency_ns"]["mean"] / 2
    assert flits["total_latency_cycles_mean"] == summary["total_latency_ns"]["mean"] / 2


def test_a_load_is_flits_per_node_and_cycle() -> None:
    found = curve(mesh(), [0.05, 0.2]).table
    assert found["offered_flits_per_node_cycle"].to_list() == pytest.approx([0.05, 0.2], rel=0.1)
    assert found["latency_cycles_mean"].to_list() == (found["latency_ns_mean"] / 2).to_list()


def test_charts_of_flits_have_axes_of_flits() -> None:
    of_flits = run(mesh()).summary
    plain = run({"topology": {"kind": "crossbar", "terminals": 4}, "run": {"duration": "20 us"}}).summary
    assert "flits" not in plain
    assert "flits" not in run(mesh(preset="infiniband-4x-edr", cycle="5.12 ns", flit="64 B")).summary
    assert units_of([of_flits]).of_flits
    assert not units_of([of_flits, plain]).of_flits
    assert not units_of([]).of_flits
