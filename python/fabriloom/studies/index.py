"""An index of the finished points of a study folder: their table, without reading all files.

It belongs to the process that has locked the folder. All of it is derived from the files, so it is rebuilt
if it is missing or broken. Other processes use a copy in memory.
"""

from __future__ import annotations

import errno
import json
import sqlite3
import warnings
import zlib
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..output import remove

NAME = "index.sqlite"
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
        path = folder / NAME
        try:
            index = cls(sqlite3.connect(path, check_same_thread=False))
            index._commit()  # it can be written, too
            return index
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) in _FULL:
                raise _no_room(error) from error
        warnings.warn(f"{path}: the index cannot be read; it is rebuilt from the points", stacklevel=2)
        for name in (NAME, f"{NAME}-journal"):
            remove(folder / name)
        return cls(sqlite3.connect(path, check_same_thread=False))

    @classmethod
    def copied(cls, folder: Path) -> Index:
        """Return a copy of the index of any folder, or an empty one if it cannot be read now."""
        memory = sqlite3.connect(":memory:", check_same_thread=False)
        try:
            address = f"file:{quote(str(folder.resolve() / NAME))}?mode=ro"
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

    def contents(self, program: str) -> set[str]:
        """Return the contents of all points of a program."""
        return {
            row[0] for row in self._sql.execute("SELECT content FROM points WHERE program = ?", (program,))
        }

    def cells(self, program: str) -> dict[str, dict[str, Any]]:
        """Return the rows of all points of a program, by content."""
        found = self._sql.execute("SELECT content, cells FROM points WHERE program = ?", (program,))
        return {content: json.loads(cells) for content, cells in found}

    def programs(self) -> dict[str, int]:
        """Return the number of points of each program."""
        return dict(self._sql.execute("SELECT program, COUNT(*) FROM points GROUP BY program"))

    def names(self, program: str, contents: set[str]) -> set[str]:
        """Return the files of the points of a program with these contents."""
        found = self._sql.execute("SELECT name, content FROM points WHERE program = ?", (program,))
        return {name for name, content in found if content in contents}

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
