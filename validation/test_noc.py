"""Networks on chip beside a flit-by-flit simulator of that field: mean network latency and saturation.

The numbers were measured with BookSim 2 (Jiang et al., ISPASS 2013; revision 28f4329) over 40,000 cycles:
dimension order or destination tags, one virtual channel whose switch is held from head to tail, or two and
four that share it flit by flit, round robin, Bernoulli arrivals, random destinations. Its router allocates
a channel and then the crossbar, in the cycle of arrival and the next: ``router_cycles = 1``. Every flit
then crosses, while it has a place behind the link: ``input_cycles = 1`` there, and ``link_cycles = 2``. The
channel that a tail leaves can be allocated in the next cycle and the crossbar in the one after, and so can
those of the head behind the tail: ``handover_cycles = 2``, ``next_head_cycles = 1``. A credit is sent in
the cycle of crossing and counts three cycles later: ``turn_around_cycles = 1``. Packets that its terminals
send to themselves, one of 64, cross one router of a mesh only; they are taken out.

The two arbitrate differently when several packets ask in one cycle, so they agree within a tolerance, not
exactly, where they meet. The seeds are fixed: there is no false alarm.
"""

from __future__ import annotations

from typing import Any

import pytest
from support import simulate

TERMINALS = 64
MESH = {"kind": "grid", "shape": [8, 8], "terminals_per_switch": 1}
BUTTERFLY = {"kind": "banyan", "variant": "butterfly", "terminals": TERMINALS, "base": 4}
TOLERANCE = 0.04
FLIT_BYTES = 8


def network(
    topology: dict[str, Any], flits: int, buffer: int, load: float, pattern: Any = "uniform"
) -> dict[str, Any]:
    """``load`` in flits per terminal and cycle, those that a terminal would send itself included."""
    return {
        "name": "network on chip",
        "seed": 1,
        "topology": topology,
        "technology": {
            "preset": "generic",
            "router_cycles": 1,
            "input_cycles": 1,
            "link_cycles": 2,
            "turn_around_cycles": 1,
            "handover_cycles": 2,
            "next_head_cycles": 1,
            "input_buffer_flits": buffer,
        },
        "traffic": {
            "pattern": pattern,
            "length": f"{FLIT_BYTES * flits} B",
            "load": load * (TERMINALS - 1) / TERMINALS,
        },
        "run": {"duration": "120 us", "warmup": "20 us", "precision": 0},
    }


@pytest.mark.parametrize(
    ("buffer", "theirs"),
    [(1, 0.1635), (2, 0.32), (3, 0.48475), (4, 0.615), (5, 0.727), (6, 0.8), (8, 0.88875)],
)
def test_a_flow_with_a_few_places(buffer: int, theirs: float) -> None:
    """Two neighbours that send to each other as fast as they can: each place is used once in six cycles."""
    scenario = network({"kind": "grid", "shape": [1, 2], "terminals_per_switch": 1}, 8, buffer, 1.0)
    del scenario["traffic"]["load"]
    scenario["traffic"]["arrivals"] = "backlog"
    accepted = simulate(scenario).summary["accepted_mbytes_per_s"] / 8000
    assert accepted / 2 == pytest.approx(theirs, rel=0.002)


def without_own(mean: float, flits: int) -> float:
    """A mean without the packets to oneself: 6 cycles for the head, and a cycle for each other flit."""
    return (TERMINALS * mean - (6 + flits - 1)) / (TERMINALS - 1)


@pytest.mark.parametrize(
    ("flits", "buffer", "load", "theirs"),
    [
        (8, 8, 0.02, 34.37),
        (8, 8, 0.1, 36.98),
        (8, 8, 0.15, 39.91),
        (8, 8, 0.2, 46.10),
        (20, 16, 0.1, 52.32),
        (20, 16, 0.2, 71.23),
        (64, 32, 0.15, 126.50),
        (64, 32, 0.2, 153.68),
    ],
)
def test_latency_of_a_mesh(flits: int, buffer: int, load: float, theirs: float) -> None:
    """8 x 8 switches, packets of several lengths, up to four fifths of saturation."""
    results = simulate(network(MESH, flits, buffer, load))
    assert results.summary["latency_ns"]["mean"] == pytest.approx(without_own(theirs, flits), rel=TOLERANCE)


@pytest.mark.parametrize(("load", "theirs"), [(0.02, 21.27), (0.1, 22.60), (0.2, 25.27), (0.3, 31.11)])
def test_latency_of_a_butterfly(load: float, theirs: float) -> None:
    """Three stages of 4 x 4 switches: every packet crosses three, those to oneself too."""
    results = simulate(network(BUTTERFLY, 8, 8, load))
    assert results.summary["latency_ns"]["mean"] == pytest.approx(theirs, rel=TOLERANCE)


def with_lanes(lanes: int, load: float) -> dict[str, Any]:
    """The mesh with packets of 8 flits, several virtual channels a link, and 8 flits of buffer for each."""
    scenario = network(MESH, 8, 8, load)
    scenario["technology"]["lanes"] = lanes
    scenario["run"] = {"duration": "30 us", "warmup": "10 us", "precision": 0}
    return scenario


