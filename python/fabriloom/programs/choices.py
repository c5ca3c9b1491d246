"""Choose the sources and targets of each event and the time at which it is due."""

from __future__ import annotations

import numpy as np

from fabriloom.programs.draws import Draws
from fabriloom.programs.kinds import Ints, Settings
from fabriloom.programs.table import Events, ProgramError

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
