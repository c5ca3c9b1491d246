"""The command ``fabriloom``. Only this package prints; Python has the same functions.

``exits.py`` and the page ``docs/reference/cli.md`` define the exit codes.
"""

from __future__ import annotations

import io


def main() -> None:
    """Run the command with the arguments of the process."""
    from ..process.children import leave_out_present_folder

    leave_out_present_folder()
    import gc
    import os
    import sys

    # Or every start would look through all installed packages for plug-ins of the schema's library.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Or the library for linear algebra would start a thread per processor, most of which only wait.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(10_000)  # or the many objects that imports make, and that stay, are searched for garbage

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character
    try:
        from .app import app

        app(prog_name="fabriloom")
    except KeyboardInterrupt:  # before a command has begun, or after it ended
        raise SystemExit(130) from None
