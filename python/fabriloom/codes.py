"""The codes of kinds in the engine's columns, by the names that the engine exports.

>>> from fabriloom import codes
>>> codes.ARRIVAL.POISSON == codes.number("arrival", "poisson")
True
"""

from __future__ import annotations

from functools import cache

from . import _native


@cache
def _all() -> dict[str, dict[str, int]]:
    return _native.codes()


class Codes:
    """The codes of one kind as attributes."""

    def __init__(self, kind: str) -> None:
        self._codes = _all()[kind]

    def __getattr__(self, name: str) -> int:
        if name not in self._codes:
            raise AttributeError(name)
        return self._codes[name]


def number(kind: str, word: str) -> int:
    """Return the code of a word of the scenario: ``number("arbiter", "round-robin")``."""
    return _all()[kind][word.upper().replace("-", "_")]


ARRIVAL = Codes("arrival")
LENGTH = Codes("length")
OPERATION = Codes("operation")
TARGET = Codes("target")
TRANSACTION = Codes("transaction")
FAULT_KIND = Codes("fault_kind")
