"""Compute the published figures and numbers again: one module per figure or group of numbers.

Rows compare one printed number with ours; series are curves to plot. Experiments set no parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fabriloom.output import Pieces

    from .lab import Findings, Lab, Progress

_PAPERS = {
    "macrame": "parts crossbar packet_length size latency tail adaptive",
    "scinet": "parts switch omega more_nodes locality ring_size",
    "sci-retry": "parts delays",
    "gpmimd": "parts two_nodes pairs level2 blocks size whole multiplexing level3 delay",
    "atlas-sci": "parts benchmarks tables bx port switch",
    "scinet-testbeds": "system_1 system_2",
}
"""The experiments of each paper, in its order. Each has ``findings(lab)`` and, if it certainly needs runs,
``scenarios(effort)``."""


def names() -> tuple[str, ...]:
    """Return the papers that can be reproduced."""
    return tuple(_PAPERS)


def modules(name: str) -> tuple[Any, ...]:
    """Return the experiments of a paper in its order. Raises KeyError if there is no such paper."""
    if name not in _PAPERS:
        raise KeyError(f"there is no paper {name!r}; choose from: {', '.join(_PAPERS)}")
    package = name.replace("-", "_")
    return tuple(import_module(f".{package}.{part}", __name__) for part in _PAPERS[name].split())


def studies(
    papers: Sequence[str],
    quick: bool = False,
    jobs: int = 2,
    progress: Progress | None = None,
    keep: Pieces | None = None,
) -> dict[str, Findings]:
    """Return rows and series of several papers; their runs share the workers.

    Ctrl-C ends the runs. The findings that do not need them are returned; ``unfinished`` names the others.

    Args:
        papers: some of :func:`names`.
        quick: fewer points and shorter runs, for a first look and for continuous integration.
        jobs: number of runs at the same time; the results do not depend on it.
        progress: called as ``progress(runs done, runs in all, name of the last run)``.
        keep: store for finished runs; a stored run is not run again.

    Raises:
        KeyError: there is no such paper.
    """
    from .lab import Findings, Lab

    parts = [(paper, module) for paper in papers for module in modules(paper)]
    found = {paper: Findings() for paper in papers}
    with Lab(quick, jobs, progress, keep) as lab:
        _ask_for_all(lab, [module for _, module in parts])
        for lab.order, (paper, module) in enumerate(parts):
            said = _findings(lab, module)
            found[paper].add(said or Findings(unfinished=[module.__name__.rsplit(".", 1)[-1]]))
    return found


def _ask_for_all(running: Lab, experiments: Sequence[Any]) -> None:
    """Start all runs that will certainly be needed, those of the first experiments first."""
    try:
        for running.order, module in enumerate(experiments):
            if hasattr(module, "scenarios"):
                running.ask(module.scenarios(running.effort))
    except KeyboardInterrupt:
        running.stop()


def _findings(running: Lab, module: Any) -> Findings | None:
    """Return the findings of an experiment, or None if they need a run that was interrupted."""
    from .lab import Unfinished

    while True:
        try:
            return module.findings(running)
        except Unfinished:
            return None
        except KeyboardInterrupt:
            if running.stopped:
                raise
            running.stop()  # try once more: all needed runs may be finished


def study(
    name: str,
    quick: bool = False,
    jobs: int = 2,
    progress: Progress | None = None,
    keep: Pieces | None = None,
) -> Findings:
    """Return rows and series of one paper from one set of runs; see :func:`studies`."""
    return studies([name], quick, jobs, progress, keep)[name]
