"""Accept requests only from the server's own pages on this machine, and limit how many connect.

Any web page can make a browser send requests to 127.0.0.1. It cannot forge ``Host`` and ``Origin``, and
cannot send JSON to another origin without asking first, so these are checked first. Another program can forge
all of that, but does not know the key with which every path of this server begins.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import secrets
import time
from typing import Any, cast

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
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
        super().data_received(data)
        if self.answering:
            self._unexpect()
        elif self._late is None:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
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


NAMES = ("127.0.0.1", "localhost", "[::1]")
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Accepts requests of our own page that have its key and are not too long; adds headers."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self.app = app
        self.start = f"/{key}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                extra = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", []), *extra]}
            await send(message)

        refusal = refused(scope) or self._without_key(scope)
        if refusal:
            answer = JSONResponse(
                {"error": refusal[1]}, status_code=refusal[0], headers={"connection": "close"}
            )
            await answer(scope, receive, with_headers)
            return
        await self.app({**scope, "path": scope["path"][len(self.start) :]}, receive, with_headers)

    def _without_key(self, scope: Scope) -> tuple[int, str] | None:
        """Return status and message if the path does not begin with the key, compared in constant time."""
        start = scope["path"][: len(self.start) + 1].encode(errors="replace")
        if secrets.compare_digest(start, f"{self.start}/".encode()):
            return None
        return 403, "The address of the page contains a key: copy the whole address from the terminal."


def refused(scope: Scope) -> tuple[int, str] | None:
    """Return status and message if a request does not come from our page."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    host, origin = headers.get("host", ""), headers.get("origin")
    name, colon, port = (host, "", "") if host in NAMES else host.rpartition(":")  # browsers omit port 80
    told = name in NAMES and (not colon or (port.isascii() and port.isdigit()))
    names = [name for name, _ in scope["headers"]]
    if not told or names.count(b"host") != 1 or names.count(b"origin") > 1:
        return 421, "This server answers to 127.0.0.1 and localhost only."
    if origin is not None and origin != f"http://{host}":
        return 403, "This request comes from another page."
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return 403, "This request comes from another page."
    if scope["method"] == "POST":
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return 415, "Requests are JSON."
        length = headers.get("content-length", "")
        if not length.isdecimal() or "transfer-encoding" in headers:
            return 411, "The length of the request is missing."
        if int(length) > limits.BODY_BYTES:
            return 413, f"This is longer than {limits.BODY_BYTES // 1000} kB, the most that the page accepts."
    return None
