"""A cache of the results that were used last."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Newest(Generic[Key, Value]):
    """Values by key, those used last; safe for several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        """Return the value of a key, or None."""
        with contextlib.suppress(KeyError):  # another thread may have dropped it
            self._made.move_to_end(key)
            return self._made[key]
        return None

    def keep(self, key: Key, value: Value) -> Value:
        """Keep a value, drop the one that was unused longest, and return the value."""
        self._made[key] = value
        while len(self._made) > self._most:
            with contextlib.suppress(KeyError):
                self._made.popitem(last=False)
        return value
