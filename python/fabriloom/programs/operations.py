"""Programs that the user writes operation by operation."""

from __future__ import annotations

from dataclasses import astuple, replace
from typing import Any

import numpy as np

from fabriloom.programs.check import fail
from fabriloom.programs.draws import Draws, due_ps
from fabriloom.programs.kinds import MOST_OPERATIONS, READ, SEND, Ints, Settings
from fabriloom.programs.parse import Operation, parse
from fabriloom.programs.roles import Roles
from fabriloom.programs.table import Events, ProgramError, Programs

_Lists = dict[tuple[int, int], list[tuple[Operation, str]]]
"""By terminal and stream: the operations, each with its setting."""


def operations(roles: Roles, settings: Settings, draws: Draws) -> Programs:
    """Return the programs of ``[[program.terminals]]``; terminals without one do nothing."""
    lists: _Lists = {}
    total = 0
    for number, table in enumerate(settings["terminals"]):
        base = f"terminals.{number}"
        named = _named(roles, table["terminal"], base)
        done = [
            _parsed(roles, text, f"{base}.do.{place}", named[0][0]) for place, text in enumerate(table["do"])
        ]
        for terminal, parameter in named:
            key = terminal, table["stream"]
            if key in lists:
                name = roles.terminals.names[terminal]
                hint = "put both into one, or give one of them a stream of its own"
                raise ProgramError(f'"{name}" has a program already', parameter, hint)
            total += len(done)
            if total > MOST_OPERATIONS:
                message = f"these programs have more than {MOST_OPERATIONS:,} operations"
                raise ProgramError(message, base, "use repeat")
            lists[key] = done
    programs = _table(roles, settings, lists)
    reads = np.flatnonzero(programs.kind == READ)
    if len(reads) and not roles.network.network_kind.transactions:
        fail(programs, int(reads[0]), "only networks of rings can read", "send a request, and answer it")
    return programs


def _parsed(roles: Roles, text: str, parameter: str, terminal: int) -> tuple[Operation, str]:
    try:
        return parse(text, parameter, roles.terminals), parameter
    except ProgramError as error:
        message = f'terminal "{roles.terminals.names[terminal]}": {error.message}'
        raise ProgramError(message, parameter, error.hint, error.span) from None


def _named(roles: Roles, given: Any, base: str) -> list[tuple[int, str]]:
    if not isinstance(given, list):
        return [(roles.one(given, f"{base}.terminal"), f"{base}.terminal")]
    numbers, places = roles.terminals.many(given, f"{base}.terminal")
    return list(zip(numbers.tolist(), places, strict=True))


def _table(roles: Roles, settings: Settings, lists: _Lists) -> Programs:
    order = sorted(lists)
    values = np.array([astuple(done) for one in order for done, _ in lists[one]], np.int64)
    columns = dict(zip(("kind", "peer", "size_bytes", "tag", "amount"), values.T, strict=True))
    terminal, stream = np.repeat(np.array(order, np.int64), [len(lists[one]) for one in order], axis=0).T
    places = [place for one in order for _, place in lists[one]]
    programs = Programs(
        roles.terminals.names, terminal, **columns, places=places, stream=stream if stream.any() else None
    )
    if not settings.get("events"):
        return programs
    rate = settings.get("rate_millihz")
    due = due_ps(settings, Draws(0))
    fragments = _fragments(programs, settings["events"])
    return replace(programs, events=Events(due, fragments, 0, rate / 1000 if rate else None))


def _fragments(programs: Programs, events: int) -> Ints:
    """Return the number of messages whose tag is the number of each event."""
    sent = (programs.kind == SEND) & (programs.tag < events)
    times = np.minimum(programs.times()[sent], 2.0**31)
    counted = np.bincount(programs.tag[sent], weights=times, minlength=events).astype(np.int64)
    none = np.flatnonzero(counted == 0)
    if len(none):
        message = f"nothing is sent with tag {none[0]}, so event {none[0]} has no messages"
        raise ProgramError(message, "events", "reduce the number of events, or send something for each")
    return counted
