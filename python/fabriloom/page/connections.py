"""Close connections that send no complete request, so that the server stays reachable.

The library's server waits for ever for an incomplete request, and has no limit on connections except one at
which it refuses everyone.
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
    """Return the limit of open connections; the library accepts as many again before it checks."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return limits.CONNECTIONS if files == resource.RLIM_INFINITY else min(limits.CONNECTIONS, files // 4)


class Connection(H11Protocol):
    """A connection that has to send a complete request in time, and may be closed for newer ones."""

    _late: asyncio.TimerHandle | None = None
    _since = 0.0

    @property
    def answering(self) -> bool:
        """Whether its request is complete and its answer is not; a stream counts as long as it lasts."""
        cycle = self.cycle
        return cycle is not None and not cycle.more_body and not cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection; if all places are taken, close the longest waiting one without a request."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._expect()
        others = [cast("Connection", one) for one in self.connections if one is not self]
        others = [one for one in others if not one.transport.is_closing()]
        if len(others) >= room():
            min(others, key=lambda one: (one.answering, one._since)).transport.abort()

    def data_received(self, data: bytes) -> None:
        """Receive a part of a request."""
        super().data_received(data)
        if self.answering:
            self._unexpect()
        elif self._late is None:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
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
    """Passes a limited number of messages per time, so that nobody can fill the disk with them."""

    def __init__(self) -> None:
        super().__init__()
        self._began, self._passed = float("-inf"), 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a message is shown."""
        now = time.monotonic()
        if now - self._began > limits.LOG_S:
            self._began, self._passed = now, 0
        self._passed += 1
        return self._passed <= limits.LOG_MESSAGES


def spare_the_log() -> None:
    """Limit what the libraries of the server write to standard error."""
    for name in ("asyncio", "uvicorn.error"):
        logger: Any = logging.getLogger(name)
        if not any(isinstance(one, Sparing) for one in logger.filters):
            logger.addFilter(Sparing())
