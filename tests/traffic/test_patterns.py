"""Who sends to whom.

In networks of rings: roles, partners, arrivals in step, sources without a queue.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import fabriloom
import numpy as np
import pytest
from fabriloom import topology
from fabriloom.codes import ARRIVAL, LENGTH, TARGET
from fabriloom.scenario import Scenario
from fabriloom.technology import ring_technology, technology
from fabriloom.topology import Graph
from fabriloom.traffic import TrafficError, demand, kinds, pairs
from fabriloom.traffic.kinds import NO_QUEUE
from hypothesis import given
from hypothesis import strategies as st

from .common import GRAIN_PS, LINK, build, grid


def partners(graph: Graph, pattern: Any) -> list[int]:
    """Destination of each terminal, -1 for silent ones."""
    columns = build(graph, pattern)
    silent = columns["source_arrival"] == ARRIVAL.SILENT
    assert np.all(columns["source_target"] == TARGET.FIXED)
    return np.where(silent, -1, columns["target_fixed"].astype(np.int64)).tolist()


def named(graph: Graph, pattern: Any) -> dict[str, str]:
    """The same by name, without the silent ones."""
    names = graph.terminal_names
    return {names[i]: names[j] for i, j in enumerate(partners(graph, pattern)) if j >= 0}


def test_by_number() -> None:
    crossbar = topology.build("crossbar", terminals=8)
    assert partners(crossbar, {"kind": "shift", "by": 3}) == [3, 4, 5, 6, 7, 0, 1, 2]
    assert partners(crossbar, {"kind": "shift", "by": -1}) == [7, 0, 1, 2, 3, 4, 5, 6]
    assert partners(crossbar, "bit-complement") == [7, 6, 5, 4, 3, 2, 1, 0]
    assert partners(crossbar, "shuffle") == [-1, 2, 4, 6, 1, 3, 5, -1]
    assert partners(crossbar, "tornado") == [3, 4, 5, 6, 7, 0, 1, 2]
    assert partners(crossbar, "bit-reverse") == [-1, 4, -1, 6, 1, -1, 3, -1]
    assert partners(crossbar, "point-mirror") == [7, 6, 5, 4, 3, 2, 1, 0]
    assert partners(topology.build("crossbar", terminals=4), "transpose") == [-1, 2, 1, -1]
    assert partners(topology.build("crossbar", terminals=3), "point-mirror") == [2, -1, 0]


def test_by_place() -> None:
    graph = grid(2, 3, terminals=2)
    assert named(graph, "point-mirror")["t(0,0).1"] == "t(1,2).1"
    assert named(graph, "point-mirror")["t(0,1).0"] == "t(1,1).0"
    assert named(graph, {"kind": "axis-mirror", "axis": 0})["t(0,2).1"] == "t(1,2).1"
    flipped = named(graph, {"kind": "axis-mirror", "axis": 1})
    assert flipped["t(0,2).1"] == "t(0,0).1"
    assert flipped["t(1,1).0"] == "t(1,1).1", "the middle column is its own image: first and last are paired"
    square = named(grid(3, 3, terminals=2), "transpose")
    assert square["t(0,2).1"] == "t(2,0).1"
    assert "t(1,1).0" not in square


def test_tornado_goes_nearly_half_way_round_every_dimension() -> None:
    targets = named(grid(8, 5, terminals=2), "tornado")
    assert (targets["t(0,0).1"], targets["t(6,4).0"]) == ("t(3,2).1", "t(1,1).0")
    assert named(grid(4, 2), "tornado")["t(1,1).0"] == "t(2,1).0", "a dimension of 2 has no way to go"


@pytest.mark.parametrize("shape", [(4, 4), (8, 8), (2, 3, 4), (5, 2)])
@pytest.mark.parametrize("pattern", ["point-mirror", {"kind": "axis-mirror", "axis": 1}, "nearest-neighbour"])
def test_pairs_are_mutual(shape: tuple[int, ...], pattern: Any) -> None:
    target = np.array(partners(grid(*shape, terminals=4, links=2), pattern))
    sending = np.flatnonzero(target >= 0)
    assert len(sending)
    assert np.all(target[target[sending]] == sending)
    assert np.all(target[sending] != sending)


def test_nearest_neighbours_fill_every_link_of_the_macrame_grid() -> None:
    """4 x 4 switches, 16 terminals each, 4 links per edge: all 256 terminals and all 192 links are used."""
    graph = grid(4, 4, terminals=16, links=4)
    target = np.array(partners(graph, "nearest-neighbour"))
    assert np.all(target >= 0)
    home = kinds.homes(graph)
    used = Counter(zip(home.tolist(), home[target].tolist(), strict=True))
    edges = {
        (int(a), int(b))
        for a, b in zip(graph.link_source, graph.link_target, strict=True)
        if a < graph.switches and b < graph.switches
    }
    assert set(used) == edges
    assert min(used.values()) >= 4


def test_nearest_neighbours_without_neighbouring_terminals() -> None:
    clos = topology.build("clos", terminals=64)
    target = np.array(partners(clos, "nearest-neighbour"))
    home = kinds.homes(clos)
    assert np.all(target[target] == np.arange(64))
    assert np.all(home[target] == home ^ 1)
    crossbar = topology.build("crossbar", terminals=5)
    assert partners(crossbar, "nearest-neighbour") == [2, 3, 0, 1, -1]


@given(st.integers(2, 300), st.integers(0, 2**63 - 1))
def test_random_permutations(terminals: int, seed: int) -> None:
    target = pairs.random(terminals, seed)
    assert sorted(target.tolist()) == list(range(terminals))
    assert np.all(target != np.arange(terminals))


def test_random_permutation_is_the_same_everywhere() -> None:
    assert pairs.random(8, 1).tolist() == RANDOM_8
    crossbar = topology.build("crossbar", terminals=8)
    assert partners(crossbar, {"kind": "permutation", "random": True}) == RANDOM_8
    assert partners(crossbar, {"kind": "permutation", "random": True, "seed": 2}) != RANDOM_8


RANDOM_8 = [6, 5, 4, 1, 3, 2, 7, 0]


def test_given_permutation() -> None:
    crossbar = topology.build("crossbar", terminals=4)
    names = crossbar.terminal_names
    assert partners(crossbar, {"kind": "permutation", "map": [1, names[0], "3", 2]}) == [1, 0, 3, 2]
    assert partners(crossbar, {"kind": "permutation", "map": [1, 0, 2, 3]}) == [1, 0, -1, -1]
    some = build(crossbar, {"kind": "map", "map": [0, 2]}, senders=[3, 1])
    assert some["target_fixed"][[3, 1]].tolist() == [0, 2]
    assert (some["source_arrival"] != ARRIVAL.SILENT).tolist() == [False, True, False, True]


def test_hot_spot() -> None:
    graph = grid(2, 2)
    columns = build(graph, {"kind": "hot-spot", "target": "t(1,0).0", "share": 0.3})
    assert columns["source_target"].tolist() == [
        TARGET.HOT_SPOT,
        TARGET.HOT_SPOT,
        TARGET.UNIFORM,
        TARGET.HOT_SPOT,
    ]
    assert columns["target_fixed"].tolist() == [2] * 4
    assert columns["target_share"].tolist() == [0.3] * 4


def test_senders() -> None:
    columns = build(grid(2, 2), senders=["t(0,1).0", 3])
    assert columns["source_arrival"].tolist() == [0, 3, 0, 3]
    assert columns["source_interval_grains"][0] == 0


@pytest.mark.parametrize(
    ("pattern", "parameter"),
    [
        ({"kind": "shift", "by": 12}, "pattern.by"),
        ("transpose", "pattern"),
        ("bit-reverse", "pattern"),
        ({"kind": "axis-mirror", "axis": 2}, "pattern.axis"),
        ({"kind": "hot-spot", "target": 6, "share": 0.5}, "pattern.target"),
        ({"kind": "permutation", "map": [0]}, "pattern.map"),
        ({"kind": "permutation", "map": [1, 0, 3, 2, 5, 9]}, "pattern.map.5"),
        ({"kind": "permutation", "map": [1, 0, 3, 2, 5, 5]}, "pattern.map.5"),
    ],
)
def test_refused(pattern: Any, parameter: str) -> None:
    with pytest.raises(TrafficError) as caught:
        build(grid(2, 3), pattern)
    assert caught.value.parameter == parameter
    assert caught.value.hint


def test_large_networks_take_little_time() -> None:
    graph = grid(32, 32, terminals=16, links=4)
    build(graph)
    for pattern in ("uniform", "point-mirror", "nearest-neighbour", {"kind": "permutation", "random": True}):
        began = time.process_time()
        build(graph, pattern)
        assert time.process_time() - began < 2


PACKET_GRAINS = LINK.packet_ps(64) / GRAIN_PS


def test_fixed_uniform_and_given_lengths() -> None:
    graph = grid(2, 2)
    fixed = build(graph)
    assert (fixed["source_length"][0], fixed["length_min"][0], fixed["length_max"][0]) == (
        LENGTH.FIXED,
        64,
        64,
    )
    spread = build(graph, length={"kind": "uniform", "min_bytes": 10, "max_bytes": 20})
    assert (spread["source_length"][0], spread["length_min"][0], spread["length_max"][0]) == (
        LENGTH.UNIFORM,
        10,
        20,
    )
    given = {"kind": "table", "lengths_bytes": [8, 16, 32, 64], "weights": [1, 0, 2, 1]}
    table = build(graph, length=given)
    assert table["source_length"][0] == LENGTH.TABLE
    assert table["length_values"].tolist() == [8, 32, 64]
    assert table["length_cumulative"].tolist() == [0.25, 0.75, 1.0]


def test_load_is_a_fraction_of_packets_back_to_back() -> None:
    graph = grid(2, 2)
    for kind in ("poisson", "constant"):
        columns = build(graph, load=0.25, arrivals={"kind": kind})
        assert columns["source_interval_grains"] == pytest.approx(4 * PACKET_GRAINS)
    for kind in ("wait", "random-wait"):
        columns = build(graph, load=0.25, arrivals={"kind": kind})
        assert columns["source_interval_grains"] == pytest.approx(3 * PACKET_GRAINS)
    assert build(graph, load=1.0, arrivals={"kind": "wait"})["source_interval_grains"].tolist() == [0] * 4
    explicit = build(graph, load=None, arrivals={"kind": "wait", "wait_ps": 2_000_000})
    assert explicit["source_interval_grains"].tolist() == [2000] * 4


def test_mean_length_decides() -> None:
    given = {"kind": "table", "lengths_bytes": [32, 96], "weights": None}
    assert build(grid(2, 2), length=given)["source_interval_grains"] == pytest.approx(2 * PACKET_GRAINS)


def test_bursts_have_the_load() -> None:
    columns = build(grid(2, 2), load=0.2, arrivals={"kind": "on-off", "burst_packets": 8, "on_load": 0.8})
    names = ("burst", "interval_grains", "gap_grains")
    burst, interval, gap = (columns[f"source_{name}"][0] for name in names)
    assert burst == 8
    assert interval == pytest.approx(PACKET_GRAINS / 0.8)
    assert burst * PACKET_GRAINS / (burst * interval + gap) == pytest.approx(0.2)
    with pytest.raises(TrafficError, match="above the on_load"):
        build(grid(2, 2), load=0.9, arrivals={"kind": "on-off", "burst_packets": 8, "on_load": 0.8})


def test_header_to_an_intermediate_counts() -> None:
    ticks = build(grid(2, 2), load=1.0, via=True)["source_interval_grains"][0]
    assert ticks == pytest.approx(LINK.packet_ps(64, via=True) / GRAIN_PS)


def test_load_follows_the_rate_of_each_terminal() -> None:
    graph = grid(2, 2)
    rates = np.full(graph.links, np.nan)
    rates[graph.terminal_out_links[2]] = 50e6
    graph.attributes["rate_bits_per_s"] = rates
    interval = build(graph, load=1.0)["source_interval_grains"]
    assert interval.tolist() == pytest.approx(
        [PACKET_GRAINS, PACKET_GRAINS, 2 * PACKET_GRAINS, PACKET_GRAINS]
    )


def test_flits() -> None:
    """A packet of L flits is L - 1 characters and the end of packet, L cycles in all."""
    flits = technology("generic")
    columns = build(grid(2, 2), technology=flits, length={"kind": "fixed", "value_bytes": 40}, load=1.0)
    assert columns["length_min"].tolist() == [40] * 4
    assert columns["source_interval_grains"] == pytest.approx(5 * flits.character_ps() / GRAIN_PS)


@pytest.mark.parametrize("load", [0, -0.5, 1.5, None])
def test_refused_loads(load: Any) -> None:
    with pytest.raises(TrafficError) as caught:
        build(grid(2, 2), load=load)
    assert caught.value.parameter == "load"


@pytest.mark.parametrize(
    "arrivals",
    [
        {"kind": "poisson"},
        {"kind": "constant"},
        {"kind": "wait"},
        {"kind": "random-wait"},
        {"kind": "on-off", "burst_packets": 4, "on_load": 1},
    ],
    ids=lambda a: a["kind"],
)
def test_engine_offers_the_load(arrivals: dict[str, Any]) -> None:
    """Pairs on one switch never wait for each other, so all that is offered is accepted."""
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": 16},
            "traffic": {"pattern": {"kind": "shift", "by": 1}, "arrivals": arrivals, "load": 0.4},
            "run": {"duration": "5 ms", "warmup": "200 us", "precision": 0},
        }
    )
    summary = fabriloom.run(scenario).summary
    full = 16 * LINK.payload_bytes_per_s(64) / 1e6
    assert summary["accepted_mbytes_per_s"] / full == pytest.approx(0.4, rel=0.05)


RING = ring_technology("scinet")
RING_GRAINS = RING.packet_ps(64) / GRAIN_PS


def banyan(wiring: str = "ringlet") -> Graph:
    """Four senders and four receivers."""
    return topology.build("sci-banyan", terminals=4, wiring=wiring)


def columns(graph: Graph, pattern: Any = "uniform", **settings: Any) -> dict[str, Any]:
    """Columns with the technology of rings."""
    return build(graph, pattern, technology=RING, **settings)


def row(found: dict[str, Any], terminal: int) -> dict[int, float]:
    """Shares of a sender's packets by destination."""
    start, end = found["weight_start"][terminal : terminal + 2]
    share = np.diff(found["weight_cumulative"][start:end], prepend=0.0)
    return dict(zip(found["weight_target"][start:end].tolist(), share.tolist(), strict=True))


