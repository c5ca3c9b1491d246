"""Finished pieces of longer work, one file each, from which the work can be resumed."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterable
from pathlib import Path

from .whole import Files, Plain, encoded


def stamp(status: os.stat_result) -> str:
    """Return a string that changes whenever the file changes."""
    return f"{status.st_size} {status.st_mtime_ns}"


class Pieces:
    """Texts by name, stored in a folder of ``files``; ``earlier`` may hold some of an earlier call."""

    def __init__(self, files: Files, folder: Path, earlier: Path | None = None, needed: bool = False) -> None:
        """``needed``: a piece that cannot be stored is an error, because there is no other result."""
        self.used: set[str] = set()
        """Names that were read or written."""
        self._files, self._needed = files, needed
        self._folders = (folder, earlier) if earlier else (folder,)

    @classmethod
    def at(cls, folder: Path, needed: bool = False) -> Pieces:
        """Use a folder for which the caller is responsible."""
        return cls(Plain(folder.parent), folder, needed=needed)

    def stamps(self) -> dict[str, str]:
        """Return the stamp of every piece by its name; see :func:`stamp`."""
        with contextlib.suppress(FileNotFoundError), os.scandir(self._folders[0]) as entries:
            return {one.name: stamp(one.stat()) for one in entries if one.name.endswith(".json")}
        return {}

    def drop(self, names: Iterable[str]) -> None:
        """Remove pieces."""
        for name in names:
            (self._folders[0] / name).unlink(missing_ok=True)

    def get(self, name: str) -> str | None:
        """Return the text stored under a name, whatever is in it, or None."""
        for folder in self._folders:
            with contextlib.suppress(OSError):
                descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                with os.fdopen(descriptor, encoding="utf-8", errors="replace") as stream:
                    text = stream.read()
                if folder is self._folders[0]:
                    self.used.add(name)
                else:
                    self.put(name, text)
                return text
        return None

    def put(self, name: str, text: str) -> None:
        """Store a text. If it cannot be stored, warn and continue.

        Raises OSError instead if the pieces are ``needed``.
        """
        self.used.add(name)
        folder = self._folders[0]
        try:
            with self._files.file(f"{folder.name}/{name}") as out:
                out.write(encoded(text))
        except OSError as error:
            if self._needed:
                raise
            why = (error.strerror or str(error)).lower()
            warnings.warn(f"{folder}: finished runs are no longer kept here: {why}", stacklevel=2)
