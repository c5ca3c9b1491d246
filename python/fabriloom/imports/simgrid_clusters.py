"""Clusters of SimGrid's platforms: written as one element, or as a zone of hosts, cabinets and a backbone.

Hosts of a cluster have a link each, to a router or into a backbone, a medium that all share. What enters or
leaves a cluster with a backbone crosses it, too.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from math import log, prod
from typing import NoReturn

from ..topology import GraphError, build
from ..topology.raw import LARGEST_RATE_BITS_PER_S
from .common import SCALE, Fabric, Lines

_RATE = re.compile(r"(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?:(?:([kKMGT])(i?))?(Bps|bps))?")
_TIME = re.compile(r"(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(ps|ns|us|ms|s)?")
_MOST_HOSTS = 1 << 17
Numbers = dict[str, float]
"""Rate and delay of a link, as ``RawLink`` has them."""


def given_of(lines: Lines, line: int, tag: str, given: dict[str, str], key: str) -> str:
    if not given.get(key):
        lines.fail(line, f"<{tag}> without {key}", f'write {key}="…"')
    return given[key]


def numbers(
    lines: Lines, line: int, tag: str, given: dict[str, str], bandwidth: str, latency: str
) -> Numbers:
    rate = _RATE.fullmatch(given_of(lines, line, tag, given, bandwidth))
    time = _TIME.fullmatch(given_of(lines, line, tag, given, latency))
    if rate is None:
        message = f'"{given[bandwidth][:40]}" is no rate'
        lines.fail(line, message, "write one such as 125MBps or 1Gbps", given[bandwidth])
    if time is None:
        lines.fail(line, f'"{given[latency][:40]}" is no time', "write one such as 50us", given[latency])
    scale = SCALE[rate[2] or ""]
    scale = 2 ** (10 * round(log(scale, 1000))) if rate[3] else scale
    bits_per_s = float(rate[1]) * scale * (1 if rate[4] == "bps" else 8)  # without a unit: bytes
    return lines.link_numbers(line, bits_per_s, f"{time[1]} {time[2] or 's'}", given[latency])


End = tuple[str, Numbers, Numbers]
"""A vertex, and the numbers of its links there and back."""


def medium(
    fabric: Fabric, switches: tuple[str, str], ends: Iterable[End], line: int, shared: Numbers
) -> None:
    """Join vertices by a link that all share, from a switch that takes in to one that gives out."""
    into, out = switches
    for switch in switches:
        fabric.add(switch, False, line)
    for end, up, down in ends:
        fabric.link(end, into, line, up)
        fabric.link(out, end, line, down)
    fabric.link(into, out, line, shared)


@dataclass
class Zone:
    """A zone of the routing "Cluster", as its elements give it."""

    name: str
    line: int
    routers: list[str] = field(default_factory=list)
    links: list[tuple[str, str, str, int]] = field(default_factory=list)
    """Host, its links up and down, and the line."""
    cabinets: list[tuple[dict[str, str], int]] = field(default_factory=list)
    backbone: tuple[dict[str, str], int] | None = None


def zone(lines: Lines, fabric: Fabric, given: Zone, link: Callable[[str, int], Numbers]) -> None:
    """Add the hosts of cabinets, and join all hosts of a zone; ``link`` has the numbers of one at a line."""
    ends: list[End] = []
    for host, up, down, line in given.links:
        if host not in fabric.line_of:
            lines.fail(line, f'there is no host "{host[:40]}"', "add it", host)
        ends.append((host, link(up, line), link(down, line)))
    for cabinet, line in given.cabinets:
        own = numbers(lines, line, "cabinet", cabinet, "bw", "lat")
        for host in _hosts(lines, line, "cabinet", cabinet):
            fabric.add(host, True, line)
            ends.append((host, own, own))
    backbone = None
    if given.backbone is not None:
        written, line = given.backbone
        backbone = numbers(lines, line, "backbone", written, "bandwidth", "latency")
    router = given.routers[0] if given.routers else None
    if backbone is not None:
        _behind(fabric, given.name, ends, router, given.line, backbone)
        return
    if router is None:
        router = f"{given.name}#"
        fabric.add(router, False, given.line)
    for host, up, down in ends:
        fabric.cable(host, router, given.line, (f"{host}>{router}", f"{router}>{host}"), (up, down))


def _behind(
    fabric: Fabric, name: str, ends: list[End], router: str | None, line: int, backbone: Numbers
) -> None:
    """Join hosts by a backbone, over which a router leads to others.

    What comes in has a link like the backbone of its own: on one link both ways would wait for each other.
    """
    out = f"{name}#out"
    medium(fabric, (f"{name}#in", out), ends, line, backbone)
    if router is not None:
        fabric.link(out, router, line, {**backbone, "delay_ps": 0.0})
        fabric.link(router, out, line, backbone)


@dataclass(frozen=True)
class _Cluster:
    """A cluster whose shape is to be built."""

    lines: Lines
    fabric: Fabric
    line: int
    name: str
    hosts: list[str]
    own: Numbers
    limit_bits_per_s: float
    """Most that a host sends or receives."""
    given: dict[str, str]
    parameters: list[list[int]]
    reached: bool
    """Whether routes lead to its router."""

    def fail(self, message: str, hint: str) -> NoReturn:
        self.lines.fail(self.line, message, hint)

    def at_host(self, own: Numbers) -> Numbers:
        """Return the numbers of a host's link with its limiter."""
        return {**own, "rate_bits_per_s": min(own["rate_bits_per_s"], self.limit_bits_per_s)}

    def switches(self, names: Iterable[str]) -> None:
        for name in names:
            self.fabric.add(name, False, self.line)

    def cable(self, one: str, other: str, own: Numbers, tails: tuple[str, str] = ("", "")) -> None:
        """Add a cable whose links end in ``tails``."""
        names = (f"{one}>{other}{tails[0]}", f"{other}>{one}{tails[1]}")
        self.fabric.cable(one, other, self.line, names, (own, own))


