"""Platforms of SimGrid: hosts, routers, the links between two of them, and clusters.

A platform names the links of a route, not their ends. A route of one link therefore is a cable; the links of
a longer one are cables in a row, and where they meet is a switch. A link that is the route of several pairs
is a medium that they share, unless it is a FATPIPE; longer routes over such a link are left out. Clusters are
a switch, a backbone, a torus, a fat tree or a dragonfly. Zones inside each other are one network; ``#`` joins
the parts of names that are made here.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from ..reading import ReadError
from ..topology import GraphError, build
from ..topology.raw import LARGEST_RATE_BITS_PER_S
from .common import SCALE, Fabric, Imported, Lines, only, parsed_xml
from .walks import Place, Walks

_RATE = re.compile(r"(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)([kKMGT]?)(Bps|bps)")
_TIME = re.compile(r"(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(ps|ns|us|ms|s)?")
_KNOWN = (
    "platform",
    "zone",
    "AS",
    "host",
    "router",
    "link",
    "route",
    "link_ctn",
    "cluster",
    "zoneRoute",
    "ASroute",
)
_ROUTES = ("route", "zoneRoute", "ASroute")
_OF_DEPLOYMENTS = ("<actor>", "<process>")
_SEVERAL = "routes of several links"
_MOST_HOSTS = 1 << 17


@dataclass
class _Route:
    line: int
    ends: tuple[str, str]
    links: list[str] = field(default_factory=list)


_Pairs = dict[frozenset[str], _Route]


@dataclass
class _Platform:
    """What a file has, in its order."""

    lines: Lines
    hosts: dict[str, tuple[bool, int]] = field(default_factory=dict)
    """Whether it is a host, or a router; and its line."""
    links: dict[str, tuple[dict[str, float], int]] = field(default_factory=dict)
    fat_pipes: set[str] = field(default_factory=set)
    """Links whose routes do not share them."""
    routes: list[_Route] = field(default_factory=list)
    clusters: list[tuple[dict[str, str], int]] = field(default_factory=list)
    in_rows: int = 0
    """Routes of several links that are cables in a row."""
    left_out: Counter[str] = field(default_factory=Counter[str])


def simgrid(files: Sequence[Path]) -> Imported:
    """Read a platform."""
    lines = Lines(only(files, "a platform"))
    platform = _parsed(lines)
    fabric = Fabric(lines)
    for name, (host, line) in platform.hosts.items():
        fabric.add(name, host, line)
    for given, line in platform.clusters:
        _cluster(lines, fabric, given, line)
    media = _cables(platform, fabric)
    if not fabric.line_of:
        deployed = platform.left_out.keys() & _OF_DEPLOYMENTS
        what = "the platform of this deployment" if deployed else "a platform"
        raise ReadError(f"{lines.path}: no hosts", f"name {what}, with hosts and routes, or with a cluster")
    remarks = [f"{lines.path}: left out: {what} ({count})" for what, count in platform.left_out.items()]
    if platform.in_rows:
        what = "cables in a row; packets take the shortest ways, whatever the routes are"
        remarks.append(f"{lines.path}: {_SEVERAL} ({platform.in_rows}): {what}")
    if media:
        remarks.append(f"{lines.path}: links that several pairs share, each between two switches: {media}")
    remarks.append(f"{lines.path}: links are shared by packets here, and not as a flow that has no packets")
    sections = fabric.switches() + '\n[traffic]\npattern = "uniform"\nload = 0.3\n'
    several = platform.left_out[_SEVERAL]
    to_join = f"{_SEVERAL} are left out ({several}): where these end is not clear; write one for each link"
    graph = fabric.graph(to_join) if several else fabric.graph()
    return Imported("simgrid", graph, [], sections, tuple(remarks))


def _parsed(lines: Lines) -> _Platform:
    platform = _Platform(lines)
    parser = expat.ParserCreate()

    def start(tag: str, given: dict[str, str]) -> None:
        _element(platform, tag, given, parser.CurrentLineNumber)

    parser.StartElementHandler = start
    parsed_xml(lines, parser, "a platform of SimGrid")
    return platform


def _element(platform: _Platform, tag: str, given: dict[str, str], line: int) -> None:
    lines = platform.lines
    if tag in ("host", "router"):
        name = _given(lines, line, tag, given, "id")
        platform.hosts.setdefault(name, (tag == "host", line))
    elif tag == "link":
        name = _given(lines, line, tag, given, "id")
        platform.links[name] = (_numbers(lines, line, tag, given, "bandwidth", "latency"), line)
        if given.get("sharing_policy") == "FATPIPE":
            platform.fat_pipes.add(name)
    elif tag in _ROUTES:
        ends = ("src", "dst") if tag == "route" else ("gw_src", "gw_dst")
        one, other = (_given(lines, line, tag, given, end) for end in ends)
        platform.routes.append(_Route(line, (one, other)))
    elif tag == "link_ctn":
        if not platform.routes:
            lines.fail(line, "link_ctn stands outside of a route", "write it within <route>")
        platform.routes[-1].links.append(_given(lines, line, tag, given, "id"))
    elif tag == "cluster":
        platform.clusters.append((given, line))
    elif tag not in _KNOWN:
        platform.left_out[f"<{tag[:40]}>"] += 1


def _given(lines: Lines, line: int, tag: str, given: dict[str, str], key: str) -> str:
    if not given.get(key):
        lines.fail(line, f"<{tag}> without {key}", f'write {key}="…"')
    return given[key]


def _numbers(
    lines: Lines, line: int, tag: str, given: dict[str, str], bandwidth: str, latency: str
) -> dict[str, float]:
    """Return rate and delay of a link as ``RawLink`` has them."""
    rate = _RATE.fullmatch(_given(lines, line, tag, given, bandwidth))
    time = _TIME.fullmatch(_given(lines, line, tag, given, latency))
    if rate is None:
        lines.fail(
            line,
            f'"{given[bandwidth][:40]}" is no rate',
            "write one such as 125MBps or 1Gbps",
            given[bandwidth],
        )
    if time is None:
        lines.fail(line, f'"{given[latency][:40]}" is no time', "write one such as 50us", given[latency])
    bits_per_s = float(rate[1]) * SCALE[rate[2]] * (8 if rate[3] == "Bps" else 1)
    return lines.link_numbers(line, bits_per_s, f"{time[1]} {time[2] or 's'}", given[latency])


def _routes(platform: _Platform, fabric: Fabric) -> tuple[dict[str, _Pairs], list[_Route]]:
    """Return the pairs of each link that is the whole of a route, and the longer routes."""
    pairs: dict[str, _Pairs] = {}
    longer: list[_Route] = []
    for route in platform.routes:
        if route.ends[0] == route.ends[1]:
            continue
        names = [name.removesuffix("_UP").removesuffix("_DOWN") for name in route.links]
        for name, written in zip(names, route.links, strict=True):
            if name not in platform.links:
                platform.lines.fail(route.line, f'there is no link "{written[:40]}"', "add it", written)
        there = [end in fabric.line_of for end in route.ends]
        if len(names) == 1 and not all(there):
            end = route.ends[there.index(False)]
            platform.lines.fail(route.line, f'there is no host or router "{end[:40]}"', "add it", end)
        if len(names) == 1:
            pairs.setdefault(names[0], {}).setdefault(frozenset(route.ends), route)
        elif all(there) and names:
            longer.append(_Route(route.line, route.ends, names))
        else:
            platform.left_out[_SEVERAL] += 1
    return pairs, longer


def _cables(platform: _Platform, fabric: Fabric) -> int:
    """Add a cable for each link between two places, or a medium where a link is the route of several pairs.

    Returns the number of media.
    """
    pairs, longer = _routes(platform, fabric)
    found: list[tuple[str, int, list[str]]] = []
    """Name and line of a link, and what it joins."""
    walks = Walks()
    for name, routes in pairs.items():
        if len(routes) == 1 or name in platform.fat_pipes:
            found += [(name, route.line, [*route.ends]) for route in routes.values()]
        else:
            ends = dict.fromkeys(end for route in routes.values() for end in route.ends)
            found.append((name, platform.links[name][1], [*ends]))
        for route in routes.values() if len(routes) == 1 else ():
            walks.learn(route.ends[0], [name], route.ends[1])
    shared = {name for name, routes in pairs.items() if len(routes) > 1}
    rows = [one for one in longer if shared.isdisjoint(one.links)]
    platform.left_out.update([_SEVERAL] * (len(longer) - len(rows)))
    in_rows, passed = _in_rows(platform, fabric, walks, rows, pairs)
    found += in_rows
    inner = _switches_of_hosts(platform, fabric, found, passed)
    media = 0
    for name, line, ends in found:
        own = platform.links[name][0]
        ends = [inner.get(end, end) for end in ends]
        if len(ends) == 2:
            one, other = ends
            fabric.cable(one, other, line, (f"{one}>{other}:{name}", f"{other}>{one}:{name}"), (own, own))
        else:
            at_end = {**own, "delay_ps": 0.0}
            _medium(fabric, (f"{name}#in", f"{name}#out"), ends, line, (at_end, own))
            media += 1
    return media


def _in_rows(
    platform: _Platform, fabric: Fabric, walks: Walks, routes: list[_Route], done: Container[str]
) -> tuple[list[tuple[str, int, list[str]]], dict[Place, int]]:
    """Return the links of longer routes that are not done, with a switch at each place where they meet.

    And the places that such routes pass, each with the line of one.
    """
    routes = sorted(routes, key=lambda route: len(route.links))
    for route in routes:
        walks.learn(route.ends[0], route.links, route.ends[1])
    found: dict[str, tuple[str, int, list[str]]] = {}
    names: dict[Place, str] = {}
    passed: dict[Place, int] = {}
    for route in routes:
        places = walks.along(route.ends[0], route.links)
        if places is None or places[-1] != route.ends[1]:
            platform.left_out[_SEVERAL] += 1
            continue
        for name, place in zip(route.links, places[1:], strict=True):
            if isinstance(place, int) and place not in names:
                names[place] = f"{name}#end"
                fabric.add(names[place], False, route.line)
        for name, ends in zip(route.links, itertools.pairwise(places), strict=True):
            if name not in done and name not in found:
                found[name] = name, route.line, [names.get(end, str(end)) for end in ends]
        passed |= dict.fromkeys(places[1:-1], route.line)
        platform.in_rows += 1
    return [*found.values()], passed


def _switches_of_hosts(
    platform: _Platform, fabric: Fabric, links: list[tuple[str, int, list[str]]], passed: dict[Place, int]
) -> dict[str, str]:
    """Give a switch to each host that routes pass, or with several links, one to a host; return them."""
    of_host: dict[str, list[str]] = {}
    hosts = {name for name, (host, _) in platform.hosts.items() if host}
    meeting = {host: line for host, line in passed.items() if isinstance(host, str) and host in hosts}
    for name, line, ends in links:
        for end in ends:
            of_host.setdefault(end, []).append(name)
        if len(ends) == 2 and hosts.issuperset(ends):
            meeting |= dict.fromkeys(ends, line)
    found: dict[str, str] = {}
    for host, line in meeting.items():
        if len(of_host[host]) > 1:
            found[host] = f"{host}#"
            fabric.add(found[host], False, line)
            rate = sum(platform.links[name][0]["rate_bits_per_s"] for name in of_host[host])
            own = {"rate_bits_per_s": min(rate, LARGEST_RATE_BITS_PER_S), "delay_ps": 0.0}
            fabric.cable(
                host, found[host], line, (f"{host}>{found[host]}", f"{found[host]}>{host}"), (own, own)
            )
    return found


def _medium(
    fabric: Fabric,
    switches: tuple[str, str],
    ends: Sequence[str],
    line: int,
    numbers: tuple[dict[str, float], dict[str, float]],
) -> None:
    """Join vertices by a link that all share, from a switch that takes in to one that gives out.

    ``numbers``: those of the links of the vertices, and of the one that all share.
    """
    into, out = switches
    for switch in switches:
        fabric.add(switch, False, line)
    for end in ends:
        fabric.link(end, into, line, numbers[0])
        fabric.link(out, end, line, numbers[0])
    fabric.link(into, out, line, numbers[1])


@dataclass(frozen=True)
class _Cluster:
    """A cluster whose shape is to be built."""

    lines: Lines
    fabric: Fabric
    line: int
    name: str
    hosts: list[str]
    own: dict[str, float]
    """The numbers of the link of each host."""
    given: dict[str, str]
    parameters: list[list[int]]

    def fail(self, message: str, hint: str) -> NoReturn:
        """Refuse the cluster."""
        self.lines.fail(self.line, message, hint)

    def switches(self, names: Iterable[str]) -> None:
        """Add switches."""
        for name in names:
            self.fabric.add(name, False, self.line)

    def cable(
        self, one: str, other: str, numbers: dict[str, float], tails: tuple[str, str] = ("", "")
    ) -> None:
        """Add a cable whose links end in ``tails``."""
        names = (f"{one}>{other}{tails[0]}", f"{other}>{one}{tails[1]}")
        self.fabric.cable(one, other, self.line, names, (numbers, numbers))


def _cluster(lines: Lines, fabric: Fabric, given: dict[str, str], line: int) -> None:
    name = _given(lines, line, "cluster", given, "id")
    hosts = _hosts(lines, line, given)
    own = _numbers(lines, line, "cluster", given, "bw", "lat")
    shape = given.get("topology", "FLAT").upper()
    cluster = _Cluster(lines, fabric, line, name, hosts, own, given, _parameters(lines, line, given))
    for host in hosts:
        fabric.add(host, True, line)
    if shape in _SHAPES:
        return _SHAPES[shape](cluster)
    known = "FLAT, TORUS, FAT_TREE and DRAGONFLY are"
    lines.fail(line, f"clusters of the topology {shape[:20]} are not read", known, shape)


def _hosts(lines: Lines, line: int, given: dict[str, str]) -> list[str]:
    found: list[int] = []
    for part in _given(lines, line, "cluster", given, "radical").split(","):
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
    name, own, given, line, fabric = cluster.name, cluster.own, cluster.given, cluster.line, cluster.fabric
    router = given.get("router_id") or f"{given.get('prefix', '')}{name}_router{given.get('suffix', '')}"
    if "bb_bw" in given:
        backbone = _numbers(cluster.lines, line, "cluster", given, "bb_bw", "bb_lat")
        _medium(fabric, (router, f"{name}#out"), cluster.hosts, line, (own, backbone))
        return
    cluster.switches([router])
    for host in cluster.hosts:
        cluster.cable(host, router, own)


def _torus(cluster: _Cluster) -> None:
    """Give each host a switch, in a torus of which the first dimension runs fastest."""
    hosts, name, parameters = cluster.hosts, cluster.name, cluster.parameters
    if len(parameters) != 1 or prod(parameters[0]) != len(hosts):
        cluster.fail(f"a torus of {len(hosts)} hosts has other parameters", 'write such as "3,2,2"')
    sides = parameters[0]
    at_host = {**cluster.own, "delay_ps": 0.0}
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
        for number in range(cables[above]):
            tail = f"#{number}" if number else ""
            cluster.cable(vertices[one], vertices[other], cluster.own, (tail, tail))


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
    pairs: list[tuple[str, str, int]] = [(host, switches[at // nodes], 1) for at, host in enumerate(hosts)]
    for at, group in itertools.product(range(per_group), range(groups)):
        here, (row, place) = group * per_group + at, divmod(at, blades)
        across = [(here - at + row * blades + other, green) for other in range(place + 1, blades)]
        across += [(here - at + other * blades + place, black) for other in range(row + 1, chassis)]
        across += [(at * per_group + group, blue)] if group < at < groups else []
        pairs += [(switches[here], switches[there], links) for there, links in across]
    for one, other, links in pairs:
        cluster.cable(one, other, {**cluster.own, "rate_bits_per_s": cluster.own["rate_bits_per_s"] * links})


_SHAPES = {"FLAT": _flat, "TORUS": _torus, "FAT_TREE": _fat_tree, "DRAGONFLY": _dragonfly}
