"""Several tables of the ports, by which the transactions of a terminal go one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fabriloom import Scenario, run, topology
from fabriloom.routing import PASS, port_route
from fabriloom.routing.even import ring_loads

SWITCH = topology.build("sci-switch-16")
BY_TRANSACTION = {"kind": "fewest-buses", "by_transaction": True}


def one_flow(routing: dict[str, Any]) -> Scenario:
    """From the first to the last terminal of the switch of 16 ports, which two modules join."""
    return Scenario.from_dict(
        {
            "topology": {"kind": "sci-switch-16"},
            "routing": routing,
            "traffic": {
                "pattern": {"kind": "flows", "flows": [{"source": "t0", "target": "t15", "rate": "20 MB/s"}]}
            },
            "run": {"duration": "1 ms", "warmup": "0.1 ms", "precision": 0.0},
        }
    )


def test_every_table_takes_the_same_and_deals_it_out_otherwise() -> None:
    first, second = port_route(SWITCH, by_transaction=True).tables()
    entries = [table.exits[table.blocks] for table in (first, second)]
    usual = port_route(SWITCH)
    assert np.array_equal(entries[0] == PASS, entries[1] == PASS)
    assert not np.array_equal(entries[0], entries[1])
    assert np.array_equal(entries[0], usual.exits[usual.blocks])


@pytest.mark.parametrize(
    ("kind", "given"), [("sci-ring", {"terminals": 4}), ("sci-module", {}), ("sci-torus", {"shape": [3, 3]})]
)
def test_where_there_is_one_way_there_is_one_table(kind: str, given: dict[str, Any]) -> None:
    assert port_route(topology.build(kind, **given), by_transaction=True).turns == 1


def test_loads_are_spread_over_the_ways() -> None:
    pair = np.array([0]), np.array([15]), np.array([2.0])
    nobody = np.zeros(16)
    by_target = ring_loads(SWITCH, port_route(SWITCH), pair, nobody).bus_requests
    spread = ring_loads(SWITCH, port_route(SWITCH, by_transaction=True), pair, nobody).bus_requests
    assert sorted(by_target) == [0.0, 0.0, 0.0, 2.0, 2.0, 2.0]
    assert sorted(spread) == [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]


def test_packets_of_a_pair_take_turns() -> None:
    """Half of the requests and of the responses cross each module; else one has all the requests."""
    busy = []
    for routing in ({"kind": "fewest-buses"}, BY_TRANSACTION):
        buses = run(one_flow(routing)).buses
        assert buses is not None
        busy.append(
            sorted(buses.filter(buses["switch"].str.starts_with("expansion"))["utilisation"].to_list())
        )
    (least, most), shared = busy
    assert most > 2 * least > 0
    assert shared == pytest.approx([(least + most) / 2] * 2, rel=0.02)


def test_senders_behind_one_port_share_it_alike() -> None:
    """The answers of the receivers have a bus of their own, and do not decide whose request goes next."""
    flows = [{"source": f"t{4 * port}", "target": f"t{port - 1}", "rate": "90 MB/s"} for port in (1, 2, 3)]
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "sci-module", "terminals_per_ring": 4},
            "technology": {"preset": "sci-lc2", "port_requests_out": 2},
            "traffic": {"pattern": {"kind": "flows", "flows": flows}},
            "run": {"duration": "1 ms", "warmup": "0.2 ms", "precision": 0.0},
            "output": {"flows": True},
        }
    )
    rates = run(scenario).flows["mbytes_per_s"].to_list()
    assert len(rates) == 3
    assert max(rates) < 60
    assert min(rates) > 0.9 * max(rates)
