"""Output folders, checked before a run, so that no simulation is lost because of a wrong name."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..output import OutputError
from .exits import Mistake, complain

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ..output import Files, Output, Working
    from ..results import Provenance, Results

RUNS = "runs"
"""Folder of the finished runs of an unfinished reproduction."""


def taken(
    out: Path | None,
    command: str,
    force: bool = False,
    kept: str = "",
    forget: bool = False,
    csv: bool = False,
) -> AbstractContextManager[Output | None]:
    """Open the output folder of a command, if it has one; see ``Output``. ``csv``: tables are wanted as CSV,
    which requires a folder.

    Raises:
        Mistake: the folder cannot be used; the text gives the reason.
    """
    if out is None and csv:
        raise Mistake("--csv: name the folder in which the tables are written with --out DIR")
    if out is None:
        return nullcontext()
    from .. import __version__
    from ..output import Output

    try:
        return Output(out, command, __version__, force, kept, forget)
    except OutputError as error:
        raise Mistake(f"--out {out}: {error}") from None
    except OSError as error:
        raise Mistake(f"--out {out}: cannot be written: {error.strerror or error}") from error


@contextmanager
def cached(name: str) -> Iterator[Working | None]:
    """Return the folder, in the user's cache, for the finished runs of a reproduction without an output
    folder. None if it cannot be created; the runs are then not kept.
    """
    from .. import __version__
    from ..output import Working

    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(cache) / "fabriloom" / "runs" / name
    working = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        working = Working(folder, "reproduce", __version__)
    except (OutputError, OSError, RuntimeError) as error:
        complain(f"warning: {folder}: finished runs are not kept here: {error}")
    try:
        yield working
    finally:
        if working is not None:
            working.release()


def shown(path: Path) -> Path:
    """Return the shortest form of a path from the present folder."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _json(files: Files, name: str, value: Any) -> None:
    from ..results.files import put_text

    put_text(files, name, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def _scenario_files(files: Files, provenance: Provenance) -> None:
    from ..results.files import put_text

    _json(files, "scenario.resolved.json", provenance.resolved)
    if provenance.source_text:
        suffix = Path(provenance.source_name).suffix or ".toml"
        put_text(files, f"scenario{suffix}", provenance.source_text)


def forms(csv: bool) -> tuple[str, ...]:
    """Return the formats in which tables are written."""
    return ("parquet", "csv") if csv else ("parquet",)


def write_run(files: Files, results: Results, csv: bool) -> None:
    """Write all files of one run, the summary last."""
    from ..report import for_run
    from ..results.files import put_text, tables_of, write_chrome_trace, write_tables

    for form in forms(csv):
        write_tables(tables_of(results), files, form)
    if results.has_trace:
        with files.file("trace.json") as out:
            write_chrome_trace(results, out)
    _scenario_files(files, results.provenance)
    put_text(files, "report.html", for_run(results))
    put_text(files, "summary.json", results.to_json())


def write_study(files: Files, study: Any, html: str, csv: bool) -> None:
    """Write all files of a study: tables, scenario (for a comparison each resolved form), report, summary."""
    from ..results.files import put_text, write_tables
    from ..studies.comparison import Comparison

    if isinstance(study, Comparison):
        _json(files, "scenarios.resolved.json", {name: part.resolved for name, part in study.parts.items()})
    else:
        _scenario_files(files, study.provenance)

    for form in forms(csv) if study.points else ():
        write_tables(study.tables(), files, form)
    put_text(files, "report.html", html)
    put_text(files, "summary.json", study.to_json())


def write_reproduction(files: Files, records: list[dict[str, Any]], html: str) -> None:
    """Write the lines and the page of reproduced papers."""
    from ..results.files import put_text

    put_text(files, "reproduction.html", html)
    _json(files, "reproduction.json", records)