def cluster(lines: Lines, fabric: Fabric, given: dict[str, str], line: int, reached: Container[str]) -> None:
    """Add a cluster; ``reached``: to which routers routes lead."""
    name = given_of(lines, line, "cluster", given, "id")
    hosts = _hosts(lines, line, "cluster", given)
    own = numbers(lines, line, "cluster", given, "bw", "lat")
    shape = given.get("topology", "FLAT").upper()
    limit = LARGEST_RATE_BITS_PER_S
    if "limiter_link" in given:
        limited = numbers(lines, line, "cluster", {**given, "delay": "0"}, "limiter_link", "delay")
        limit = min(limit, limited["rate_bits_per_s"])
    known = _parameters(lines, line, given), _router(name, given) in reached
    found = _Cluster(lines, fabric, line, name, hosts, own, limit, given, *known)
    for host in hosts:
        fabric.add(host, True, line)
    if shape in _SHAPES:
        return _SHAPES[shape](found)
    shapes = "FLAT, TORUS, FAT_TREE and DRAGONFLY are"
    lines.fail(line, f"clusters of the topology {shape[:20]} are not read", shapes, shape)


def _router(name: str, given: dict[str, str]) -> str:
    return given.get("router_id") or f"{given.get('prefix', '')}{name}_router{given.get('suffix', '')}"


def _hosts(lines: Lines, line: int, tag: str, given: dict[str, str]) -> list[str]:
    found: list[int] = []
    for part in given_of(lines, line, tag, given, "radical").split(","):
        ends = part.split("-")
        if len(ends) > 2 or not all(end.isascii() and end.isdecimal() and len(end) < 8 for end in ends):
            lines.fail(line, f'"{part[:40]}" is no range', 'write radical="0-15"', part)
        numbers = range(int(ends[0]), int(ends[-1]) + 1)
        if len(found) + len(numbers) > _MOST_HOSTS:
            lines.fail(line, f"more than {_MOST_HOSTS:,} hosts", "take a smaller cluster", part)
        found += numbers
    return [f"{given.get('prefix', '')}{number}{given.get('suffix', '')}" for number in found]


def _parameters(lines: Lines, line: int, given: dict[str, str]) -> list[list[int]]:
    text = given.get("topo_parameters", "")
    words = [part.split(",") for part in text.split(";")] if text else []
    if not all(word.strip().isdecimal() and len(word) < 8 for part in words for word in part):
        lines.fail(line, f'"{text[:60]}" are no parameters', 'write numbers such as "2;4,4;1,2;1,2"', text)
    return [[int(word) for word in part] for part in words]


def _flat(cluster: _Cluster) -> None:
    """Join the hosts to a switch; a backbone is a link from one that takes in to one that gives out."""
    name, given, line = cluster.name, cluster.given, cluster.line
    at_host = cluster.at_host(cluster.own)
    router = _router(name, given)
    if "bb_bw" in given:
        backbone = numbers(cluster.lines, line, "cluster", given, "bb_bw", "bb_lat")
        ends = [(host, at_host, at_host) for host in cluster.hosts]
        if cluster.reached:
            cluster.switches([router])
            _behind(cluster.fabric, name, ends, router, line, backbone)
        else:
            medium(cluster.fabric, (router, f"{name}#out"), ends, line, backbone)
        return
    cluster.switches([router])
    for host in cluster.hosts:
        cluster.cable(host, router, at_host)


