"""``fabriloom reproduce``: the numbers of papers, computed again."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated, Any

import typer

import fabriloom

from ...process.libraries import Later, of_extra
from .. import exits
from ..exits import Mistake, say
from ..frame import Call, command, document, flag, words
from ..house import Output, bars, folders, output, report, show

RUNS = "runs"
"""Folder of the finished runs of an unfinished reproduction."""
try:
    from fabriloom_papers import names
except ModuleNotFoundError:
    NAMES: tuple[str, ...] = ()
else:
    NAMES = names()
evidence, experiments = Later("fabriloom_papers.evidence"), Later("fabriloom_papers")


@command("", "json jobs out force")
def reproduce(
    call: Call,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help=f"The paper: {', '.join(NAMES)}, or all." if NAMES else "The paper, or all.",
            show_default=False,
            autocompletion=words(*NAMES, "all"),
        ),
    ],
    quick: Annotated[bool, flag("--quick", "Fewer and shorter runs.")] = False,
    strict: Annotated[bool, flag("--strict", "Exit code 1 if a scored line disagrees.")] = False,
) -> int:
    """Compute the published numbers of a paper again, and print both.

    Ctrl-C prints the finished lines; the same command continues from there.
    """
    with call.output(RUNS, forget=True):
        of_extra("fabriloom_papers", "papers", "published numbers")
        if name not in (*NAMES, "all"):
            raise Mistake(f"there is no paper {name}; choose from: {', '.join(NAMES)}, or all")
        papers = NAMES if name == "all" else (name,)
        found = _found(call, name, papers, quick)
        lines = {paper: evidence.lines_of(paper, one, quick) for paper, one in found.items()}
        missing = [f"{paper} {part}" for paper, one in found.items() for part in one.unfinished]
        partial = f"PARTIAL: interrupted before there were results of {', '.join(missing)}" if missing else ""
        every = [line for group in lines.values() for line in group]
        call.give(
            lambda: document(every),
            lambda: _tell(lines),
            lambda at: _write(at, found, lines, quick, partial),
            "reproduction.html",
            finished=not partial,
        )
    if partial:
        exits.complain(f"{partial}. The same command continues from here.")
        return exits.INTERRUPTED
    disagree = any(line["within"] is False for line in every)
    return exits.DISAGREES if strict and disagree else exits.OK


def _found(call: Call, name: str, papers: tuple[str, ...], quick: bool) -> Any:
    """Run what the papers need; without a folder, finished runs are kept in the user's cache."""
    with ExitStack() as stack:
        cache = None
        if call.folder is None:
            cache = stack.enter_context(folders.cached(f"{name}-quick" if quick else name))
        keep = call.folder.kept if call.folder else cache and output.Pieces(cache, cache.path / RUNS)
        with bars.bar(f"Reproducing {name}") as bar:
            found = experiments.studies(papers, quick, call.jobs, bar.steps, keep)
        if cache and not any(one.unfinished for one in found.values()):
            cache.discard()
    return found


def _tell(lines: dict[str, Any]) -> None:
    for paper, group in lines.items():
        known = [line for line in group if line["reason"] != evidence.INTERRUPTED]
        if known and len(lines) > 1:
            say(f"\n{paper.upper()}\n")
        if known:
            show.records(known)
    if len(lines) > 1:
        say("\nALL PAPERS\n")
        show.agreement([line for group in lines.values() for line in group])


def _write(folder: Output, found: Any, lines: Any, quick: bool, partial: str) -> None:
    shown = [evidence.reproduced(paper, one, lines[paper]) for paper, one in found.items()]
    html = report.for_reproduction(
        shown, version=fabriloom.__version__, warnings=[f"{partial}."] if partial else [], quick=quick
    )
    folders.write_reproduction(folder, [line for group in lines.values() for line in group], html)
