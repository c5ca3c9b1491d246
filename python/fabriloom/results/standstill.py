"""Detect a known cause of a temporary standstill of a network of rings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .figures import figures
from .shown import time_unit

LONG = 50
"""A pause of this many mean intervals between deliveries is not chance: with random arrivals it would occur
once in exp(50) intervals."""
FEWEST = 100
"""Fewest packets from which a mean interval is computed."""


def standstill(summary: Mapping[str, Any], technology: Mapping[str, Any]) -> list[str]:
    """Return a sentence if nothing was delivered for a long time because queues reserved their places for
    packets that waited for their retry.
    """
    packets, pause_ns = summary["packets"]["measured"], summary["longest_pause_ns"]
    delay_ns = summary.get("sci", {}).get("retry_delay_ns_max", 0.0)
    if packets < FEWEST or pause_ns * packets < LONG * summary["measured_ns"]:
        return []
    if not technology.get("phases") or 2 * delay_ns < pause_ns:
        return []
    pause, start, longest = (_time(value) for value in (pause_ns, summary["longest_pause_from_ns"], delay_ns))
    return [
        f"stood still: for {pause}, from {start} on, no packet arrived anywhere. Queue phases "
        "(technology.phases): a queue that has busied packets keeps its places for them until they come "
        "again, "
        "and one of them waited for its retry meanwhile; by technology.retry these waits grew up to "
        f"{longest}. "
        "Everything else that came was busied too, and then waits longer itself"
    ]


def _time(value_ns: float) -> str:
    if value_ns >= 1e6:
        return f"{figures(value_ns / 1e6, 3)} ms"
    unit, divisor = time_unit(value_ns)
    return f"{figures(value_ns / divisor, 3)} {unit}"
