"""What was made last, kept for runs that need the same."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Newest(Generic[Key, Value]):
    """The things asked for last, by what they are made of; several threads may ask at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        """What is kept under a key."""
        with contextlib.suppress(KeyError):  # another thread may have dropped it
            self._made.move_to_end(key)
            return self._made[key]
        return None

    def keep(self, key: Key, value: Value) -> Value:
        """Keep something, and drop what was not asked for longest."""
        self._made[key] = value
        while len(self._made) > self._most:
            with contextlib.suppress(KeyError):
                self._made.popitem(last=False)
        return value
