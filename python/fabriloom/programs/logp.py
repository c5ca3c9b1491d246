"""The program that measures host and link parameters."""

from __future__ import annotations

import numpy as np

from fabriloom.programs.draws import Draws
from fabriloom.programs.kinds import MARK, RECEIVE, SEND, WAIT, Ints, Settings
from fabriloom.programs.roles import Roles
from fabriloom.programs.simple import others_of
from fabriloom.programs.table import Programs, Rows

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
        """Begin a repeat."""
        self.rows.loop(terminal, self._order, count)
        self._order += 1

    def end(self, terminal: object) -> None:
        """End a repeat."""
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
