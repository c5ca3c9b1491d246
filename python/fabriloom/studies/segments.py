"""Pack finished points into files of some thousands: many small files are slow to list, copy and remove.

A segment is a ZIP file; its directory is the index of its points. It is written and synced before the files
of its points are removed, and never changed.
"""

from __future__ import annotations

import hashlib
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from ..output import file, remove, settle, stamp

MOST = 4096
"""Most points per segment."""
_ENTRY = struct.Struct("<18xI4xHH")
"""The head of an entry of a ZIP file: the lengths of its content, of its name and of what follows that."""
_BROKEN = (OSError, ValueError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError)
"""Errors of a file that was changed, which can ask for a method or a password."""


class Segments:
    """The segments of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[str, zipfile.ZipFile] = {}
        self._where: dict[str, str] = {}
        """The segment of each point."""
        self.stamps: dict[str, str] = {}
        """Stamp of every readable segment."""
        self.broken: list[str] = []
        """Segments that cannot be read."""
        self.look()

    def look(self) -> None:
        """Read the directories of all segments; the points of unreadable ones count as missing."""
        self.close()
        for path in sorted(self.folder.glob("*.zip")):
            try:
                self._open[path.name] = opened = zipfile.ZipFile(path)
                self.stamps[path.name] = stamp(path.stat())
                self._where.update(dict.fromkeys(opened.namelist(), path.name))
            except _BROKEN:
                self.broken.append(path.name)

    def names(self) -> dict[str, str]:
        """Return the segment of every packed point, by name."""
        return dict(self._where)

    def get(self, name: str) -> str | None:
        """Return the text of a point; None if it is in no segment or broken."""
        segment = self._where.get(name)
        if segment is None:
            return None
        try:
            return self._open[segment].read(name).decode()
        except _BROKEN:
            return ""  # as a file that was cut short

    def add(self, texts: Sequence[tuple[str, str]]) -> str:
        """Write points with their names as one segment; returns its name. Raises OSError."""
        self.folder.mkdir(exist_ok=True)
        digest = hashlib.sha256("\n".join(name for name, _ in texts).encode()).hexdigest()[:24]
        with file(self.folder / f"{digest}.zip") as out, zipfile.ZipFile(out, "w") as packed:
            for name, text in texts:  # with no time in it, so that equal points are equal bytes
                entry = zipfile.ZipInfo(name)
                packed.writestr(entry, text.encode(), zipfile.ZIP_DEFLATED, 6)
        for folder in (self.folder, self.folder.parent):
            settle(folder)
        self.look()
        return f"{digest}.zip"

    def rest(self, segment: str) -> list[tuple[str, str]]:
        """Return the points of a segment, whatever has become of it, with their names."""
        return list(_entries((self.folder / segment).read_bytes()))

    def drop(self, segments: Sequence[str]) -> None:
        """Remove segments whose points are stored elsewhere or no longer needed."""
        self.close()
        for name in segments:
            remove(self.folder / name)
        self.look()

    def close(self) -> None:
        """Close all files."""
        for opened in self._open.values():
            opened.close()
        self._open, self._where, self.stamps, self.broken = {}, {}, {}, []


def _entries(content: bytes) -> Iterator[tuple[str, str]]:
    """Yield the readable entries of a ZIP file without its directory, which a changed byte makes useless."""
    at = content.find(b"PK\3\4")
    while 0 <= at <= len(content) - _ENTRY.size:
        packed, name, more = _ENTRY.unpack_from(content, at)
        named, begin = at + _ENTRY.size, at + _ENTRY.size + name + more
        with suppress(zlib.error, UnicodeDecodeError):
            text = zlib.decompressobj(-zlib.MAX_WBITS).decompress(content[begin : begin + packed])
            yield content[named : named + name].decode(), text.decode()
        at = content.find(b"PK\3\4", at + 1)
