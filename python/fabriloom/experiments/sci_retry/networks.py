"""The ring of the study as scenarios. No number here comes from a result."""

from __future__ import annotations

from typing import Any

from ..lab import Effort, Scenario

PRESET = "sci-retry"
PAYLOAD_BYTES = 64
LINK_MBYTES_PER_S = 500
RATIOS = (3, 9)
"""Fast senders to one slow receiver."""
STRATEGIES = ("constant", "linear", "exponential")
LOAD = 1.0
"""Of every sender, of what its link carries: the paper does not say; each alone would fill the ring."""


def ring(senders: int) -> dict[str, Any]:
    """A ring of senders and one port of a switch, whose bus leads to a ring with a memory."""
    names = [f"P{number}" for number in range(senders)]
    return {"kind": "sci-rings", "rings": [[*names, "s0"], ["s0", "M0"]], "switches": ["s0"]}


def four_rings(senders: int) -> dict[str, Any]:
    """A switch with four such rings; the memories are on the rings too, between senders and port."""
    rings = [
        [*(f"P{number * senders + i}" for i in range(senders)), "s0", f"M{number}"] for number in range(4)
    ]
    return {"kind": "sci-rings", "rings": rings, "switches": ["s0"]}


def scenario(
    effort: Effort,
    senders: int,
    strategy: str,
    delay_ns: float,
    technology: dict[str, Any] | None = None,
    transaction: str = "dmove",
    rings: int = 1,
    seed: int = 1,
) -> Scenario:
    """One run: every sender makes packets at random times, all for the slow receiver."""
    warmup_us, measure_us = effort.time_ms(0.2, 0.1) * 1000, effort.time_ms(2.0, 0.5) * 1000
    retry = {"strategy": strategy, "delay": f"{delay_ns:g} ns"}
    settings: dict[str, Any] = {"preset": PRESET} | (technology or {})
    settings["retry"] = retry | settings.get("retry", {})
    return {
        "name": f"{senders}:1, {strategy}, {delay_ns:g} ns",
        "seed": seed,
        "topology": ring(senders) if rings == 1 else four_rings(senders),
        "technology": settings,
        "traffic": {
            "pattern": {"kind": "hot-spot", "target": "M0", "share": 1.0},
            "length": f"{PAYLOAD_BYTES} B",
            "arrivals": "poisson",
            "load": LOAD,
            "transaction": transaction,
            "source_queue": "none",
            "senders": [f"P{number}" for number in range(senders * rings)],
        },
        "run": {
            "duration": f"{warmup_us + measure_us:.6g} us",
            "warmup": f"{warmup_us:.6g} us",
            "precision": 0.0,
        },
        "output": {"links": False, "flows": False},
    }
