"""Finished pieces of longer work, a file each, so that it can be taken up again."""

from __future__ import annotations

import contextlib
import os
import warnings
from pathlib import Path

from .whole import Files, Plain, encoded


class Pieces:
    """Texts by name, in a folder of ``files``; some may be there from before in ``earlier``."""

    def __init__(self, files: Files, folder: Path, earlier: Path | None = None) -> None:
        self.used: set[str] = set()
        """Names that were asked for or written."""
        self._files = files
        self._folders = (folder, earlier) if earlier else (folder,)

    @classmethod
    def at(cls, folder: Path) -> Pieces:
        """In a folder that the caller answers for."""
        return cls(Plain(folder.parent), folder)

    def get(self, name: str) -> str | None:
        """What was kept under a name, or none."""
        for folder in self._folders:
            with contextlib.suppress(OSError, UnicodeDecodeError):
                descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                with os.fdopen(descriptor, encoding="utf-8") as stream:
                    text = stream.read()
                if folder is self._folders[0]:
                    self.used.add(name)
                else:
                    self.put(name, text)
                return text
        return None

    def put(self, name: str, text: str) -> None:
        """Keep a text. Where there is no room the work goes on, with a warning: results do not need it."""
        self.used.add(name)
        folder = self._folders[0]
        try:
            with self._files.file(f"{folder.name}/{name}") as out:
                out.write(encoded(text))
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            warnings.warn(f"{folder}: finished runs are no longer kept here: {why}", stacklevel=2)
