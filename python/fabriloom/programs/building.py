"""Event building: sources push (level 2, level 3, barrel shifter), or targets pull or give credit."""

from __future__ import annotations

import numpy as np

from fabriloom.programs import kinds as op
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
    return _pushed(roles, who, target, shares, events)


def level_3(roles: Roles, settings: Settings, draws: Draws) -> Programs:
    """Return programs in which each event is one block, with a fragment from each of its sources."""
    sources, targets = roles.both(settings)
    who = fragments_of(settings, sources, draws)
    target = targets[targets_of(settings, len(targets), 1, draws)]
    events = events_of(settings, due_ps(settings, draws), who.shape[2])
    shares = np.full(who.shape[2], settings["fragment_bytes"])
    turn = _turns(settings, who[:, 0], len(targets), draws)
    return _pushed(roles, who, target, shares, events, turn)


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
    roles: Roles, who: Ints, target: Ints, shares: Ints, events: Events, turn: Ints | None = None
) -> Programs:
    """Return programs in which sources send each block as soon as its event is due, and targets take any
    message.

    ``who``: the sources, shape (events, blocks, sources); ``target``: shape (events, blocks); ``shares``:
    bytes per source, shape (sources,); ``turn``: see :func:`_turns`.
    """
    rows, number, timed = Rows(), np.arange(len(who)), events.rate_per_s is not None
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
    return _taken(roles, rows, target, who.shape[2]).programs(roles.terminals.names, events)


def _taken(roles: Roles, rows: Rows, target: Ints, each: int) -> Rows:
    """Let targets take any message, this many for each time that one is named."""
    takes = np.bincount(target.ravel(), minlength=roles.count) * each
    used = np.flatnonzero(takes)
    rows.receives(used, 0, takes[used])
    return rows


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
    rate = 1e12 / slot if slot else None
    due = number.ravel() * slot
    built = Events(due, np.full(events, len(sources), np.int64), 0, rate)
    return _taken(roles, rows, target, len(sources)).programs(roles.terminals.names, built)


def pull_level_3(roles: Roles, settings: op.Settings, draws: Draws) -> Programs:
    """Return programs in which a target asks the sources of an event, takes their answers, then asks for the
    next.

    Requests carry the event's number as their answers do, so an event has twice as many messages as
    fragments; the last message is an answer.
    """
    sources, targets = roles.both(settings)
    number, each = np.arange(settings["events"]), settings["sources_per_event"]
    if each == "all":
        # Each event begins with another source; otherwise all targets would ask the same source first.
        each = len(sources)
        who = (np.arange(each)[None, :] + number[:, None]) % each
    else:
        who = sources_of(settings, len(sources), 1, each, draws)[:, 0, :]
    target = targets[targets_of(settings, len(targets), 1, draws)[:, 0]]
    events = events_of(settings, due_ps(settings, draws), 2 * each)
    ahead = settings["requests_at_once"]
    ahead = each if ahead == "all" else min(ahead, each)
    rows, size = Rows(), settings["request_bytes"]
    step = 2 * each + 2
    if events.rate_per_s is not None:
        rows.add(target, number * step, op.UNTIL, amount=events.due_ps)
    turn = np.arange(each)[None, :]
    order = number[:, None] * step + 1
    asked = np.where(turn < ahead, turn, 2 * turn - ahead + 1)
    rows.add(target[:, None], order + asked, op.SEND, peer=sources[who], size_bytes=size, tag=number[:, None])
    rows.add(
        target[:, None], order + np.where(turn < each - ahead, ahead + 2 * turn, each + turn), op.RECEIVE
    )
    answers = np.bincount(who.ravel(), minlength=len(sources))
    used = np.flatnonzero(answers)
    rows.loop(sources[used], 0, answers[used])
    rows.add(sources[used], 1, op.RECEIVE)
    rows.add(sources[used], 2, op.SEND, peer=op.SENDER, size_bytes=settings["fragment_bytes"], tag=op.SAME)
    rows.end(sources[used], 3)
    return rows.programs(roles.terminals.names, events)


def credit(roles: Roles, settings: op.Settings, draws: Draws) -> Programs:
    """Return programs in which a supervisor gives each event to a target with credit."""
    sources, targets = roles.both(settings)
    who = np.broadcast_to(sources, (settings["events"], 1, len(sources)))
    shares = np.full(len(sources), settings["fragment_bytes"])
    due = due_ps(settings, draws)
    return by_supervisor(roles, settings, sources, targets, who, shares, due)


def by_supervisor(
    roles: Roles,
    settings: op.Settings,
    sources: op.Ints,
    targets: op.Ints,
    who: op.Ints,
    shares: op.Ints,
    due: op.Ints,
) -> Programs:
    """Return programs in which targets give credit and a supervisor assigns a target to the sources of each
    block.

    The tag of an assignment is the number of the target, so event numbers start after the terminal numbers.
    ``who``: the sources, shape (events, blocks, sources); ``shares``: bytes per source, shape (sources,).
    """
    supervisor = _supervisor(roles, settings, sources, targets)
    events, blocks, each = who.shape
    first = roles.count
    given = first + events
    rows, number = Rows(), np.arange(events)
    timed = settings.get("rate_millihz") is not None
    block = number[:, None] * blocks + np.arange(blocks)
    if timed:
        rows.add(supervisor, 3 * blocks * number, op.UNTIL, amount=due)
    rows.add(supervisor, 3 * block + 1, op.RECEIVE, tag=given)
    order = (3 * block + 2)[:, :, None]
    size = settings["assignment_bytes"]
    rows.add(supervisor, order, op.SEND, peer=who, size_bytes=size, tag=op.SENDER_NUMBER)
    rows.add(who, 2 * block[:, :, None], op.RECEIVE, peer=supervisor)
    tag = first + number[:, None, None]
    rows.add(who, 2 * block[:, :, None] + 1, op.SEND, peer=op.TAGGED, size_bytes=shares, tag=tag)
    _give_credit(rows, settings, targets, supervisor, each, given)
    return rows.programs(roles.terminals.names, events_of(settings, due, blocks * each, first))


def _give_credit(
    rows: Rows, settings: op.Settings, targets: op.Ints, supervisor: int, each: int, tag: int
) -> None:
    """Add a target's program: the initial credits, then, endlessly, receive a block and give a credit."""
    size = settings["credit_bytes"]
    rows.loop(targets, 0, settings["credits"])
    rows.add(targets, 1, op.SEND, peer=supervisor, size_bytes=size, tag=tag)
    rows.end(targets, 2)
    rows.loop(targets, 3, 0)
    rows.add(targets, 4, op.RECEIVE)
    if each > 1:
        rows.receives(targets, 5, each - 1, tag=op.SAME)
    rows.add(targets, 8, op.SEND, peer=supervisor, size_bytes=size, tag=tag)
    rows.end(targets, 9)


def _supervisor(roles: Roles, settings: op.Settings, sources: op.Ints, targets: op.Ints) -> int:
    taken = np.union1d(sources, targets)
    given = settings.get("supervisor")
    if given is not None:
        found = roles.one(given, "supervisor")
        if found in taken:
            message = f'"{roles.terminals.names[found]}" is a source or a target, too'
            raise ProgramError(message, "supervisor", "name a terminal that is neither")
        return found
    free = np.setdiff1d(np.arange(roles.count), taken)
    if not len(free):
        message = f"all {roles.count} terminals are sources or targets: none is left for the supervisor"
        hint = "leave a terminal out of sources and targets, or make the network larger by one"
        raise ProgramError(message, "sources", hint)
    return int(free[0])
