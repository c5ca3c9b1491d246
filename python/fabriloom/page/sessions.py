"""Sessions: one per tab, with one job at a time, and the state that a reloaded tab needs."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import limits
from .limits import Refusal
from .workers import Worker, WorkerLost, Workers

ALONE_S = 20.0
"""A run without a listener for this time is abandoned."""
_FORGET_S = 3600.0
_QUEUE = 400
_KEPT_FILES = 64
_MEASURED = ("live", "point", "verdict")
"""Messages of a run or a curve with measured values."""

Message = dict[str, Any]


class Session:
    """One tab: its job, the newest message of every kind, and its listeners."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.listeners: set[asyncio.Queue[Message | None]] = set()
        self.seen = time.monotonic()
        self.worker: Worker | None = None
        self.running = False
        self.kind = ""
        self._newest: dict[tuple[Any, ...], Message] = {}
        self._task: asyncio.Task[None] | None = None
        self._cancelled = False

    @property
    def report(self) -> Path:
        """Path of the report of the last job, once it is finished."""
        return self.folder / "report.html"

    def state(self) -> list[Message]:
        """Return the messages for a new listener, in order."""
        return [{"type": "state", "running": self.running, "job": self.kind}, *self._newest.values()]

    def tell(self, message: Message) -> None:
        """Send a message to all listeners, and keep the newest of each kind."""
        self._newest[(message["type"], message.get("side"), message.get("load"))] = message
        for queue in self.listeners:
            if queue.qsize() < _QUEUE:
                queue.put_nowait(message)
            elif queue.qsize() == _QUEUE:
                queue.put_nowait(None)  # too slow: it has to reconnect, and then gets the whole state

    def hang_up(self) -> None:
        """End the streams of this session."""
        for queue in self.listeners:
            queue.put_nowait(None)

    def begin(self, workers: Workers, job: Message) -> None:
        """Start a job; the previous one must have ended."""
        self.running, self._cancelled, self.kind = True, False, str(job["do"])
        if self.kind == "replay":
            # The result of the previous run stays: its packets are replayed.
            self._newest = {key: said for key, said in self._newest.items() if key[0] in _MEASURED}
        else:
            self._newest.clear()
            self.report.unlink(missing_ok=True)
        self.tell({"type": "begun", "job": self.kind, "sides": 2 if job.get("beside") else 1})
        self._task = asyncio.create_task(self._work(workers, {**job, "report": str(self.report)}))

    async def _work(self, workers: Workers, job: Message) -> None:
        most_s = (limits.STUDY_S if job["do"] == "curve" else limits.RUN_S) + limits.LOOK_S
        try:
            self.worker = await workers.take()
            if self._cancelled:
                self.worker.tell({"do": "cancel"})
            async with asyncio.timeout(most_s):
                async for message in self.worker.work(job):
                    self.tell(message)
        except WorkerLost as lost:
            if self._cancelled:
                self.tell({"type": "done", "why": "cancelled", "report": False})
            else:
                self.tell({"type": "error", "text": f"{lost} Press Run to start again."})
        except TimeoutError:
            self.tell({"type": "error", "text": "This took too long and was stopped."})
        finally:
            worker, self.worker = self.worker, None
            self.running = False
            if worker is not None:
                workers.give(worker) if not self._cancelled else worker.kill()
            self.tell({"type": "idle"})

    async def cancel(self) -> None:
        """End the job: with its partial results if they come immediately, otherwise by ending its process."""
        if not self.running:
            return
        self._cancelled = True
        if self.worker is not None:
            self.worker.tell({"do": "cancel"})
        if self._task is not None:
            await asyncio.wait([self._task], timeout=limits.STOP_S)
        if self.running and self.worker is not None:
            self.worker.kill()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=limits.STOP_S)