def test_senders_send_and_receivers_do_not() -> None:
    graph = banyan()
    found = columns(graph)
    assert (found["source_arrival"] != ARRIVAL.SILENT).tolist() == [True] * 4 + [False] * 4
    assert found["source_target"].tolist() == [TARGET.WEIGHTED] * 8
    for sender in range(4):
        assert row(found, sender) == pytest.approx(dict.fromkeys(range(4, 8), 0.25))


def test_a_ring_where_all_do_both_needs_no_table() -> None:
    found = columns(topology.build("sci-ring", terminals=5))
    assert found["source_target"].tolist() == [TARGET.UNIFORM] * 5
    assert len(found["weight_target"]) == 0
    assert demand(found).even.tolist() == [1] * 5
    assert len(demand(found).source) == 0


@pytest.mark.parametrize("wiring", ["ringlet", "long-ring"])
def test_all_local_traffic_is_pairs(wiring: str) -> None:
    """Both wirings have the same partners, so that they can be compared."""
    graph = banyan(wiring)
    assert graph.rings is not None
    found = columns(graph, {"kind": "local", "share": 1.0})
    assert found["source_target"].tolist() == [TARGET.FIXED] * 8
    assert found["target_fixed"][:4].tolist() == graph.rings.partner[:4].tolist()
    assert found["target_fixed"][:4].tolist() == banyan("ringlet").rings.partner[:4].tolist()  # type: ignore[union-attr]


