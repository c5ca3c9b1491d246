"""Ready-made programs of a few operations: pairs, broadcast, funnel, all-to-all."""

from __future__ import annotations

import numpy as np

from fabriloom.programs.draws import Draws
from fabriloom.programs.kinds import ANY, BARRIER, MARK, RECEIVE, SEND, WAIT, Ints, Settings
from fabriloom.programs.roles import Roles
from fabriloom.programs.table import ProgramError, Programs, Rows
from fabriloom.traffic.names import repeated

_LAST = 2**40
"""An order behind all others."""


def ping_pong(roles: Roles, settings: Settings, draws: Draws) -> Programs:
    """Return pairs of terminals: one sends and receives, the other receives and sends."""
    left, right = _pairs(roles, settings["pairs"])
    rows, size, rounds = Rows(), settings["size_bytes"], settings["rounds"]
    rows.begin_rounds(left, 0, rounds)
    rows.end_rounds(left, 4, rounds)
    rows.loop(right, 0, rounds)
    rows.end(right, 4)
    rows.add(left, 2, SEND, peer=right, size_bytes=size)
    rows.add(left, 3, RECEIVE, peer=right)
    rows.add(right, 1, RECEIVE, peer=left)
    rows.add(right, 2, SEND, peer=left, size_bytes=size)
    return rows.programs(roles.terminals.names)


def _pairs(roles: Roles, given: object) -> tuple[Ints, Ints]:
    if isinstance(given, int):
        if 2 * given > roles.count:
            message = f"the program is for {2 * given} terminals, the network has {roles.count}"
            raise ProgramError(message, "pairs", "reduce the number of pairs, or add terminals")
        left = np.arange(given)
        return left, left + roles.count // 2
    flat = np.array(
        [
            roles.one(key, f"pairs.{place}.{end}")
            for place, pair in enumerate(given)  # type: ignore[arg-type]
            for end, key in enumerate(pair)
        ],
        np.int64,
    )
    again = repeated(flat)
    if again is not None:
        name, place = roles.terminals.names[int(flat[again])], f"pairs.{again // 2}.{again % 2}"
        raise ProgramError(f'"{name}" is in two pairs, or twice in one', place, "name each terminal once")
    return flat[::2], flat[1::2]


def out_farming(roles: Roles, settings: Settings, draws: Draws) -> Programs:
    """Return one source that sends the same message to each target in turn."""
    source = roles.one(settings["source"], "source")
    targets = others_of(roles, settings["targets"], "targets", source)
    rows, rounds = Rows(), settings["rounds"]
    rows.loop(source, 0, rounds)
    rows.add(source, 1, SEND, peer=targets, size_bytes=settings["size_bytes"])
    rows.end(source, 2)
    rows.receives(targets, 0, rounds, marks=True, peer=source)
    return rows.programs(roles.terminals.names)


def funnel_in(roles: Roles, settings: Settings, draws: Draws) -> Programs:
    """Return several sources that send to one target, which takes any message."""
    target = roles.one(settings["target"], "target")
    sources = others_of(roles, settings["sources"], "sources", target)
    rows, rounds = Rows(), settings["rounds"]
    rows.loop(sources, 0, rounds)
    rows.add(sources, 1, SEND, peer=target, size_bytes=settings["size_bytes"])
    rows.end(sources, 2)
    rows.begin_rounds(target, 0, rounds)
    rows.receives(target, 1, len(sources))
    rows.end_rounds(target, 4, rounds)
    return rows.programs(roles.terminals.names)


def others_of(roles: Roles, given: object, parameter: str, self_: int) -> Ints:
    """Return all terminals but one, or those of a list, which may not contain it."""
    others = np.setdiff1d(np.arange(roles.count), [self_])
    if not len(others):
        raise ProgramError("the program is for two terminals, the network has 1", parameter, "add terminals")
    found = roles.several(given, parameter, others)
    if self_ in found:
        place = f"{parameter}.{int(np.flatnonzero(found == self_)[0])}"
        raise ProgramError(f'"{roles.terminals.names[self_]}" sends to itself', place, "remove it")
    return found


