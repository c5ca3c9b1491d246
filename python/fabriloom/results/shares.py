"""Throughput over time by flow: whose packets are counted together."""

from __future__ import annotations

from typing import Any

from ..traffic import Demand

MOST_ROWS = 8
"""Most groups: the number of distinguishable colours."""
MOST_TERMINALS = 256
"""Most terminals whose pairs are counted; with more, finding the pairs takes too long."""


def wanted(names: list[str], demand: Demand | None) -> tuple[dict[str, Any], list[str]]:
    """Return the engine's options for the groups, and the names of the groups.

    A group is a flow if there are few flows; otherwise a sending terminal if there are few; otherwise a block
    of terminals with consecutive numbers. Without a demand, flows are not considered.
    """
    if demand is not None and not demand.even.any():
        pairs = sorted({(int(s), int(t)) for s, t in zip(demand.source, demand.target, strict=True)})
        if len(pairs) <= MOST_ROWS:
            return {"pairs": pairs}, [f"{names[source]} to {names[target]}" for source, target in pairs]
    each = -(-len(names) // MOST_ROWS)
    firsts = range(0, len(names), each)
    lasts = [min(first + each, len(names)) - 1 for first in firsts]
    found = [
        names[first] if first == last else f"{names[first]} … {names[last]}"
        for first, last in zip(firsts, lasts, strict=True)
    ]
    return {"sources": [number // each for number in range(len(names))]}, found
