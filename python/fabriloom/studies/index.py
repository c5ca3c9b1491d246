"""An index of the finished points of a study folder: what a table of them needs, without reading them all.

It belongs to the one process that has locked the folder. It says nothing that the files do not say, so it is
made anew from them whenever it is missing or broken. Others look at a copy in their memory.
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
    """Points by the name of their file, and which point of a study each is."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection
        self._sql.executescript("PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY;" + _TABLES)

    @classmethod
    def own(cls, folder: Path) -> Index:
        """That of a folder which this process has locked."""
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
        """A copy of that of any folder, or an empty one if it cannot be read now."""
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
        """Of every point that is known, what changes when its file does."""
        return dict(self._sql.execute("SELECT name, stamp FROM points"))

    def add(self, points: Iterable[tuple[str, str, str, str, Mapping[str, Any]]]) -> None:
        """Points as (name, stamp, program, content, cells of their row)."""
        rows = ((*first, json.dumps(cells)) for *first, cells in points)
        self._sql.executemany("INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?, ?)", rows)

    def drop(self, names: Iterable[str]) -> None:
        """Forget points whose files have gone."""
        self._sql.executemany("DELETE FROM points WHERE name = ?", ((name,) for name in names))

    def moved(self, stamps: Mapping[str, str]) -> None:
        """Points whose place has changed, and not what they say."""
        rows = ((stamp, name) for name, stamp in stamps.items())
        self._sql.executemany("UPDATE points SET stamp = ? WHERE name = ?", rows)

    def plan(self, study: str) -> dict[int, str]:
        """The contents that are known of the points of a study, by their numbers."""
        return dict(self._sql.execute("SELECT number, content FROM plans WHERE study = ?", (study,)))

    def planned(self, study: str, contents: Iterable[tuple[int, str]]) -> None:
        """The contents of points of a study."""
        rows = ((study, number, content) for number, content in contents)
        self._sql.executemany("INSERT OR REPLACE INTO plans VALUES (?, ?, ?)", rows)

    def contents(self, program: str) -> set[str]:
        """Contents of all points of a program."""
        return {
            row[0] for row in self._sql.execute("SELECT content FROM points WHERE program = ?", (program,))
        }

    def cells(self, program: str) -> dict[str, dict[str, Any]]:
        """Rows of all points of a program, by their contents."""
        found = self._sql.execute("SELECT content, cells FROM points WHERE program = ?", (program,))
        return {content: json.loads(cells) for content, cells in found}

    def programs(self) -> dict[str, int]:
        """How many points there are of each program."""
        return dict(self._sql.execute("SELECT program, COUNT(*) FROM points GROUP BY program"))

    def names(self, program: str, contents: set[str]) -> set[str]:
        """Files of the points of a program that have these contents."""
        found = self._sql.execute("SELECT name, content FROM points WHERE program = ?", (program,))
        return {name for name, content in found if content in contents}

    def commit(self) -> None:
        """Have it in the file. What cannot be written is in the points all the same."""
        try:
            self._sql.commit()
        except sqlite3.OperationalError as error:
            self._sql.rollback()
            raise OSError(28, f"no room for the index: {error}") from error

    def close(self) -> None:
        """Commit and close."""
        self.commit()
        self._sql.close()
