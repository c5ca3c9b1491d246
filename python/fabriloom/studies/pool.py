"""Threads that take the most urgent work first and can be stopped.

The engine releases the interpreter's lock, so threads suffice.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, PriorityQueue
from typing import Any, Protocol

MOST_JOBS = 1024
"""Most runs at the same time."""
_PATIENCE_S = 5.0
"""Time that :meth:`close` waits for work that cannot be interrupted, such as a run of the slow twin."""


class Stopped(Exception):
    """Raised inside abandoned work after the pool was stopped."""


class _Closing(Protocol):
    def close(self) -> None: ...


def close(team: _Closing) -> None:
    """Close workers, and wait until running work is abandoned; another Ctrl-C loses no finished point."""
    while True:
        try:
            return team.close()
        except KeyboardInterrupt:
            continue


class Pool:
    """Worker threads that live until :meth:`close`. They are daemons and end with the program."""

    def __init__(self, workers: int) -> None:
        self._waiting: PriorityQueue[tuple[int, int, Any]] = PriorityQueue()
        self._number = itertools.count()
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(max(1, workers))]
        for thread in self._threads:
            thread.start()

    @property
    def stopped(self) -> bool:
        """Whether the pool starts no more work."""
        return self._stopped.is_set()

    def submit(self, order: int, work: Callable[[], Any]) -> Future[Any]:
        """Queue work, to be done before all waiting work with a higher order; cancelled when stopped."""
        future: Future[Any] = Future()
        if self.stopped:
            _cancel(future)
        else:
            self._waiting.put((order, next(self._number), (future, work)))
        return future

    def look(self, *_: object) -> None:
        """Called by long work from time to time. Raises Stopped if it is to end."""
        if self.stopped:
            raise Stopped

    def stop(self) -> None:
        """Start no more work, and interrupt running work."""
        self._stopped.set()
        while True:
            try:
                _, _, item = self._waiting.get_nowait()
            except Empty:
                return
            if item is not None:
                _cancel(item[0])

    def close(self) -> None:
        """Stop the pool and end the threads."""
        self.stop()
        for number, _ in enumerate(self._threads):
            self._waiting.put((0, -1 - number, None))
        until = time.monotonic() + _PATIENCE_S
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _work(self) -> None:
        while (item := self._waiting.get()[2]) is not None:
            future, work = item
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)


def _cancel(future: Future[Any]) -> None:
    """Cancel a future, also for those that wait for it."""
    future.cancel()
    future.set_running_or_notify_cancel()
