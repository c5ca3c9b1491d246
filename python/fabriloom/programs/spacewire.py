"""Ready-made programs for SpaceWire protocols, byte for byte: RMAP transactions, CCSDS packets, SpaceWire-D.

Bytes of packets without path addresses follow ECSS-E-ST-50-52C (RMAP) and 50-53C (CCSDS packet transfer). The
first byte, the logical address, is the header of the technology if the technology has one. SpaceWire-D has
RMAP transactions in time-slots: a schedule assigns slots to initiators and targets.
"""

from __future__ import annotations

import numpy as np

from fabriloom.programs.draws import Draws
from fabriloom.programs.kinds import ANY, MARK, RECEIVE, SAME, SEND, SENDER, TURN, UNTIL, WAIT, Ints, Settings
from fabriloom.programs.roles import Roles
from fabriloom.programs.simple import fixed_pairs
from fabriloom.programs.table import ProgramError, Programs, Rows

COMMAND_BYTES = 16
"""Logical addresses, protocol, instruction, key, transaction 2, address 5, length 3, header CRC."""
WRITE_REPLY_BYTES = 8
READ_REPLY_BYTES = 12
DATA_CRC_BYTES = 1
CCSDS_BYTES = 4
"""Logical address, protocol, a reserved byte, user application."""
MOST_MODIFIED_BYTES = 4
"""Of a read-modify-write, whose mask has as many."""
_LAST = 2**40


def rmap_bytes(
    command: str, data_bytes: int, reply_address_bytes: int, acknowledged: bool
) -> tuple[int, int]:
    """Return the bytes of a command and of its reply (0: none), without path and end of packet."""
    start, data = COMMAND_BYTES + reply_address_bytes, data_bytes + DATA_CRC_BYTES
    if command == "write":
        return start + data, WRITE_REPLY_BYTES if acknowledged else 0
    if command == "read":
        return start, READ_REPLY_BYTES + data
    return start + 2 * data_bytes + DATA_CRC_BYTES, READ_REPLY_BYTES + data


def rmap(roles: Roles, settings: Settings, draws: Draws) -> Programs:
    """Return initiators that send commands to their targets in turn; targets reply one at a time."""
    initiators, targets = roles.both(settings)
    command, acknowledged = settings["command"], settings["acknowledged"]
    if not acknowledged and command != "write":
        message = f"a {command} always has a reply"
        raise ProgramError(message, "acknowledged", "remove it, or choose a write")
    if settings.get("retry_after_ps"):
        _check_retry(settings, acknowledged)
    asked, answered = _messages(settings, settings, acknowledged, "")
    rows = Rows()
    _ask(rows, settings, initiators, targets, asked, bool(answered))
    rows.loop(targets, 0, 0)
    rows.add(targets, 1, RECEIVE)
    if settings["target_time_ps"]:
        rows.add(targets, 2, WAIT, amount=settings["target_time_ps"])
    if answered:
        tag = SAME if settings.get("retry_after_ps") else ANY
        rows.add(targets, 3, SEND, peer=SENDER, size_bytes=answered, tag=tag)
    rows.end(targets, 4)
    return rows.programs(roles.terminals.names)


def _ask(rows: Rows, settings: Settings, initiators: Ints, targets: Ints, size: int, answered: bool) -> None:
    """Send some commands ahead, then one per reply; a round is one command to each target."""
    rounds, ahead = settings["rounds"], settings["outstanding"] if answered else 0
    turn = targets[(np.arange(len(targets)) + np.arange(len(initiators))[:, None]) % len(targets)]
    each, place = initiators[:, None], np.arange(len(targets))
    if ahead > len(targets):
        message = f"an initiator has {len(targets)} targets, and one transaction with each at a time"
        raise ProgramError(message, "outstanding", f"write at most {len(targets)}")
    rows.begin_rounds(initiators, 0, rounds)
    if retry_after := settings.get("retry_after_ps"):
        retries = 3 if settings.get("retries") is None else settings["retries"]
        rows.add(each, 2 * place + 1, SEND, peer=turn, size_bytes=size, tag=TURN)
        rows.add(each, 2 * place + 2, RECEIVE, peer=turn, tag=TURN, amount=retry_after, size_bytes=retries)
        return rows.end_rounds(initiators, _LAST, rounds)
    rows.add(each, 2 * place + 2 * ahead, SEND, peer=turn, size_bytes=size)
    if answered:
        # The reply that makes room for the next command comes after this many commands.
        rows.add(each, 2 * (place + ahead) + 2 * ahead - 1, RECEIVE)
    rows.end_rounds(initiators, _LAST, rounds)


def _check_retry(settings: Settings, acknowledged: bool) -> None:
    """Refuse settings that do not define when a command is sent again."""
    if not acknowledged:
        message = "a write without a reply is never sent again: nothing tells that it was lost"
        raise ProgramError(message, "retry_after", "remove it, or have writes acknowledged")
    if settings["outstanding"] > 1:
        message = "commands are sent again only where an initiator has one transaction under way at a time"
        raise ProgramError(message, "outstanding", "write 1, or remove retry_after")


def ccsds(roles: Roles, settings: Settings, draws: Draws) -> Programs:
    """Return programs in which the i-th source sends CCSDS packets to the i-th target."""
    size = _message(settings["packet_bytes"] + CCSDS_BYTES, settings, "packet")
    return fixed_pairs(roles, {**settings, "size_bytes": size}, draws)


def _messages(asked: Settings, settings: Settings, acknowledged: bool, within: str) -> tuple[int, int]:
    """Return the bytes of messages: of a command and of its reply, 0 without one."""
    command, data_bytes = asked["command"], asked["data_bytes"]
    if command == "read-modify-write" and data_bytes > MOST_MODIFIED_BYTES:
        message = f"a {command} is of {MOST_MODIFIED_BYTES} B at most, not of {data_bytes} B"
        raise ProgramError(message, f"{within}data", "write less, or choose another command")
    sizes = rmap_bytes(command, data_bytes, settings["reply_address_bytes"], acknowledged)
    there, back = (_message(size, settings, f"{within}data") if size else 0 for size in sizes)
    return there, back


def _message(packet_bytes: int, settings: Settings, parameter: str) -> int:
    """Return the bytes of a packet that the technology's header does not contain."""
    size, most = packet_bytes - settings["header_bytes"], settings["most_bytes"]
    if not 1 <= size <= most:
        message = f"a packet of {packet_bytes} B cannot be sent: those of the protocol have {most} B at most"
        raise ProgramError(message, parameter, 'choose less, or protocol.preset = "spacewire"')
    return size


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
    asked, answered = _messages(entry, settings, True, f"schedule.{place}.")
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
