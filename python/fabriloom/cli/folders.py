"""Output folders, checked before a run, so that no simulation is lost because of a wrong name."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import fabriloom

from ..output import OutputError
from .exits import Mistake, complain
from .house import (
    Files,
    Output,
    Provenance,
    Results,
    Scenario,
    Working,
    files,
    output,
    replays,
    report,
    studies,
)


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

    try:
        return output.Output(out, command, fabriloom.__version__, force, kept, forget)
    except OutputError as error:
        raise Mistake(f"--out {out}: {error}") from None
    except OSError as error:
        raise Mistake(f"--out {out}: cannot be written: {error.strerror or error}") from error


@contextmanager
def cached(name: str) -> Iterator[Working | None]:
    """Return the folder, in the user's cache, for the finished runs of a reproduction without an output
    folder. None if it cannot be created; the runs are then not kept.
    """

    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(cache) / "fabriloom" / "runs" / name
    working = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        working = output.Working(folder, "reproduce", fabriloom.__version__)
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


def _json(at: Files, name: str, value: Any) -> None:
    files.put_text(at, name, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def _scenario_files(at: Files, provenance: Provenance) -> None:
    _json(at, "scenario.resolved.json", provenance.resolved)
    if provenance.source_text:
        suffix = Path(provenance.source_name).suffix or ".toml"
        files.put_text(at, f"scenario{suffix}", provenance.source_text)


def write_tables(at: Files, tables: Mapping[str, Any], csv: bool) -> None:
    """Write tables as Parquet, and with ``csv`` as CSV, too."""
    for form in ("parquet", "csv") if csv else ("parquet",):
        files.write_tables(tables, at, form)


def write_run(at: Files, results: Results, csv: bool, scenario: Scenario | None = None) -> None:
    """Write all files of one run, the summary last."""
    write_tables(at, files.tables_of(results), csv)
    if results.has_trace:
        with at.file("trace.json") as out:
            files.write_chrome_trace(results, out)
    _scenario_files(at, results.provenance)
    html = report.for_run(results)
    if scenario is not None:
        html = replays.with_replay(html, [(scenario, results, "")])
    files.put_text(at, "report.html", html)
    files.put_text(at, "summary.json", results.to_json())


def write_study(at: Files, study: Any, html: str, csv: bool) -> None:
    """Write all files of a study: tables, scenario (for a comparison each resolved form), report, summary."""
    if isinstance(study, studies.Comparison):
        _json(at, "scenarios.resolved.json", {name: part.resolved for name, part in study.parts.items()})
    else:
        _scenario_files(at, study.provenance)

    if study.points:
        write_tables(at, study.tables(), csv)
    files.put_text(at, "report.html", html)
    files.put_text(at, "summary.json", study.to_json())


def write_reproduction(at: Files, records: list[dict[str, Any]], html: str) -> None:
    """Write the lines and the page of reproduced papers."""
    files.put_text(at, "reproduction.html", html)
    _json(at, "reproduction.json", records)