@pytest.mark.parametrize(
    ("lanes", "load", "theirs"), [(2, 0.1, 36.57), (2, 0.25, 45.08), (4, 0.2, 42.68), (4, 0.3, 55.09)]
)
def test_latency_with_lanes(lanes: int, load: float, theirs: float) -> None:
    """Packets of several lanes flit by flit on a link, up to four fifths of saturation."""
    results = simulate(with_lanes(lanes, load))
    assert results.summary["latency_ns"]["mean"] == pytest.approx(without_own(theirs, 8), rel=TOLERANCE)


def torus(side: int, load: float, choice: str = "dateline") -> dict[str, Any]:
    """A torus with two lanes and the shorter ways."""
    scenario = with_lanes(2, load)
    scenario["topology"] = {"kind": "torus", "shape": [side, side]}
    scenario["routing"] = {"kind": "dimension-order", "variant": "minimal", "lane_choice": choice}
    nodes = side * side
    scenario["traffic"]["load"] = load * (nodes - 1) / nodes
    return scenario


@pytest.mark.parametrize(("load", "theirs"), [(0.1, 31.05), (0.25, 37.67), (0.3, 45.80)])
def test_latency_of_a_torus_with_a_dateline(load: float, theirs: float) -> None:
    """Up to saturation. BookSim follows the rule of Dally and Seitz; by its own a packet keeps to a lane."""
    results = simulate(torus(8, load))
    assert results.summary["latency_ns"]["mean"] == pytest.approx(without_own(theirs, 8), rel=TOLERANCE)


@pytest.mark.parametrize(
    ("choice", "low", "high"),
    [("dateline", 0.346, 0.375), ("kept-dateline", 0.404, 0.438), ("wide-dateline", 0.421, 0.49)],
)
def test_saturation_of_a_torus_with_a_dateline(choice: str, low: float, high: float) -> None:
    """What is accepted of 0.8 flits where every shortest way is unique.

    By the rule of Dally and Seitz, within 4 % of BookSim (0.360); by BookSim's own, which keeps a packet
    on its lane, too (0.421). By the wide one, more.
    """
    summary = simulate(torus(7, 0.8, choice)).summary
    accepted = summary["accepted_mbytes_per_s"] * 1e6 / (49 * FLIT_BYTES * 1e9)
    assert low < accepted * 49 / 48 < high


@pytest.mark.parametrize(("lanes", "theirs"), [(2, 0.366), (4, 0.397)])
def test_saturation_with_lanes(lanes: int, theirs: float) -> None:
    """What is accepted of 0.6 flits per terminal and cycle."""
    summary = simulate(with_lanes(lanes, 0.6)).summary
    accepted = summary["accepted_mbytes_per_s"] * 1e6 / (TERMINALS * FLIT_BYTES * 1e9)
    assert accepted * TERMINALS / (TERMINALS - 1) == pytest.approx(theirs, rel=TOLERANCE)


def test_saturation_of_a_mesh() -> None:
    """What is accepted when more is offered, in flits per terminal and cycle."""
    summary = simulate(network(MESH, 8, 8, 0.35)).summary
    accepted = summary["accepted_mbytes_per_s"] * 1e6 / (TERMINALS * FLIT_BYTES * 1e9)
    assert accepted * TERMINALS / (TERMINALS - 1) == pytest.approx(0.258, rel=TOLERANCE)


def to_the_diagonal_neighbour() -> list[int]:
    """Right and up by one, around the edges: ``neighbor`` there; no two flows share a link."""
    return [(x + 1) % 8 + 8 * ((y + 1) % 8) for y in range(8) for x in range(8)]


@pytest.mark.parametrize(("flits", "theirs"), [(8, 0.888892), (20, 0.952184)])
def test_packets_back_to_back(flits: int, theirs: float) -> None:
    """Flows that never meet: a cycle is lost between packets, so a link carries L / (L + 1)."""
    pattern = {"kind": "permutation", "map": to_the_diagonal_neighbour()}
    accepted = simulate(network(MESH, flits, 8, 1.0, pattern)).summary["accepted_mbytes_per_s"] / 8000
    assert accepted / TERMINALS == pytest.approx(theirs, rel=0.002)
    assert accepted / TERMINALS == pytest.approx(flits / (flits + 1), rel=0.002)


@pytest.mark.parametrize(("flits", "theirs"), [(8, 0.0138875), (20, 0.0148797)])
def test_a_hot_spot(flits: int, theirs: float) -> None:
    """All to one, whose link is handed over with a cycle lost between packets of different heads."""
    pattern = {"kind": "hot-spot", "target": 27, "share": 1.0}
    scenario = network(MESH, flits, 8, 1.0, pattern)
    scenario["traffic"]["senders"] = [terminal for terminal in range(TERMINALS) if terminal != 27]
    accepted = simulate(scenario).summary["accepted_mbytes_per_s"] / 8000
    assert accepted == pytest.approx(theirs * TERMINALS, rel=0.002)
    assert accepted == pytest.approx(flits / (flits + 1), rel=0.002)