def test_a_share_is_local_and_the_rest_goes_to_the_others() -> None:
    graph = banyan()
    assert graph.rings is not None
    found = columns(graph, {"kind": "local", "share": 0.7})
    for sender in range(4):
        shares = row(found, sender)
        assert shares.pop(int(graph.rings.partner[sender])) == pytest.approx(0.7)
        assert list(shares.values()) == pytest.approx([0.1] * 3)
    nothing = columns(graph, {"kind": "local", "share": 0.0})
    assert int(graph.rings.partner[0]) not in row(nothing, 0)
    assert sum(row(nothing, 0).values()) == pytest.approx(1.0)


def test_partners_of_ones_own() -> None:
    given = {"kind": "local", "share": 0.5, "map": ["M3", "M2", "M1", "M0"]}
    assert row(columns(banyan(), given), 0)[7] == pytest.approx(0.5)
    chance = {"kind": "local", "share": 1.0, "random": True}
    targets = [columns(banyan(), chance, seed=seed)["target_fixed"][:4].tolist() for seed in range(8)]
    assert all(sorted(target) == [4, 5, 6, 7] for target in targets)
    assert len({tuple(target) for target in targets}) > 1


def test_local_traffic_in_other_networks_needs_partners() -> None:
    pattern = {"kind": "local", "share": 0.5, "map": [1, 0, 3, 2]}
    assert row(build(grid(2, 2), pattern), 0) == pytest.approx({1: 0.5, 2: 0.25, 3: 0.25})
    with pytest.raises(TrafficError, match="no local pairs"):
        build(grid(2, 2), {"kind": "local", "share": 0.5})


