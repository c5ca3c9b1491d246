"""The engine's columns, and the codes of kinds in them, by the names that the engine exports.

>>> from fabriloom import codes
>>> codes.ARRIVAL.POISSON == codes.number("arrival", "poisson")
True
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native

FIRST_BROADCAST = 32
"""The number of broadcast channel 0: those of interrupts are below."""

_DTYPES = {"u8": np.uint8, "u32": np.uint32, "u64": np.uint64, "f64": np.float64}


@cache
def unused() -> dict[str, NDArray[Any]]:
    """Return every column of the engine, empty; do not change the result."""
    return {name: np.empty(0, _DTYPES[kind]) for name, kind in _native.columns()}


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
