"""Event building in which sources push: level 2, level 3, barrel shifter."""

from __future__ import annotations

import numpy as np

from fabriloom.programs.credit import by_supervisor
from fabriloom.programs.draws import Draws, due_ps, events_of, sources_of, targets_of
from fabriloom.programs.kinds import SEND, UNTIL, Ints, Settings
from fabriloom.programs.roles import Roles
from fabriloom.programs.table import Events, ProgramError, Programs, Rows


def level_2(roles: Roles, settings: Settings, draws: Draws) -> Programs:
    """Return programs in which the sources of each block of an event send it to the block's target."""
    sources, targets = roles.both(settings)
    blocks, each = settings["blocks_per_event"], settings["sources_per_block"]
    if settings["block_bytes"] < each:
        message = f"a block of {settings['block_bytes']} B cannot be shared by {each} sources"
        raise ProgramError(message, "block", "enlarge it, or reduce sources_per_block")
    who = sources[sources_of(settings, len(sources), blocks, each, draws)]
    shares = np.full(each, settings["block_bytes"] // each)
    shares[: settings["block_bytes"] % each] += 1
    due = due_ps(settings, draws)
    if settings["target_choice"] == "supervisor":
        return by_supervisor(roles, settings, sources, targets, who, shares, due)
    target = targets[targets_of(settings, len(targets), blocks, draws)]
    events = events_of(settings, due, blocks * each)
    return _pushed(roles, who, target, shares, events, events.rate_per_s is not None)


def level_3(roles: Roles, settings: Settings, draws: Draws) -> Programs:
    """Return programs in which each event is one block, with a fragment from each of its sources."""
    sources, targets = roles.both(settings)
    who = fragments_of(settings, sources, draws)
    target = targets[targets_of(settings, len(targets), 1, draws)]
    events = events_of(settings, due_ps(settings, draws), who.shape[2])
    shares = np.full(who.shape[2], settings["fragment_bytes"])
    turn = _turns(settings, who[:, 0], len(targets), draws)
    return _pushed(roles, who, target, shares, events, events.rate_per_s is not None, turn)


def fragments_of(settings: Settings, sources: Ints, draws: Draws) -> Ints:
    """Return the sources of each event, shape (events, 1, sources per event)."""
    each = settings["sources_per_event"]
    if each == "all":
        return np.broadcast_to(sources, (settings["events"], 1, len(sources)))
    return sources[sources_of(settings, len(sources), 1, each, draws)]


def _turns(settings: Settings, who: Ints, targets: int, draws: Draws) -> Ints | None:
    """Return when a source sends its fragment of each event, as a place in its program, shape (events,
    sources per event); None: in the order of events.

    Groups of as many events as there are targets are sent one after the other, each as a whole.
    """
    if settings["order"] == "same":
        return None
    events, each = who.shape
    number = np.arange(events)
    group, place = number // targets, number % targets
    if settings["order"] == "rotating":
        own = (place[:, None] - np.arange(each)[None, :]) % targets
    else:
        keys = draws.distinct(targets, targets, each * int(group[-1] + 1)).reshape(-1, each, targets)
        own = keys[group[:, None], np.arange(each)[None, :], place[:, None]]
    return group[:, None] * targets + own


def _pushed(
    roles: Roles,
    who: Ints,
    target: Ints,
    shares: Ints,
    events: Events,
    timed: bool,
    turn: Ints | None = None,
) -> Programs:
    """Return programs in which sources send each block as soon as its event is due, and targets take any
    message.

    ``who``: the sources, shape (events, blocks, sources); ``target``: shape (events, blocks); ``shares``:
    bytes per source, shape (sources,); ``turn``: see :func:`_turns`.
    """
    rows, number = Rows(), np.arange(len(who))
    if timed and turn is not None:
        _when_due(rows, who[:, 0], turn, events)
    elif timed:
        # Once for each source and event, source after source.
        both = np.sort(who * len(who) + number[:, None, None], axis=None)
        source, first = np.divmod(both[np.diff(both, prepend=-1) > 0], len(who))
        rows.add(source, 2 * first, UNTIL, amount=events.due_ps[first])
    event = number[:, None, None]
    order = event if turn is None else turn[:, None, :]
    rows.add(who, 2 * order + 1, SEND, peer=target[:, :, None], size_bytes=shares, tag=event)
    takes = np.bincount(target.ravel(), minlength=roles.count) * who.shape[2]
    used = np.flatnonzero(takes)
    rows.receives(used, 0, takes[used])
    return rows.programs(roles.terminals.names, events)


def _when_due(rows: Rows, who: Ints, turn: Ints, events: Events) -> None:
    """Let each source wait for its fragments: in its own order, for the latest event up to each."""
    for source in np.unique(who).tolist():
        event, column = np.nonzero(who == source)
        place = turn[event, column]
        order = np.argsort(place, kind="stable")
        due = np.maximum.accumulate(events.due_ps[event[order]])
        later = np.flatnonzero(np.diff(due, prepend=-1))
        rows.add(source, 2 * place[order][later], UNTIL, amount=due[later])


def barrel_shifter(roles: Roles, settings: Settings, draws: Draws) -> Programs:
    """Return programs in which event e goes to target e (modulo), from source i in slot e + i."""
    sources, targets = roles.both(settings)
    events, slot = settings["events"], settings["slot_ps"]
    number, turn = np.arange(events)[None, :], np.arange(len(sources))[:, None] % len(targets)
    rows = Rows()
    rows.add(sources[:, None], 2 * number, UNTIL, amount=(number + turn) * slot)
    target = targets[number % len(targets)]
    size = settings["fragment_bytes"]
    rows.add(sources[:, None], 2 * number + 1, SEND, peer=target, size_bytes=size, tag=number)
    takes = np.bincount(target.ravel(), minlength=roles.count) * len(sources)
    used = np.flatnonzero(takes)
    rows.receives(used, 0, takes[used])
    rate = 1e12 / slot if slot else None
    due = number.ravel() * slot
    return rows.programs(roles.terminals.names, Events(due, np.full(events, len(sources), np.int64), 0, rate))