def all_to_all(roles: Roles, settings: Settings, draws: Draws) -> Programs:
    """Return programs in which every terminal sends to every other; a round is all sends, then receives."""
    members = roles.several(settings["terminals"], "terminals", np.arange(roles.count))
    count = len(members)
    if count < 2:
        raise ProgramError("all to all is for two terminals or more", "terminals", "add some")
    turn = np.arange(1, count)
    if settings["order"] == "rotating":
        target = (np.arange(count)[:, None] + turn) % count
    else:
        target = np.tile(np.arange(count), (count, 1))
        target = target[target != np.arange(count)[:, None]].reshape(count, count - 1)
        if settings["order"] == "random":
            target = np.take_along_axis(target, draws.distinct(count - 1, count - 1, count), axis=1)
    rows = Rows()
    rows.begin_rounds(members, 0, settings["rounds"])
    if settings["barrier"]:
        rows.add(members, 1, BARRIER)
    rows.add(members[:, None], 2, SEND, peer=members[target], size_bytes=settings["size_bytes"])
    rows.receives(members, 3, count - 1)
    rows.end_rounds(members, 6, settings["rounds"])
    return rows.programs(roles.terminals.names)


def fixed_pairs(roles: Roles, settings: Settings, draws: Draws) -> Programs:
    """Return programs in which the i-th source sends to the i-th target."""
    sources, targets = roles.both(settings, apart=False)
    if len(sources) != len(targets):
        message = f"{len(sources)} sources and {len(targets)} targets make no pairs"
        raise ProgramError(message, "targets", "give as many of one as of the other")
    _not_itself(roles, sources, targets)
    rows, rounds = Rows(), settings["rounds"]
    rows.loop(sources, 0, rounds)
    rows.add(sources, 1, SEND, peer=targets, size_bytes=settings["size_bytes"])
    _takes(rows, sources, targets, sources, rounds, np.full(len(targets), rounds))
    return rows.programs(roles.terminals.names)


def random_pairs(roles: Roles, settings: Settings, draws: Draws) -> Programs:
    """Return programs in which every message of a source goes to a random target other than itself."""
    sources, targets = roles.both(settings, apart=False)
    messages, rounds = settings["messages"], settings["rounds"]
    among = len(targets) - np.isin(sources, targets).astype(np.int64)
    if np.any(among < 1):
        name = roles.terminals.names[int(sources[np.argmin(among)])]
        raise ProgramError(f'"{name}" has nobody but itself to send to', "targets", "add some")
    rows = Rows()
    chosen = np.empty((len(sources), messages), np.int64)
    for place, source in enumerate(sources.tolist()):
        others = targets[targets != source]
        chosen[place] = others[draws.below(len(others), messages)]
    rows.loop(sources, 0, rounds)
    rows.add(sources[:, None], 1, SEND, peer=chosen, size_bytes=settings["size_bytes"])
    counts = np.bincount(chosen.ravel(), minlength=roles.count)[targets] * rounds
    heard = np.isin(targets, chosen)
    _takes(rows, sources, targets[heard], np.full(int(heard.sum()), -1), rounds, counts[heard])
    return rows.programs(roles.terminals.names)


def _takes(rows: Rows, sources: Ints, targets: Ints, froms: Ints, rounds: int, counts: Ints) -> None:
    """Add the ends of the sources' loops, and the receives; an endless loop receives once per round.

    ``froms``: the source that a target receives from, -1 for any. A target with one source only marks its
    rounds.
    """
    peer = np.where(froms < 0, ANY, froms)
    sends, one = np.isin(targets, sources), froms >= 0
    rows.end(sources, _LAST)
    if not rounds:
        rows.add(targets[sends & one], 2, MARK, tag=0)
        rows.add(targets[sends], 2, RECEIVE, peer=peer[sends])
    first, later = (_LAST + 1, sends | True) if rounds else (0, ~sends)
    for marks in (False, True):
        chosen = later & (one == marks)
        rows.receives(targets[chosen], first, counts[chosen], marks, peer=peer[chosen])


