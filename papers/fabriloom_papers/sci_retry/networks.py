"""The rings of the study as scenarios. No number here comes from a result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..lab import Effort, Scenario, sections

PRESET = "sci-retry"
HERE = Path(__file__).parent
PAYLOAD_BYTES = 64
LINK_MBYTES_PER_S = 500
RATIOS = (3, 9)
"""Fast senders per slow receiver, which is the port of their ring."""
RINGS = 4
"""Rings with one port each on one bus; each can transfer at most a quarter of the bus bandwidth."""
STRATEGIES = ("constant", "linear", "exponential")
LOAD = 1.0
"""Load of every sender, as a fraction of its link; the paper does not give it. One sender alone fills the
ring."""

ALONE_PLACES = 24
"""Packets that a sender of a ring alone holds; calibrated on the factor of two of figure 4.10. 16 to 32 give
1.5 to 1.8; with 48, what is sent again waits so long behind new packets that nothing is left to gain.
"""


def four_rings(senders: int) -> dict[str, Any]:
    """Return four rings of senders, each with a port of one switch."""
    rings = [[*(f"P{number * senders + i}" for i in range(senders)), "s0"] for number in range(RINGS)]
    return {"kind": "sci-rings", "rings": rings, "switches": ["s0"]}


def one_ring(senders: int) -> dict[str, Any]:
    """Return one ring of senders alone on the switch; the bus leads to a ring with a memory."""
    names = [f"P{number}" for number in range(senders)]
    return {"kind": "sci-rings", "rings": [[*names, "s0"], ["s0", "M0"]], "switches": ["s0"]}


def before_ports(senders: int) -> slice:
    """Return the links into the ports of the rings with senders: stations are numbered along the rings."""
    return slice(senders - 1, None, senders + 1)


def scenario(
    effort: Effort,
    senders: int,
    strategy: str,
    delay_ns: float,
    technology: dict[str, Any] | None = None,
    transaction: str = "dmove",
    alone: bool = False,
    seed: int = 1,
) -> Scenario:
    """Return one run: every sender creates packets at random times, each for any node of the other rings.

    If one ring is alone on the switch, all packets go to the memory behind it, and senders hold many packets,
    as data generators do.
    """
    warmup_us, measure_us = effort.time_ms(0.2, 0.1) * 1000, effort.time_ms(2.0, 0.5) * 1000
    retry = {"strategy": strategy, "delay": f"{delay_ns:g} ns"}
    settings: dict[str, Any] = {"preset": PRESET} | ({"requests_out": ALONE_PLACES} if alone else {})
    settings |= technology or {}
    settings["retry"] = retry | settings.get("retry", {})
    others = {"kind": "matrix", "path": str(HERE / f"to-other-rings-{senders}.csv")}
    pattern = {"kind": "hot-spot", "target": "M0", "share": 1.0} if alone else others
    return {
        "name": f"{senders}:1, {strategy}, {delay_ns:g} ns",
        "seed": seed,
        "topology": one_ring(senders) if alone else four_rings(senders),
        "technology": settings,
        "traffic": {
            "pattern": pattern,
            "length": f"{PAYLOAD_BYTES} B",
            "arrivals": "poisson",
            "load": LOAD,
            "transaction": transaction,
            "source_queue": "none",
            "senders": [f"P{number}" for number in range(senders if alone else RINGS * senders)],
        },
        **sections(warmup_us, measure_us, "us"),
    }
