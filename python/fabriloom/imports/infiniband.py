"""InfiniBand subnets: ``ibnetdiscover``, with forwarding tables (``dump_lfts``, ``.fdbs``) and levels.

Both forms are read: blocks of nodes, and the list of ports that ``ibnetdiscover -p`` prints. Each port of a
channel adapter is a terminal, because a LID belongs to a port; or those of a host are the ports of one. Links
are named by both ends with the numbers of their ports, ``leaf1:3>spine2:17``. The description of a node is
its name if no other node has it; else its GUID follows. Of ``MF0;leaf1:MSB7800/U1``, as switches describe
themselves, ``leaf1`` is left.

Rails are subnets of their own, each in a file, which hosts join. Their LIDs say nothing of each other, GUIDs
are of one port anywhere. A switch whose name another rail has too is named by its file, ``rail1.leaf1``.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from ..reading import ReadError
from ..topology import Graph
from .common import Fabric, Imported, Lines, Route
from .service_levels import by_level, lanes_of, levels_among, of_levels, path_records

PRESET = "infiniband-4x-edr"
LANES = 4
"""Of the preset."""
LANE_GBIT_PER_S = {
    "SDR": 2.0,
    "DDR": 4.0,
    "QDR": 8.0,
    "FDR10": 10.0,
    "FDR": 54.5 / 4,
    "EDR": 25.0,
    "HDR": 50.0,
    "NDR": 100.0,
    "XDR": 200.0,
}
"""Data rate of a lane after its code, as in ``common_verbs_port.c`` of Open MPI; NDR and XDR by doubling."""
_NODE = re.compile(r'(Switch|H?[Cc]a|Rt)\s+\d{1,4}\s+"([^"]+)"\s*(?:#\s*"(.*)"([^"]*))?')
_PORT = re.compile(
    r'\[(\d{1,4})\](?:\[ext \d+\])?(?:\(([0-9a-fA-F]+)\))?\s+"([^"]+)"\[(\d{1,4})\](?:\[ext \d+\])?'
    r"(?:\([0-9a-fA-F]+\))?\s*(?:#(.*))?"
)
_LISTED = re.compile(
    r"(CA|SW|RT)\s+(\d{1,5})\s+(\d{1,4})\s+0x([0-9a-fA-F]{1,16})\s+(\S+ \S+)\s*"
    r"(?:- (CA|SW|RT)\s+\d{1,5}\s+(\d{1,4})\s+0x([0-9a-fA-F]{1,16})\s+\( '(.*)' - '.*' \)|'?(.*?)'?)"
)
"""A port: kind, LID, number, GUID, width; kind, number and GUID of the port at the other end; its node."""
_BEFORE = re.compile(
    r"(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid|DRPort)\b.*|#.*|"
    r"|Chassis \d+(?: \(guid .*\))?|Non-Chassis Nodes|Hostname: .*"  # as ibnetdiscover -g has them
)
_DESCRIBED = re.compile(r"^MF0;([^:/]+)(?::[^/]+)?((?:/[LS]\d+)?)/U\d+$")
"""As switches describe themselves: the name of the host, the model, a board of a chassis, and the chip."""
_OF_HOST = re.compile(r"(\S+) \S+")
"""As adapters describe themselves: the name of the host, and that of the adapter."""
_WIDTH = re.compile(r"\b(\d{1,2})x\s*([A-Z]+(?:10)?)\b")
_LID = re.compile(r"\blid (\d{1,5})\b")
_LMC = re.compile(r"\blmc (\d)\b")
_NAMED = 3
_TABLE = re.compile(r"Unicast lids\b.*\bguid 0x([0-9a-fA-F]{1,16})\b.*")
_FDBS = re.compile(r".*Switch 0x([0-9a-fA-F]{1,16})\b.*")
_ENTRY = re.compile(r"0x([0-9a-fA-F]{1,8})\s*:?\s*(\d{1,4}|UNREACHABLE)\b.*")
_NOWHERE = re.compile(r".*(?:\bUNREACHABLE\b|\billegal port\)).*")
_OTHER = re.compile(r"(?:LID\s*:.*|Lid\s+Out\b.*|Port\s+Info\b.*|\d+ (?:valid )?lids dumped.*|#.*|)")


@dataclass
class _Node:
    """A switch or a channel adapter."""

    guid: str
    is_switch: bool
    description: str
    line: int
    rail: int
    """The file in which a switch is."""
    ports: dict[int, _Port] = field(default_factory=dict)


@dataclass(frozen=True)
class _Port:
    """A port with a cable: where it leads, its LID and the rate of the link."""

    line: int
    rail: int
    peer: str
    peer_port: int
    lids: range
    rate_bits_per_s: int | None


def ibnetdiscover(files: Sequence[Path], by_host: bool = False) -> Imported:
    """Read a subnet, with tables and path records if files have them; ``by_host``: terminals are hosts.

    Hosts also join several subnets.
    """
    records, maps = levels_among(files)
    read = [Lines(file) for file in files if file not in (*records, *maps)]
    tables = [one for one in read if re.search(r"^Unicast lids|dump_ucast_routes", one.text, re.MULTILINE)]
    found = [one for one in read if one not in tables]
    if len(found) != 1 and not (found and by_host):
        message = f"{len(found)} files of ibnetdiscover among {len(read)}"
        hint = "name one, and the files of dump_lfts beside it; --by-host joins rails that are subnets"
        raise ReadError(message, hint)
    subnet = Subnet(found[0].followed_by(found[1:]), by_host)
    graph = subnet.graph()
    routes = subnet.routes(tables)
    if records and not tables:
        raise ReadError("path records need forwarding tables", "name the files of dump_lfts beside them")
    lanes = lanes_of(maps)
    every = path_records(records, subnet.terminal, lanes.same, subnet.rail_of)
    levels = [level for level in every if level[2]]
    most = max((level for _, _, level in levels), default=0)
    if lanes.differ:
        routes = by_level(subnet, levels, lanes)
        most = max((int(links[0].rpartition("/")[2]) for _, _, links, *_ in routes), default=0)
    more = f"lanes = {most + 1}\n" if most >= LANES else ""
    sections = f'[technology]\npreset = "{PRESET}"\n{more}\n[traffic]\npattern = "uniform"\nload = 0.5\n'
    remarks = [*graph.remarks, *subnet.remarks()]
    if records:
        remarks += of_levels(every, subnet.terminal, lanes, most)
    return Imported(graph, routes, sections, tuple(remarks), levels=levels)


@dataclass(frozen=True)
class _Entry:
    """The port by which a switch sends to a LID, and where that stands."""

    port: int
    lines: Lines
    line: int

    def fail(self, message: str, hint: str) -> NoReturn:
        self.lines.fail(self.line, message, hint)


@dataclass
class _Tables:
    """The forwarding tables of a subnet, which may be in a file each."""

    entries: dict[tuple[str, int], _Entry] = field(default_factory=dict)
    """By switch and LID."""
    begin: dict[str, tuple[Lines, int]] = field(default_factory=dict)
    """File and line in which the table of a switch begins."""


class Subnet:
    """The nodes of a subnet by GUID; of several where hosts join rails."""

    def __init__(self, lines: Lines, by_host: bool) -> None:
        self.lines, self.by_host = lines, by_host
        self.nodes: dict[str, _Node] = {}
        self.lid_line: dict[tuple[int, int], int] = {}
        self.lid: dict[str, int] = {}
        self.tables = _Tables()
        self.name: dict[str, str] = {}
        self.end: dict[tuple[str, int], str] = {}
        """The name of each port: that of its vertex, and of several ports of a host with their numbers."""
        self.vertex: dict[tuple[str, int], str] = {}
        """The name of the vertex at each port."""
        self.hosts: dict[str, list[tuple[str, int]]] = {}
        """The ports of each host: of the adapters whose descriptions are its name and theirs."""
        self.terminal: list[dict[int, str]] = [{} for _ in lines.files]
        """Per rail, terminals by the first LID of their ports."""
        self.rail_of: dict[int, int] = {}
        """The rail of each port of an adapter, by its GUID."""
        self.listed = False
        """Whether the file is a list of ports."""
        self._read()
        self._check_both_ends()
        self._name()

    def _read(self) -> None:
        node: _Node | None = None
        for number, whole in self.lines:
            line = whole.strip()
            if match := _NODE.fullmatch(line):
                node = self._node(number, match)
            elif match := _PORT.fullmatch(line):
                if node is None:
                    hint = "is the file cut short at its beginning?"
                    self.lines.fail(number, "a port without a node", hint)
                self._port(number, node, match)
            elif match := _LISTED.fullmatch(line):
                self._listed(number, match)
            elif not _BEFORE.fullmatch(line):
                hint = 'nodes are lines such as Switch 36 "S-…" # "name", ports such as [1] "H-…"[1] # "name"'
                self.lines.fail(number, f'"{line[:60]}" is no line of ibnetdiscover', hint)
        empty = {*range(len(self.lines.files))} - {node.rail for node in self.nodes.values()}
        if empty:
            message = "there is no switch and no adapter with a cable in this file"
            self.lines.fail(self.lines.starts[min(empty)] + 1, message, "save what ibnetdiscover prints")

    def _node(self, number: int, match: re.Match[str]) -> _Node:
        key, is_switch = match[2], match[1] == "Switch"
        before = self.nodes.get(key)
        if before and before.rail == self.lines.file_of(number):
            message = f'"{key[:40]}" is there already ({self.lines.said(before.line)})'
            self.lines.fail(number, message, "keep one of the two blocks", key)
        node = self._known(number, key, is_switch, match[3] or "")
        if is_switch and (lid := _LID.search(match[4] or "")) and int(lid[1]):
            self._take_lid(int(lid[1]), number)
            self.lid[key] = int(lid[1])
        return node

    def _known(self, number: int, key: str, is_switch: bool, description: str) -> _Node:
        """Return a node, which may have ports in several rails if it is an adapter."""
        rail = self.lines.file_of(number)
        node = self.nodes.setdefault(key, _Node(key, is_switch, description.strip(), number, rail))
        if node.rail != rail and (is_switch or node.is_switch):
            message = f'"{key[:40]}" is in another rail, too ({self.lines.said(node.line)})'
            hint = "rails have hosts in common, no switches: name each subnet once"
            self.lines.fail(number, message, hint, key if not self.listed else key[2:])
        node.rail = rail
        return node

    def _port(self, number: int, node: _Node, match: re.Match[str]) -> None:
        own, comment = int(match[1]), re.sub('".*"', "", match[5] or "")
        self._check_free(number, node, own, f"[{own}]")
        if match[2] and not node.is_switch:
            self.rail_of[int(match[2], 16)] = node.rail
        width, lid, lmc = _WIDTH.search(comment), _LID.search(comment), _LMC.search(comment)
        lids = range(0)
        if not node.is_switch and lid and int(lid[1]):
            lids = range(int(lid[1]), int(lid[1]) + (1 << int(lmc[1] if lmc else 0)))
            for one in lids:
                self._take_lid(one, number)
        rate = self._rate(number, width)
        node.ports[own] = _Port(number, node.rail, match[3], int(match[4]), lids, rate)

    def _check_free(self, number: int, node: _Node, own: int, part: str) -> None:
        """Refuse a second cable of a port, also in another rail."""
        if own in node.ports:
            message = f"port {own} has a cable already ({self.lines.said(node.ports[own].line)})"
            self.lines.fail(number, message, "keep one of the two lines", part)

    def _listed(self, number: int, match: re.Match[str]) -> None:
        """Add a port of a list, and its node with the first."""
        self.listed = True
        if match[6] is None:
            return  # no cable
        ends = ((match[1], match[4]), (match[6], match[8]))
        key, peer = (f"{'S' if kind == 'SW' else 'H'}-{int(guid, 16):016x}" for kind, guid in ends)
        node = self._known(number, key, match[1] == "SW", match[9])
        own, lid = int(match[3]), int(match[2])
        self._check_free(number, node, own, match[4])
        if lid:
            self._take_lid(lid, node.line if node.is_switch else number)
            self.lid[key] = lid
        if not node.is_switch:
            self.rail_of[int(match[4], 16)] = node.rail
        lids = range(lid, lid + 1) if lid and not node.is_switch else range(0)
        rate = self._rate(number, _WIDTH.search(match[5]))
        node.ports[own] = _Port(number, node.rail, peer, int(match[7]), lids, rate)

    def _rate(self, number: int, width: re.Match[str] | None) -> int | None:
        if width is None:
            return None
        if width[2] not in LANE_GBIT_PER_S or width[1] not in ("1", "2", "4", "8", "12"):
            known = ", ".join(LANE_GBIT_PER_S)
            hint = f"widths are 1x to 12x, rates {known}"
            self.lines.fail(number, f"{width[0]} is no width and rate", hint, width[0])
        return int(float(width[1]) * LANE_GBIT_PER_S[width[2]] * 1e9)

    def _take_lid(self, lid: int, number: int) -> None:
        before = self.lid_line.setdefault((self.lines.file_of(number), lid), number)
        if before != number:
            message = f"the LID {lid} is given twice (also in {self.lines.said(before)})"
            hint = "a LID belongs to one port: let the subnet manager sweep again"
            self.lines.fail(number, message, hint, f"lid {lid}")

    def _check_both_ends(self) -> None:
        for node in self.nodes.values():
            for number, port in node.ports.items():
                other = self.nodes.get(port.peer)
                if other is None:
                    guid = port.peer[2:] if self.listed else port.peer
                    message = f'"{guid[:40]}" has no {"line" if self.listed else "block"} of its own'
                    self.lines.fail(port.line, message, "is the file cut short?", guid)
                back = other.ports.get(port.peer_port)
                if back is None or (back.peer, back.peer_port, back.rail) != (node.guid, number, port.rail):
                    there = "leads elsewhere" if back else "has no cable"
                    there += f" ({self.lines.said(back.line)})" if back else ""
                    message = f"port {port.peer_port} at the other end {there}"
                    hint = "each cable stands in the blocks of both its ends"
                    self.lines.fail(port.line, message, hint, port.peer)

    def _name(self) -> None:
        told = [node.description for node in self.nodes.values()]
        short = [_DESCRIBED.sub(r"\1\2", one) for one in told]
        if len(set(short)) == len(set(told)):  # else two switches would have one name
            told = short
        count = Counter(told)
        for at, node in enumerate(self.nodes.values() if len(self.lines.files) > 1 else ()):
            if node.is_switch and count[told[at]] > 1:
                told[at] = f"{self.lines.files[node.rail].path.stem}.{told[at]}"
        count = Counter(told)
        for node, description in zip(self.nodes.values(), told, strict=True):
            alone = description and count[description] == 1
            name = self.name[node.guid] = description if alone else f"{description} {node.guid}".strip()
            for number in node.ports:
                several = not node.is_switch and len(node.ports) > 1
                self.end[node.guid, number] = f"{name} port {number}" if several else name
        self.vertex = dict(self.end)
        if self.by_host:
            self._join()

    def _join(self) -> None:
        """Give the ports of each host the numbers that those of a terminal have in a file."""
        for key, number in itertools.chain.from_iterable(self._cables()):
            if not (node := self.nodes[key]).is_switch:
                host = _OF_HOST.fullmatch(node.description)
                self.hosts.setdefault(host[1] if host else self.name[key], []).append((key, number))
        for name, own in self.hosts.items():
            self.vertex |= dict.fromkeys(own, name)
            self.end |= {end: f"{name}/{at}" if len(own) > 1 else name for at, end in enumerate(own)}

    def _cables(self) -> Iterator[tuple[tuple[str, int], tuple[str, int]]]:
        """Yield both ends of each cable, in the order of the file, rail by rail."""
        seen: set[tuple[str, int]] = set()
        every = [(node.guid, at, port) for node in self.nodes.values() for at, port in node.ports.items()]
        for guid, number, port in sorted(every, key=lambda one: one[2].rail):
            ends = (guid, number), (port.peer, port.peer_port)
            if ends[0] not in seen:
                seen |= {*ends}
                yield ends

    def graph(self) -> Graph:
        """Return the graph. Raises ReadError."""
        fabric = Fabric(self.lines)
        joined = set[str]()
        for node in self.nodes.values():
            for name in dict.fromkeys(self.vertex[node.guid, number] for number in node.ports):
                if name not in joined:
                    fabric.add(name, not node.is_switch, node.line)
                if self.by_host and not node.is_switch:
                    joined.add(name)
            for number, port in node.ports.items():
                if port.lids:
                    self.terminal[port.rail][port.lids[0]] = self.end[node.guid, number]
        for one, other in self._cables():
            port = self.nodes[one[0]].ports[one[1]]
            rate = {} if port.rate_bits_per_s is None else {"rate_bits_per_s": float(port.rate_bits_per_s)}
            names = self.link(*one), self.link(*other)
            fabric.cable(self.vertex[one], self.vertex[other], port.line, names, (rate, rate))
        if len(self.lines.files) == 1:
            return fabric.graph()
        return fabric.graph("rails are joined by hosts of the same name, the first word of a description")

    def remarks(self) -> list[str]:
        """Return what the owner of the subnet is to know of what was read."""
        ports = [port for node in self.nodes.values() for port in node.ports.values()]
        unknown = sum(port.rate_bits_per_s is None for port in ports)
        inside = [node for node in self.nodes.values() if node.description.endswith("Aggregation Node")]
        found = []
        if unknown:
            found.append(f"{unknown} of {len(ports)} ports have no width and rate: {PRESET} gives theirs")
        if inside:
            found.append(
                f"aggregation nodes within switches are terminals, too ({len(inside)}): "
                "name the hosts in senders of [traffic]"
            )
        return [*found, *self._apart()]

    def _apart(self) -> list[str]:
        """Return a remark about hosts that are not in every rail."""
        files, found = [file.path.name for file in self.lines.files], list[str]()
        for host, own in self.hosts.items():
            rails = sorted({self.nodes[key].ports[at].rail for key, at in own})
            if len(rails) < len(files):
                found.append(f'"{host}" is in {" and ".join(files[rail] for rail in rails)} alone')
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        said = f"{len(found)} of {len(self.hosts)} hosts are not in every rail: {', '.join(found[:_NAMED])}"
        return [f"{said}{more}"] if found else []

    def link(self, guid: str, number: int) -> str:
        """Return the name of the link that leaves by a port."""
        port = self.nodes[guid].ports[number]
        ends = ((guid, number), (port.peer, port.peer_port))
        return ">".join(f"{re.sub('[ /]', '_', self.end[end])}:{end[1]}" for end in ends)

    def behind(self, guid: str, number: int) -> tuple[str, int]:
        """Return the port at the other end of a cable."""
        port = self.nodes[guid].ports[number]
        return port.peer, port.peer_port

    def out_of(self, switch: str, lid: int, target: tuple[str, int]) -> int:
        """Return the port by which a switch sends to a LID, that of the port ``target``."""
        entry = self.tables.entries.get((switch, lid))
        return self.behind(*target)[1] if entry is None else entry.port

    def routes(self, files: Sequence[Lines]) -> list[Route]:
        """Return the forwarding tables of all files. Raises ReadError."""
        found = self.tables
        for lines in files:
            self._table(lines, found)
        if files:
            self._check_entries(found, files[0])
        self._check_paths(found)
        return [
            (self.end[key, one.port], self.terminal[self.nodes[key].rail][lid], [self.link(key, one.port)])
            for (key, lid), one in found.entries.items()
            if self.nodes[self.nodes[key].ports[one.port].peer].is_switch
        ]

    def _table(self, lines: Lines, found: _Tables) -> None:
        by_guid = {int(key[2:], 16): key for key in self.nodes if re.fullmatch(r"S-[0-9a-fA-F]{1,16}", key)}
        switch = ""
        for number, whole in lines:
            line = whole.strip()
            if head := _TABLE.fullmatch(line) or _FDBS.fullmatch(line):
                switch = by_guid.get(int(head[1], 16), "")
                if not switch:
                    hint = "name the files of one subnet, made at the same time"
                    where = ", ".join(file.path.name for file in self.lines.files)
                    lines.fail(number, f"there is no switch 0x{head[1]} in {where}", hint, head[1])
                found.begin.setdefault(switch, (lines, number))
            elif entry := _ENTRY.fullmatch(line):
                if not _NOWHERE.fullmatch(line):
                    self._entry(lines, number, switch, entry, found)
            elif not _OTHER.fullmatch(line):
                message = f'"{line[:60]}" is no line of a forwarding table'
                lines.fail(number, message, "entries are 0x0002 001")

    def _entry(self, lines: Lines, number: int, switch: str, entry: re.Match[str], found: _Tables) -> None:
        lid, port = int(entry[1], 16), int(entry[2])
        if not switch:
            lines.fail(number, "an entry of no switch", "is the file cut short at its beginning?")
        if lid not in self.terminal[self.nodes[switch].rail]:
            return  # the LID of a switch, of a port that is down, or a further one of the same port
        if before := found.entries.get((switch, lid)):
            where = f"line {before.line}" + (f" of {before.lines.path}" if before.lines is not lines else "")
            message = f"LID {lid} is there already for this switch ({where})"
            lines.fail(number, message, "keep one of the two", entry[1])
        if port not in self.nodes[switch].ports:
            name = self.name[switch]
            lines.fail(number, f'port {port} of "{name}" has no cable', "read the tables again", entry[2])
        found.entries[switch, lid] = _Entry(port, lines, number)

    def _check_entries(self, found: _Tables, first: Lines) -> None:
        """Refuse tables in which a switch with adapters has no entry for an adapter of another switch."""
        ends = [(node, port) for node in self.nodes.values() for port in node.ports.values()]
        ends = [(node, port) for node, port in ends if not node.is_switch]
        for node, port in ends:
            if not port.lids:
                name = self.name[node.guid]
                message = f'"{name}" has no LID: no table leads to it'
                self.lines.fail(port.line, message, "remove it, or let the subnet manager sweep again")
        senders = dict.fromkeys(port.peer for _, port in ends if self.nodes[port.peer].is_switch)
        for switch in senders:
            for _, port in ends:
                lid = port.lids[0]
                there = port.rail != self.nodes[switch].rail or port.peer == switch
                if there or (switch, lid) in found.entries:
                    continue
                name = self.name[switch]
                lines, line = found.begin.get(switch, (first, 1))
                what = "entry for" if switch in found.begin else "table; it is to lead to"
                message = f'"{name}" has no {what} LID {lid}, "{self.terminal[port.rail][lid]}"'
                lines.fail(line, message, "read the tables of all switches again")

    def _check_paths(self, found: _Tables) -> None:
        """Refuse tables by which a packet loops, or arrives at a switch without an entry for it."""
        by_lid: dict[tuple[int, int], list[str]] = {}
        for key, lid in found.entries:
            by_lid.setdefault((self.nodes[key].rail, lid), []).append(key)
        for (rail, lid), starts in by_lid.items():
            terminal = self.terminal[rail][lid]
            good: set[str] = set()
            for start in starts:
                path: list[_Entry] = []
                passed: list[str] = []
                at = start
                while self.nodes[at].is_switch and at not in good:
                    if at in passed:
                        names = [self.name[one] for one in passed[passed.index(at) :]]
                        message = f'packets for "{terminal}" (LID {lid}) loop: '
                        message += " > ".join([*names, names[0]])
                        path[-1].fail(message, "correct this entry, or read the tables again")
                    if (at, lid) not in found.entries:
                        name = self.name[at]
                        message = f'packets for LID {lid} come to "{name}", which has no entry for it'
                        path[-1].fail(message, "read the tables of all switches")
                    passed.append(at)
                    path.append(found.entries[at, lid])
                    at = self.nodes[at].ports[path[-1].port].peer
                if path and not self.nodes[at].is_switch:
                    there = self.end[at, self.nodes[passed[-1]].ports[path[-1].port].peer_port]
                    if there != terminal:
                        message = f'LID {lid} belongs to "{terminal}", this leads to "{there}"'
                        path[-1].fail(message, "read the tables again")
                good |= set(passed)
