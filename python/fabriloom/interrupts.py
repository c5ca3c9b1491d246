"""Ctrl-C while a library runs functions of ours: it would take the interrupt for an error of theirs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def deferred() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM until the block ends; then their handlers run.

    For calls that take milliseconds. Pydantic reports an exception in a serializer as an error of the value,
    or tries the next type of a union, so that the interrupt is lost.
    """
    if threading.current_thread() is not threading.main_thread():  # handlers run in the main thread only
        yield
        return
    heard: list[tuple[int, FrameType | None]] = []
    before = {
        number: signal.signal(number, lambda *one: heard.append(one))
        for number in (signal.SIGINT, signal.SIGTERM)
        if callable(signal.getsignal(number))
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number, frame in heard[:1]:
            handler = before[signal.Signals(number)]
            assert callable(handler)
            handler(number, frame)
