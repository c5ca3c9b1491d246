"""Rates that follow from the characters alone; they must agree to the printed digits."""

from __future__ import annotations

from typing import Any

from ..lab import Findings, Lab
from ..published import numbers
from ..rows import arithmetic, reported
from . import networks


def findings(_lab: Lab) -> Findings:
    """Compare a link in one direction, a network, and a switch with all its links busy in both directions."""
    return Findings(
        rows=[
            _cut("link-payload", networks.one_way_mbytes_per_s(), 0.01),
            _cut("network-payload-most", networks.theory_mbytes_per_s(networks.MOST_LINKS), 1),
            _cut("level-2-network", networks.theory_mbytes_per_s(networks.MOST_LINKS), 1),
            _cut("level-3-network", networks.theory_mbytes_per_s(networks.MOST_LINKS), 1),
            _cut("switch-bandwidth", 32 * networks.both_ways_mbytes_per_s(), 1),
            _lines_of_three_links(),
        ]
    )


def _cut(key: str, ours: float, digit: float) -> dict[str, Any]:
    """Compare with a truncated number: the paper prints 264 for 264.6."""
    printed = numbers("gpmimd")[key]
    limits = (float(printed["value"]), float(printed["value"]) + digit)
    return arithmetic(printed, ours, limits)


def _lines_of_three_links() -> dict[str, Any]:
    printed = numbers("gpmimd")["network-payload-least"]
    ours = networks.theory_mbytes_per_s(networks.LINKS[0])
    note = "contradicts the 3 links of the sentence before; 37 MB/s is what 4 links carry"
    return reported(printed, ours, note)
