"""Random choices that are the same on every machine, and the sources, targets and times of events by them.

They use the raw numbers of a PCG64 and not NumPy's distributions, which may change.
"""

from __future__ import annotations

import numpy as np

from fabriloom.programs.kinds import Ints, Settings
from fabriloom.programs.table import Events, ProgramError

_AT_ONCE = 2**22


class Draws:
    """A stream of random choices."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def raw(self, *shape: int) -> np.ndarray:
        """Return uniform whole numbers below 2^64."""
        return np.asarray(self._bits.random_raw(int(np.prod(shape))), np.uint64).reshape(shape)

    def below(self, limit: int, *shape: int) -> Ints:
        """Return uniform whole numbers below ``limit``, at most 2^32."""
        return ((self.raw(*shape) >> np.uint64(32)) * np.uint64(limit) >> np.uint64(32)).astype(np.int64)

    def unit(self, count: int) -> np.ndarray:
        """Return uniform numbers from 0 on, below 1."""
        return (self.raw(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def distinct(self, limit: int, count: int, rows: int) -> Ints:
        """Return ``count`` different numbers below ``limit`` in random order, shape (rows, count)."""
        if count == 1:
            return self.below(limit, rows, 1)
        found = np.empty((rows, count), np.int64)
        step = max(1, _AT_ONCE // limit)
        for first in range(0, rows, step):
            keys = self.raw(min(step, rows - first), limit)
            found[first : first + len(keys)] = np.argsort(keys, axis=1, kind="stable")[:, :count]
        return found

    def moments(self, count: int, span_ps: int) -> Ints:
        """Return ``count`` random times before ``span_ps``, sorted."""
        return np.sort((self.unit(count) * span_ps).astype(np.int64))


_PS_PER_KS = 10**15
_PS_PER_NS = 10**3


def due_ps(settings: Settings, draws: Draws) -> Ints:
    """Return when each event is due, in ps (whole nanoseconds); 0 without a rate."""
    count, rate = settings["events"], settings.get("rate_millihz")
    if not rate:
        return np.zeros(count, np.int64)
    if settings.get("arrivals") == "random":
        moments = draws.moments(count, min(count * _PS_PER_KS // rate, 2**62))
    else:
        moments = np.array([event * _PS_PER_KS // rate for event in range(count)], np.int64)
    return moments // _PS_PER_NS * _PS_PER_NS


def events_of(settings: Settings, due: Ints, fragments: int, first: int = 0) -> Events:
    """Return events that all have the same number of messages; the first has the tag ``first``."""
    rate = settings.get("rate_millihz")
    return Events(due, np.full(len(due), fragments, np.int64), first, rate / 1000 if rate else None)


def sources_of(settings: Settings, sources: int, blocks: int, each: int, draws: Draws) -> Ints:
    """Return source numbers, shape (events, blocks, each).

    They are distinct within an event if there are enough sources, and always within a block. Round robin
    takes groups of ``each`` from block to block; sources that do not fill a group do not send.
    """
    events = settings["events"]
    if each > sources:
        name = "sources_per_block" if "sources_per_block" in settings else "sources_per_event"
        message = f"{name} is {each}, there are {sources} sources"
        raise ProgramError(message, name, f"write at most {sources}")
    if settings["source_choice"] == "round-robin":
        group = np.arange(events * blocks).reshape(events, blocks, 1) % (sources // each)
        return group * each + np.arange(each)
    if blocks * each <= sources:
        return draws.distinct(sources, blocks * each, events).reshape(events, blocks, each)
    return draws.distinct(sources, each, events * blocks).reshape(events, blocks, each)


def targets_of(settings: Settings, targets: int, blocks: int, draws: Draws) -> Ints:
    """Return target numbers, shape (events, blocks), distinct within an event if there are enough targets."""
    events = settings["events"]
    if settings["target_choice"] == "round-robin":
        return np.arange(events * blocks).reshape(events, blocks) % targets
    if blocks <= targets:
        return draws.distinct(targets, blocks, events)
    return draws.below(targets, events, blocks)
