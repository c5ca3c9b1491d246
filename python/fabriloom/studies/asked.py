"""What a study folder was asked for: its mark, the definitions of its studies, the trials of searches."""

from __future__ import annotations

import contextlib
import hashlib
import json
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..reading import UserError
from ..scenario import Scenario, ScenarioError
from .plan import Plan
from .store import program, unsealed

MARK = "fabriloom-study.json"
"""Holds the names of the studies, so that a definition that is gone is noticed."""
STUDIES, TRIALS = "studies", "trials"
FORMAT = 2
DAMAGED = "missing, cut short or changed"


class StudyError(UserError):
    """A study folder that cannot be used; the text gives the reason."""


@dataclass(frozen=True)
class Asked:
    """A study of a folder, as requested."""

    name: str
    scenario: Scenario
    tried: list[dict[str, Any]] = field(default_factory=list)
    """Of a search, the settings of the trials so far."""

    @property
    def plan(self) -> Plan:
        """The points of the study."""
        return Plan(self.scenario, self.tried)

    @property
    def fingerprint(self) -> str:
        """A hash that changes when the points change."""
        return hashlib.sha256(f"{program()} {self.scenario.sha256}".encode()).hexdigest()


def asked_of(folder: Path, name: str | None = None, again: bool = False) -> list[Asked]:
    """Return the studies of any folder, or the one with a name; ``again``: choose lost trials again.

    Raises StudyError and ScenarioError.
    """
    found, names = [], definitions(folder)
    for one in names:
        if name is None or one == name:
            path = folder / STUDIES / f"{one}.json"
            asked = unsealed(_text(path))
            if asked is None:
                message = f"{path}: {DAMAGED}; give `fabriloom study run` with its file again"
                raise StudyError(f"{message}, or `fabriloom study clean {folder} --forget {one}`")
            made = Asked(one, Scenario.from_dict(asked["scenario"], asked["folder"]))
            found.append(recalled(folder, made, again))
    if not found:
        what = (
            f"there is no study {name}; choose from: {', '.join(names)}"
            if names
            else "the folder has no study"
        )
        raise StudyError(f"{folder}: {what}")
    return found


def recalled(folder: Path, asked: Asked, again: bool) -> Asked:
    """Return a study with its trials so far, with none if they are of another form of it.

    ``again``: if their file is damaged, they are chosen again. Raises StudyError otherwise.
    """
    if asked.scenario.study.search is None:
        return asked
    path = folder / TRIALS / f"{asked.name}.json"
    found = unsealed(_text(path))
    if found is None and not again:
        raise StudyError(f"{path}: {DAMAGED}; `fabriloom study resume {folder}` finds these trials again")
    if found is not None and found["study"] == asked.fingerprint:
        asked.tried.extend(found["tried"])
    return asked


def content_of(plan: Plan, number: int) -> str:
    """Return the content hash of a point; empty if it cannot be made."""
    try:
        return plan.point(number).sha256
    except (ScenarioError, OSError):
        return ""


def _text(path: Path) -> str:
    """Return the text of a file, whatever is in it; empty if there is none."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def definitions(path: Path) -> list[str]:
    """Return the names of the studies: those of the mark, and those that have a definition."""
    return sorted({*(marked(path) or []), *(one.stem for one in (path / STUDIES).glob("[!.]*.json"))})


def marked(path: Path) -> list[str] | None:
    """Return the names in the mark of a folder; None if damaged. Raises StudyError for other formats."""
    text = _text(path / MARK)
    mark = unsealed(text)
    if mark is not None and mark["format"] == FORMAT:
        return mark["studies"]
    if mark is None:
        with contextlib.suppress(ValueError):
            mark = json.loads(text)
        if not isinstance(mark, dict) or "checksum" in mark or mark.get("format", FORMAT) == FORMAT:
            return None
    message = (
        f"{path}: the study folder is of format {mark.get('format')}, and this version reads format {FORMAT}"
    )
    raise StudyError(f"{message}; use the version that wrote it, or name another folder")


def named(path: Path, make: bool, mend: bool) -> list[str] | None:
    """Return the names in the mark; None if it is to be written again. Raises StudyError if this is no study
    folder, has another format, or has no mark and is not to be mended.
    """
    if not path.exists():
        if make:
            return []
        raise StudyError(f"{path}: there is no such folder; `fabriloom study run FILE --out {path}` makes it")
    if not path.is_dir():
        raise StudyError(f"{path}: this is a file; name a folder")
    names = marked(path)
    if names is not None:
        return names
    if not any(unsealed(_text(one)) for one in (path / STUDIES).glob("[!.]*.json")):
        foreign = sorted(
            one.name for one in path.iterdir() if one.name not in (".lock", MARK) and one.suffix != ".partial"
        )
        if foreign or not make:
            what = f"it holds {foreign[0]}" if foreign else "it is empty"
            raise StudyError(f"{path}: this is not a study folder: {what}; name another one")
        return None
    if not mend:
        raise StudyError(f"{path / MARK}: {DAMAGED}; `fabriloom study resume {path}` writes it again")
    warnings.warn(f"{path / MARK}: {DAMAGED}; it is written again", stacklevel=2)
    return None
