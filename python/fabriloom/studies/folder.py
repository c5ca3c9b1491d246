"""A study folder: its studies, their finished points, and an index."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import sqlite3
import warnings
import zlib
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..output import OutputError, Pieces, encoded, file, lock, remove, settle, stamp, sweep
from ..results import Provenance
from ..scenario.schema import Scenario
from .asked import (
    DAMAGED,
    FORMAT,
    MARK,
    STUDIES,
    TRIALS,
    Asked,
    StudyError,
    asked_of,
    content_of,
    definitions,
    named,
    recalled,
)
from .plan import Plan
from .points import Point, point_row
from .search import checked
from .store import MOST, POINTS, Segments, Store, program, sealed, valid

INDEX = "index.sqlite"
_TABLES = """
CREATE TABLE IF NOT EXISTS points
    (digest INTEGER, name TEXT PRIMARY KEY, stamp TEXT, program TEXT, content TEXT, cells TEXT);
CREATE TABLE IF NOT EXISTS plans
    (digest INTEGER, study TEXT, number INTEGER, content TEXT, PRIMARY KEY (study, number));
CREATE TABLE IF NOT EXISTS seals (of TEXT PRIMARY KEY, entries INTEGER, digests INTEGER);
"""
_SIGNED = {"points": "name, program, content, cells", "plans": "study, number, content"}
"""Columns of each table that its digests cover; a wrong stamp only means that a file is read again."""
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_TRUNCATE)
_SEALED = "SELECT COUNT(*), TOTAL(digest) FROM {}"


def _digest(*values: Any) -> int:
    """Return 32 bits of a hash, so that the sum over any table is exact as a floating-point number."""
    return zlib.crc32(repr(values).encode("utf-8", "surrogatepass"))


def _no_room(error: sqlite3.Error) -> OSError:
    return OSError(errno.ENOSPC, f"no room for the index: {error}")


class Index:
    """Points by file name, and the study and number of each."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Use a database. Raises sqlite3.Error if it was changed by another hand."""
        self._sql = connection
        self._sql.executescript("PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY;" + _TABLES)
        if self._sql.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",) or not self._is_whole():
            self._sql.close()
            raise sqlite3.DatabaseError("changed")

    def _is_whole(self) -> bool:
        """Whether every row is as it was written, and none is missing."""
        seals = {of: tuple(seal) for of, *seal in self._sql.execute("SELECT * FROM seals")}
        for table, names in _SIGNED.items():
            rows = self._sql.execute(f"SELECT digest, {names} FROM {table}")
            if any(digest != _digest(*values) for digest, *values in rows):
                return False
            seal = self._sql.execute(_SEALED.format(table)).fetchone()
            if seal != seals.get(table, (0, 0.0)):
                return False
        return True

    @classmethod
    def own(cls, folder: Path) -> Index:
        """Open the index of a folder that this process has locked."""
        path = folder / INDEX
        try:
            index = cls(sqlite3.connect(path, check_same_thread=False))
            index._commit()  # it can be written, too
            return index
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) in _FULL:
                raise _no_room(error) from error
        warnings.warn(f"{path}: the index cannot be read; it is rebuilt from the points", stacklevel=2)
        for name in (INDEX, f"{INDEX}-journal"):
            remove(folder / name)
        return cls(sqlite3.connect(path, check_same_thread=False))

    @classmethod
    def copied(cls, folder: Path) -> Index:
        """Return a copy of the index of any folder, or an empty one if it cannot be read now."""
        memory = sqlite3.connect(":memory:", check_same_thread=False)
        try:
            address = f"file:{quote(str(folder.resolve() / INDEX))}?mode=ro"
            with closing(sqlite3.connect(address, uri=True, timeout=2.0, isolation_level=None)) as theirs:
                theirs.execute("BEGIN")
                theirs.execute("SELECT COUNT(*) FROM points")  # locks it for reading
                theirs.backup(memory)
            return cls(memory)
        except sqlite3.Error:
            return cls(sqlite3.connect(":memory:", check_same_thread=False))

    def stamps(self) -> dict[str, str]:
        """Return the stamp of every known point."""
        return dict(self._sql.execute("SELECT name, stamp FROM points"))

    def add(self, points: Iterable[tuple[str, str, str, str, Mapping[str, Any]]]) -> None:
        """Add points as (name, stamp, program, content, cells of their row)."""
        rows = ((*first, json.dumps(cells)) for *first, cells in points)
        signed = ((_digest(row[0], *row[2:]), *row) for row in rows)
        self._sql.executemany("INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?, ?, ?)", signed)

    def drop(self, names: Iterable[str]) -> None:
        """Remove points whose files are gone."""
        self._sql.executemany("DELETE FROM points WHERE name = ?", ((name,) for name in names))

    def moved(self, stamps: Mapping[str, str]) -> None:
        """Update the stamps of points that were moved without a change."""
        rows = ((stamp, name) for name, stamp in stamps.items())
        self._sql.executemany("UPDATE points SET stamp = ? WHERE name = ?", rows)

    def plan(self, study: str) -> dict[int, str]:
        """Return the known contents of the points of a study, by number."""
        return dict(self._sql.execute("SELECT number, content FROM plans WHERE study = ?", (study,)))

    def planned(self, study: str, contents: Iterable[tuple[int, str]]) -> None:
        """Store the contents of points of a study."""
        rows = ((_digest(study, *row), study, *row) for row in contents)
        self._sql.executemany("INSERT OR REPLACE INTO plans VALUES (?, ?, ?, ?)", rows)

    def forget(self, studies: Iterable[str]) -> None:
        """Remove the contents of all studies but these."""
        kept = tuple(studies)
        marks = ", ".join("?" for _ in kept)
        self._sql.execute(f"DELETE FROM plans WHERE study NOT IN ({marks})", kept)

    def _ours(self, column: str) -> list[tuple[str, str]]:
        """Return the content and another column of all points of this program."""
        return list(
            self._sql.execute(f"SELECT content, {column} FROM points WHERE program = ?", (program(),))
        )

    def contents(self) -> set[str]:
        """Return the contents of all points of this program."""
        return {content for content, _ in self._ours("name")}

    def cells(self) -> dict[str, dict[str, Any]]:
        """Return the rows of all points of this program, by content."""
        return {content: json.loads(cells) for content, cells in self._ours("cells")}

    def programs(self) -> dict[str, int]:
        """Return the number of points of each program."""
        return dict(self._sql.execute("SELECT program, COUNT(*) FROM points GROUP BY program"))

    def names(self, contents: set[str]) -> set[str]:
        """Return the files of the points of this program with these contents."""
        return {name for content, name in self._ours("name") if content in contents}

    def commit(self) -> None:
        """Write the index to its file. Raises OSError."""
        try:
            self._commit()
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                self._sql.rollback()
            raise _no_room(error) from error

    def _commit(self) -> None:
        for table in _SIGNED:
            seal = _SEALED.format(table)
            self._sql.execute(f"INSERT OR REPLACE INTO seals SELECT ?, * FROM ({seal})", (table,))
        self._sql.commit()

    def abandon(self) -> None:
        """Close without what is not committed."""
        self._sql.close()

    def close(self) -> None:
        """Commit and close."""
        try:
            self.commit()
        finally:
            self._sql.close()


