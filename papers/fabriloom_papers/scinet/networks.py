"""The networks, traffic and run lengths of the chapter as scenarios. No number here comes from a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..lab import Effort, Scenario, sections

Topology = dict[str, Any]

PRESET = "scinet-dmove"
LINK_MBYTES_PER_S = 500
STEP_MBYTES_PER_S = 25
"""Step of a sender's gross input between points; all printed knees are multiples of it."""
PAYLOAD_BYTES, UNIT_BYTES = 64, 84
"""Payload of a packet, and its length on the link with header and idle symbols."""
LONGEST_PERIOD_US = UNIT_BYTES / STEP_MBYTES_PER_S
"""Packet period at the lowest input; a whole number of these is also a whole number of all other periods."""

RINGLET_SWITCH: Topology = {"kind": "sci-switch", "ports": 4, "roles": "pairs"}
"""Two senders and two receivers, each on its own ringlet (figure 6.16 a)."""
LONG_2: Topology = {"kind": "sci-long-rings", "ports": 2}
"""Two long rings: a sender, a port, a receiver (figure 6.16 b)."""
LONG_4: Topology = {"kind": "sci-long-rings", "ports": 4}
"""Four long rings on a switch of four ports (figure 6.17 a)."""
OMEGA: Topology = {"kind": "sci-banyan", "terminals": 16, "variant": "omega", "base": 2, "wiring": "ringlet"}
FIRST_GRADE: Topology = OMEGA | {"wiring": "long-ring"}
SECOND_GRADE: Topology = FIRST_GRADE | {"base": 4}


def senders(topology: Topology) -> int:
    """Return the number of senders of a network of this module."""
    pairs = topology.get("pairs_per_ring", 1)
    if topology["kind"] == "sci-long-rings":
        return topology["ports"] * pairs
    if topology["kind"] == "sci-banyan":
        return topology["terminals"] * pairs
    return topology["ports"] * topology.get("terminals_per_ring", 1) // 2


def steps(effort: Effort, quick: Sequence[int]) -> list[int]:
    """Return the gross inputs per sender: every step, or those of a quick look."""
    every = range(STEP_MBYTES_PER_S, LINK_MBYTES_PER_S + 1, STEP_MBYTES_PER_S)
    return effort.choose(every, quick)


def scenario(
    topology: Topology,
    gross_mbytes_per_s: float,
    *,
    share: float = 1.0,
    arrivals: str = "together",
    transaction: str = "dmove",
    technology: dict[str, Any] | None = None,
    warmup_us: float,
    measure_us: float,
    seed: int = 1,
) -> Scenario:
    """Return a run in which every sender creates packets at ``gross_mbytes_per_s``.

    ``share`` is the fraction for the sender's own receiver. A packet is lost if it finds no free transmit
    buffer. ``arrivals``: "together", all in step; "constant", each with its own phase; or "poisson".
    """
    words = [topology["kind"], *(str(value) for key, value in topology.items() if key != "kind")]
    words += [f"{gross_mbytes_per_s:g} MB/s gross per sender"]
    return {
        "name": ", ".join(words),
        "seed": seed,
        "topology": topology,
        "technology": {"preset": PRESET} | (technology or {}),
        "traffic": {
            "pattern": {"kind": "local", "share": share},
            "length": f"{PAYLOAD_BYTES} B",
            "arrivals": arrivals,
            "load": gross_mbytes_per_s / LINK_MBYTES_PER_S,
            "transaction": transaction,
            "source_queue": "none",
        },
        **sections(warmup_us, measure_us, "us"),
    }


def sweep_point(effort: Effort, topology: Topology, gross_mbytes_per_s: float, **settings: Any) -> Scenario:
    """Return one run as long as those of a sweep."""
    periods = {"warmup_us": 30, "measure_us": effort.time_ms(200, 120)}
    times: dict[str, Any] = {key: count * LONGEST_PERIOD_US for key, count in periods.items()}
    return scenario(topology, gross_mbytes_per_s, **(times | settings))


def sweep(
    effort: Effort, topology: Topology, quick: Sequence[int], **settings: Any
) -> list[tuple[float, Scenario]]:
    """Return the points of a sweep: gross input of all senders together, and the run."""
    count = senders(topology)
    return [
        (gross * count, sweep_point(effort, topology, gross, **settings)) for gross in steps(effort, quick)
    ]