def _not_itself(roles: Roles, sources: Ints, targets: Ints) -> None:
    same = np.flatnonzero(sources == targets)
    if len(same):
        name = roles.terminals.names[int(sources[same[0]])]
        hint = "give the targets in another order"
        raise ProgramError(f'"{name}" would send to itself', "targets", hint)


ROUND = (0, 0)
SENDS, RECEIVES = (1, 2), (3, 4)
TRAIN, LONG_TRAIN = (5, 6), (7, 8)
TURNS, MORE_TURNS = (9, 10), (11, 12)
"""Marks at the beginning and the end of each part."""
ANSWER_BYTES = 1


class _Written:
    """Operations in order, per terminal."""

    def __init__(self) -> None:
        self.rows, self._order = Rows(), 0

    def add(self, terminal: object, kind: int, **more: object) -> None:
        """Add an operation to some terminals."""
        self.rows.add(terminal, self._order, kind, **more)
        self._order += 1

    def repeat(self, terminal: object, count: int) -> None:
        self.rows.loop(terminal, self._order, count)
        self._order += 1

    def end(self, terminal: object) -> None:
        self.rows.end(terminal, self._order)
        self._order += 1


def trains(settings: Settings) -> tuple[int, int]:
    """Return how often a train is sent, and the number of messages of the short train."""
    return max(1, settings["rounds"] // 4), settings["train"]


def turns(settings: Settings, targets: int) -> int:
    """Return how many turns each target has at first."""
    return max(1, settings["train"] // targets)


def logp(roles: Roles, settings: Settings, draws: Draws) -> Programs:
    """Return the program: ping-pong, single sends and receives, trains, one to many."""
    source = roles.one(settings["source"], "source")
    targets = others_of(roles, settings["targets"], "targets", source)
    pair, out = int(targets[0]), _Written()
    message = {"size_bytes": settings["size_bytes"]}
    for _ in range(2):
        out.repeat(pair, settings["rounds"])
        out.add(pair, RECEIVE, peer=source)
        out.add(pair, SEND, peer=source, **message)
        out.end(pair)
    out.repeat(source, settings["rounds"])
    out.add(source, MARK, tag=ROUND[0])
    out.add(source, SEND, peer=pair, **message)
    out.add(source, RECEIVE, peer=pair)
    out.end(source)
    out.repeat(source, settings["rounds"])
    out.add(source, MARK, tag=SENDS[0])
    out.add(source, SEND, peer=pair, **message)
    out.add(source, MARK, tag=SENDS[1])
    out.add(source, WAIT, amount=settings["pause_ps"])
    out.add(source, MARK, tag=RECEIVES[0])
    out.add(source, RECEIVE, peer=pair)
    out.add(source, MARK, tag=RECEIVES[1])
    out.end(source)
    times, train = trains(settings)
    for marks, count in ((TRAIN, train), (LONG_TRAIN, 2 * train)):
        _train(out, source, targets[:1], (times, count), marks, message)
    if len(targets) > 1:
        each = turns(settings, len(targets))
        for marks, count in ((TURNS, each), (MORE_TURNS, 2 * each)):
            _train(out, source, targets, (times, count), marks, message)
    return out.rows.programs(roles.terminals.names)


def _train(
    out: _Written,
    source: int,
    targets: Ints,
    counts: tuple[int, int],
    marks: tuple[int, int],
    message: Settings,
) -> None:
    """Add trains of messages to each target in turn, each with an answer."""
    times, count = counts
    out.repeat(targets, times)
    out.repeat(targets, count)
    out.add(targets, RECEIVE, peer=source)
    out.end(targets)
    out.add(targets, SEND, peer=source, size_bytes=ANSWER_BYTES)
    out.end(targets)
    out.repeat(source, times)
    out.add(source, MARK, tag=marks[0])
    out.repeat(source, count)
    for target in np.sort(targets).tolist():
        out.add(source, SEND, peer=target, **message)
    out.end(source)
    for target in np.sort(targets).tolist():
        out.add(source, RECEIVE, peer=target)
    out.add(source, MARK, tag=marks[1])
    out.end(source)
