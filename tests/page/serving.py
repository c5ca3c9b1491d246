"""A server of the page in this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from fabriloom.page.server import configured


@contextmanager
def served(app: Any) -> Iterator[int]:
    """The application on a free port, in a thread: the port."""
    running = uvicorn.Server(configured(app, port=0))
    thread = threading.Thread(target=running.run)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    yield running.servers[0].sockets[0].getsockname()[1]
    running.should_exit = True
    thread.join()
