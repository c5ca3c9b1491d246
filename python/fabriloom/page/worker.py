"""A process that reads jobs and writes results as lines of JSON.

All work that a foreign scenario can make large or slow happens here, so this process can be killed at any
time. It ends with the server, because its input then ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sys
import threading
import traceback
from collections.abc import Mapping
from typing import Any, BinaryIO

from ..reading import UserError
from . import limits
from .jobs import JOBS


def main() -> None:
    """Work until the input ends."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # other output to standard output must not mix with the messages
    _limit_memory()
    lock = threading.Lock()

    def emit(message: dict[str, Any]) -> None:
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        with lock:
            out.write(line)
            out.flush()

    jobs: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    stop = threading.Event()
    threading.Thread(target=_read, args=(sys.stdin.buffer, jobs, stop), daemon=True).start()

    emit({"type": "ready"})
    while True:
        job = jobs.get()
        stop.clear()
        try:
            JOBS[job["do"]](job, emit, stop)
        except BaseException as error:
            emit({"type": "error", "text": _without_folders(message_of(error), job)})
        emit({"type": "ended"})


def _read(lines: BinaryIO, jobs: queue.SimpleQueue[dict[str, Any]], stop: threading.Event) -> None:
    for line in lines:
        message = json.loads(line)
        if message["do"] == "cancel":
            stop.set()
        else:
            jobs.put(message)
    os._exit(0)


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limits.MEMORY_BYTES, limits.MEMORY_BYTES))


def _without_folders(text: str, job: Mapping[str, Any]) -> str:
    """Remove the folders of a scenario's stored files from a message."""
    for side in ("first", "beside"):
        if (folder := (job.get(side) or {}).get("folder")) is not None:
            text = text.replace(f"{folder}{os.sep}", "")
    return text


def message_of(error: BaseException) -> str:
    """Return the message that the command would print."""
    if isinstance(error, limits.Refusal):
        return str(error)
    if isinstance(error, UserError):
        return f"error: {error}"
    if isinstance(error, MemoryError):
        return f"This needs more memory than the page allows ({limits.MEMORY_BYTES >> 30} GiB)."
    if isinstance(error, OSError):
        return f"This machine could not do it: {error.strerror or error}."
    if isinstance(error, KeyboardInterrupt):
        return "Cancelled before there was anything to show."
    traceback.print_exception(error)
    return f"fault: {type(error).__name__}: {error}\n  This is a fault of Fabriloom, not of your scenario."
