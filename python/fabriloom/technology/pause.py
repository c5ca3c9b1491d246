"""Thresholds of buffers that pause their senders, and memories that the ports of a switch share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fabriloom.technology.errors import TechnologyError

PARTS = ("reserved", "headroom", "offset")
SHARED = ("shared_buffer_flits", "shared_buffer_alpha", *(f"shared_buffer_{name}_flits" for name in PARTS))
"""Optional settings of links of flits."""
_STEPS = 10**9


@dataclass(frozen=True)
class SharedBuffer:
    """The memory of a switch, which the lanes of its ports share."""

    size_chars: int
    """All of it, with the reserves and the headroom of all lanes."""
    alpha: float
    """What a lane may have, as a part of what is free in the pool."""
    reserved_chars: int
    headroom_chars: int
    """What each lane has for itself: always, and for what comes after a pause."""
    offset_chars: int

    @property
    def alpha_billionths(self) -> int:
        """Return ``alpha`` as a whole number. Raises TechnologyError if it is none."""
        exact = Fraction(str(self.alpha)) * _STEPS
        if exact.denominator > 1:
            message = f"{self.alpha} is no whole number of billionths of what is free"
            raise TechnologyError(message, SHARED[1], f"write {float(Fraction(round(exact), _STEPS)):.9f}")
        return int(exact)

    def check(self, pauses: bool, drops: bool) -> None:
        """Raise TechnologyError where packets wait for credit, and for what only pauses need."""
        _ = self.alpha_billionths
        if not pauses and not drops:
            message = "packets that wait for credit have buffers of their own, and share no memory"
            hint = "write drop_when_full = true, or a pause_above_flits above 0"
            raise TechnologyError(message, SHARED[0], hint)
        for part in PARTS[1:] if not pauses else ():
            if getattr(self, f"{part}_chars"):
                message = f"shared_buffer_{part}_flits is for senders that are paused, and none is"
                hint = "remove it, or write a pause_above_flits above 0"
                raise TechnologyError(message, f"shared_buffer_{part}_flits", hint)


def shared_buffer(values: Mapping[str, Any]) -> SharedBuffer | None:
    """Return the memory of settings; None if every lane has its own buffer. Raises TechnologyError."""
    size, alpha, *parts = (values[name] for name in SHARED)
    if size == 0:
        return None
    if size is None:
        for name in SHARED[1:]:
            if values[name] is not None:
                message = f"{name} has no meaning while every lane has its own buffer"
                raise TechnologyError(message, name, "write shared_buffer_flits, too, or remove it")
        return None
    if alpha is None:
        message = "how much of its free memory a switch leaves to a port is missing"
        hint = "write shared_buffer_alpha, for example 0.5"
        raise TechnologyError(message, SHARED[0], hint)
    return SharedBuffer(size, alpha, *(part or 0 for part in parts))


def check_thresholds(above: int, until: int, buffer: int) -> None:
    """Raise TechnologyError for thresholds, in characters, of which nobody is paused."""
    if until > above:
        message = "a sender that goes on at more flits than those that pause it would never be paused"
        raise TechnologyError(message, "pause_until_flits", "make it at most pause_above_flits")
    if above > buffer:
        message = f"pause_above_flits is above the {buffer} flits of the input buffer"
        raise TechnologyError(message, "pause_above_flits", "make it smaller, or the buffer larger")
