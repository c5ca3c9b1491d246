"""Connections that do not come to the point are closed, so that the server's owner always gets through.

The library's server waits for ever for a request that was begun, and has no bound on connections but one at
which it answers nobody.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import time
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

from . import limits


def room() -> int:
    """Connections that are kept open: the library takes as many again before it looks at what it has."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return limits.CONNECTIONS if files == resource.RLIM_INFINITY else min(limits.CONNECTIONS, files // 4)


class Connection(H11Protocol):
    """A connection of which a request must be complete in time, and which gives way to newer ones."""

    _late: asyncio.TimerHandle | None = None
    _since = 0.0

    @property
    def answering(self) -> bool:
        """Whether its request is complete, and its answer is not: of streams for as long as they last."""
        cycle = self.cycle
        return cycle is not None and not cycle.more_body and not cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody came: there is always room, at the cost of who has waited longest without a request."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._expect()
        others = [cast("Connection", one) for one in self.connections if one is not self]
        others = [one for one in others if not one.transport.is_closing()]
        if len(others) >= room():
            min(others, key=lambda one: (one.answering, one._since)).transport.abort()

    def data_received(self, data: bytes) -> None:
        """A piece of a request."""
        super().data_received(data)
        if self.answering:
            self._unexpect()
        elif self._late is None:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._unexpect()
        super().connection_lost(exc)

    def _expect(self) -> None:
        self._late = self.loop.call_later(limits.REQUEST_S, self._give_up)

    def _unexpect(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        if not self.answering:
            self.transport.abort()


class Sparing(logging.Filter):
    """Lets a few messages through in a while, so that nobody fills the disk by making the server complain."""

    def __init__(self) -> None:
        super().__init__()
        self._began, self._passed = float("-inf"), 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a message is shown."""
        now = time.monotonic()
        if now - self._began > limits.LOG_S:
            self._began, self._passed = now, 0
        self._passed += 1
        return self._passed <= limits.LOG_MESSAGES


def spare_the_log() -> None:
    """Bound what the libraries of the server write to standard error."""
    for name in ("asyncio", "uvicorn.error"):
        logger: Any = logging.getLogger(name)
        if not any(isinstance(one, Sparing) for one in logger.filters):
            logger.addFilter(Sparing())
