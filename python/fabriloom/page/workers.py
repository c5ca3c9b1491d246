"""Worker processes: started in advance, given one job each, and killed if they do not stop."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
from collections.abc import AsyncIterator, Mapping
from typing import Any

from ..process import children

_LONGEST_LINE = 64 << 20
_IDLE = 2


class WorkerLost(Exception):
    """The process ended unexpectedly; the text gives the reason."""


class Worker:
    """One process, which does one job after another."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls) -> Worker:
        """Start a process, which gets ready in the background."""
        pipe = asyncio.subprocess.PIPE
        command = children.command(f"{__package__}.worker")
        # Keep it away from the terminal: its Ctrl-C is for the server, which ends the workers.
        process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, limit=_LONGEST_LINE, start_new_session=True
        )
        return cls(process)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process can take a job."""
        return self._process.returncode is None

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send one message; a process that has ended ignores it."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError, RuntimeError):
                self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def work(self, job: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """Do a job; yields its messages until it ends. Raises WorkerLost."""
        self.tell(job)
        while True:
            line = await self._process.stdout.readline() if self._process.stdout else b""
            if not line:
                raise WorkerLost(_how(await self._process.wait()))
            message = json.loads(line)
            if message["type"] == "ended":
                return
            if message["type"] != "ready":
                yield message

    def kill(self) -> None:
        """End the process at once."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def gone(self) -> None:
        """Wait until the process has ended."""
        await self._process.wait()


def _how(code: int) -> str:
    if code >= 0:
        return f"The process that was running this ended (exit code {code})."
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"The process that was running this was killed ({name})."


class Workers:
    """Ready processes. One is always started in advance, because starting takes a second."""

    def __init__(self) -> None:
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._ahead: set[asyncio.Task[None]] = set()

    async def take(self) -> Worker:
        """Return a worker for one job."""
        while self._idle:
            worker = self._idle.pop(0)  # a worker that has been used has everything imported
            if worker.alive:
                self.ahead()
                return worker
        worker = await Worker.start()
        self._all.add(worker)
        self.ahead()
        return worker

    def give(self, worker: Worker) -> None:
        """Take back a worker after its job; some are kept, others end."""
        self._all = {other for other in self._all if other.alive}
        if worker.alive:
            self._idle.insert(0, worker)
        while len(self._idle) > _IDLE:
            self._idle.pop().kill()

    def ahead(self) -> None:
        """Start a worker if none is idle."""
        if self._idle or self._ahead:
            return
        task = asyncio.create_task(self._start())
        self._ahead.add(task)
        task.add_done_callback(self._ahead.discard)

    async def _start(self) -> None:
        worker = await Worker.start()
        self._all.add(worker)
        self._idle.append(worker)

    async def close(self) -> None:
        for task in list(self._ahead):
            task.cancel()
        for worker in self._all:
            worker.kill()
        for worker in self._all:
            await worker.gone()
