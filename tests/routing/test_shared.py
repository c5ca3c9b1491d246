"""Terminals of a switch share a column of a large table: the same routes and runs as with the full one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fabriloom import routing
from fabriloom.compile import LinkRoutes, networks
from fabriloom.compile import compile as compiled
from fabriloom.compile.newest import Newest
from fabriloom.routing import lanes as by_lanes
from fabriloom.routing import native
from fabriloom.scenario import Scenario
from fabriloom.simulate import run

TORUS = {"kind": "torus", "shape": [4, 5], "terminals_per_switch": 3}
DRAGONFLY = {"kind": "dragonfly", "switches_per_group": 4, "global_links": 2, "terminals_per_switch": 2}
CASES: list[tuple[dict[str, Any], int, dict[str, Any]]] = [
    (TORUS, 2, {"kind": "dimension-order", "variant": "minimal", "lane_choice": "dateline"}),
    (TORUS, 2, {"kind": "dimension-order", "variant": "minimal", "lane_choice": "wide-dateline"}),
    (TORUS, 2, {"kind": "dimension-order", "variant": "minimal", "lane_choice": "kept-dateline"}),
    (TORUS, 3, {"kind": "dimension-order", "variant": "minimal", "lane_choice": "escape"}),
    (TORUS, 2, {"kind": "shortest-path", "lane_choice": "destination"}),
    (TORUS, 4, {"kind": "valiant"}),
    (DRAGONFLY, 2, {"kind": "hops"}),
    (DRAGONFLY, 4, {"kind": "ugal"}),
    (DRAGONFLY, 2, {"kind": "minimal-layers"}),
    ({"kind": "fat_tree", "arity": 4, "levels": 3}, 1, {"kind": "up-down"}),
    ({"kind": "fat_tree", "arity": 4, "levels": 3}, 1, {"kind": "up-down", "universal": True}),
    ({"kind": "clos", "terminals": 32, "switch_ports": 8}, 1, {"kind": "up-star-down-star"}),
]


def scenario(topology: dict[str, Any], lanes: int, rule: dict[str, Any], **more: Any) -> Scenario:
    """Return a scenario of short packets."""
    return Scenario.from_dict(
        {
            "topology": topology,
            "technology": {"preset": "generic", "lanes": lanes, "input_buffer_flits": 32, **more},
            "routing": rule,
            "traffic": {"length": "16 B", "load": 0.4},
            "run": {"duration": "5 us"},
        }
    )


@pytest.mark.parametrize("more", [{}, {"switching": "virtual-cut-through", "lane_sharing": "packet"}])
@pytest.mark.parametrize(("topology", "lanes", "rule"), CASES)
def test_shared_columns_change_nothing(
    topology: dict[str, Any],
    lanes: int,
    rule: dict[str, Any],
    more: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tables by lanes, cycles, loads and all results are those of full tables."""
    one = scenario(topology, lanes, rule, **more)
    full = compiled(one)
    monkeypatch.setattr(native, "SHARED_ABOVE", 0)
    monkeypatch.setattr(networks, "_known", Newest(1))
    shared = compiled(one)
    routes = full.routes, shared.routes
    assert isinstance(routes[0], LinkRoutes)
    assert isinstance(routes[1], LinkRoutes)
    tables = routes[0].table, routes[1].table
    assert tables[0].shared is None
    assert tables[1].shared is not None
    assert tables[1].rows.size < tables[0].rows.size
    for name in ("group_switch", "group_start", "group_links", "terminal_class", "via_class", "layer"):
        assert np.array_equal(getattr(tables[0], name), getattr(tables[1].full(), name)), name
    for own, other in (
        [table.full() for table in tables],
        (routes[0].lane_table, routes[1].lane_table),
    ):
        assert np.array_equal(own.route, other.route)
        assert np.array_equal(own.group_links, other.group_links)
        assert np.array_equal(own.group_start, other.group_start)
    assert full.cycle == shared.cycle
    loads = [routing.channel_loads(full.graph, table) for table in tables]
    assert np.array_equal(loads[0], loads[1])
    found = [run(case).native for case in (full, shared)]
    np.testing.assert_equal(found[0], found[1])


def test_many_keys_are_numbered_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorted keys have the places of marked ones."""
    keys = [np.array([7, 3, 3]), np.array([9, 0, 7])]
    few = by_lanes._numbered(keys, 10)
    monkeypatch.setattr(by_lanes, "_MOST_MARKED", 5)
    many = by_lanes._numbered(keys, 10)
    assert few[0].tolist() == many[0].tolist() == [0, 3, 7, 9]
    assert [one.tolist() for one in few[1]] == [one.tolist() for one in many[1]]
