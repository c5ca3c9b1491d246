"""Output folders: looked at before a run, so that hours of simulation are never lost to a wrong name."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .exits import Mistake, undisturbed

if TYPE_CHECKING:
    from ..results import Provenance, Results


def prepare(out: Path | None, force: bool, resumes: str = "") -> Path | None:
    """Make the folder, or say why it cannot be used.

    ``resumes`` names a folder that an unfinished command of this kind leaves in it: that is taken up again.

    Raises:
        Mistake: it exists and is not empty, is no folder, or cannot be written.
    """
    if out is None:
        return None
    try:
        if out.exists() and not out.is_dir():
            raise Mistake(f"--out {out}: there is a file of this name; name a folder")
        used = out.is_dir() and any(out.iterdir())
        if used and not force and not (resumes and _is_unfinished(out, resumes)):
            raise Mistake(
                f"--out {out}: the folder exists and is not empty; name another one, or add --force to write "
                "into it"
            )
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise Mistake(f"--out {out}: cannot be written: {error.strerror or error}") from error
    return out


RUNS = "runs"
"""Holds what an unfinished reproduction has finished; a finished one has none."""


_OF_STUDIES = {"summary.json", "points.parquet", "report.html", "scenarios.resolved.json"}


def _is_unfinished(out: Path, kept: str) -> bool:
    """Whether what is kept is here, and no summary, which is written last, that says it was finished."""
    if not (out / kept).is_dir():
        return False
    if kept == RUNS:
        return True
    try:
        return bool(json.loads((out / "summary.json").read_text(encoding="utf-8"))["interrupted"])
    except FileNotFoundError:
        names = {path.name for path in out.iterdir() if path.stem not in ("scenario", "scenario.resolved")}
        return names <= {kept, *_OF_STUDIES}
    except json.JSONDecodeError:
        return True  # cut short: the disk was full, or the command was killed
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _scenario_files(out: Path, provenance: Provenance) -> None:
    resolved = json.dumps(provenance.resolved, indent=2, ensure_ascii=False)
    (out / "scenario.resolved.json").write_text(resolved + "\n", encoding="utf-8")
    if provenance.source_text:
        suffix = Path(provenance.source_name).suffix or ".toml"
        (out / f"scenario{suffix}").write_text(provenance.source_text, encoding="utf-8")


def write_run(out: Path, results: Results) -> None:
    """Everything of one run."""
    from ..report import for_run

    with undisturbed():
        results.to_json(out / "summary.json")
        results.to_parquet(out)
        if results.has_trace:
            results.to_chrome_trace(out / "trace.json")
        _scenario_files(out, results.provenance)
        (out / "report.html").write_text(for_run(results), encoding="utf-8")


def write_study(out: Path, study: Any, html: str) -> None:
    """Everything of a curve or a saturation: summary, table of points, scenario, report."""
    with undisturbed():
        if study.points:
            study.to_parquet(out)
        _scenario_files(out, study.provenance)
        (out / "report.html").write_text(html, encoding="utf-8")
        study.to_json(out / "summary.json")


def write_comparison(out: Path, comparison: Any, html: str) -> None:
    """Everything of a comparison; of each scenario its resolved form."""
    with undisturbed():
        if comparison.points:
            comparison.to_parquet(out)
        resolved = {name: part.resolved for name, part in comparison.parts.items()}
        text = json.dumps(resolved, indent=2, ensure_ascii=False)
        (out / "scenarios.resolved.json").write_text(text + "\n", encoding="utf-8")
        (out / "report.html").write_text(html, encoding="utf-8")
        comparison.to_json(out / "summary.json")


def write_reproduction(out: Path, records: list[dict[str, Any]], html: str) -> None:
    """The lines and the page of reproduced papers."""
    with undisturbed():
        text = json.dumps(records, indent=2, ensure_ascii=False)
        (out / "reproduction.json").write_text(text + "\n", encoding="utf-8")
        (out / "reproduction.html").write_text(html, encoding="utf-8")


def kept_runs(out: Path | None, name: str) -> Path:
    """Where a reproduction keeps its finished runs until it is complete: in its output folder if it has one,
    otherwise among the files that programs of this user may forget.
    """
    if out is not None:
        return out / RUNS
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "fabriloom" / "reproduce" / name


def forget(kept: Path) -> None:
    """Remove what was kept of a reproduction: it is complete."""
    shutil.rmtree(kept, ignore_errors=True)
