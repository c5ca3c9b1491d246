"""Bounds on rings: by hand, why there is none, and never exceeded by random rings, alone and joined."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from fabriloom import simulate
from fabriloom.bounds import bound
from fabriloom.scenario import Scenario, ScenarioError

Table = dict[str, Any]


def scenario(flows: list[Table], transaction: str = "nwrite", **more: Any) -> Scenario:
    return Scenario.from_dict(
        {
            "topology": {"kind": "sci-ring", "terminals": 4},
            "technology": {"preset": "sci-1000"},
            "traffic": {"pattern": {"kind": "flows", "flows": flows}, "transaction": transaction},
            "run": {"duration": "400 us", "warmup": "0 ns", "precision": 0},
            **more,
        }
    )


def flow(source: int, target: int, period: str = "100 us", **more: Any) -> Table:
    common = {"length": "64 B", "requirement": "1 s"}
    return {**common, "source": source, "target": target, "period": period, **more}


def bounds_ns(one: Scenario) -> list[float]:
    return [promise.bound_ns or 0.0 for promise in bound(one).promises]


def latest_ns(one: Scenario) -> list[float]:
    return simulate.run(one).requirements["total_latency_ns_max"].to_list()


@pytest.mark.parametrize(
    ("transaction", "forwarding", "more_ns"),
    [
        ("dmove", "cut-through", 0),
        ("dmove", "store-and-forward", 0),
        ("nwrite", "cut-through", 0),
        ("nwrite", "store-and-forward", 0),
        ("nread", "cut-through", 5 * 2),
    ],
)
def test_a_packet_alone_takes_its_bound(transaction: str, forwarding: str, more_ns: int) -> None:
    """The answer of a read may meet the echo of its own request, of 5 symbols of 2 ns, and does not here."""
    technology = {"preset": "sci-1000", "forwarding": forwarding, "bandwidth_allocation": False}
    alone = scenario([flow(0, 2)], transaction, technology=technology)
    assert bounds_ns(alone) == [latest_ns(alone)[0] + more_ns]


def test_another_packet_costs_its_time_on_the_link_and_its_place_in_front() -> None:
    """By hand, with symbols of 2 ns: the station that is passed may have begun 41 of its own; the memory may
    have another 64 B to store, in 40 ns."""
    technology = {"preset": "sci-1000", "bandwidth_allocation": False}
    [alone] = bounds_ns(scenario([flow(0, 2)], "dmove", technology=technology))
    together = bounds_ns(scenario([flow(0, 2), flow(1, 2)], "dmove", technology=technology))
    # On the link of 0 is the echo of the other, of 5 symbols.
    assert together[0] == alone + 5 * 2 + 41 * 2 + 40


def test_the_parts_of_a_bound_are_all_of_it() -> None:
    found = bound(scenario([flow(0, 2), flow(1, 2), flow(3, 1)]))
    for promise in found.promises:
        parts = found.blocked(promise).lines
        assert sum(line.time_ns for line in parts) == pytest.approx(promise.bound_ns)
        assert parts[-1].words == "delays of its way"


def test_go_bits_add_the_way_of_a_go_round_the_ring() -> None:
    """By hand: a change passes four links, two symbols late: 2 x 2 + 2 + 5 ns, and 20 in the station."""
    flows = [flow(0, 2)]
    without = scenario(flows, technology={"preset": "sci-1000", "bandwidth_allocation": False})
    # Only the request waits for one: the data are stored before there is a response.
    assert bounds_ns(scenario(flows))[0] == bounds_ns(without)[0] + 4 * (4 + 2 + 5 + 20)


def test_without_places_or_time_there_is_none_and_the_reason_is_told() -> None:
    many = [flow(source, 3) for source in (0, 1, 2)]
    few = {"preset": "sci-1000", "requests_in": 2}
    with pytest.raises(ScenarioError, match=r"3 packets could need the requests_in .* of which there are 2"):
        bound(scenario(many, technology=few))
    with pytest.raises(ScenarioError, match="its periods count grow without end"):
        bound(scenario([flow(source, 3, "300 ns") for source in (0, 1, 2)]))
    with pytest.raises(ScenarioError, match="only if all packets are of flows with periods"):
        bound(scenario([{"source": 0, "target": 3, "length": "64 B", "rate": "1 MB/s"}]))
    for preset, more in (("rpr-10g", {}), ("noc-ring", {"slot": "120 B"})):
        with pytest.raises(ScenarioError, match="of insertion rings with echoes"):
            bound(scenario([flow(0, 3)], "dmove", technology={"preset": preset, **more}))
    with pytest.raises(ScenarioError, match="late lets nobody send"):
        bound(scenario([flow(0, 3)], "dmove", technology={"preset": "fddi"}))
    with pytest.raises(ScenarioError, match="can go by several ways"):
        bound(scenario([flow(0, 3)], topology={"kind": "sci-ring", "terminals": 4, "replicate": 2}))


def test_requirements_on_rings_have_verdicts() -> None:
    kept, late = scenario([flow(0, 2, requirement="1 us")]), scenario([flow(0, 2, requirement="100 ns")])
    assert simulate.run(kept).requirements["verdict"].to_list() == ["guaranteed"]
    assert simulate.run(late).requirements["verdict"].to_list() == ["missed"]


SHAPES: list[tuple[Table, int]] = [
    ({"kind": "sci-ring", "terminals": 3}, 3),
    ({"kind": "sci-ring", "terminals": 8}, 8),
    ({"kind": "sci-bridge", "terminals": 3}, 6),
    ({"kind": "sci-switch", "ports": 4, "terminals_per_ring": 2}, 8),
    ({"kind": "sci-switch", "ports": 3, "buses": 2}, 3),
    ({"kind": "sci-torus", "shape": [2, 2]}, 4),
]


RULES: list[bool | str] = [True, True, False, "ports", "terminals"]


def drawn(seed: int) -> Scenario:
    """Periodic flows on rings, alone and joined, with every rule of the model on and off."""
    dice = np.random.default_rng(seed)
    topology, terminals = SHAPES[seed % len(SHAPES)]
    places = int(dice.choice([4, 8, 16, 32]))
    own = places if topology["kind"] != "sci-ring" else int(dice.choice([1, 2, 8]))
    technology = {
        "preset": str(dice.choice(["sci-1000", "scinet", "sci-lc2", "sci-retry"])),
        "bandwidth_allocation": RULES[int(dice.integers(len(RULES)))],
        "forwarding": str(dice.choice(["cut-through", "store-and-forward"])),
        "hold_until": str(dice.choice(["sent", "echo"])),
        "in_order": RULES[int(dice.integers(len(RULES)))] if dice.random() < 0.3 else False,
        "interface_occupied": bool(dice.random() < 0.3),
        "response_priority": bool(dice.random() < 0.5),
        "in_flight": int(dice.choice([1, 2, 64])),
        "cable_length": f"{int(dice.choice([1, 3, 20]))} m",
        **dict.fromkeys(("requests_in", "responses_in", "responses_out"), places),
        "requests_out": own,
    }
    period = float(dice.choice([6, 12, 25, 60]))
    flows = []
    for _ in range(int(dice.integers(1, 2 * terminals + 1))):
        source, target = dice.choice(terminals, 2, replace=False).tolist()
        own_ns = round(1000 * period * float(dice.choice([1, 1, 2, 1.7])))
        jitter = {"jitter": f"{int(dice.integers(own_ns))} ns"} if dice.random() < 0.3 else {}
        packets = {"packets": int(dice.integers(1, 4))} if dice.random() < 0.2 else {}
        length = f"{dice.choice([16, 64, 256])} B"
        flows.append(flow(source, target, f"{own_ns} ns", length=length, **jitter, **packets))
    transaction = str(dice.choice(["nwrite", "dmove", "nread"]))
    if seed // len(SHAPES) % 3 == 2:
        technology |= with_token(dice)
    return scenario(flows, transaction, topology=topology, technology=technology, seed=seed)


def with_token(dice: np.random.Generator) -> Table:
    """Settings of a token ring, with echoes and without."""
    length = f"{int(dice.choice([2, 6, 30]))} B"
    found: Table = {
        "token": {"length": length, "packets": int(dice.choice([1, 1, 2, 5]))},
        "forwarding": "cut-through",
        "bandwidth_allocation": False,
        "retry": {"at": "requester"},
    }
    if dice.random() < 0.5:
        found |= {"echo": "0 B", "echo_idle": "0 B", "hold_until": "sent", "in_order": False, "phases": False}
        found |= {"requests_in": 0, "responses_in": 0}
        found["token"]["packets"] = int(dice.choice([0, 1, 2]))
    return found


def test_a_token_comes_after_every_other_station() -> None:
    """By hand, on `fddi` of four: a round of 8 us, and for each of three others a packet of 92 bytes and
    the 11 of the token; then the token is taken and the packet goes one link.
    """
    technology = {"preset": "fddi", "cable_delay": "5 ns/m", "token": {"packets": 1, "rotation": "0 s"}}
    flows = [flow(source, (source + 1) % 4) for source in range(4)]
    given = scenario(flows, "dmove", technology=technology)
    there_ns = 2000 + (92 - 1) * 80 + 1000 + 1
    waits_ns = 1000 + 4 * 2000 + 3 * (92 + 11) * 80 + 11 * 80
    assert bounds_ns(given) == pytest.approx([waits_ns + there_ns] * 4)
    assert max(latest_ns(given)) <= waits_ns + there_ns


@pytest.mark.seeds
def test_no_packet_takes_longer_and_none_is_sent_again(seeds: Callable[[int], Iterator[int]]) -> None:
    compared = 0
    for seed in seeds(90):
        one = drawn(seed)
        try:
            found = bound(one, tries=2)
        except ScenarioError:
            continue
        compared += 1
        ran = simulate.run(one)
        assert ran.summary["sci"]["busied"] == 0, f"seed {seed}"
        for promise, late in zip(found.promises, ran.requirements["total_latency_ns_max"], strict=True):
            assert late is None or late <= (promise.bound_ns or 0.0) + 1e-6, f"seed {seed}: {promise.flow}"
        shares = found.table["periods_found_share"].drop_nulls()
        assert max(shares.to_list()) <= 1 + 1e-9, f"seed {seed}"
    assert compared > 30
