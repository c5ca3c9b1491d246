"""Latency and jitter of time-codes, interrupts and broadcasts, and those that were missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codes import FIRST_BROADCAST, number
from ..process.libraries import pl
from ..topology.graph import Graph
from . import statistics, tables
from .figures import figures, in_percent

TITLE = "Time-codes, interrupts and broadcasts"


def _name(code: int) -> str:
    if code == number("signal", "time"):
        return "time-code"
    return f"interrupt {code}" if code < FIRST_BROADCAST else f"broadcast {code - FIRST_BROADCAST}"


@dataclass(frozen=True)
class _Source:
    """A terminal that sends codes on a network, by one port or by several at the same moments."""

    code: int
    name: str
    """That of its port; that of the terminal if it sends by several."""
    made: int
    rows: Mapping[int, int]
    """The engine's row of each port by which it sends."""


def _sources(native: Mapping[str, Any], graph: Graph) -> list[_Source]:
    """Return the sources of codes. A terminal takes each code once, by whichever port it was sent."""
    made, ports, of = (tables.column(native, f"code_{name}").tolist() for name in ("made", "port", "number"))
    seen: Counter[tuple[int, int]] = Counter()
    rows: dict[tuple[int, ...], dict[int, int]] = {}
    for row, (port, code) in enumerate(zip(ports, of, strict=True)):
        # A port can have several rows with one code, such as a master of time that pauses.
        seen[port, code] += 1
        owner = (port, 0)
        if graph.several is not None:
            owner = int(graph.several.terminal[port]), int(graph.several.plane[port])
        rows.setdefault((code, *owner, seen[port, code]), {})[port] = row
    found = []
    for (code, terminal, *_), own in rows.items():
        names = graph.port_names if len(own) == 1 else graph.terminal_names
        name = names[next(iter(own)) if len(own) == 1 else terminal]
        found.append(_Source(code, name, max(made[row] for row in own.values()), own))
    return found


@dataclass(frozen=True)
class Taken:
    """How the codes of one source came to one terminal."""

    code: str
    source: str
    terminal: str
    made: int
    taken: int
    latency_ns: Mapping[str, float | None]
    """``min``, ``mean``, ``p99``, ``max``, and ``jitter``; none if none was taken."""


def codes(native: Mapping[str, Any], graph: Graph, tick_ns: float) -> list[Taken]:
    ports, found = graph.port_names, []
    taken = tables.column(native, "code_taken")
    planes = np.zeros(len(ports)) if graph.several is None else graph.several.plane
    carry = graph.usual_links[graph.terminal_in_links]
    for source in _sources(native, graph):
        for port, name in enumerate(ports):
            if not carry[port] or port in source.rows or planes[port] != planes[next(iter(source.rows))]:
                continue
            rows = [row * len(ports) + port for row in source.rows.values()]
            count, latency_ns = int(taken[rows].sum()), _latency(native, rows, tick_ns)
            found.append(Taken(_name(source.code), source.name, name, source.made, count, latency_ns))
    return found


def made(native: Mapping[str, Any], graph: Graph) -> int:
    """Return the number of codes that all sources made."""
    return sum(source.made for source in _sources(native, graph))


def _latency(native: Mapping[str, Any], rows: list[int], tick_ns: float) -> dict[str, float | None]:
    """Return the latency of the codes of some rows together."""
    rows = [row for row in rows if tables.column(native, "code_taken")[row]]
    if not rows:
        return dict.fromkeys(("min", "mean", "p99", "max", "jitter"))
    total, low, high = (tables.column(native, f"code_{name}_ticks")[rows] for name in ("sum", "min", "max"))
    least, most = float(low.min()), float(high.max())
    values, counts = _together(native, rows)
    p99 = statistics.percentiles(values, counts, least, most)["p99"]
    mean = float(total.sum()) / int(counts.sum())
    times = {"min": least, "mean": mean, "p99": p99, "max": most, "jitter": most - least}
    return {what: None if time is None else time * tick_ns for what, time in times.items()}


def _together(native: Mapping[str, Any], rows: list[int]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the distributions of some rows as one: its values in ticks, ascending, and their counts."""
    cells = [tables.cells(native, "code", row) for row in rows]
    values, counts = (np.concatenate(parts) for parts in zip(*cells, strict=True))
    order = np.argsort(values, kind="stable")
    return values[order], counts[order]


def tails(native: Mapping[str, Any], tick_ns: float) -> dict[str, dict[str, list[float]]]:
    """Return, per code, the tail of its latency over all terminals."""
    found: dict[str, dict[str, list[float]]] = {}
    made, of = tables.column(native, "code_made"), tables.column(native, "code_number")
    if not len(made):
        return found
    ports = len(tables.column(native, "code_taken")) // len(made)
    for code in dict.fromkeys(of.tolist()):
        rows = [int(at) * ports + port for at in np.flatnonzero(of == code) for port in range(ports)]
        values, counts = _together(native, rows)
        if len(values):
            found[_name(int(code))] = statistics.tail(values * tick_ns, counts)
    return found


@dataclass(frozen=True)
class CodeRun:
    native: Mapping[str, Any]
    made: int
    table: pl.DataFrame
    """See ``columns.CODES``."""

    def raw(self, name: str) -> NDArray[Any]:
        return tables.column(self.native, name)

    def total(self, name: str) -> int:
        """Return the sum of a column of the table."""
        return int(self.table[name].sum())

    def most(self, name: str) -> Any:
        """Return the largest value of a column of the table, over rows with accepted codes."""
        return self.table.filter(self.table["taken"] > 0)[name].max()

    @property
    def by_jitter(self) -> pl.DataFrame:
        """The rows with accepted codes, those with most jitter first."""
        return self.table.filter(self.table["taken"] > 0).sort("jitter_ns", descending=True)

    @property
    def worst(self) -> str:
        """The code and the terminal with most jitter."""
        taken = self.by_jitter
        return f"{taken['code'][0]} at {taken['terminal'][0]}" if len(taken) else ""

    @property
    def covered(self) -> float | None:
        """The least of :func:`covered` over all rows; None if no code was accepted."""
        return covered(int(self.by_jitter["taken"].min())) if len(self.by_jitter) else None  # type: ignore[arg-type]


def covered(taken: int) -> float:
    """Return the share of a distribution that lies, on average, between the extremes of some of its values,
    whatever it is: the next value is outside with probability 2 / (n + 1).
    """
    return (taken - 1) / (taken + 1)


ENOUGH = 0.95
"""A jitter between whose extremes less than this share of the codes to come is expected is of too few."""


def left_out(table: pl.DataFrame) -> str:
    """Return a sentence on what the model leaves out of times and jitter: nothing of broadcasts."""
    if all(code.startswith("broadcast") for code in table["code"]):
        return ""
    return " Not in it: the NULL that an idle link may be sending, up to 8 bits of each link on the path."


def text(codes: Mapping[str, Any]) -> tuple[str, str]:
    """Return what codes are called, and a summary of them in a part of a sentence."""
    called = "broadcasts" if codes["worst"].startswith("broadcast") else "time-codes"
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
        return called, made
    jitter, longest = (figures(codes[f"{what}_ns_max"] / 1e3) for what in ("jitter", "latency"))
    few = ""
    if codes["jitter_covered"] < ENOUGH:
        few = (
            f"; the run is too short to tell the jitter: {in_percent(1 - codes['jitter_covered'])} of the "
            "codes to come are expected outside what was seen"
        )
    return called, f"{made}; at most {longest} µs, jitter at most {jitter} µs ({codes['worst']}){few}"
