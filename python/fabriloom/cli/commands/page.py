"""``fabriloom page``: start the server and open it in a browser."""

from __future__ import annotations

import contextlib
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer

from ..exits import Mistake, say
from ..frame import Call, command, flag, path_argument
from ..house import page as room


def _open(address: str) -> None:
    """Open a browser without waiting for it: some return only when they are closed."""
    import webbrowser  # which imports too much for the help of other commands

    with contextlib.suppress(webbrowser.Error):
        webbrowser.open(address)


@command()
def page(
    call: Call,
    files: Annotated[
        list[Path] | None, path_argument("FILE...", "Your own scenarios, with the files that they name.")
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port of the server; 0: any free one.")
    ] = 8765,
    browser: Annotated[bool, flag("--browser/--no-browser", "Open the page in a browser.")] = True,
) -> None:
    """Open the laboratory: a page in your browser that shows how packets move and block."""
    for file in files or ():
        call.scenario(file)

    def started(address: str) -> None:
        say(f"The laboratory is open at {address}")
        say("Only this machine can open it, and only with this address. Ctrl-C closes it.")
        sys.stdout.flush()  # a file or a pipe would have it when the page is closed
        if browser:
            threading.Thread(target=_open, args=(address,), daemon=True).start()

    try:
        room.serve(port, started, files or ())
    except OSError as error:
        raise Mistake(
            f"--port {port}: {(error.strerror or str(error)).lower()}; name another one, or 0"
        ) from None
    except KeyboardInterrupt:
        pass
