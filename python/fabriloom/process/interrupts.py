"""Ctrl-C and SIGTERM: handlers for a while, and a library that would take the interrupt for its own error."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

Handler = Callable[[int, Any], Any] | int | None


@contextmanager
def handled(
    handler: Handler, numbers: Sequence[signal.Signals] = (signal.SIGINT, signal.SIGTERM)
) -> Iterator[dict[int, Handler]]:
    """Handle signals in another way until the block ends; yields the handlers before it, by signal."""
    before: dict[int, Handler] = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield before
    finally:
        for number, one in before.items():
            signal.signal(number, one)


@contextmanager
def deferred() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM until the block ends; then their handlers run.

    For calls that take milliseconds. Pydantic reports an exception in a serializer as an error of the value,
    or tries the next type of a union, so that the interrupt is lost.
    """
    if threading.current_thread() is not threading.main_thread():  # handlers run in the main thread only
        yield
        return
    heard: list[tuple[int, Any]] = []
    numbers = [one for one in (signal.SIGINT, signal.SIGTERM) if callable(signal.getsignal(one))]
    before: dict[int, Handler] = {}
    try:
        with handled(lambda *one: heard.append(one), numbers) as before:
            yield
    finally:
        for number, frame in heard[:1]:
            handler = before[number]
            assert callable(handler)
            handler(number, frame)
