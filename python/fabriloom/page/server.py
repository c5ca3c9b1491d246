"""The server of the laboratory: a few addresses, on this machine only."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from importlib import resources
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from . import limits, replay_file, shelf
from .choices import BadRequest, body_of, moment, sides
from .guard import Connection, Guard, room, spare_the_log
from .limits import Refusal
from .sessions import Message, Session, Sessions

_KINDS = {"css": "text/css", "js": "text/javascript", "html": "text/html", "svg": "image/svg+xml"}
_SCRIPTS = (
    *("page", "choosing", "running", "hearing", "viewing", "state", "controls", "card", "charts"),
    *("fabric", "geometry", "playing", "player", "packets", "recording", "marks", "film"),
)
_PAGE = ("index.html", "page.css", *(f"{name}.js" for name in _SCRIPTS))
_OF_REPORTS = {
    "charts.min.js": "vendor/charts.min.js",
    "lines.min.js": "vendor/lines.min.js",
    "large.js": "large.js",
    "reach.js": "reach.js",
    "plots.js": "plots.js",
    "style.css": "style.css",
}
_KEY_BYTES = 18
_PING_S = 15.0
_LOST_S = 0.5
"""Interval at which a server that works for a client checks whether the client is still connected."""


def serve(port: int, started: Callable[[str], None], files: Sequence[Path] = ()) -> None:
    """Serve until interrupted."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    app = application(files)
    config = configured(app)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}/{app.state.key}/"
    try:
        _Server(config, lambda: started(address)).run(sockets=[listening])
    finally:
        listening.close()


def configured(app: Starlette, **more: Any) -> uvicorn.Config:
    """Return the library's settings for the application."""
    spare_the_log()
    return uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        ws="none",
        http=Connection,
        loop="asyncio",
        lifespan="on",
        server_header=False,
        timeout_graceful_shutdown=1,
        backlog=room(),
        **more,
    )


class _Server(uvicorn.Server):
    """Reports when it is ready, and ends the streams on shutdown, because they would never end."""

    def __init__(self, config: uvicorn.Config, tell: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell = tell

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then report; a browser then finds the server, and Ctrl-C works."""
        await super().startup(sockets)
        self._tell()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle Ctrl-C or SIGTERM; the end takes a second at most, also if pressed twice."""
        if self.should_exit:
            return
        self.config.app.state.sessions.hang_up()  # type: ignore[union-attr]
        super().handle_exit(sig, frame)


def application(files: Sequence[Path] = ()) -> Starlette:
    """Return the application; its sessions and the key of its address last as long as it does."""
    key = secrets.token_urlsafe(_KEY_BYTES)

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        sessions = Sessions()
        app.state.sessions = sessions
        sessions.workers.ahead()
        sweeping = asyncio.create_task(sessions.sweep())
        yield
        sweeping.cancel()
        await sessions.close()

    app = Starlette(
        routes=[
            Route("/", _page),
            Route("/page/{name}", _page),
            Route("/api/shelf", _shelf),
            Route("/api/session", _session, methods=["POST"]),
            Route("/api/look", _look, methods=["POST"]),
            Route("/api/begin", _begin, methods=["POST"]),
            Route("/api/cancel", _cancel, methods=["POST"]),
            Route("/api/events", _events),
            Route("/api/report", _report),
        ],
        middleware=[Middleware(Guard, key)],
        exception_handlers={Refusal: _refused, BadRequest: _refused},
        lifespan=life,
    )
    app.state.key = key
    app.state.files = [path.resolve() for path in files]
    return app


async def _page(request: Request) -> Response:
    """Return the page and its parts."""
    name = request.path_params.get("name", "index.html")
    if name == "replay.html":
        return Response(replay_file.shell(), media_type=_KINDS["html"])
    if name in _OF_REPORTS:
        room, path = "fabriloom.report", _OF_REPORTS[name]
    elif name in _PAGE:
        room, path = "fabriloom.page", f"static/{name}"
    else:
        return JSONResponse({"error": "There is no such page."}, status_code=404)
    content = resources.files(room).joinpath(*path.split("/")).read_bytes()
    return Response(content, media_type=_KINDS[name.rpartition(".")[2]])


async def _shelf(request: Request) -> Response:
    return JSONResponse([*shelf.own(request.app.state.files), *shelf.listed()])


def _sides(request: Request, body: Message) -> Message:
    """Return the requested scenarios, with the user's files as paths for the workers."""
    sessions, own = request.app.state.sessions, request.app.state.files
    return {side: spec and shelf.placed(spec, own, sessions.keep) for side, spec in sides(body).items()}


async def _session(request: Request) -> Response:
    """Return a session: the one that the tab had, if it still exists."""
    sessions: Sessions = request.app.state.sessions
    body = await body_of(request)
    session = sessions.get(str(body.get("session", "")))
    return JSONResponse({"session": (session or sessions.create()).name})


async def _look(request: Request) -> Response:
    body = await body_of(request)
    sessions: Sessions = request.app.state.sessions
    looking = asyncio.create_task(sessions.look({"do": "look", **_sides(request, body)}))
    try:
        while not (await asyncio.wait([looking], timeout=_LOST_S))[0]:
            if await request.is_disconnected():
                return Response(status_code=499)
        return JSONResponse(looking.result())
    finally:
        looking.cancel()


async def _begin(request: Request) -> Response:
    body = await body_of(request)
    sessions: Sessions = request.app.state.sessions
    session = sessions.get(str(body.get("session", "")))
    if session is None:
        return JSONResponse({"error": "This tab is not known any more; reload the page."}, status_code=404)
    if body.get("do") not in ("run", "curve", "replay"):
        raise BadRequest("There is no such job.")
    sessions.begin(session, {"do": body["do"], "from_ms": moment(body), **_sides(request, body)})
    return JSONResponse({})


async def _cancel(request: Request) -> Response:
    body = await body_of(request)
    session = request.app.state.sessions.get(str(body.get("session", "")))
    if session is not None:
        await session.cancel()
    return JSONResponse({})


async def _events(request: Request) -> Response:
    """Stream the events of a session."""
    session = request.app.state.sessions.get(request.query_params.get("session", ""))
    if session is None or len(session.listeners) >= limits.LISTENERS:
        # 204 makes an EventSource stop retrying.
        return Response(status_code=204)
    return StreamingResponse(_stream(session), media_type="text/event-stream")


async def _stream(session: Session) -> AsyncIterator[str]:
    queue: asyncio.Queue[Message | None] = asyncio.Queue()
    session.listeners.add(queue)
    try:
        for message in session.state():
            yield _event(message)
        while True:
            try:
                message = await asyncio.wait_for(queue.get(), _PING_S)
            except TimeoutError:
                yield ": still here\n\n"
                continue
            if message is None:
                return
            yield _event(message)
    finally:
        session.listeners.discard(queue)


def _event(message: Message) -> str:
    return f"data: {json.dumps(message, separators=(',', ':'))}\n\n"


async def _report(request: Request) -> Response:
    session = request.app.state.sessions.get(request.query_params.get("session", ""))
    if session is None or not session.report.is_file():
        return JSONResponse({"error": "There is no report yet."}, status_code=404)
    return FileResponse(session.report, media_type="text/html", filename="report.html")


async def _refused(_: Request, refusal: Exception) -> Response:
    return JSONResponse({"error": str(refusal)}, status_code=getattr(refusal, "status", 409))
