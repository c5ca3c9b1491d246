"""A study folder: its studies, their finished points, and an index."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..output import OutputError, Pieces, encoded, file, lock, stamp
from .curves import point_row
from .index import Index
from .notes import noted
from .plan import Plan
from .points import Point
from .segments import MOST, Segments
from .store import POINTS, Store, program

if TYPE_CHECKING:
    from ..scenario.schema import Scenario

MARK = "fabriloom-study.json"
STUDIES, SEGMENTS, TRIALS = "studies", "segments", "trials"
FORMAT = 1


class StudyError(Exception):
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


class Folder:
    """A study folder, locked by this process or opened for reading."""

    def __init__(self, path: Path, take: bool = False, make: bool = False) -> None:
        """Open a folder; ``take``: lock it; ``make``: create it if needed. Raises StudyError and OSError."""
        self.path, self._locked = path, None
        _check(path, make)
        if take:
            try:
                path.mkdir(parents=True, exist_ok=True)
                self._locked = lock(path)
            except OutputError:
                message = (
                    f"{path}: another fabriloom works in this study; wait for it, or name another folder"
                )
                raise StudyError(message) from None
            if not (path / MARK).exists():
                self._write(MARK, {"format": FORMAT})
        self._pieces = Pieces.at(path / POINTS, needed=True)
        self.segments = Segments(path / SEGMENTS)
        self.store = Store(self._pieces, self.segments)
        self.store.place = path.resolve()
        self.index = Index.own(path) if take else Index.copied(path)
        self.refresh()

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the folder and release its lock."""
        with contextlib.suppress(OSError):
            self.index.close()
        self.segments.close()
        if self._locked is not None:
            os.close(self._locked)
            self._locked = None

    def _write(self, name: str, value: Any) -> None:
        (self.path / name).parent.mkdir(exist_ok=True)
        with file(self.path / name) as out:
            out.write(encoded(json.dumps(value, ensure_ascii=False, indent=1) + "\n"))

    def refresh(self) -> None:
        """Update the index from the files; warn of incomplete points, which are left out."""
        there = self._packed() | self._pieces.stamps()
        known = self.index.stamps()
        self.index.drop(known.keys() - there.keys())
        changed = [name for name, now in there.items() if known.get(name) != now]
        for name in changed:
            self._indexed(name, there[name])
        for study, contents in noted(self.path):
            self.index.planned(study, contents)
        self.index.commit()

    def _packed(self) -> dict[str, str]:
        """Return, for every point in a segment, the segment and its stamp."""
        return {name: f"{of} {self.segments.stamps[of]}" for name, of in self.segments.names().items()}

    def _indexed(self, name: str, now: str) -> None:
        found = self.store.read(name, "summary")
        if found is None or found[0].what != "point":
            self.index.drop([name])
            return
        key, value = found
        self.index.add([(name, now, key.program, key.content, point_row(Point({}, value["summary"], {})))])

    def finished(self, name: str) -> None:
        """Record a point that has just been written."""
        with contextlib.suppress(FileNotFoundError):
            self._indexed(name, stamp((self.path / POINTS / name).stat()))

    def ask(self, scenario: Scenario) -> Asked:
        """Add a study to the folder; it replaces an earlier one of the same name."""
        from ..results import Provenance
        from .search import checked

        checked(scenario)
        title = Provenance.of(scenario).name
        name = re.sub(r"[^\w.+-]+", "-", title).strip("-.")[:60] or "study"
        asked = {"name": title, "points": len(Plan(scenario)), "folder": str(scenario.base_dir.resolve())}
        self._write(f"{STUDIES}/{name}.json", {**asked, "scenario": scenario.raw})
        return self._recalled(self.path, Asked(name, scenario))

    def keep(self, asked: Asked) -> None:
        """Write the trials of a search that are chosen, before they are run. Raises OSError."""
        self._write(f"{TRIALS}/{asked.name}.json", {"study": asked.fingerprint, "tried": asked.tried})

    @staticmethod
    def _recalled(folder: Path, asked: Asked) -> Asked:
        """Return a study with its trials so far; if their file is broken or of another study, with none."""
        if asked.scenario.study.search is None:
            return asked
        try:
            found = json.loads((folder / TRIALS / f"{asked.name}.json").read_text(encoding="utf-8"))
            known = found["study"] == asked.fingerprint
            asked.tried.extend(dict(one) for one in found["tried"] if known)
        except (OSError, ValueError, KeyError, TypeError):
            asked.tried.clear()
        return asked

    def studies(self, name: str | None = None) -> list[Asked]:
        """Return the studies of the folder, or the one with a name. Raises StudyError and ScenarioError."""
        return self.asked(self.path, name)

    @staticmethod
    def asked(folder: Path, name: str | None = None) -> list[Asked]:
        """Return the studies of any folder, or the one with a name. Raises StudyError and ScenarioError."""
        from ..scenario import Scenario

        found = []
        for path in sorted((folder / STUDIES).glob("*.json")):
            if name is None or path.stem == name:
                try:
                    asked = json.loads(path.read_text(encoding="utf-8"))
                    written, base = asked["scenario"], asked["folder"]
                except (ValueError, KeyError, TypeError):
                    message = f"{path}: cut short or changed; give `fabriloom study run` with its file again"
                    raise StudyError(message) from None
                made = Asked(path.stem, Scenario.from_dict(written, base))
                found.append(Folder._recalled(folder, made))
        if not found:
            there = ", ".join(path.stem for path in sorted((folder / STUDIES).glob("*.json")))
            what = f"there is no study {name}; choose from: {there}" if there else "the folder has no study"
            raise StudyError(f"{folder}: {what}")
        return found

    def pack(self, least: int = 1) -> int:
        """Pack point files into segments, if there are at least ``least``; returns their number."""
        loose, packed = self._pieces.stamps(), self.segments.names()
        twice = [name for name in loose if name in packed]  # killed before the files of a segment had gone
        self._pieces.drop(name for name in twice if self.segments.get(name) == self._pieces.get(name))
        names = sorted((loose.keys() & self.index.stamps().keys()) - packed.keys())
        done = 0
        while len(names) - done >= max(1, min(least, MOST)):
            texts = [(name, text) for name in names[done : done + MOST] if (text := self._pieces.get(name))]
            self.segments.add(texts)
            self._pieces.drop(name for name, _ in texts)
            done += len(names[done : done + MOST])
        self.index.moved(self._packed())
        self.index.commit()
        return done

    def clean(self) -> tuple[int, int]:
        """Remove points that no study of the folder needs; returns the numbers of removed and kept points."""
        needed: set[str] = set()
        for asked in self.studies():
            needed |= self.index.names(program(), set(self.index.plan(asked.fingerprint).values()))
        gone = (set(self.index.stamps()) | set(self._pieces.stamps())) - needed
        self.segments.drop(self.segments.broken)
        self._pieces.drop(gone | self._pieces.unfinished())
        for segment in {of for name, of in self.segments.names().items() if name in gone}:
            kept = [name for name, of in self.segments.names().items() if of == segment and name not in gone]
            texts = [(name, text) for name in kept if (text := self.segments.get(name))]
            if texts:
                self.segments.add(texts)
            self.segments.drop([segment])
        self.refresh()
        return len(gone), len(needed)


