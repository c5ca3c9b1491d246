"""Children that never import from the present folder, like this process; Ctrl-C held back for a while.

``python -m`` and a ``PYTHONPATH`` with an empty entry put the present folder before the standard library: a
file ``numpy.py`` beside a scenario would be executed. This module imports only what is loaded already.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

Handler = Callable[[int, Any], Any] | int | None


@contextmanager
def handled(
    handler: Handler, numbers: Sequence[signal.Signals] = (signal.SIGINT, signal.SIGTERM)
) -> Iterator[dict[int, Handler]]:
    """Handle signals in another way until the block ends; yields the handlers before it, by signal."""
    before: dict[int, Handler] = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield before
    finally:
        for number, one in before.items():
            signal.signal(number, one)


@contextmanager
def deferred() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM until the block ends; then their handlers run.

    For calls that take milliseconds. Pydantic reports an exception in a serializer as an error of the value,
    or tries the next type of a union, so that the interrupt is lost.
    """
    if threading.current_thread() is not threading.main_thread():  # handlers run in the main thread only
        yield
        return
    heard: list[tuple[int, Any]] = []
    numbers = [one for one in (signal.SIGINT, signal.SIGTERM) if callable(signal.getsignal(one))]
    before: dict[int, Handler] = {}
    try:
        with handled(lambda *one: heard.append(one), numbers) as before:
            yield
    finally:
        for number, frame in heard[:1]:
            handler = before[number]
            assert callable(handler)
            handler(number, frame)


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_START = (
    "import sys, importlib;"
    "module, *more = sys.argv[1:];"
    "sys.path += [folder for folder in more if folder not in sys.path];"
    "importlib.import_module(module).main()"
)
"""What a child runs. Search order: standard library, installed packages, then the folder of this package."""


def command(module: str) -> list[str]:
    """Return the command line of a child that runs ``main()`` of a module of this package.

    The child is isolated (``-I``): installed packages are searched before the present folder, the folder of
    a script and ``PYTHONPATH``.
    """
    bytecode = ["-B"] if sys.dont_write_bytecode else []
    return [sys.executable, "-I", *bytecode, "-c", _START, module, os.path.dirname(_PACKAGE), *_trusted()]


def leave_out_present_folder() -> None:
    """Remove the present folder from the import path; the command calls this first."""
    sys.path[:] = _trusted()


def _trusted() -> list[str]:
    """Return the import path without the present folder; the folder stays if the package lies in it."""
    home = os.path.dirname(_PACKAGE)
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # it was removed
        here = ""
    given = [folder for folder in sys.path if os.path.isabs(folder)]
    return [folder for folder in given if folder == home or os.path.realpath(folder) != here]
