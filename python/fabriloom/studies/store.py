"""Store finished values as files, each under the hash of its inputs, so that none is computed twice.

A value is a pure function of its content, such as the run of a resolved scenario, and of the program: its
version and source files. An incomplete or changed file counts as missing, with a warning.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from .. import __version__
from ..output import Pieces, file, remove, settle, stamp

# Pack finished points into files of some thousands: many small files are slow to list, copy and remove.
#
# A segment is a ZIP file; its directory is the index of its points. It is written and synced before the files
# of its points are removed, and never changed.

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


# JSON texts that begin with the checksum of the rest, so that a changed byte anywhere is noticed.

_HEAD = '{"checksum": "'
_SEAL_DIGITS = 24
_FULL = len(_HEAD) + _SEAL_DIGITS + 2


def sealed(value: dict[str, Any], **form: Any) -> str:
    """Return a mapping, not an empty one, as JSON after its checksum; ``form``: for ``json.dumps``."""
    rest = json.dumps(value, **form)[1:]
    return f'{_HEAD}{_checksum(rest)}",{rest}'


def rest_of(text: str) -> str | None:
    """Return the text behind the checksum, a mapping without its first brace; None if it was changed."""
    rest = text[_FULL:]
    return rest if text[:_FULL] == f'{_HEAD}{_checksum(rest)}",' else None


def unsealed(text: str) -> dict[str, Any] | None:
    """Return the mapping in a text; None if it was cut short or changed."""
    rest = rest_of(text.removesuffix("\n"))
    return None if rest is None else json.loads("{" + rest)


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_SEAL_DIGITS]


POINTS = "points"
"""Name of the folder of finished points in an output folder."""
Out = str | Path | Pieces | None
"""Where finished points are stored: an output folder, its pieces, or nowhere."""

_DIGITS = 24
"""Of the hash in the name of a file."""


@cache
def program(*more: Path) -> str:
    """Return the checksum of version and files that a run depends on; ``more``: other files, or folders."""
    digest = hashlib.sha256(__version__.encode())
    added = (path for one in more for path in sorted([one] if one.is_file() else one.rglob("*.py")))
    for path in (*(PACKAGE / name for name in sorted(sources())), *added):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Key:
    """The inputs of a value, and the program that computed it."""

    what: str
    """The kind of value: ``point``, or the name of the measurement."""
    program: str
    content: str
    """Hash of the resolved scenario or of other inputs."""

    @cached_property
    def name(self) -> str:
        """The file name of the value."""
        text = f"{self.what}\0{self.program}\0{self.content}"
        return f"{hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]}.json"


def written(key: Key, value: Any) -> str:
    """Return the file text of a value."""
    kept = {"what": key.what, "program": key.program, "content": key.content, "value": value}
    return sealed(kept, separators=(",", ":"))


def loaded(text: str, first: str = "") -> tuple[Key, Any] | None:
    """Return the key and the value in the text of a file; None if it is incomplete.

    ``first``: only the first entry of the value, by its name. The tail of a point is most of its text.
    """
    rest = rest_of(text)
    if rest is None:
        return None
    begin = f',"value":{{"{first}":'
    at = rest.find(begin) if first else -1
    kept = json.loads("{" + (rest if at < 0 else f"{rest[:at]}}}"))
    key = Key(kept["what"], kept["program"], kept["content"])
    if at < 0:
        return key, kept["value"]
    return key, {first: json.JSONDecoder().raw_decode(rest, at + len(begin))[0]}


def valid(name: str, text: str, first: str = "") -> tuple[Key, Any] | None:
    """Return the key and the value in the file of a name; None if it is incomplete or of another name."""
    found = loaded(text, first)
    return None if found is None or found[0].name != name else found


class Store:
    """Finished values, one file each, older ones in segments; without a folder nothing is stored."""

    def __init__(self, pieces: Pieces | None, segments: Segments | None = None) -> None:
        self._pieces, self._segments = pieces, segments
        self._told: set[str] = set()
        self.place: Path | None = None
        """The study folder, if it belongs to one."""

    @property
    def keeps(self) -> bool:
        """Whether anything is stored: a key, which hashes all sources, is of use only then."""
        return self._pieces is not None or self._segments is not None

    @classmethod
    def of(cls, out: Out) -> Store:
        """Return the store in an output folder, or one that stores nothing."""
        return cls(out if out is None or isinstance(out, Pieces) else Pieces.at(Path(out) / POINTS))

    def text(self, name: str) -> str | None:
        """Return the text of a file, whatever is in it; None if it is missing or cannot be read."""
        text = None if self._pieces is None else self._pieces.get(name)
        if text is None and self._segments is not None:
            text = self._segments.get(name)
        return text

    def get(self, key: Key) -> Any | None:
        """Return the value of a key; None if it is missing or, with a warning, incomplete."""
        text = self.text(key.name)
        found = None if text is None else valid(key.name, text)
        if text is not None and found is None and key.name not in self._told:
            message = f"{key.name}: a finished point that was cut short or changed; it is computed again"
            warnings.warn(message, stacklevel=2)
            self._told.add(key.name)
        return None if found is None else found[1]

    def put(self, key: Key, value: Any) -> None:
        """Store numbers, strings, lists and mappings, if there is room. Equal values give equal bytes."""
        if self._pieces is not None:
            self._pieces.put(key.name, written(key, value))


# The files of the package on which a stored result depends, found by following imports.
# Who is imported counts with the whole of its room, data and engine included. Of this room, which holds
# also what only looks at results, single files count.
PACKAGE = Path(__file__).parent.parent
_ROOM = "studies"
_ROOTS = ("simulate.py", f"{_ROOM}/points.py")
"""What runs a scenario, and what is stored of the run."""
_IMPORT = re.compile(r"^[ \t]*from (fabriloom\b|(?=\.))(\.*)([\w.]*) import (\([^)]*\)|[^\n]*)", re.M)
_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+[^\n]*\n|\n)+", re.M)
"""Imports that are not made when the program runs."""


def sources(package: Path = PACKAGE) -> list[str]:
    """Return the files on which a stored result depends, by their names in the package."""
    found: set[str] = set()
    waiting, rooms = list(_ROOTS), {_ROOM}
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        for module in _imported(package / name, Path(name).parent.parts) if name.endswith(".py") else ():
            if module[0] == _ROOM:
                waiting += _file_of(package, module)
            elif module[0] not in rooms:
                rooms.add(module[0])
                waiting += _room(package, module[0])
    return sorted(found)


def _imported(file: Path, here: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield what a file imports, as steps from the package; the last may be a name in a module."""
    text = _TYPES.sub("", file.read_text(encoding="utf-8"))
    for absolute, dots, module, names in _IMPORT.findall(text):
        above = () if absolute else here[: len(here) - len(dots) + 1]
        steps = (*above, *(step for step in module.split(".") if step))
        yield from ((*steps, name) for name in re.findall(r"\w+", names))


def _file_of(package: Path, module: tuple[str, ...]) -> list[str]:
    files = (Path(*steps).with_suffix(".py") for steps in (module, module[:-1]))
    return [file.as_posix() for file in files if (package / file).is_file()][:1]


def _room(package: Path, name: str) -> list[str]:
    paths = [*package.glob(f"{name}.*"), *(package / name).rglob("*")]
    files = (path for path in paths if path.is_file() and path.suffix != ".pyc")
    return [path.relative_to(package).as_posix() for path in files]
