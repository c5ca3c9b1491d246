"""Sensitivity of the results of the chapter: one assumption changed at a time."""

from __future__ import annotations

from typing import Any

from ..lab import Effort, Measured, Scenario, one_at_a_time
from . import networks

CASES: dict[str, dict[str, Any]] = {
    "as reproduced": {},
    "NWRITE64, with responses, and what it asks for": {
        "transaction": "nwrite",
        "technology": {"preset": "scinet"},
    },
    "links of 20 m, 5 ns/m": {"technology": {"cable_length": "20 m", "cable_delay": "5 ns/m"}},
    "cut-through": {"technology": {"forwarding": "cut-through"}},
    "memory without a bus": {"technology": {"memory": {"access": "0 ns"}}},
    "busied packets behind new ones": {"technology": {"retry": {"order": "ready"}}},
    "the same, four of them hold new ones back": {
        "technology": {"retry": {"order": "ready"}, "requests_out": 4, "rejected": 4}
    },
    "all new packets before busied ones": {"technology": {"retry": {"order": "new-first"}}},
    "the same, six packets in flight": {"technology": {"retry": {"order": "new-first"}, "in_flight": 6}},
    "NWRITE64, with phases and four places, new packets first until six busied ones wait": {
        "transaction": "nwrite",
        "technology": {
            "preset": "scinet",
            "phases": True,
            "hold_until": "sent",
            "requests_out": 4,
            "responses_out": 4,
            "rejected": 6,
            "retry": {"order": "new-first"},
        },
    },
    "four places": {"technology": {"requests_out": 4}},
    "sixteen places": {"technology": {"requests_out": 16}},
    "six packets in flight": {"technology": {"in_flight": 6}},
    "an interface takes one packet at a time": {"technology": {"interface_occupied": True}},
    "a place is free when its packet is accepted": {"technology": {"hold_until": "echo"}},
    "queue reservation by phases": {"technology": {"phases": True}},
    "bandwidth allocation": {"technology": {"bandwidth_allocation": True}},
    "no set-up of the bus": {"technology": {"bus": {"setup": "0 ns"}}},
    "every source with a phase of its own": {"arrivals": "constant"},
}
"""Description of each change, and its settings."""

OUTPUTS = {
    "ringlet switch": (networks.RINGLET_SWITCH, 500),
    "long rings": (networks.LONG_2, 450),
    "ringlet Omega": (networks.OMEGA, 125),
    "first-grade": (networks.FIRST_GRADE, 450),
    "second-grade": (networks.SECOND_GRADE, 450),
}
"""Network, and the gross input per sender at which the chapter gives its output."""
LATENCIES = {
    "ringlet switch": (networks.RINGLET_SWITCH, 100),
    "long rings": (networks.LONG_2, 425),
    "ringlet Omega": (networks.OMEGA, 100),
    "first-grade": (networks.FIRST_GRADE, 425),
    "second-grade": (networks.SECOND_GRADE, 425),
    "ringlet switch, full": (networks.RINGLET_SWITCH, 500),
    "long rings, full": (networks.LONG_2, 500),
    "ringlet Omega, full": (networks.OMEGA, 500),
    "first-grade, full": (networks.FIRST_GRADE, 500),
    "second-grade, full": (networks.SECOND_GRADE, 500),
}
"""Network, and the last input step before saturation in the chapter, or the largest input."""
HEADER = (
    "changed",
    *(f"{name}, output (MB/s)" for name in OUTPUTS),
    *(f"{name}, latency (ns)" for name in LATENCIES),
)


def table(jobs: int = 2) -> list[list[str]]:
    """Return one line per case."""
    return one_at_a_time(CASES, _runs, _columns, jobs)


def _runs(changed: dict[str, Any]) -> list[Scenario]:
    points = [*OUTPUTS.values(), *LATENCIES.values()]
    return [
        networks.sweep_point(Effort(quick=False), topology, gross, **changed) for topology, gross in points
    ]


def _columns(measured: list[Measured]) -> list[str]:
    outputs, latencies = measured[: len(OUTPUTS)], measured[len(OUTPUTS) :]
    rates = [f"{one.accepted_mbytes_per_s:.0f}" for one in outputs]
    return [*rates, *(f"{one.most_ns:.0f}" for one in latencies)]
