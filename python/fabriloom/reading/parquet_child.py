"""A process that reads one Parquet file and then ends.

The reader is native code: a damaged file can crash its process, and a small file can fill the memory. It
therefore runs in a separate process with limits; :mod:`.parquet` reports what it prints.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from ..process.libraries import pl

REFUSED = 3
"""Exit code when a message is on standard output, as JSON."""


def main() -> None:
    """Read the file named by a line of JSON on standard input; write it as an Arrow stream."""
    job = json.loads(sys.stdin.readline())
    _limit(job)
    os.environ["POLARS_MAX_THREADS"] = "1"  # every thread reserves memory
    try:
        frame = _frame(job)
    except _Refused as error:
        json.dump(error.args, sys.stdout)
        sys.stdout.flush()
        os._exit(REFUSED)
    frame.write_ipc_stream(sys.stdout.buffer)
    sys.stdout.flush()


class _Refused(Exception):
    """Message and hint."""


def _limit(job: dict[str, Any]) -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (job["memory_bytes"], job["memory_bytes"]))
    resource.setrlimit(resource.RLIMIT_CPU, (job["cpu_s"], job["cpu_s"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _frame(job: dict[str, Any]) -> Any:
    with open(job["path"], "rb") as file:
        try:
            _check_size(file, job)
            file.seek(0)
            frame = pl.read_parquet(file)
        except (_Refused, pl.exceptions.PanicException):
            raise  # a panic with all that it printed
        except Exception as error:
            raise _Refused(*_reason(error)) from None
    _check_rows(frame.height, frame.width, job)
    return frame.select(_plain(column) for column in frame.iter_columns())


def _check_size(file: Any, job: dict[str, Any]) -> None:
    """Check the sizes in the file's metadata before anything is unpacked."""
    columns = pl.read_parquet_schema(file)
    file.seek(0)
    rows = pl.scan_parquet(file).select(pl.len()).collect().item()
    _check_rows(rows, len(columns), job)


def _check_rows(rows: int, columns: int, job: dict[str, Any]) -> None:
    if columns > job["columns"]:
        raise _Refused(f"{columns:,} columns; at most {job['columns']:,} are read", "split the table")
    if rows > job["rows"]:
        raise _Refused(f"{rows:,} rows; at most {job['rows']:,} are read", "split the table")
    if rows * columns > job["cells"]:
        message = f"{rows:,} rows of {columns:,} columns; at most {job['cells']:,} cells are read"
        raise _Refused(message, "split the table")


def _plain(column: Any) -> Any:
    """Convert the column to 64-bit integers, floating-point numbers or strings."""
    kind = column.dtype
    if kind.is_integer() and kind not in (pl.Int128, getattr(pl, "UInt128", pl.Int128)):
        return column
    if kind in (pl.String, pl.Float32, pl.Float64):
        return column
    if isinstance(kind, pl.Categorical | pl.Enum):
        return column.cast(pl.String)
    what = {"int128": "whole numbers of 128 bits", "binary": "bytes", "null": "nothing"}
    word = str(kind).lower()
    raise _Refused(
        f'the column "{column.name[:60]}" holds {what.get(word, word[:60])}, not whole numbers of 64 bits, '
        "fractions or strings",
        "write it as one of these",
    )


def _reason(error: Exception) -> tuple[str, str]:
    line = (str(error).strip().splitlines() or ["unknown reason"])[0].removeprefix("parquet: ")
    if "specification" in line:
        return "not a whole Parquet file", "the file is damaged or incomplete; write it again"
    return f"cannot be read as Parquet: {line[:160]}", "the file is damaged or incomplete; write it again"
