"""The laboratory: a local web page that shows a fabric at work.

The server (``server``, ``guard``, ``sessions``) never simulates and never parses what a user sent: worker
processes (``worker`` and its modules) do this, and may be killed at any moment. They communicate in lines of
JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

__all__ = ["serve"]


def serve(port: int, started: Callable[[str], None], files: Sequence[Path] = ()) -> None:
    """Serve the page on this machine only, until interrupted.

    Args:
        port: port of the server; 0: any free one.
        started: called with the address once the server is ready.
        files: scenarios that come first on the shelf.

    Raises:
        OSError: the port is taken.
    """
    # Reports and notebooks need a replay from this room, and none of the libraries of the server.
    from .server import serve as begin

    begin(port, started, files)
