"""Throughput over time by flow: whose packets are counted together, and the table of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .tables import batch_bounds, column, per

if TYPE_CHECKING:
    import polars as pl

    from ..traffic import Demand

MOST_ROWS = 8
"""There are so few colours that can be told apart."""
MOST_TERMINALS = 256
"""With more than this no one asks who sends to whom: it takes longer than what it is for."""


def wanted(names: list[str], demand: Demand | None) -> tuple[dict[str, Any], list[str]]:
    """What the engine is asked for, and what the rows are called.

    Each flow that the demand has, if these are few; else each terminal that sends; else terminals of
    neighbouring numbers together. Without a demand terminals.
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
    """The table of throughput over time, batch by batch; no rows where there is a single flow."""
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
