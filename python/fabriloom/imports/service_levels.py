"""Service levels of an InfiniBand subnet: path records, and the lanes that levels have.

A path record, as ``saquery PathRecord`` prints it, has the LIDs of both ends and a level, one item a line:
``dlid....................12``. Others are passed over. The file of a large subnet is long, so it is never
held as a whole. ``smpquery sl2vl`` prints the lane of each level for the pairs of ports of a switch. If all
have the same, lanes stand for levels; else tables are by level, and name lanes.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from pathlib import Path
from typing import TYPE_CHECKING

from ..reading import ReadError
from .common import Level, Route, Stream

if TYPE_CHECKING:
    from .infiniband import Subnet

_RECORD = "PathRecord dump:"
_RECORD_ITEM = re.compile(r"\s*(dlid|slid|sl)\.+(0x[0-9A-Fa-f]{1,4}|\d{1,5})\s*")
_SENDER = re.compile(r"\s*sgid\.+([0-9A-Fa-f:]{2,39})\s*")
_RECORD_OTHER = re.compile(r"\s*\w+\.+\S*\s*")
_MOST_LEVEL = 15
_LANES = "# SL2VL table:"
_LANES_OF = re.compile(r"# SL2VL table: Lid (\d{1,5})\b")
_LANES_ROW = re.compile(r"ports: in +(\d{1,3}), out +(\d{1,3}): \|((?: *\d{1,2}\|){16})")
_DROPPED = -1
"""Instead of lane 15, that of management: packets of such a level are dropped."""


def levels_among(files: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Return the files of path records and those of lanes. Raises ReadError if one cannot be read."""
    first = {file: next(iter(Stream(file)), "").strip() for file in files}
    records = [file for file in files if first[file] == _RECORD]
    maps = [file for file in files if first[file].startswith(_LANES)]
    if maps and not records:
        raise ReadError("lanes of service levels need path records", "name what saquery PathRecord prints")
    return records, maps


@dataclass
class Lanes:
    """The lanes of levels, by the ports through which packets pass switches."""

    by_ports: dict[tuple[int, int, int], list[int]] = field(default_factory=dict)
    """By the LID of a switch, the port at which packets come and that by which they leave."""
    differ: str = ""
    """Two places that differ, in words; empty: all ports have the same lanes."""

    @property
    def same(self) -> list[int]:
        """Return the lane of each level, its number where ports differ or none is known."""
        known = next(iter(self.by_ports.values()), None)
        return list(range(_MOST_LEVEL + 1)) if self.differ or known is None else known


def lanes_of(files: Sequence[Path]) -> Lanes:
    """Return the lanes of levels: those of their numbers without such files. Raises ReadError."""
    found, first = Lanes(), ""
    for lines in map(Stream, files):
        lid = 0
        for line in lines:
            if row := _LANES_ROW.fullmatch(line.strip()):
                own = [_DROPPED if int(word) == 15 else int(word) for word in row[3].split("|")[:-1]]
                here = f"line {lines.number} of {lines.path.name}"
                first = first or here
                if own != next(iter(found.by_ports.values()), own):
                    found.differ = found.differ or f"{first} and {here}"
                found.by_ports[lid, int(row[1]), int(row[2])] = own
            elif head := _LANES_OF.match(line):
                lid = int(head[1])
            elif not line.startswith("#"):
                hint = "name what smpquery sl2vl prints"
                lines.fail(f'"{line[:60]}" is no line of a table of lanes', hint)
        if not found.differ and found.same[0]:
            lines.fail(f"level 0 has lane {found.same[0]}", "lane 0 is that of packets without a record")
    return found


def by_level(subnet: Subnet, every: Sequence[Level], lanes: Lanes) -> list[Route]:
    """Return the forwarding tables of a subnet by service level, with the lane of each link.

    A table knows level and target of a packet, not the port at which it came. Raises ReadError where lanes of
    packets that are sent depend on that, or are not known.
    """
    if len(subnet.lines.files) > 1:
        message = (
            f"ports map levels to different lanes ({lanes.differ}), and LIDs of rails are not told apart"
        )
        raise ReadError(message, "read each rail alone")
    level = {(source, target): own for source, target, own in every}
    start = {name: end for end, name in subnet.end.items()}
    lids = {terminal: lid for lid, terminal in subnet.terminal[0].items()}
    found, seen = dict[tuple[str, str, int], tuple[int, int]](), set[tuple[str, int, str, int]]()
    for source, target in itertools.permutations(lids, 2):
        own = level.get((source, target), 0)
        here, into = subnet.behind(*start[source])
        while subnet.nodes[here].is_switch and (here, into, target, own) not in seen:
            seen.add((here, into, target, own))
            out = subnet.out_of(here, lids[target], start[target])
            lane = _lane(subnet, lanes, (here, into, out), own)
            before = found.setdefault((here, target, own), (out, lane))[1]
            if lane != before:
                message = (
                    f'packets of level {own} for "{target}" leave "{subnet.name[here]}" on lane {before} or '
                )
                message += f"{lane}, by the port at which they came"
                raise ReadError(message, "a table knows a packet's level and target alone")
            here, into = subnet.behind(here, out)
    routes: list[Route] = []
    for (here, target, own), (out, lane) in found.items():
        route = (subnet.name[here], target, [f"{subnet.link(here, out)}/{lane}"])
        routes.append((*route, own) if every else route)
    return routes


