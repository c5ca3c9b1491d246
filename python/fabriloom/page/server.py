"""The server: a few addresses, on this machine alone."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Callable
from importlib import resources
from types import FrameType
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from . import shelf
from .guard import Guard
from .limits import LISTENERS, Refusal
from .sessions import Message, Session, Sessions

_KINDS = {"css": "text/css", "js": "text/javascript", "html": "text/html", "svg": "image/svg+xml"}
_PAGE = ("index.html", "page.css", "page.js", "fabric.js", "charts.js", "replay.js", "state.js")
_OF_REPORTS = {"charts.min.js": "vendor/charts.min.js", "reach.js": "reach.js", "style.css": "style.css"}
_PING_S = 15.0
_LONGEST_MS = 1e9


def serve(port: int, started: Callable[[str], None]) -> None:
    """Serve until interrupted."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    config = uvicorn.Config(
        application(),
        log_level="error",
        access_log=False,
        ws="none",
        http="h11",
        loop="asyncio",
        lifespan="on",
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    started(f"http://127.0.0.1:{listening.getsockname()[1]}/")
    try:
        _Server(config).run(sockets=[listening])
    finally:
        listening.close()


class _Server(uvicorn.Server):
    """Ends the streams when it is to end, which otherwise go on for ever."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Ctrl-C or SIGTERM; the end takes a second at most, and pressed twice it is no sooner."""
        if self.should_exit:
            return
        self.config.app.state.sessions.hang_up()  # type: ignore[union-attr]
        super().handle_exit(sig, frame)


def application() -> Starlette:
    """The app: its sessions live as long as it does."""

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        sessions = Sessions()
        app.state.sessions = sessions
        sessions.workers.ahead()
        sweeping = asyncio.create_task(sessions.sweep())
        yield
        sweeping.cancel()
        await sessions.close()

    return Starlette(
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
        middleware=[Middleware(Guard)],
        lifespan=life,
    )


async def _page(request: Request) -> Response:
    """The page and what it consists of."""
    name = request.path_params.get("name", "index.html")
    if name in _OF_REPORTS:
        room, path = "fabriloom.report", _OF_REPORTS[name]
    elif name in _PAGE:
        room, path = "fabriloom.page", f"static/{name}"
    else:
        return JSONResponse({"error": "There is no such page."}, status_code=404)
    content = resources.files(room).joinpath(*path.split("/")).read_bytes()
    return Response(content, media_type=_KINDS[name.rpartition(".")[2]])


async def _shelf(request: Request) -> Response:
    return JSONResponse(shelf.listed())


async def _session(request: Request) -> Response:
    """A session: the one that the tab had, if it is still there."""
    sessions: Sessions = request.app.state.sessions
    body = await _body(request)
    session = sessions.get(str(body.get("session", "")))
    try:
        return JSONResponse({"session": (session or sessions.create()).name})
    except Refusal as refusal:
        return _refused(refusal)


async def _look(request: Request) -> Response:
    body = await _body(request)
    if not isinstance(body.get("first"), dict):
        return _refused(Refusal("There is no scenario in this request."))
    sessions: Sessions = request.app.state.sessions
    return JSONResponse(await sessions.look({"do": "look", **_sides(body)}))


async def _begin(request: Request) -> Response:
    body = await _body(request)
    sessions: Sessions = request.app.state.sessions
    session = sessions.get(str(body.get("session", "")))
    if session is None:
        return JSONResponse({"error": "This tab is not known any more; reload the page."}, status_code=404)
    if body.get("do") not in ("run", "curve", "replay") or not isinstance(body.get("first"), dict):
        return _refused(Refusal("There is no such job."))
    try:
        sessions.begin(session, {"do": body["do"], "from_ms": _moment(body), **_sides(body)})
    except Refusal as refusal:
        return _refused(refusal)
    return JSONResponse({})


def _sides(body: Message) -> Message:
    beside = body.get("beside")
    return {"first": body["first"], "beside": beside if isinstance(beside, dict) else None}


def _moment(body: Message) -> float | None:
    """From when on packets are replayed, in ms of the run; None: its end."""
    value = body.get("from_ms")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LONGEST_MS:
        raise Refusal("The moment from which packets are replayed is a time in ms, 0 or more.")
    return float(value)


async def _cancel(request: Request) -> Response:
    body = await _body(request)
    session = request.app.state.sessions.get(str(body.get("session", "")))
    if session is not None:
        await session.cancel()
    return JSONResponse({})


async def _events(request: Request) -> Response:
    """What happens in a session, as it happens."""
    session = request.app.state.sessions.get(request.query_params.get("session", ""))
    if session is None or len(session.listeners) >= LISTENERS:
        # 204 tells an EventSource not to try again.
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


async def _body(request: Request) -> dict[str, Any]:
    """The JSON of a request; its length was looked at before. Anything else is an empty one."""
    try:
        body = json.loads(await request.body())
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _refused(refusal: Refusal) -> Response:
    return JSONResponse({"error": str(refusal)}, status_code=409)
