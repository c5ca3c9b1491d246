"""Traffic in networks of rings: roles, partners, arrivals in step, sources without a queue."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fabriloom import topology
from fabriloom.codes import ARRIVAL, TARGET
from fabriloom.technology import ring_technology
from fabriloom.topology import Graph
from fabriloom.traffic import TrafficError, demand
from fabriloom.traffic.kinds import NO_QUEUE

from .common import GRAIN_PS, build, grid

RING = ring_technology("scinet")
PACKET_GRAINS = RING.packet_ps(64) / GRAIN_PS


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
        assert found["source_interval_grains"] == pytest.approx(2 * PACKET_GRAINS)
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
