"""The published figures and numbers, computed again: one module per figure or group of numbers.

Rows compare one printed number with ours; series are curves to plot. Nothing here sets a parameter.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .lab import Findings, Progress

_PAPERS = ("macrame",)


def names() -> tuple[str, ...]:
    """Papers that can be reproduced."""
    return _PAPERS


def study(name: str, quick: bool = False, jobs: int = 2, progress: Progress | None = None) -> Findings:
    """Rows and series of one paper from one set of runs.

    Args:
        name: one of :func:`names`.
        quick: fewer points and shorter runs, for a first look and for continuous integration.
        jobs: runs at the same time; the results do not depend on it.
        progress: called as ``progress(runs done, runs in all, what is running)``.

    Raises:
        KeyError: there is no such paper.
    """
    if name not in _PAPERS:
        raise KeyError(f"nothing to reproduce for {name!r}; there is: {', '.join(_PAPERS)}")
    from .lab import Findings, Lab

    modules = import_module(f".{name}", __name__).MODULES
    found = Findings()
    with Lab(quick=quick, jobs=jobs, progress=progress) as lab:
        lab.measure([scenario for module in modules for scenario in module.scenarios(lab.effort)])
        for module in modules:
            found.add(module.findings(lab))
    return found


def reproduce(
    name: str, quick: bool = False, jobs: int = 2, progress: Progress | None = None
) -> list[dict[str, Any]]:
    """Published and computed numbers side by side; see :func:`study` and, for the keys, ``rows.row``."""
    return study(name, quick, jobs, progress).rows


def figures(
    name: str, quick: bool = False, jobs: int = 2, progress: Progress | None = None
) -> list[dict[str, Any]]:
    """The curves of the published figures as computed; see :func:`study` and ``rows.series``.

    For rows and curves together call :func:`study`, which runs everything once.
    """
    return study(name, quick, jobs, progress).series
