"""Latency and jitter of time-codes and interrupts, and those that were missed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..codes import number
from . import statistics, tables
from .figures import figures

if TYPE_CHECKING:
    import polars as pl

    from ..topology.graph import Graph


def has_codes(native: Mapping[str, Any]) -> bool:
    """Whether terminals sent, or were to send, time-codes or interrupts."""
    return len(tables.column(native, "code_made")) > 0


def _name(code: int) -> str:
    return "time-code" if code == number("signal", "time") else f"interrupt {code}"


@dataclass(frozen=True)
class Taken:
    """How the codes of one source came to one terminal."""

    name: str
    source: str
    terminal: str
    made: int
    taken: int
    latency_ns: Mapping[str, float | None]
    """``min``, ``mean``, ``p99``, ``max``, and ``jitter``; none if none was taken."""


def codes(native: Mapping[str, Any], graph: Graph, tick_ns: float) -> list[Taken]:
    """Return one row per source and terminal."""
    ports, found = graph.port_names, []
    made, source, of = (tables.column(native, f"code_{name}") for name in ("made", "port", "number"))
    taken = tables.column(native, "code_taken")
    for row in range(len(made) * len(ports)):
        at, port = divmod(row, len(ports))
        if port == source[at] or not _same_plane(graph, port, int(source[at])):
            continue
        ends = (_name(int(of[at])), ports[int(source[at])], ports[port])
        latency_ns = _latency(native, row, int(taken[row]), tick_ns)
        found.append(Taken(*ends, int(made[at]), int(taken[row]), latency_ns))
    return found


def _latency(native: Mapping[str, Any], row: int, count: int, tick_ns: float) -> dict[str, float | None]:
    """Return the latency of the codes of one row."""
    if not count:
        return dict.fromkeys(("min", "mean", "p99", "max", "jitter"))
    total, low, high = (
        float(tables.column(native, f"code_{name}_ticks")[row]) for name in ("sum", "min", "max")
    )
    p99 = statistics.percentiles(*tables.cells(native, "code", row), low, high)["p99"]
    times = {"min": low, "mean": total / count, "p99": p99, "max": high, "jitter": high - low}
    return {what: None if time is None else time * tick_ns for what, time in times.items()}


def _same_plane(graph: Graph, port: int, other: int) -> bool:
    return graph.several is None or graph.several.plane[port] == graph.several.plane[other]


def tails(native: Mapping[str, Any], tick_ns: float) -> dict[str, dict[str, list[float]]]:
    """Return, per code, the tail of its latency over all terminals."""
    found: dict[str, dict[str, list[float]]] = {}
    made, of = tables.column(native, "code_made"), tables.column(native, "code_number")
    if not len(made):
        return found
    ports = len(tables.column(native, "code_taken")) // len(made)
    for code in dict.fromkeys(of.tolist()):
        rows = [int(at) * ports + port for at in np.flatnonzero(of == code) for port in range(ports)]
        values, counts = (
            np.concatenate(parts)
            for parts in zip(*(tables.cells(native, "code", row) for row in rows), strict=True)
        )
        if not len(values):
            continue
        order = np.argsort(values, kind="stable")
        found[_name(int(code))] = statistics.tail(values[order] * tick_ns, counts[order])
    return found


@dataclass(frozen=True)
class CodeRun:
    """All codes of a run."""

    native: Mapping[str, Any]
    table: pl.DataFrame
    """See ``columns.CODES``."""

    def raw(self, name: str) -> NDArray[Any]:
        """Return one array of the engine."""
        return tables.column(self.native, name)

    def total(self, name: str) -> int:
        """Return the sum of a column of the table."""
        return int(self.table[name].sum())

    def most(self, name: str) -> Any:
        """Return the largest value of a column of the table, over rows with accepted codes."""
        return self.table.filter(self.table["taken"] > 0)[name].max()

    @property
    def worst(self) -> str:
        """The code and the terminal with most jitter."""
        taken = self.table.filter(self.table["taken"] > 0).sort("jitter_ns", descending=True)
        return f"{taken['code'][0]} at {taken['terminal'][0]}" if len(taken) else ""


def text(codes: Mapping[str, Any]) -> str:
    """Summarise time-codes and interrupts in a part of a sentence."""
    dropped = [
        f"{codes[what]:,} {words}"
        for what, words in (
            ("lost", "lost on links that were down"),
            ("duplicates", "dropped as known"),
            ("invalid", "dropped as out of order"),
        )
        if codes[what]
    ]
    made = ", ".join([f"{codes['made']:,} made", f"{codes['taken']:,} times taken", *dropped])
    if codes["worst"] == "":
        return made
    jitter, longest = (figures(codes[f"{what}_ns_max"] / 1e3) for what in ("jitter", "latency"))
    return f"{made}; at most {longest} µs, jitter at most {jitter} µs ({codes['worst']})"
