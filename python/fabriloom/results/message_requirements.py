"""What a run has observed of requirements on messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .ends import STUCK
from .requirements import Promise, Seen
from .tables import column

_NEVER_ARRIVES = (*STUCK, "drained", "incomplete")
"""Ends of runs in which nothing that has not arrived does so later."""


class Required(Promise, Protocol):
    """A requirement on messages, with the source, target and tag of those it is for; -1: any."""

    @property
    def chosen(self) -> tuple[int, int, int]: ...


def seen(native: Mapping[str, Any], asked: Sequence[Required], tick_ns: float) -> list[Seen]:
    """Return one per requirement on messages."""
    names = ("source", "target", "tag", "made_ticks", "received_ticks") if asked else ()
    columns = [column(native, f"message_{name}").astype(np.int64) for name in names]
    return [_one(native, one, columns, tick_ns) for one in asked]


def _one(
    native: Mapping[str, Any], one: Required, columns: Sequence[NDArray[np.int64]], tick_ns: float
) -> Seen:
    source, target, tag, made, received = columns
    mine = np.ones(len(made), np.bool_)
    for wanted, values in zip(one.chosen, (source, target, tag), strict=True):
        mine &= (values == wanted) | (wanted < 0)
    come = mine & (received >= int(native["measure_start_ticks"]))
    took_ns = (received - made)[come] * tick_ns
    open_ = mine & (received < 0)
    reason, end = str(native["end_reason"]), int(native["end_time_ticks"])
    lost = int(open_.sum()) if reason in _NEVER_ARRIVES else 0
    oldest_ns = float((end - made[open_].min()) * tick_ns) if open_.any() else None
    # What is missing in a full table may have been late.
    unsure = reason in STUCK or int(native["messages_dropped"]) > 0
    if not len(took_ns):
        return Seen(one, 0, None, None, lost, oldest_ns, unsure)
    rank = float(np.quantile(took_ns, 0.9999, method="inverted_cdf"))
    return Seen(one, len(took_ns), rank, float(took_ns.max()), lost, oldest_ns, unsure)
