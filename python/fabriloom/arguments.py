"""Arguments of the Python interface: each is checked once, and every message says what to give instead."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable
from typing import Any, TypeGuard

import numpy as np

from .reading import UserError


def wrong(name: str, given: object, wanted: str) -> UserError:
    """Return the error for an argument; ``wanted``: what to give instead."""
    return UserError(f"{name} is {reprlib.repr(given)}; give {wanted}")


def whole(name: str, given: object, low: int, high: int) -> int:
    """Return a whole number from ``low`` to ``high``. Raises UserError."""
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not low <= given <= high:
        raise wrong(name, given, f"a whole number from {low:,} to {high:,}")
    return int(given)


def number(name: str, given: object, low: float, high: float = math.inf) -> float:
    """Return a number from ``low`` to ``high``, which NaN is not. Raises UserError."""
    if not _is_number(given) or not low <= given <= high:
        raise wrong(name, given, f"a number from {low:g} to {high:g}")
    return float(given)


def numbers(name: str, given: object) -> list[Any]:
    """Return one or more numbers, which may be those of an array or a series. Raises UserError."""
    found = list(given) if isinstance(given, Iterable) else []
    if not found or not all(map(_is_number, found)):
        raise wrong(name, given, "a list of numbers, such as [0.1, 0.3]")
    return found


def choice(name: str, given: object, among: Iterable[str]) -> str:
    """Return one of several words. Raises UserError."""
    words = list(among)
    if given not in words:
        raise wrong(name, given, f"one of: {', '.join(words)}")
    return str(given)


def _is_number(given: object) -> TypeGuard[float]:
    return isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)
