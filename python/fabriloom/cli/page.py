"""``fabriloom page``: start the server and open it in a browser."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from pathlib import Path

from . import exits, show
from .exits import Mistake


def _open(address: str) -> None:
    """Open a browser without waiting for it: some return only when they are closed."""
    import webbrowser

    with contextlib.suppress(webbrowser.Error):
        webbrowser.open(address)


def page(files: Sequence[Path], port: int, browser: bool) -> int:
    """Serve the laboratory until Ctrl-C; the scenarios ``files`` come first. Raises ScenarioError."""
    from ..page import serve
    from ..scenario import load

    for file in files:
        load(file)

    def started(address: str) -> None:
        show.line(f"The laboratory is open at {address}")
        show.line("Only this machine can open it, and only with this address. Ctrl-C closes it.")
        if browser:
            threading.Thread(target=_open, args=(address,), daemon=True).start()

    try:
        serve(port, started, files)
    except OSError as error:
        raise Mistake(
            f"--port {port}: {(error.strerror or str(error)).lower()}; name another one, or 0"
        ) from None
    except KeyboardInterrupt:
        pass
    return exits.OK
