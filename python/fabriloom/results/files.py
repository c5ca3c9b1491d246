"""Results as files: Parquet, JSON and the Chrome trace format; and what is kept of unfinished work."""

from __future__ import annotations

import contextlib
import io
import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from . import Results


def keep(path: Path, text: str) -> None:
    """Write what saves work if the rest is interrupted; the file appears whole or not at all.

    Where there is no room for it the work goes on, with a warning: its results do not hang on the file.
    """
    partial = path.with_suffix(f".{os.getpid()}.partial")  # two commands may work in one folder
    try:
        path.parent.mkdir(parents=True, exist_ok=True)  # only when there is something to keep
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        why = (error.strerror or str(error)).lower()
        warnings.warn(f"{path.parent}: finished runs are no longer kept here: {why}", stacklevel=2)


def to_json(summary: dict[str, Any], path: str | Path | None = None) -> str:
    """A summary as indented JSON, written to ``path`` too when one is given.

    Every number reads back as the same number.
    """
    text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def write_table(table: pl.DataFrame, path: Path) -> None:
    """One table as Parquet. Raises OSError: Polars itself would not say that it is one."""
    written = io.BytesIO()
    table.write_parquet(written)
    path.write_bytes(written.getbuffer())


def write_parquet(results: Results, folder: Path) -> list[Path]:
    """Write the tables that the run kept into an existing folder; returns the files."""
    tables = {"links": results.links} if results.keeps_links else {}
    if results.keeps_links and results.graph.rings is not None:
        tables["buses"] = results.buses
    tables |= {"flows": results.flows, "batches": results.batches, "latency": results.ccdf()}
    if results.program is not None:
        own = {"events": results.events, "hosts": results.hosts}
        own |= {"messages": results.messages, "marks": results.marks}
        tables |= {name: table for name, table in own.items() if len(table)}
    if results.has_trace:
        tables["trace"] = results.trace
    written = []
    for name, table in tables.items():
        path = folder / f"{name}.parquet"
        write_table(table, path)
        written.append(path)
    return written


def _trace_events(results: Results) -> Iterator[dict[str, Any]]:
    """Events of the Chrome trace format: a named track per source, a span per packet.

    Packets of one source overlap (the next starts before the one before has arrived), so they are the
    asynchronous kind of span, which may.
    """
    tracks = {name: number for number, name in enumerate(results.graph.terminal_names)}
    yield {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "packets by source terminal"}}
    for source in results.trace["source"].unique(maintain_order=True):
        yield {"name": "thread_name", "ph": "M", "pid": 1, "tid": tracks[source], "args": {"name": source}}
    for row in results.trace.iter_rows(named=True):
        about = {"cat": "packet", "id": row["packet"], "pid": 1, "tid": tracks[row["source"]]}
        name = f"to {row['target']}"
        details = {"packet": row["packet"], "bytes": row["length_bytes"], "latency_ns": row["latency_ns"]}
        waited = row["started_ns"] - row["created_ns"]
        yield {"name": name, "ph": "b", "ts": row["created_ns"] / 1e3, **about, "args": details}
        if waited > 0:
            yield {"name": "waits at its source", "ph": "b", "ts": row["created_ns"] / 1e3, **about}
            yield {"name": "waits at its source", "ph": "e", "ts": row["started_ns"] / 1e3, **about}
        yield {"name": name, "ph": "e", "ts": row["delivered_ns"] / 1e3, **about}


def write_chrome_trace(results: Results, path: Path) -> None:
    """Write the packet trace in the Chrome trace format (microseconds), one event a line; Perfetto opens
    it.
    """
    with path.open("w", encoding="utf-8") as out:
        out.write('{"displayTimeUnit":"ns","traceEvents":[\n')
        for number, event in enumerate(_trace_events(results)):
            out.write(",\n" if number else "")
            out.write(json.dumps(event, ensure_ascii=False, separators=(",", ":")))
        out.write("\n]}\n")
