"""Latency and jitter of time-codes and interrupts, and those that were missed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..codes import number
from . import statistics, tables
from .figures import figures

if TYPE_CHECKING:
    import polars as pl

    from ..topology.graph import Graph

_LINKS = {
    "codes": "sent",
    "lost_codes": "lost",
    "duplicate_codes": "duplicate",
    "invalid_codes": "invalid",
}
"""Columns of links, with the engine's names."""


def has_codes(native: Mapping[str, Any]) -> bool:
    """Whether terminals sent, or were to send, time-codes or interrupts."""
    return len(tables.column(native, "code_made")) > 0


def _name(code: int) -> str:
    return "time-code" if code == number("signal", "time") else f"interrupt {code}"


def codes(native: Mapping[str, Any], graph: Graph, tick_ns: float) -> pl.DataFrame:
    """Return the table of ``columns.CODES``."""
    import polars as pl

    ports, rows = graph.port_names, []
    made, source, of = (tables.column(native, f"code_{name}") for name in ("made", "port", "number"))
    taken, total, low, high = (
        tables.column(native, f"code_{name}") for name in ("taken", "sum_ticks", "min_ticks", "max_ticks")
    )
    for row in range(len(made) * len(ports)):
        at, port = divmod(row, len(ports))
        if port == source[at] or not _same_plane(graph, port, int(source[at])):
            continue
        count, shortest, longest = int(taken[row]), float(low[row]), float(high[row])
        p99 = (
            statistics.percentiles(*tables.cells(native, "code", row), shortest, longest)["p99"]
            if count
            else None
        )
        mean = float(total[row]) / count if count else None
        times = (shortest, mean, p99, longest, longest - shortest) if count else (None,) * 5
        names = (_name(int(of[at])), ports[int(source[at])], ports[port])
        counts = (int(made[at]), count, int(made[at]) - count)
        rows.append((*names, *counts, *(None if time is None else time * tick_ns for time in times)))
    schema: dict[str, Any] = dict.fromkeys(("code", "source", "terminal"), pl.String)
    schema |= dict.fromkeys(("made", "taken", "missed"), pl.Int64)
    schema |= dict.fromkeys((f"latency_ns_{what}" for what in ("min", "mean", "p99", "max")), pl.Float64)
    return pl.DataFrame(rows, schema={**schema, "jitter_ns": pl.Float64}, orient="row")


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


def summary(native: Mapping[str, Any], table: pl.DataFrame) -> dict[str, Any]:
    """Return the keys of ``columns.CODE_SUMMARY``."""
    taken = table.filter(table["taken"] > 0)
    worst = taken.sort("jitter_ns", descending=True).to_dicts()[:1]
    counts = {
        name: int(tables.column(native, f"link_codes_{what}").sum())
        for name, what in (("lost", "lost"), ("duplicates", "duplicate"), ("invalid", "invalid"))
    }
    return {
        "made": int(tables.column(native, "code_made").sum()),
        "taken": int(table["taken"].sum()),
        **counts,
        "latency_ns_max": taken["latency_ns_max"].max() if len(taken) else None,
        "jitter_ns_max": worst[0]["jitter_ns"] if worst else None,
        "worst": f"{worst[0]['code']} at {worst[0]['terminal']}" if worst else "",
    }


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


def link_columns(native: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of ``columns.CODE_LINKS``."""
    return {
        name: tables.column(native, f"link_codes_{what}").astype(np.int64) for name, what in _LINKS.items()
    }
