"""Read Parquet files in a separate process: see :mod:`.parquet_child`."""

from __future__ import annotations

import io
import json
import signal
import subprocess
from pathlib import Path

from fabriloom.process import children
from fabriloom.process.libraries import pl
from fabriloom.reading.csvs import MOST_COLUMNS
from fabriloom.reading.errors import ReadError
from fabriloom.reading.parquet_child import REFUSED

MOST_ROWS = 1 << 25
MOST_CELLS = 1 << 27
"""Enough for a table of 32 Mi packets with four columns, or a matrix of 11,585 terminals."""
_MEMORY_BYTES = 3 << 30
"""Address space of the child for a small file; the libraries alone reserve 0.8 GB of it."""
_MEMORY_PER_BYTE = 16
"""Additional address space per byte of the file: a table unpacks to a few times its size."""
_CPU_S = 30
_CPU_S_PER_MB = 0.2
_WALL = 4
"""Limit of wall time over that of processor time: some damaged files make the child wait for ever."""
_AGAIN = "write it again, with fewer rows or columns if it is a large one"
_DAMAGED = "the file is damaged or incomplete; write it again"


def parquet(file: Path, size_bytes: int) -> pl.DataFrame:
    """Read the columns of a Parquet file: integers of at most 64 bits, floating-point numbers and strings.

    Raises :class:`ReadError`.
    """
    cpu_s = int(_CPU_S + size_bytes / 1e6 * _CPU_S_PER_MB)
    memory_bytes = _MEMORY_BYTES + _MEMORY_PER_BYTE * size_bytes
    job = {"path": str(file.absolute()), "memory_bytes": memory_bytes, "cpu_s": cpu_s}
    job |= {"rows": MOST_ROWS, "columns": MOST_COLUMNS, "cells": MOST_CELLS}
    try:
        child = subprocess.run(
            children.command("fabriloom.reading.parquet_child"),
            input=json.dumps(job).encode() + b"\n",
            capture_output=True,
            check=False,
            timeout=_WALL * cpu_s,
        )
    except subprocess.TimeoutExpired:
        raise ReadError("not a whole Parquet file; its reader does not end", _DAMAGED) from None
    if child.returncode == REFUSED:
        raise ReadError(*json.loads(child.stdout))
    if child.returncode:
        raise _lost(child.returncode, child.stderr.decode("utf-8", "replace"), cpu_s, memory_bytes)
    return pl.read_ipc_stream(io.BytesIO(child.stdout))


def _lost(code: int, said: str, cpu_s: int, memory_bytes: int) -> ReadError:
    """Describe a child that ended without a message of ours, with its own output, shortened."""
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        message = f"it takes more than {cpu_s} s to read"
        return ReadError(message, "write it again with fewer or plainer columns")
    if "memory" in said.lower():
        message = f"its reader asks for more than {memory_bytes / 2**30:.0f} GiB of memory"
        return ReadError(f"{message}: it is damaged, or unpacks to many times its size", _AGAIN)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    panics = [at + 1 for at, line in enumerate(lines[:-1]) if "panicked at" in line]
    words = lines[panics[0]] if panics else lines[-1] if lines else f"its process ended with code {code}"
    return ReadError(f"not a whole Parquet file; its reader says: {words[:200]}", _DAMAGED)
