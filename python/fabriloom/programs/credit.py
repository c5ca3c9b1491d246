"""Event building on request: targets pull, or a supervisor assigns events to targets that give credit."""

from __future__ import annotations

import numpy as np

from fabriloom.programs import kinds as op
from fabriloom.programs.draws import Draws, due_ps, events_of, sources_of, targets_of
from fabriloom.programs.roles import Roles
from fabriloom.programs.table import ProgramError, Programs, Rows

_LAST = 2**40


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
