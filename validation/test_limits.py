"""What a run says of a network near a known limit: the full link of a ring, a grid and a Clos network."""

from __future__ import annotations

from typing import Any

import pytest
from support import simulate

TO_ONE = {"kind": "hot-spot", "target": 0, "share": 1.0}
NETWORKS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], float, float]] = {
    "ring": (
        {"kind": "sci-ring", "terminals": 6},
        {},
        {"pattern": {"kind": "shift", "by": 1}, "source_queue": 0},
        0.2902,
        608.0,
    ),
    "grid": (
        {"kind": "grid", "shape": [3, 3]},
        {"preset": "generic"},
        {"pattern": TO_ONE, "length": "128 B", "senders": list(range(1, 9))},
        0.125,
        16.0,
    ),
    "clos": (
        {"kind": "clos", "terminals": 32},
        {"preset": "ds-link-c104"},
        {"pattern": TO_ONE, "length": "64 B", "senders": list(range(1, 32))},
        0.03416,
        6642.0,
    ),
}
"""Topology, technology and traffic; the load that fills a link; and the ns of a packet on that link.

The ring by its bytes: for each packet a link carries one request of 88 B, six echoes of 16 B and five
responses of 24 B, together 304 B at 500 MB/s. The others were measured with sources that always send."""


def keeps_up(name: str, share: float, packets: int, seed: int) -> bool | None:
    """Run a network at a share of its limit while this number of packets passes over the full link."""
    topology, technology, traffic, limit, packet_ns = NETWORKS[name]
    given = {
        "seed": seed,
        "topology": topology,
        "technology": technology,
        "traffic": {**traffic, "arrivals": "poisson", "load": share * limit},
        "run": {
            "duration": f"{packets * packet_ns:.0f} ns",
            "warmup": f"{packets * packet_ns / 10:.0f} ns",
            "precision": 0.0,
        },
    }
    found: bool | None = simulate(given).summary["keeps_up"]
    return found


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_near_its_limit_is_called_neither_past_it_nor_below_by_chance(name: str) -> None:
    """Five runs of 3000 packets at each of six loads; seeds 0 to 4.

    At 0.98 of the limit and below, 1 run in 100 at most is said to be past it; at 1.02 and above, 1 in 100 is
    said to keep up. False alarms: two of fifteen have a chance of 1 in 100 at these rates; none was seen in
    720 runs.
    """
    below = [keeps_up(name, share, 3000, seed) for share in (0.9, 0.95, 0.98) for seed in range(5)]
    above = [keeps_up(name, share, 3000, seed) for share in (1.02, 1.05, 1.1) for seed in range(5)]
    assert below.count(False) <= 1
    assert above.count(True) <= 1
    assert below.count(True) >= 1
    assert above.count(False) >= 3


@pytest.mark.parametrize("name", NETWORKS)
def test_half_of_a_limit_is_carried(name: str) -> None:
    """Nine of ten runs of 3000 packets say so; measured: 128 of 130."""
    assert sum(keeps_up(name, 0.5, 3000, seed) is True for seed in range(10)) >= 9


@pytest.mark.parametrize("name", NETWORKS)
def test_a_short_run_cannot_tell(name: str) -> None:
    """300 packets at 0.98 of the limit: 1 of 300 runs said that the network keeps up, none the contrary."""
    assert [keeps_up(name, 0.98, 300, seed) for seed in range(5)].count(None) >= 4
