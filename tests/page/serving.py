"""A server of the page in this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from fabriloom.page.server import configured

KEYS: dict[int, str] = {}
"""By the port of a server the key of its address."""


def at(port: int, path: str) -> str:
    """A path of the server at a port, with its key."""
    return f"/{KEYS[port]}{path}"


@contextmanager
def served(app: Any) -> Iterator[int]:
    """The application on a free port, in a thread: the port."""
    running = uvicorn.Server(configured(app, port=0))
    thread = threading.Thread(target=running.run)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    port = running.servers[0].sockets[0].getsockname()[1]
    KEYS[port] = app.state.key
    yield port
    running.should_exit = True
    thread.join()
