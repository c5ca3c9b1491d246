"""The numbers that stand for kinds of things in the engine's columns, by the engine's own names.

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
    """The code of a word as scenarios have it: ``number("arbiter", "round-robin")``."""
    return _all()[kind][word.upper().replace("-", "_")]


ARRIVAL = Codes("arrival")
LENGTH = Codes("length")
OPERATION = Codes("operation")
TARGET = Codes("target")
TRANSACTION = Codes("transaction")