SEGMENTS = "segments"


class Folder:
    """A study folder, locked by this process or opened for reading.

    All that it holds follows from its files. If one was changed or is gone, so that an answer would differ,
    only who mends the folder may open it.
    """

    def __init__(self, path: Path, take: bool = False, make: bool = False, mend: bool = False) -> None:
        """Open a folder. Raises StudyError and OSError.

        ``take``: lock it; ``mend``: give up what is damaged, so that it is computed again; ``make``: create
        it if needed, and mend it.
        """
        self.path, self._locked, self._mends = path, None, make or mend
        names = named(path, make, self._mends)
        if take:
            try:
                path.mkdir(parents=True, exist_ok=True)
                self._locked = lock(path)
            except OutputError:
                message = (
                    f"{path}: another fabriloom works in this study; wait for it, or name another folder"
                )
                raise StudyError(message) from None
        with contextlib.ExitStack() as undone:  # a lock outlasts what raised
            if self._locked is not None:
                undone.callback(os.close, self._locked)
                if names is None or not (path / MARK).exists():
                    self._mark(definitions(path))
                self._sweep()
            self._pieces = Pieces.at(path / POINTS, needed=True)
            self.segments = Segments(path / SEGMENTS)
            undone.callback(self.segments.close)
            self.store = Store(self._pieces, self.segments)
            self.store.place = path.resolve()
            self.index = Index.own(path) if take else Index.copied(path)
            undone.callback(self.index.abandon)
            self.refresh()
            undone.pop_all()

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
            self._sweep()
            os.close(self._locked)
            self._locked = None

    def _sweep(self) -> None:
        for place in ("", POINTS, SEGMENTS, STUDIES, TRIALS):
            sweep(self.path / place)

    def _write(self, name: str, value: Any) -> None:
        (self.path / name).parent.mkdir(exist_ok=True)
        with file(self.path / name) as out:
            out.write(encoded(sealed(value, indent=1) + "\n"))
        for folder in {(self.path / name).parent, self.path}:
            settle(folder)  # nothing that belongs to it outlasts it

    def _mark(self, names: Iterable[str]) -> None:
        self._write(MARK, {"format": FORMAT, "studies": sorted(names)})

    def refresh(self) -> None:
        """Update the index from the files. Raises StudyError if some are damaged and not to be mended."""
        broken, gone = self._read_new()
        if broken or gone:  # or packed since the segments were listed
            self.segments.look()
            broken, gone = self._read_new()
        if damage := [*self.segments.broken, *sorted(broken), *sorted(gone)]:
            self._damaged(damage)
            self._mend(broken)
            self.index.drop(self._read_new()[1])
        self.index.commit()

    def _damaged(self, names: list[str]) -> None:
        """Say what is damaged, if it is mended. Raises StudyError otherwise."""
        more = f" and {len(names) - 1:,} more files of finished points are" if len(names) > 1 else " is"
        message = f"{self.path}: {names[0]}{more} {DAMAGED}"
        if not self._mends:
            raise StudyError(f"{message}; `fabriloom study resume {self.path}` computes again what is lost")
        warnings.warn(f"{message}; what is lost is computed again", stacklevel=2)

    def _mend(self, broken: set[str]) -> None:
        """Remove damaged files, and write again what can be read of damaged segments."""
        loose, packed = self._pieces.stamps(), self.segments.names()
        self._pieces.drop(name for name in broken if name in loose and self._pieces.get(name) is not None)
        for segment in {*self.segments.broken, *(packed[name] for name in broken - loose.keys())}:
            self._replace(
                segment, [(name, text) for name, text in self.segments.rest(segment) if valid(name, text)]
            )
        self.index.drop(broken)

    def _replace(self, segment: str, texts: list[tuple[str, str]]) -> None:
        """Write the points of a segment that are left as another one."""
        if not texts or self.segments.add(texts) != segment:
            self.segments.drop([segment])

    def _read_new(self) -> tuple[set[str], set[str]]:
        """Add points that the index does not know; returns the damaged ones, and those that are gone."""
        there, known = self._packed() | self._pieces.stamps(), self.index.stamps()
        changed = [name for name, now in there.items() if known.get(name) != now]
        return {name for name in changed if not self._indexed(name, there[name])}, known.keys() - there.keys()

    def _packed(self) -> dict[str, str]:
        """Return, for every point in a segment, the segment and its stamp."""
        return {name: f"{of} {self.segments.stamps[of]}" for name, of in self.segments.names().items()}

    def _indexed(self, name: str, now: str) -> bool:
        """Add a point to the index; returns whether its file is whole."""
        found = valid(name, self.store.text(name) or "", "summary")
        if found is None:
            return False
        key, value = found
        if key.what == "point":
            row = point_row(Point({}, value["summary"], {}))
            self.index.add([(name, now, key.program, key.content, row)])
        return True

    def finished(self, name: str) -> None:
        """Record a point that has just been written."""
        with contextlib.suppress(FileNotFoundError):
            self._indexed(name, stamp((self.path / POINTS / name).stat()))

    def ask(self, scenario: Scenario) -> Asked:
        """Add a study to the folder; it replaces an earlier one of the same name."""
        checked(scenario)
        title = Provenance.of(scenario).name
        name = re.sub(r"[^\w.+-]+", "-", title).strip("-.")[:60] or "study"
        asked = {"name": title, "points": len(Plan(scenario)), "folder": str(scenario.base_dir.resolve())}
        self._write(f"{STUDIES}/{name}.json", {**asked, "scenario": scenario.raw})
        self._mark({*definitions(self.path), name})
        found = recalled(self.path, Asked(name, scenario), again=True)
        if found.plan.search is not None and not found.tried:
            self.keep(found)
        return found

    def keep(self, asked: Asked) -> None:
        """Write the trials of a search that are chosen, before they are run. Raises OSError."""
        self._write(f"{TRIALS}/{asked.name}.json", {"study": asked.fingerprint, "tried": asked.tried})

    def studies(self, name: str | None = None) -> list[Asked]:
        """Return the studies of the folder, or the one with a name. Raises StudyError and ScenarioError."""
        return asked_of(self.path, name, self._mends)

    def known(self, asked: Asked) -> dict[int, str]:
        """Return the contents of the points of a study by number, of all that may be in the folder."""
        plan = asked.plan
        fixed = plan.search is None  # by other versions of its libraries a search has other trials
        known = self.index.plan(asked.fingerprint) if fixed else {}
        if self.index.contents() - set(known.values()):
            made = {number: content_of(plan, number) for number in range(plan.known) if number not in known}
            new = {number: content for number, content in made.items() if content}
            known |= new
            if fixed:
                self.index.planned(asked.fingerprint, new.items())
        return known

    def contents(self, asked: Asked) -> dict[int, str]:
        """Return the contents of the finished points of a study by number."""
        there = self.index.contents()
        return {number: content for number, content in self.known(asked).items() if content in there}

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

    def clean(self, forget: str | None = None) -> tuple[int, int]:
        """Remove points that no study of the folder needs, of which ``forget`` is none any more.

        Returns the numbers of removed and kept points. Raises StudyError, and removes nothing, if it is not
        known which points are needed.
        """
        left = self._left(forget)
        studies = [asked for name in left for asked in self.studies(name)]
        known = {asked.name: self.known(asked) for asked in studies}
        contents = {content for one in known.values() for content in one.values()}
        ours, needed = self.index.contents(), self.index.names(contents)
        unknown = [asked.name for asked in studies if len(known[asked.name]) < asked.plan.known]
        if unknown and ours - contents:
            what = f"some points of {', '.join(unknown)} cannot be made now, so that it is not known which of"
            hint = "take those points out of the study, or restore the files that it names"
            raise StudyError(f"{self.path}: {what} the stored ones they are: nothing was removed; {hint}")
        if forget is not None:
            self._mark(left)
            for place in (STUDIES, TRIALS):
                remove(self.path / place / f"{forget}.json")
        gone = (set(self.index.stamps()) | set(self._pieces.stamps())) - needed
        self._remove(gone)
        self.index.forget(asked.fingerprint for asked in studies)
        self.refresh()
        return len(gone), len(needed)

    def _left(self, forget: str | None) -> list[str]:
        """Return the names of the studies but one, of which there has to be another. Raises StudyError."""
        names = definitions(self.path)
        if forget is not None and forget not in names:
            raise StudyError(f"{self.path}: there is no study {forget}; choose from: {', '.join(names)}")
        left = [name for name in names if name != forget]
        if not left:
            what = (
                f"{forget} is its only study; remove the folder instead"
                if names
                else "the folder has no study"
            )
            raise StudyError(f"{self.path}: {what}")
        return left

    def _remove(self, gone: set[str]) -> None:
        """Remove points, from the index first: a file that it does not know is found again."""
        self.index.drop(gone)
        self.index.commit()
        for path in (self.path / INDEX, self.path):
            settle(path)
        self._pieces.drop(gone)
        packed = self.segments.names()
        for segment in {packed[name] for name in gone & packed.keys()}:
            kept = [name for name, of in packed.items() if of == segment and name not in gone]
            self._replace(segment, [(name, text) for name in kept if (text := self.segments.get(name))])


def store_at(path: Path) -> Store:
    """Return the store of a study folder for a worker, which writes points only."""
    return Store(Pieces.at(path / POINTS, needed=True), Segments(path / SEGMENTS))
