"""Finished measurements as files: an interrupted reproduction goes on where it was.

A file is taken up again only by the program that wrote it: the same version, and the same files of all that
describes and simulates a network.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..output import Pieces

_PACKAGE = Path(__file__).parent.parent
_ROOMS = ("units", "compile", "simulate", "_native", "topology", "routing", "traffic", "technology")
_ROOMS += ("scenario", "results", "programs")
"""The rooms that decide what a run gives."""


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


class Kept:
    """A folder of them, one file each; without one nothing is kept."""

    def __init__(self, pieces: Pieces | None) -> None:
        self._pieces = pieces

    def get(self, key: str, made_by: str) -> Any:
        """What was kept under a key by this program, or none."""
        text = None if self._pieces is None else self._pieces.get(_name(key))
        if text is None:
            return None
        try:
            kept = json.loads(text)
            same = kept["key"] == key and kept["made_by"] == made_by
            return _loaded(kept["value"]) if same else None
        except (ValueError, KeyError, TypeError):
            return None  # not there, or cut short by something worse than Ctrl-C: it is made again

    def put(self, key: str, made_by: str, value: Any) -> None:
        """Keep numbers, texts, arrays, lists and mappings of them, if there is room."""
        if self._pieces is not None:
            text = json.dumps({"key": key, "made_by": made_by, "value": _plain(value)})
            self._pieces.put(_name(key), text)


def _name(key: str) -> str:
    return f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"


def _plain(value: Any) -> Any:
    """Arrays and mappings as lists with their kind in front: JSON has neither arrays nor number keys."""
    if isinstance(value, np.ndarray):
        return ["array", value.dtype.str, value.tolist()]
    if isinstance(value, dict):
        return ["mapping", [[key, _plain(one)] for key, one in value.items()]]
    if isinstance(value, list | tuple):
        return ["list", [_plain(one) for one in value]]
    return value


def _loaded(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    kind, *rest = value
    if kind == "array":
        return np.asarray(rest[1], np.dtype(rest[0]))
    if kind == "mapping":
        return {key: _loaded(one) for key, one in rest[0]}
    return [_loaded(one) for one in rest[0]]