def test_maps_and_shifts_lead_from_senders_to_receivers() -> None:
    graph = banyan()
    shifted = columns(graph, {"kind": "shift", "by": 1})
    assert shifted["target_fixed"][:4].tolist() == [5, 6, 7, 4]
    mapped = columns(graph, {"kind": "permutation", "map": ["M1", "M0", "M3", "M2"]})
    assert mapped["target_fixed"][:4].tolist() == [5, 4, 7, 6]
    hot = columns(graph, {"kind": "hot-spot", "target": "M0", "share": 0.4})
    assert row(hot, 1) == pytest.approx({4: 0.4, 5: 0.2, 6: 0.2, 7: 0.2})


def test_only_senders_may_be_named_as_senders() -> None:
    found = columns(banyan(), senders=["P0", "P2"])
    assert np.flatnonzero(found["source_arrival"]).tolist() == [0, 2]
    assert row(found, 1) == {}


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("transpose", "every terminal sends and receives"),
        ("nearest-neighbour", "every terminal sends and receives"),
        ({"kind": "hot-spot", "target": "P0", "share": 0.5}, "only sends"),
        ({"kind": "permutation", "map": ["M0"]}, "1 targets for 4 senders"),
        ({"kind": "permutation", "map": ["M0", "M1", "M2", "P3"]}, "only sends"),
        ({"kind": "permutation", "map": ["M0", "M1", "M2", "M2"]}, "a target twice"),
    ],
)
def test_patterns_that_do_not_suit(pattern: Any, words: str) -> None:
    with pytest.raises(TrafficError, match=words):
        columns(banyan(), pattern)


