"""Guaranteed delays: by hand, never exceeded, made of parts that add up, and refused where there are none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fabriloom import simulate
from fabriloom.bounds import Bounds, bound
from fabriloom.routing import RoutingError
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.technology import TechnologyError
from fabriloom.topology import GraphError

from tests.twin import drawing

Table = dict[str, Any]

SPACEWIRE: Table = {"preset": "spacewire-200", "flow_control": "ignored"}


def scenario(flows: list[Table], terminals: int = 3, **more: Any) -> Scenario:
    """Flows over one switch of SpaceWire at 200 Mbit/s: a character takes 50 ns."""
    return Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": terminals},
            "technology": SPACEWIRE,
            "traffic": {"pattern": {"kind": "flows", "flows": flows}},
            "run": {"duration": "1 ms", "warmup": "0 ns", "precision": 0},
            **more,
        }
    )


def flow(source: int, target: int, size_bytes: int) -> Table:
    return {"source": source, "target": target, "length": f"{size_bytes} B", "period": "100 us"}


def bounds_ns(found: Bounds) -> dict[tuple[str, str], float]:
    return {(row["source"], row["target"]): row["bound_ns"] for row in found.table.iter_rows(named=True)}


def test_a_flow_waits_for_one_packet_of_each_other_input() -> None:
    """By hand: a third flow to the same terminal adds its service, S = o + n c + the delays of its way, and
    nothing else."""
    two, three = (
        bound(scenario([flow(0, 3, 500), flow(1, 3, 300), flow(2, 3, 200)][:count], 4)) for count in (2, 3)
    )
    first, second = (found.flow("t.0", "t.3") for found in (two, three))
    into = two.worst.hops[first][two.worst.network.out_link[0]][0]
    added = three.worst.service[into, three.worst.alike[three.flow("t.2", "t.3")]]
    assert three.worst.delay(second) == two.worst.delay(first) + added
    character_ticks = 50_000 // three.compiled.tick_ps
    once = three.worst.network.costs.once
    way = [three.worst.network.out_link[2], into]
    assert added == int(once[into]) + 202 * character_ticks + sum(int(once[link]) for link in way)


def test_flows_to_other_terminals_do_not_count() -> None:
    alone = bounds_ns(bound(scenario([flow(0, 2, 500)], 4)))
    beside = bounds_ns(bound(scenario([flow(0, 2, 500), flow(1, 3, 900)], 4)))
    assert beside["t.0", "t.2"] == alone["t.0", "t.2"]


def test_a_packet_that_meets_nobody_comes_near_its_bound() -> None:
    """Only the packet of its own flow before it is left, of which the buffers hold the end."""
    found = bound(scenario([flow(0, 1, 2000)]), tries=20)
    assert found.table["found_share"][0] > 0.9


def drawn(seed: int) -> Bounds | None:
    """A random network with sources for which there is a bound."""
    written = drawing.links(seed)
    if "traffic" not in written:
        return None
    written |= {"run": {"duration": "200 us", "warmup": "0 ns", "precision": 0}, "output": {"flows": True}}
    written["technology"].pop("arbiter", None)
    written["routing"].pop("universal", None)
    try:
        return bound(Scenario.from_dict(written), tries=3)
    except (ScenarioError, GraphError, RoutingError, TechnologyError):
        return None


@pytest.mark.seeds
def test_no_run_exceeds_its_bound(seeds: Callable[[int], Iterator[int]]) -> None:
    compared = 0
    for seed in seeds(25):
        found = drawn(seed)
        if found is None:
            continue
        compared += 1
        limits = bounds_ns(found)
        for row in simulate.run(found.compiled).flows.iter_rows(named=True):
            pair = row["source"], row["target"]
            assert row["latency_ns_max"] <= limits[pair], f"seed {seed}: {pair}"
        shares = found.table["found_share"].drop_nulls()
        assert (shares <= 1).all(), f"seed {seed}"
    print(f"{compared} networks")
    assert compared > 10


@pytest.mark.parametrize("seed", range(8))
def test_the_parts_add_up(seed: int) -> None:
    found = drawn(1000 + seed)
    if found is None:
        pytest.skip("no bound for this network")
    for number in found.order()[:20]:
        parts = found.blocking(number, 3)
        assert sum(part.ticks for part in parts) == found.worst.delay(number)
        for part in parts:
            assert not part.parts or sum(inner.ticks for inner in part.parts) == part.ticks


def test_ports_of_one_terminal_have_bounds_of_their_own(tmp_path: Path) -> None:
    """Two flows share a link and part before two ports, of which a third one uses the first."""
    lines = ["kind,source,target,parallel", "switch,r1,,", "switch,r2,,", "terminal,a,r1,", "terminal,b,r1,"]
    lines += ["terminal,c,r2,", "terminal,mem,r2,2", "cable,r1,r2,"]
    (tmp_path / "net.csv").write_text("\n".join(lines) + "\n")
    flows = [flow(0, 3, 64), flow(1, 3, 64), flow(2, 3, 2000)]
    written = {
        "topology": {"kind": "file", "path": "net.csv"},
        "technology": SPACEWIRE,
        "ports": {"choice": "destination"},
        "traffic": {"pattern": {"kind": "flows", "flows": flows}},
    }
    found = bound(Scenario.from_dict(written, tmp_path), tries=20)
    assert found.worst.flows[0].ports == (0, 3) != found.worst.flows[1].ports
    assert found.worst.delay(0) > found.worst.delay(1)
    assert (found.table["found_share"] <= 1).all()


RING = {"topology": {"kind": "sci-ring", "terminals": 4}, "technology": {"preset": "sci-lc2"}}
TORUS = {
    "topology": {"kind": "torus", "shape": [5]},
    "routing": {"kind": "dimension-order", "variant": "minimal"},
}
SHAPED = {
    "kind": "flows",
    "flows": [{"source": 0, "target": 1, "length": "64 B", "period": "1 ms", "shaper_rate": "10 Mbit/s"}],
}
REFUSED: dict[str, tuple[Table, str]] = {
    "rings": (RING | {"traffic": {}}, "on rings there is a bound only if all packets are of flows"),
    "shapers on rings": (
        RING | {"traffic": {"pattern": SHAPED}},
        "on rings there is no bound for flows with a",
    ),
    "programs": (
        {"traffic": None, "program": {"kind": "ping-pong", "size": "8 B"}},
        "there is no bound for programs",
    ),
    "time-slots": (
        {"technology": {"preset": "generic", "lanes": 1, "lane_slots": ["0-15"], "lane_slot_cycles": 1000}},
        "there is no bound for links with time-slots",
    ),
    "fixed": (
        {"technology": SPACEWIRE | {"arbiter": "fixed"}},
        'with arbiter "fixed" a packet can wait without end',
    ),
    "cycle": (TORUS | {"traffic": {"pattern": "uniform"}}, "can wait for each other in a cycle"),
    "universal": (
        {"topology": {"kind": "clos", "terminals": 32}, "routing": {"universal": True}, "traffic": {}},
        "with universal routing every flow may pass every switch",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_where_there_is_no_bound_the_message_says_why(name: str) -> None:
    changed, words = REFUSED[name]
    base = {"topology": {"kind": "crossbar", "terminals": 3}, "technology": SPACEWIRE, "traffic": {}}
    written = {key: value for key, value in (base | changed).items() if value is not None}
    with pytest.raises(ScenarioError, match=words):
        bound(Scenario.from_dict(written))


def test_a_run_has_the_bound_beside_the_longest_delay() -> None:
    found = scenario([flow(0, 3, 500), flow(1, 3, 300)], 4, output={"flows": True})
    table = simulate.run(found).flows
    limits = bound(found).pairs_ns()
    assert {(row["source"], row["target"]): row["bound_ns"] for row in table.iter_rows(named=True)} == limits
    assert (table["latency_ns_max"] <= table["bound_ns"]).all()


def test_a_long_path_has_a_bound() -> None:
    one = flow(0, 999, 2000)
    found = bound(scenario([one], topology={"kind": "grid", "shape": [1000]}))
    assert found.most(0) is not None


def test_paths_that_part_and_join_many_times_are_followed_once() -> None:
    # A packet longer than the buffers of all 20 switches: 184,756 paths lead from one corner to the other.
    one = {"source": 0, "target": 120, "length": "800 B", "period": "10 us"}
    found = bound(
        scenario(
            [one],
            topology={"kind": "grid", "shape": [11, 11]},
            routing={"kind": "shortest-path"},
            technology={"preset": "generic", "input_buffer_flits": 2},
        )
    )
    assert found.most(0) is not None
