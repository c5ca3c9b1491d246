"""Store finished values as files, each under the hash of its inputs, so that none is computed twice.

A value is a pure function of its content, such as the run of a resolved scenario, and of the program: its
version and source files. An incomplete or changed file counts as missing, with a warning.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from ..output import Pieces
from .sealed import rest_of, sealed
from .segments import Segments
from .sources import PACKAGE, sources

POINTS = "points"
"""Name of the folder of finished points in an output folder."""
Out = str | Path | Pieces | None
"""Where finished points are stored: an output folder, its pieces, or nowhere."""

_DIGITS = 24
"""Of the hash in the name of a file."""


@cache
def program(*more: str) -> str:
    """Return the checksum of the version and of all files on which a run depends; ``more``: further ones, or
    rooms.
    """
    from .. import __version__

    digest = hashlib.sha256(__version__.encode())
    added = [
        path for one in more for path in (PACKAGE / one, *(PACKAGE / one).rglob("*.py")) if path.is_file()
    ]
    for name in sorted({*sources(), *(path.relative_to(PACKAGE).as_posix() for path in added)}):
        digest.update(name.encode() + b"\0" + (PACKAGE / name).read_bytes())
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

    def read(self, name: str, first: str = "") -> tuple[Key, Any] | None:
        """Return the key and the value of a file; None if it is missing or, with a warning, incomplete.
        ``first``: see :func:`loaded`.
        """
        text = self.text(name)
        found = None if text is None else valid(name, text, first)
        if text is not None and found is None:
            if name not in self._told:
                message = f"{name}: a finished point that was cut short or changed; it is computed again"
                warnings.warn(message, stacklevel=2)
            self._told.add(name)
        return found

    def get(self, key: Key) -> Any | None:
        """Return the value of a key; None if it is missing or incomplete."""
        found = self.read(key.name)
        return None if found is None else found[1]

    def put(self, key: Key, value: Any) -> None:
        """Store numbers, strings, lists and mappings, if there is room. Equal values give equal bytes."""
        if self._pieces is not None:
            self._pieces.put(key.name, written(key, value))
