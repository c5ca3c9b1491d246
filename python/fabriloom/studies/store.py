"""Finished values as files, each under the hash of what gave it: nothing is computed twice.

A value is kept for a pure function of its content, such as the run of a resolved scenario, by one program:
this version and these files. What is cut short or changed is not there, and that is said in one line.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from ..output import Pieces

POINTS = "points"
"""The folder of finished points in an output folder."""
Out = str | Path | Pieces | None
"""Where finished points are kept: an output folder, what a command has of one, or nowhere."""

_PACKAGE = Path(__file__).parent.parent
_ROOMS = ("units", "compile", "simulate", "_native", "topology", "routing", "traffic", "technology")
_ROOMS += ("scenario", "results", "programs", "studies/points.py")
"""Rooms and files that decide what a run gives and what is kept of it."""
_HEAD = '{"checksum": "'
_DIGITS = 24


@cache
def program(*more: str) -> str:
    """Checksum of the version and all files that decide what a run gives; ``more`` rooms or files too."""
    from .. import __version__

    digest = hashlib.sha256(__version__.encode())
    for path in sorted(_PACKAGE.rglob("*")):
        name = path.relative_to(_PACKAGE).as_posix()
        room = name.split("/")[0].split(".")[0]
        if {room, name} & {*_ROOMS, *more} and path.is_file() and path.suffix != ".pyc":
            digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def key_of(what: str, made_by: str, content: str) -> str:
    """The key of what ``what`` gives of ``content``, by the program ``made_by``: 64 hexadecimal digits."""
    return hashlib.sha256(f"{what}\0{made_by}\0{content}".encode()).hexdigest()


def name_of(key: str) -> str:
    """The file of a key."""
    return f"{key[:_DIGITS]}.json"


def written(key: str, value: Any) -> str:
    """A value as the text of its file: JSON that begins with the checksum of the rest."""
    rest = json.dumps({"key": key, "value": value}, separators=(",", ":"))[1:]
    return f'{_HEAD}{_checksum(rest)}",{rest}'


def loaded(key: str, text: str) -> Any | None:
    """The value in the text of a file; None if it is not whole, or of another key."""
    rest = text[len(_HEAD) + _DIGITS + 2 :]
    if text[: len(_HEAD) + _DIGITS] != _HEAD + _checksum(rest):
        return None
    kept = json.loads("{" + rest)
    return kept["value"] if kept["key"] == key else None


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


class Store:
    """A folder of finished values, one file each; without a folder nothing is kept."""

    def __init__(self, pieces: Pieces | None) -> None:
        self._pieces = pieces

    @classmethod
    def of(cls, out: Out) -> Store:
        """In an output folder, or nowhere."""
        return cls(out if out is None or isinstance(out, Pieces) else Pieces.at(Path(out) / POINTS))

    def get(self, key: str) -> Any | None:
        """What is kept under a key, if it is there and whole."""
        text = None if self._pieces is None else self._pieces.get(name_of(key))
        if text is None:
            return None
        value = loaded(key, text)
        if value is None:
            message = f"{name_of(key)}: a finished point that was cut short or changed; it is computed again"
            warnings.warn(message, stacklevel=2)
        return value

    def put(self, key: str, value: Any) -> None:
        """Keep numbers, texts, lists and mappings of them, if there is room. Equal values are equal bytes."""
        if self._pieces is not None:
            self._pieces.put(name_of(key), written(key, value))
