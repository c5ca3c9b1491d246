"""Write results as Parquet, CSV, JSON and the Chrome trace format."""

from __future__ import annotations

import io
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from .. import output
from ..output import Files
from ..process.libraries import pl
from .kinds import KINDS

if TYPE_CHECKING:
    from . import Results


def to_json(summary: dict[str, Any], path: str | Path | None = None) -> str:
    """Return a summary as indented JSON, and write it to ``path`` if given.

    Every number is read back unchanged.
    """
    text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if path is not None:
        with output.file(Path(path)) as out:
            out.write(output.encoded(text))
    return text


def put_text(files: Files, name: str, text: str) -> None:
    """Write a text to a file. Raises OSError."""
    with files.file(name) as out:
        out.write(output.encoded(text))


def write_table(files: Files, name: str, table: pl.DataFrame) -> str:
    """Write one table as Parquet or CSV, by the extension of its name; returns the name. Raises OSError, also
    where Polars raises another error for it.
    """
    written = io.BytesIO()
    if name.endswith(".csv"):
        written.write(output.encoded(table.write_csv()))
    else:
        table.write_parquet(written)
    with files.file(name) as out:
        out.write(written.getbuffer())
    return name


def write_tables(tables: Mapping[str, pl.DataFrame], files: Files, form: str) -> list[str]:
    """Write tables as ``form``, ``parquet`` or ``csv``, one file each; returns their names."""
    return [write_table(files, f"{name}.{form}", table) for name, table in tables.items()]


def write_plain(tables: Mapping[str, pl.DataFrame], folder: Path, form: str) -> list[Path]:
    """Write tables into any folder, which is created if needed; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    return [folder / name for name in write_tables(tables, output.Plain(folder), form)]


def tables_of(results: Results) -> dict[str, pl.DataFrame]:
    """Return the tables that the run kept, by file name."""
    if results.measured is not None:
        return _with_rows(results, *_OF_PROGRAMS)
    links = ("links", *KINDS[results.graph.network_kind].tables) if results.keeps_links else ()
    tables = {name: getattr(results, name) for name in links}
    if results.graph.several is not None:
        tables["planes"] = results.planes
    if results.keeps_links:
        tables |= _with_rows(results, "lanes")
    tables |= {"flows": results.flows, "batches": results.batches, "latency": results.ccdf()}
    tables |= _with_rows(results, "over_time", "completions")
    if results.has_requirements:
        tables["requirements"] = results.requirements
    if results.has_codes:
        tables["codes"] = results.codes
    if results.has_congestion_control:
        tables["congestion"] = results.congestion
    if results.program is not None:
        tables |= _with_rows(results, *_OF_PROGRAMS)
    if results.has_trace:
        tables["trace"] = results.trace
    return tables


_OF_PROGRAMS = ("events", "hosts", "messages", "message_flows", "marks", "slots")


def _with_rows(results: Results, *names: str) -> dict[str, pl.DataFrame]:
    """Return those of the tables that have rows."""
    return {name: table for name in names if len(table := getattr(results, name))}


def _trace_events(results: Results) -> Iterator[dict[str, Any]]:
    """Yield the events of the Chrome trace format: a named track per source, a span per packet.

    Packets of one source overlap, because the next starts before the previous one has arrived; they are
    therefore asynchronous spans.
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


def write_chrome_trace(results: Results, out: BinaryIO) -> None:
    """Write the packet trace in the Chrome trace format (microseconds), one event per line."""
    out.write(b'{"displayTimeUnit":"ns","traceEvents":[\n')
    for number, event in enumerate(_trace_events(results)):
        text = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
        out.write(output.encoded(f",\n{text}" if number else text))
    out.write(b"\n]}\n")


class Tabled(ABC):
    """A result with a summary and tables, which can be written to files."""

    summary: Any
    """All numbers, ready for JSON."""

    @abstractmethod
    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables by file name."""

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the summary as JSON text, and write it to ``path`` if given. Raises OSError."""
        return to_json(self.summary, path)

    def to_parquet(self, folder: str | Path) -> list[Path]:
        """Write the tables as Parquet into ``folder``, which is created if needed; returns the files."""
        return write_plain(self.tables(), Path(folder), "parquet")

    def to_csv(self, folder: str | Path) -> list[Path]:
        """Write the tables as CSV into ``folder``, which is created if needed; returns the files."""
        return write_plain(self.tables(), Path(folder), "csv")
