"""Throughput over time: groups of packets that are counted together, and their table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .tables import batch_bounds, column, per

if TYPE_CHECKING:
    import polars as pl

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


def over_time(native: Mapping[str, Any], tick_ns: float) -> pl.DataFrame:
    """Return the table of throughput over time, batch by batch; no rows if there is a single flow."""
    import polars as pl

    names = list(native.get("share_name", ()))
    inside, starts, ends = batch_bounds(native)
    kept = (column(native, f"share_{what}").astype(np.int64) for what in ("packets", "bytes"))
    packets, size = (cells.reshape(len(inside), len(names))[inside] for cells in kept)
    # A terminal that sent nothing is no flow.
    sent = np.flatnonzero(packets.sum(axis=0)) if len(names) > 1 else np.empty(0, np.int64)
    length_ns = np.repeat((ends - starts) * tick_ns, len(sent))
    return pl.DataFrame(
        {
            "start_ns": np.repeat(starts * tick_ns, len(sent)),
            "end_ns": np.repeat(ends * tick_ns, len(sent)),
            "of": [names[row] for row in sent] * len(starts),
            "packets": packets[:, sent].ravel(),
            "mbytes_per_s": per(size[:, sent].ravel() * 1e3, length_ns),
        },
        schema_overrides={"of": pl.String},
    )
