"""Exit codes of the command, and one message for each error."""

from __future__ import annotations

import errno
import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import typer

import fabriloom

from ..process.children import handled
from ..process.libraries import MissingLibrary
from ..reading.texts import escaped
from .house import reading

OK = 0
"""Done: drained, precise enough, saturated and out of time are all results."""
DISAGREES = 1
"""``reproduce --strict``: a scored line does not agree; ``run --strict`` and ``bound --strict``: a
requirement is missed or cannot be told, or is not guaranteed; ``run --twin``: the two engines differ."""
MISTAKE = 2
"""A mistake in the arguments, the scenario or a file it names, and nothing was run; or results could not be
written and are printed."""
DEADLOCK = 3
"""The run ended deadlocked or livelocked (its results are written); ``check``: the routing can deadlock."""
FAULT = 4
"""A fault of Fabriloom; a run that ended stalled (its results are written)."""
INTERRUPTED = 130
"""Interrupted by Ctrl-C or SIGTERM; finished results are written and marked ``interrupted``."""

Command = TypeVar("Command", bound=Callable[..., Any])


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
"""Errors of a full disk; while a file is written, Python does not know its name."""
_LONGEST, _END = 2000, 300
"""Characters of a line of a message, and those behind what is left out."""


class Mistake(Exception):
    """A mistake that the user can correct; the text is the whole message."""


def complain(text: str) -> None:
    """Print a message on standard error; markup and control characters in names are escaped.

    Of a long line, such as one with a name of a megabyte, the middle is left out.
    """
    lines = (
        line if len(line) <= _LONGEST else f"{line[:_LONGEST]} … {line[-_END:]}"
        for line in text.rstrip("\n").split("\n")
    )
    sys.stderr.write(escaped("\n".join(lines)) + "\n")
    sys.stderr.flush()


def say(text: str = "") -> None:
    """Print text on standard output with control characters escaped."""
    sys.stdout.write(escaped(text) + "\n")


def _code_of(error: BaseException, interrupted: bool) -> int:
    """Print one message about an error and return the exit code. ``interrupted``: Ctrl-C came before it."""
    if isinstance(error, KeyboardInterrupt):
        return _interrupted()
    if isinstance(error, (Mistake, MissingLibrary, reading.UserError)):
        complain(f"error: {error}")
        return MISTAKE
    if isinstance(error, BrokenPipeError):
        # The reader of our output has gone (`| head`); there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    if isinstance(error, OSError) and error.filename is not None:
        complain(f"error: {error.filename}: {error.strerror}")
        return MISTAKE
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        why = (error.strerror or "unknown reason").lower()
        complain(f"error: cannot write: {why}; make room, or name another place, and run it again")
        return MISTAKE
    if isinstance(error, MemoryError):
        complain(
            "error: not enough memory for this network; make it smaller, or turn off output.flows and trace"
        )
        return MISTAKE
    # A library takes the interrupt for an error of its own: pydantic does, as it builds the schema.
    return _interrupted() if interrupted else _fault(error)


def _interrupted() -> int:
    complain("Interrupted before there were results to write.")
    return INTERRUPTED


def _fault(error: BaseException) -> int:
    if os.environ.get("FABRILOOM_TRACEBACK"):
        complain("".join(traceback.format_exception(error)))
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    complain(
        f"fault: {type(error).__name__}: {error}{place}\n"
        f"  This is a fault of Fabriloom {fabriloom.__version__}, not of your scenario. Please report it "
        "with the\n"
        "  command and the scenario. FABRILOOM_TRACEBACK=1 in the environment prints more about it."
    )
    return FAULT


def _warn(message: Warning | str, *_: object) -> None:
    """Print a warning of the package for the user, without the source line."""
    complain(f"warning: {message}")


_PATIENCE_S = 3.0
"""Time after a Ctrl-C in which a second one is ignored, so that pressing twice does not prevent the results
from being written."""


@contextmanager
def _stoppable(heard_s: list[float]) -> Iterator[None]:
    """Let Ctrl-C, and SIGTERM, which batch systems send before they kill, end a run with partial results.

    ``heard_s``: the times of those that came are added.
    """

    def stop(*_: object) -> None:
        heard_s.append(time.monotonic())
        if len(heard_s) == 1 or heard_s[-1] - heard_s[-2] > _PATIENCE_S:
            raise KeyboardInterrupt

    stops = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as in what a shell starts in the background
        stops.append(signal.SIGINT)
    with handled(stop, stops):
        yield


def guarded(command: Command) -> Command:
    """Wrap a command so that every error becomes one message and an exit code."""

    def inner(*arguments: Any, **options: Any) -> None:
        heard_s: list[float] = []
        try:
            with _stoppable(heard_s), warnings.catch_warnings():
                warnings.showwarning = _warn
                code = command(*arguments, **options) or OK
                sys.stdout.flush()
        except (typer.Exit, typer.Abort):
            raise
        except BaseException as error:
            code = _code_of(error, bool(heard_s))
        raise typer.Exit(code)

    return inner  # type: ignore[return-value]


@contextmanager
def undisturbed() -> Iterator[None]:
    """Protect the writing of results from a second Ctrl-C."""
    with handled(signal.SIG_IGN):
        yield
