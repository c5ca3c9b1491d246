"""Requirements of flows, with their bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..compile import Compiled


@dataclass(frozen=True)
class Promise:
    """The requirement and the bound of a flow. Times in ns, from creation to delivery."""

    row: int
    """Row of the engine's columns of flows."""
    flow: str
    source: str
    target: str
    packet_bytes: int
    requirement_ns: float
    bound_ns: float | None
    """Upper bound on the delay; None if there is none."""
    no_bound: str
    """Why there is no bound; empty if there is one."""


def promises(compiled: Compiled, found: Sequence[float | str]) -> list[Promise]:
    """Return all flows with a requirement, in the order of their sources.

    ``found``: per row of flows the bound in ticks from creation to delivery, or why there is none.
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
            str(compiled.sources.given["flow_name"][row]),
            names[sources[row]],
            names[int(arrays["flow_target"][row])],
            int(arrays["flow_length"][row]),
            int(compiled.sources.given["flow_requirement_ps"][row]) / 1000,
            *_of(found[row], tick_ns),
        )
        for row in rows
    ]


def _of(total: float | str, tick_ns: float) -> tuple[float | None, str]:
    return (None, total) if isinstance(total, str) else (total * tick_ns, "")
