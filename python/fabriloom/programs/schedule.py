"""SpaceWire-D: RMAP transactions in time-slots; a schedule assigns slots to initiators and targets."""

from __future__ import annotations

import numpy as np

from fabriloom.programs.draws import Draws
from fabriloom.programs.kinds import MARK, MOST_BYTES, RECEIVE, SEND, UNTIL, WAIT, Settings
from fabriloom.programs.roles import Roles
from fabriloom.programs.spacewire import rmap_bytes
from fabriloom.programs.table import ProgramError, Programs, Rows

SLOTS = 64
"""Slots of an epoch: the number of values of a time-code."""
_ORDERS = 16
"""Operations that one entry may take in a terminal's program."""


def spacewire_d(roles: Roles, settings: Settings, draws: Draws) -> Programs:
    """Return programs in which each initiator waits for its slots and does its transactions there in order.

    A mark with the entry's place in the schedule, counted from 1, follows its last transaction.
    """
    schedule, rows = settings["schedule"], Rows()
    ends = [_ends(roles, entry, place) for place, entry in enumerate(schedule)]
    _check_roles(roles, ends)
    order = sorted(range(len(schedule)), key=lambda place: (schedule[place]["slot"], place))
    for turn, place in enumerate(order):
        _entry(rows, settings, place, ends[place], turn, len(order))
    return rows.programs(roles.terminals.names)


def _ends(roles: Roles, entry: Settings, place: int) -> tuple[int, int]:
    initiator, target = (roles.one(entry[end], f"schedule.{place}.{end}") for end in ("initiator", "target"))
    if initiator == target:
        name = roles.terminals.names[initiator]
        raise ProgramError(f'"{name}" would ask itself', f"schedule.{place}.target", "name another terminal")
    return initiator, target


def _check_roles(roles: Roles, ends: list[tuple[int, int]]) -> None:
    initiators = {initiator for initiator, _ in ends}
    for place, (_, target) in enumerate(ends):
        if target in initiators:
            name = roles.terminals.names[target]
            message = f'"{name}" is an initiator and a target; a program does one thing after the other'
            raise ProgramError(message, f"schedule.{place}.target", "give each terminal one part")


def _entry(
    rows: Rows, settings: Settings, place: int, ends: tuple[int, int], turn: int, entries: int
) -> None:
    """Add an entry of the schedule, for every epoch, to the programs of both ends."""
    entry, (initiator, target) = settings["schedule"][place], ends
    sizes = rmap_bytes(entry["command"], entry["data_bytes"], settings["reply_address_bytes"], True)
    asked, answered = (_message(size, settings, place) for size in sizes)
    epoch = np.arange(settings["epochs"])
    order = (epoch * entries + turn) * _ORDERS
    begin = (epoch * SLOTS + entry["slot"]) * settings["slot_ps"]
    count, tag = entry["transactions"], place + 1
    rows.add(initiator, order, UNTIL, amount=begin)
    for one in (initiator, target):
        for at in order.tolist():
            rows.loop(one, at + 1, count)
            rows.end(one, at + 8)
    rows.add(initiator, order + 2, SEND, peer=target, size_bytes=asked, tag=tag)
    rows.add(initiator, order + 3, RECEIVE, peer=target, tag=tag)
    rows.add(initiator, order + 9, MARK, tag=tag)
    rows.add(target, order + 2, RECEIVE, peer=initiator, tag=tag)
    if settings["target_time_ps"]:
        rows.add(target, order + 3, WAIT, amount=settings["target_time_ps"])
    rows.add(target, order + 4, SEND, peer=initiator, size_bytes=answered, tag=tag)


def _message(packet_bytes: int, settings: Settings, place: int) -> int:
    size = packet_bytes - settings["header_bytes"]
    if not 1 <= size <= MOST_BYTES:
        message = f"a packet of {packet_bytes} B cannot be sent"
        raise ProgramError(message, f"schedule.{place}.data", "choose another size")
    return size