def test_a_load_of_one_is_requests_back_to_back() -> None:
    ring = topology.build("sci-ring", terminals=3)
    for kind in ("poisson", "constant", "together"):
        found = columns(ring, load=0.5, arrivals={"kind": kind})
        assert found["source_interval_grains"] == pytest.approx(2 * RING_GRAINS)
    reading = RING.carrying("nread")
    found = build(ring, technology=reading, load=1.0)
    assert found["source_interval_grains"] * GRAIN_PS == pytest.approx(reading.packet_ps(64))
    assert reading.packet_ps(64) < RING.packet_ps(64)


def test_a_slower_ring_has_a_longer_interval() -> None:
    """User ports of the D515 run at 400 MB/s: a symbol takes 5 ns instead of 4."""
    found = columns(topology.build("sci-module"), load=1.0)
    assert found["source_interval_grains"] * GRAIN_PS == pytest.approx(RING.packet_ps(64) * 5 / 4)


def test_in_step_and_without_a_queue() -> None:
    found = columns(banyan(), arrivals={"kind": "together"}, source_queue="none")
    assert found["source_arrival"][:4].tolist() == [ARRIVAL.TOGETHER] * 4
    assert found["source_queue"].tolist() == [NO_QUEUE] * 8
    assert columns(banyan(), source_queue=2**31)["source_queue"][0] == 2**31


def test_sizes_that_packets_have() -> None:
    ring = topology.build("sci-ring", terminals=3)
    table = {"kind": "table", "lengths_bytes": [16, 64, 256], "weights": None}
    assert columns(ring, length=table)["length_values"].tolist() == [16, 64, 256]
    for size in (0, 1, 32, 63, 128, 512):
        with pytest.raises(TrafficError, match="no packet with"):
            columns(ring, length={"kind": "fixed", "value_bytes": size})
    with pytest.raises(TrafficError, match="between these two"):
        columns(ring, length={"kind": "uniform", "min_bytes": 16, "max_bytes": 64})
    same = {"kind": "uniform", "min_bytes": 64, "max_bytes": 64}
    assert columns(ring, length=same)["length_max"].tolist() == [64] * 3


def test_partners_on_rings_of_names_follow_from_the_roles() -> None:
    roles = {"a": "sender", "b": "receiver", "c": "receiver", "d": "sender"}
    given = {"rings": {"r": ["a", "s", "b"], "q": ["c", "s", "d"]}, "switches": ["s"]}
    graph = topology.build("sci-rings", **given, roles=roles)
    found = columns(graph, {"kind": "local", "share": 1.0})
    number = {name: place for place, name in enumerate(graph.terminal_names)}
    assert found["target_fixed"][number["a"]] == number["b"]
    assert found["target_fixed"][number["d"]] == number["c"]
    both = topology.build("sci-rings", **given)
    assert columns(both, {"kind": "local", "share": 1.0})["target_fixed"].tolist() == [1, 0, 3, 2]
    with pytest.raises(TrafficError, match='"c" has no partner on its ring'):
        columns(topology.build("sci-rings", **given, roles=roles | {"c": "sender"}), {"kind": "local"})
