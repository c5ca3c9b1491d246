"""The laboratory: a page on this machine on which a fabric is seen at work.

The server (``server``, ``guard``, ``sessions``) never simulates and never looks into what a user sent: that
is done by worker processes (``worker`` and what it calls), which may be killed at any moment. They talk in
lines of JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

__all__ = ["serve"]


def serve(port: int, started: Callable[[str], None], files: Sequence[Path] = ()) -> None:
    """Serve the page on this machine alone until interrupted.

    ``port`` 0 takes any free one; ``started`` is called with the address once it is there. ``files``
    are scenarios that are first on its shelf. Raises ``OSError`` when the port is taken.
    """
    from .server import serve as begin

    begin(port, started, files)
