"""An index of the finished points of a study folder: their table, without reading all files.

It belongs to the process that has locked the folder. All of it is derived from the files, so it is rebuilt
if it is missing or broken. Other processes use a copy in memory.
"""

from __future__ import annotations

import json
import sqlite3
import warnings
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..output import remove

NAME = "index.sqlite"
_TABLES = """
CREATE TABLE IF NOT EXISTS points (name TEXT PRIMARY KEY, stamp TEXT, program TEXT, content TEXT, cells TEXT);
CREATE TABLE IF NOT EXISTS plans (study TEXT, number INTEGER, content TEXT, PRIMARY KEY (study, number));
"""


class Index:
    """Points by file name, and the study and number of each."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection
        self._sql.executescript("PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY;" + _TABLES)

    @classmethod
    def own(cls, folder: Path) -> Index:
        """Open the index of a folder that this process has locked."""
        path = folder / NAME
        try:
            index = cls(sqlite3.connect(path, check_same_thread=False))
            if index._sql.execute("PRAGMA quick_check(1)").fetchone() == ("ok",):
                return index
            index.close()
        except sqlite3.DatabaseError:
            pass
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
        except sqlite3.DatabaseError:
            return cls(sqlite3.connect(":memory:", check_same_thread=False))

    def stamps(self) -> dict[str, str]:
        """Return the stamp of every known point."""
        return dict(self._sql.execute("SELECT name, stamp FROM points"))

    def add(self, points: Iterable[tuple[str, str, str, str, Mapping[str, Any]]]) -> None:
        """Add points as (name, stamp, program, content, cells of their row)."""
        rows = ((*first, json.dumps(cells)) for *first, cells in points)
        self._sql.executemany("INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?, ?)", rows)

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
        rows = ((study, number, content) for number, content in contents)
        self._sql.executemany("INSERT OR REPLACE INTO plans VALUES (?, ?, ?)", rows)

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
        """Write the index to its file; a failure does no harm, because the points hold everything."""
        try:
            self._sql.commit()
        except sqlite3.OperationalError as error:
            self._sql.rollback()
            raise OSError(28, f"no room for the index: {error}") from error

    def close(self) -> None:
        """Commit and close."""
        self.commit()
        self._sql.close()