class Turns:
    """Admits a few at a time: of the waiting ones the newest is next; if there are too many, the oldest is
    refused.

    A client that sends many requests therefore cannot block the others.
    """

    def __init__(self, at_a_time: int, waiting: int) -> None:
        self._free, self._most = at_a_time, waiting
        self._waiting: list[asyncio.Future[None]] = []

    async def __aenter__(self) -> None:
        if self._free:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        if len(self._waiting) > self._most and not (oldest := self._waiting.pop(0)).done():
            oldest.set_exception(Refusal("Too many scenarios are being examined; try again."))
        try:
            await turn
        except asyncio.CancelledError:
            if turn in self._waiting:
                self._waiting.remove(turn)
            elif turn.done() and not turn.cancelled() and turn.exception() is None:
                self._pass_on()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        while self._waiting:
            if not (newest := self._waiting.pop()).done():  # its client may just have gone
                newest.set_result(None)
                return
        self._free += 1


class Sessions:
    """All tabs of this server."""

    def __init__(self) -> None:
        self.workers = Workers()
        self._folder = Path(tempfile.mkdtemp(prefix="fabriloom-page-"))
        self._open: dict[str, Session] = {}
        self._looking = Turns(limits.LOOKING, limits.LOOKS_WAITING)

    def create(self) -> Session:
        """Create a session. Of too many, one without listeners, or unused for longest, is closed."""
        while len(self._open) >= limits.SESSIONS:
            idle = [session for session in self._open.values() if not session.running]
            self._forget(min(idle, key=lambda session: (bool(session.listeners), session.seen)))
        name = secrets.token_urlsafe(18)
        folder = self._folder / name
        folder.mkdir()
        self._open[name] = Session(name, folder)
        return self._open[name]

    def _forget(self, session: Session) -> None:
        """Close a tab permanently."""
        del self._open[session.name]
        session.hang_up()
        shutil.rmtree(session.folder, ignore_errors=True)

    def keep(self, files: Mapping[str, str]) -> Path:
        """Store the files that came with a scenario, until the server ends or many others came."""
        text = json.dumps(sorted(files.items()), ensure_ascii=False)
        folder = self._folder / f"files-{hashlib.sha256(text.encode()).hexdigest()[:32]}"
        if not folder.is_dir():
            kept = sorted(self._folder.glob("files-*"), key=lambda one: one.stat().st_mtime)
            for old in kept[:-_KEPT_FILES]:
                shutil.rmtree(old, ignore_errors=True)
            folder.mkdir()
            for name, content in files.items():
                (folder / name).write_text(content, encoding="utf-8")
        return folder

    def get(self, name: str) -> Session | None:
        """Return the session of a tab, or None if it is closed."""
        session = self._open.get(name)
        if session is not None:
            session.seen = time.monotonic()
        return session

    def begin(self, session: Session, job: Message) -> None:
        """Start a job. Raises Refusal while another one runs."""
        if session.running:
            raise Refusal("A run is in progress in this tab. Cancel it first.")
        if sum(other.running for other in self._open.values()) >= limits.RUNNING:
            raise Refusal(
                f"{limits.RUNNING} runs are in progress in other tabs. Wait for one of them, or cancel it."
            )
        session.begin(self.workers, job)

    async def look(self, job: Message) -> Message:
        """Run a short job without a session; returns its answer or error. Raises Refusal if too many wait."""
        async with self._looking:
            worker = await self.workers.take()
            answer: Message = {"type": "error", "text": "There was no answer."}
            try:
                async with asyncio.timeout(limits.LOOK_S):
                    async for message in worker.work(job):
                        answer = message
                self.workers.give(worker)
            except TimeoutError:
                worker.kill()
                text = f"This network takes more than {limits.LOOK_S:g} s to build."
                answer = {"type": "error", "text": text}
            except WorkerLost as lost:
                answer = {"type": "error", "text": f"{lost} The network may be too large for the page."}
            except asyncio.CancelledError:
                worker.kill()
                raise
            return answer

    async def sweep(self) -> None:
        """Abandon runs without listeners, and close the sessions of closed tabs, in an endless loop."""
        while True:
            await asyncio.sleep(2.0)
            now = time.monotonic()
            for session in list(self._open.values()):
                if session.listeners:
                    session.seen = now
                elif session.running and now - session.seen > ALONE_S:
                    await session.cancel()
                elif now - session.seen > _FORGET_S:
                    self._forget(session)

    def hang_up(self) -> None:
        """End all streams."""
        for session in self._open.values():
            session.hang_up()

    async def close(self) -> None:
        await self.workers.close()
        shutil.rmtree(self._folder, ignore_errors=True)