def _lane(subnet: Subnet, lanes: Lanes, ports: tuple[str, int, int], level: int) -> int:
    here, into, out = ports
    known = lanes.by_ports.get((subnet.lid.get(here, 0), into, out))
    if known is None:
        message = (
            f'no lanes are given for packets through "{subnet.name[here]}" from port {into} to port {out}'
        )
        raise ReadError(message, "name what smpquery sl2vl prints for all switches")
    if known[level] == _DROPPED:
        message = (
            f'packets of level {level} from port {into} to port {out} of "{subnet.name[here]}" have lane 15'
        )
        raise ReadError(message, "that is not for data: print records and lanes at the same time")
    return known[level]


def path_records(
    files: Sequence[Path],
    terminals: Sequence[Mapping[int, str]],
    lane: Sequence[int],
    rail_of: Mapping[int, int],
) -> list[Level]:
    """Return source, target and lane of all records between terminals, given by rail and LID.

    ``rail_of``: by the GUID of a port; of several rails that of a record is the one of its sender. Raises
    ReadError.
    """
    found: dict[tuple[str, str], int] = {}
    for lines in map(Stream, files):
        _read_records(lines, terminals, found, lane, rail_of)
    return [(source, target, own) for (source, target), own in found.items()]


def of_levels(
    every: Sequence[Level], terminals: Sequence[Mapping[int, str]], lanes: Lanes, most: int
) -> list[str]:
    without = sum(len(own) * (len(own) - 1) for own in terminals) - len(every)
    some = f"; {without:,} pairs have no record, and level 0" if without > 0 else ""
    if lanes.differ:
        return [f"service levels have lanes 0 to {most}, by the ports that packets pass{some}"]
    if lanes.same == [*range(_MOST_LEVEL + 1)]:
        return [f"service levels 0 to {most} are taken as the lanes of these numbers{some}"]
    return [f"service levels are taken as lanes 0 to {most}, by their table{some}"]


def _read_records(
    lines: Stream,
    terminals: Sequence[Mapping[int, str]],
    found: dict[tuple[str, str], int],
    lane: Sequence[int],
    rail_of: Mapping[int, int],
) -> None:
    record = dict[str, int]()
    for line in lines:
        if line.strip() == _RECORD:
            _take_record(lines, record, terminals, found, lane)
            record.clear()
        elif item := _RECORD_ITEM.fullmatch(line):
            record[item[1]] = int(item[2], 0)
        elif (sender := _SENDER.fullmatch(line)) and len(terminals) > 1:
            record["sgid"] = rail_of.get(_guid(sender[1]), len(terminals))
        elif not _RECORD_OTHER.fullmatch(line):
            lines.fail(f'"{line[:60]}" is no line of a path record', "name what saquery PathRecord prints")
    _take_record(lines, record, terminals, found, lane)


def _guid(gid: str) -> int:
    """Return the lower half of a global identifier, which is the GUID of a port; -1 of what is none."""
    try:
        return int(IPv6Address(gid)) % (1 << 64)
    except ValueError:
        return -1


def _take_record(
    lines: Stream,
    record: dict[str, int],
    terminals: Sequence[Mapping[int, str]],
    found: dict[tuple[str, str], int],
    lane: Sequence[int],
) -> None:
    """Enter a whole record; one of switches, or of a further LID of a port, says nothing of terminals."""
    if not record:
        return
    needed = ("dlid", "slid", "sl", *(["sgid"] if len(terminals) > 1 else []))
    missing = [name for name in needed if name not in record]
    if missing:
        lines.fail(f"the record before has no {missing[0]}", "is the file cut short? print it again")
    level = record["sl"]
    if level > _MOST_LEVEL:
        lines.fail(f"the record before has level {level}", f"levels are 0 to {_MOST_LEVEL}")
    rail = record.get("sgid", 0)
    if rail == len(terminals):
        return  # of a switch, or of an adapter that is not in the files
    source, target = (terminals[rail].get(record[name]) for name in ("slid", "dlid"))
    if source is None or target is None or source == target:
        return
    if lane[level] == _DROPPED:
        message = f"the record before has level {level}, whose lane 15 is not for data"
        lines.fail(message, "print the records and the lanes of levels at the same time")
    if found.setdefault((source, target), lane[level]) != lane[level]:
        message = f'the record before gives another level from "{source}" to "{target}" than an earlier one'
        lines.fail(message, "keep one of the two")