def _torus(cluster: _Cluster) -> None:
    """Give each host a switch, in a torus of which the first dimension runs fastest."""
    hosts, name, parameters = cluster.hosts, cluster.name, cluster.parameters
    if len(parameters) != 1 or prod(parameters[0]) != len(hosts):
        cluster.fail(f"a torus of {len(hosts)} hosts has other parameters", 'write such as "3,2,2"')
    sides = parameters[0]
    # A host sends by all links of its switch at a time.
    rate = cluster.own["rate_bits_per_s"] * 2 * max(1, sum(side > 1 for side in sides))
    at_host = cluster.at_host({"rate_bits_per_s": min(rate, LARGEST_RATE_BITS_PER_S), "delay_ps": 0.0})
    for number, host in enumerate(hosts):
        cluster.switches([f"{name}#{number}"])
        cluster.cable(host, f"{name}#{number}", at_host)
    for number, (dimension, side) in itertools.product(range(len(hosts)), enumerate(sides)):
        weight = prod(sides[:dimension])
        place = number // weight % side
        one, other = f"{name}#{number}", f"{name}#{number + ((place + 1) % side - place) * weight}"
        if side > 1:
            cluster.cable(one, other, cluster.own, (f":{dimension}", f":{dimension}'"))


def _fat_tree(cluster: _Cluster) -> None:
    """Build levels; children, parents and parallel cables of each level, from below."""
    hosts, parameters = cluster.hosts, cluster.parameters
    if len(parameters) != 4 or any(len(part) != parameters[0][0] for part in parameters[1:]):
        what = "a fat tree has levels, children, parents and cables"
        cluster.fail(what, 'write such as "2;4,4;1,2;1,2"')
    _, children, parents, cables = parameters
    if prod(children) != len(hosts) or not all(cables):
        what = f"{len(hosts)} hosts; these children make {prod(children)}"
        cluster.fail(what, "change radical or topo_parameters")
    try:
        tree = build("xgft", children=children, parents=parents)
    except GraphError as error:
        raise cluster.lines.error(cluster.line, str(error), "change topo_parameters") from None
    names = [f"{cluster.name}#{switch[2:-1].replace(',', '#')}" for switch in tree.switch_names]
    cluster.switches(names)
    level = tree.layout["levels"]
    vertices = [*names, *hosts]
    for one, other in zip(tree.link_source[::2].tolist(), tree.link_target[::2].tolist(), strict=True):
        above = int(level[other]) if other < len(names) else 0
        own = cluster.own if max(one, other) < len(names) else cluster.at_host(cluster.own)
        for number in range(cables[above]):
            tail = f"#{number}" if number else ""
            cluster.cable(vertices[one], vertices[other], own, (tail, tail))


def _dragonfly(cluster: _Cluster) -> None:
    """Join the routers of a chassis, routers of a group at the same place of a chassis, and the groups.

    Several links of a pair are one of their summed rate, and router j of a group is joined to group j, both
    as SimGrid has it.
    """
    hosts, parameters = cluster.hosts, cluster.parameters
    if [len(part) for part in parameters] != [2, 2, 2, 1] or not all(itertools.chain(*parameters)):
        what = "a dragonfly has groups, chassis and routers, each with its number of links, and nodes"
        cluster.fail(what, 'write such as "3,4;4,3;5,1;2"')
    (groups, blue), (chassis, black), (blades, green), (nodes,) = parameters
    per_group = chassis * blades
    if groups * per_group * nodes != len(hosts):
        what = f"{len(hosts)} hosts; this dragonfly has {groups * per_group * nodes}"
        cluster.fail(what, "change radical or topo_parameters")
    if groups > per_group:
        what = f"{groups} groups; {per_group} routers of a group reach as many groups"
        cluster.fail(what, "take fewer groups, or more routers")
    switches = [f"{cluster.name}#{number}" for number in range(groups * per_group)]
    cluster.switches(switches)
    of_host = set(hosts)
    pairs: list[tuple[str, str, int]] = [(host, switches[at // nodes], 1) for at, host in enumerate(hosts)]
    for at, group in itertools.product(range(per_group), range(groups)):
        here, (row, place) = group * per_group + at, divmod(at, blades)
        across = [(here - at + row * blades + other, green) for other in range(place + 1, blades)]
        across += [(here - at + other * blades + place, black) for other in range(row + 1, chassis)]
        across += [(at * per_group + group, blue)] if group < at < groups else []
        pairs += [(switches[here], switches[there], links) for there, links in across]
    for one, other, links in pairs:
        own = {**cluster.own, "rate_bits_per_s": cluster.own["rate_bits_per_s"] * links}
        cluster.cable(one, other, cluster.at_host(own) if one in of_host else own)


_SHAPES = {"FLAT": _flat, "TORUS": _torus, "FAT_TREE": _fat_tree, "DRAGONFLY": _dragonfly}
