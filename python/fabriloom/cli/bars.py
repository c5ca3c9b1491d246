"""Progress on a terminal; nothing in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_SIXTIETH = 60


def left(share: float, elapsed_s: float) -> str:
    """Return the remaining time as text, from the finished share; empty until it can be estimated."""
    if share <= 0.0 or elapsed_s < 0.5:
        return ""
    seconds = elapsed_s * (1.0 - share) / share
    if seconds < 1.5 * _SIXTIETH:
        return f"{seconds:.0f} s left"
    minutes = seconds / _SIXTIETH
    return f"{minutes:.0f} min left" if minutes < 1.5 * _SIXTIETH else f"{minutes / _SIXTIETH:.1f} h left"


def rate(events: int, elapsed_s: float) -> str:
    """Return events per second as text."""
    if elapsed_s <= 0.0:
        return ""
    per_second = events / elapsed_s
    return f"{per_second / 1e6:.1f} M events/s" if per_second >= 1e6 else f"{per_second / 1e3:.0f} k events/s"


class Bar:
    """A progress bar on standard error, from the first progress on; nothing if that is not a terminal."""

    def __init__(self, description: str) -> None:
        self._description = description
        self._shown: tuple[Any, Any] | None = None
        self._began = time.monotonic()
        self._first: tuple[float, int] | None = None

    def run(self, state: Any) -> None:
        """Show the progress of one run, as ``simulate.run`` reports it."""
        self._show(state.share, state.events, f"{state.packets:,} packets".replace(",", " "))

    def study(self, state: Any) -> None:
        """Show the progress of many runs, as ``studies`` reports it; points of earlier calls do not count."""
        self._first = self._first or (state.share, state.finished)
        share, finished = self._first
        done = (state.share - share) / (1.0 - share) if share < 1.0 else 1.0
        elapsed_s = time.monotonic() - self._began
        speed = f", {(state.finished - finished) / elapsed_s:.3g} a second" if elapsed_s > 1.0 else ""
        what = f"{state.finished:,} of {state.runs:,} runs{speed}"
        self._show(state.share, state.events, what, left(done, elapsed_s))

    def steps(self, done: int, of: int, what: str) -> None:
        """Show the steps of a reproduction."""
        self._show(done / max(of, 1), 0, f"{done} of {of} runs, {what}" if what else f"{done} of {of} runs")

    def share(self, share: float) -> None:
        """Show the finished share of work that is not counted in events."""
        self._show(share, 0, "")

    def _show(self, share: float, events: int, what: str, remaining: str | None = None) -> None:
        if not sys.stderr.isatty():
            return
        self._shown = self._shown or _started(self._description)
        progress, task = self._shown
        elapsed_s = time.monotonic() - self._began
        speed = rate(events, elapsed_s) if events else ""
        remaining = left(share, elapsed_s) if remaining is None else remaining
        progress.update(task, completed=share, speed=speed, left=remaining, what=what)

    def erase(self) -> None:
        """Erase what is shown."""
        if self._shown is not None:
            self._shown[0].stop()


def _started(description: str) -> tuple[Any, Any]:
    """Return a bar of the library, which is shown from now on, and its task."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    name = TextColumn("{task.description}", markup=False)
    more = [TextColumn(f"{{task.fields[{field}]}}", markup=False) for field in ("what", "speed", "left")]
    console = Console(stderr=True)
    progress = Progress(name, BarColumn(), TaskProgressColumn(), *more, console=console, transient=True)
    progress.start()
    return progress, progress.add_task(description, total=1.0, speed="", left="", what="")


@contextmanager
def bar(description: str) -> Iterator[Bar]:
    """Show a progress bar during a block; it is erased at the end."""
    shown = Bar(description)
    try:
        yield shown
    finally:
        shown.erase()