def store_at(path: Path) -> Store:
    """Return the store of a study folder for a worker, which writes points only."""
    return Store(Pieces.at(path / POINTS, needed=True), Segments(path / SEGMENTS))


def _check(path: Path, make: bool) -> None:
    """Raise StudyError if this is not a study folder, or has another format."""
    if not path.exists() and not make:
        raise StudyError(f"{path}: there is no such folder; `fabriloom study run FILE --out {path}` makes it")
    if path.exists() and not path.is_dir():
        raise StudyError(f"{path}: this is a file; name a folder")
    try:
        mark = json.loads((path / MARK).read_text(encoding="utf-8"))
        written = mark["format"] if isinstance(mark, dict) else None
    except FileNotFoundError:
        written = FORMAT if make and (not path.exists() or not _foreign(path)) else None
        if written is None:
            what = f"it holds {_foreign(path)[0]}" if _foreign(path) else "it is empty"
            raise StudyError(f"{path}: this is not a study folder: {what}; name another one") from None
    except (ValueError, KeyError):
        written = None
    if written != FORMAT:
        message = f"{path}: the study folder is of format {written}, and this version reads format {FORMAT}"
        raise StudyError(f"{message}; use the version that wrote it, or name another folder")


def _foreign(path: Path) -> list[str]:
    return sorted(one.name for one in path.iterdir() if one.name != ".lock")
