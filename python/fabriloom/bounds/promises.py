"""Requirements of flows, with what is guaranteed of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..compile import Compiled


@dataclass(frozen=True)
class Promise:
    """What is asked of a flow, and what it can be sure of. Times in ns, from making to delivery."""

    row: int
    """Of the engine's columns of flows."""
    flow: str
    source: str
    target: str
    packet_bytes: int
    requirement_ns: float
    bound_ns: float | None
    """No packet takes longer; none if there is no such time."""
    no_bound: str
    """Why not; empty if there is one."""


def promises(compiled: Compiled, found: Sequence[float | str]) -> list[Promise]:
    """All flows that have a requirement, in the order of their sources.

    ``found``: per row of flows the ticks from making to delivery that none of its packets exceeds, or why
    there is no such time.
    """
    rows = compiled.required_rows()
    if not rows:
        return []
    arrays, names = compiled.arrays, compiled.target_names()
    sources = np.repeat(np.arange(compiled.graph.terminals), np.diff(arrays["flow_start"].astype(np.int64)))
    tick_ns = compiled.tick_ps / 1000
    return [
        Promise(
            row,
            str(compiled.sources["flow_name"][row]),
            names[sources[row]],
            names[int(arrays["flow_target"][row])],
            compiled.technology.payload_bytes(int(arrays["flow_length"][row])),
            int(compiled.sources["flow_requirement_ps"][row]) / 1000,
            *_of(found[row], tick_ns),
        )
        for row in rows
    ]


def _of(total: float | str, tick_ns: float) -> tuple[float | None, str]:
    return (None, total) if isinstance(total, str) else (total * tick_ns, "")
