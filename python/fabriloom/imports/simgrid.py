"""Platforms of SimGrid: hosts, routers, the links between two of them, and clusters.

A platform names the links of a route, not their ends. A route of one link therefore is a cable; the links of
a longer one are cables in a row, and where they meet is a switch. A link that is the route of several pairs
is a medium that they share, unless it is a FATPIPE; longer routes over such a link are left out. Clusters are
a switch, a backbone, a torus, a fat tree or a dragonfly. Zones inside each other are one network; ``#`` joins
the parts of names that are made here.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from ..reading import ReadError
from ..topology.raw import LARGEST_RATE_BITS_PER_S
from .common import Fabric, Imported, Lines, only, parsed_xml
from .simgrid_clusters import Numbers, Zone, cluster, given_of, medium, numbers, zone

_KNOWN = (
    "platform", "zone", "AS", "host", "router", "link", "route", "link_ctn", "cluster", "zoneRoute",
    "ASroute",
)  # fmt: skip
_WAYS = ("_UP", "_DOWN")
_ZONES = ("zone", "AS")
_ROUTES = ("route", "zoneRoute", "ASroute")
_OF_DEPLOYMENTS = ("<actor>", "<process>")
_SEVERAL = "routes of several links"
_Place = str | int
"""A vertex, or one that no route names."""


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
    half_duplex: set[str] = field(default_factory=set)
    """Links whose rate both directions share."""
    both_ways: int = 0
    """Cables of such links."""
    routes: list[_Route] = field(default_factory=list)
    clusters: list[tuple[dict[str, str], int]] = field(default_factory=list)
    zones: list[Zone] = field(default_factory=list)
    """Those that are clusters."""
    within: list[Zone | None] = field(default_factory=list)
    """The zones within which the present element stands; None for one that is no cluster."""
    in_rows: int = 0
    """Routes of several links that are cables in a row."""
    left_out: Counter[str] = field(default_factory=Counter[str])

    def link(self, written: str, line: int) -> Numbers:
        """Return the numbers of a link, of which this may be one direction. Raises ReadError."""
        for name in (written, *(written.removesuffix(way) for way in _WAYS if written.endswith(way))):
            if name in self.links:
                return self.links[name][0]
        self.lines.fail(line, f'there is no link "{written[:40]}"', "add it", written)


def simgrid(files: Sequence[Path]) -> Imported:
    lines = Lines(only(files, "a platform"))
    platform = _parsed(lines)
    fabric = Fabric(lines)
    for name, (host, line) in platform.hosts.items():
        fabric.add(name, host, line)
    reached = {end for route in platform.routes for end in route.ends}
    for given, line in platform.clusters:
        cluster(lines, fabric, given, line, reached)
    for one in platform.zones:
        zone(lines, fabric, one, platform.link)
    media = _cables(platform, fabric)
    _leave_out_routers(platform, fabric)
    if not fabric.line_of:
        deployed = platform.left_out.keys() & _OF_DEPLOYMENTS
        what = "the platform of this deployment" if deployed else "a platform"
        raise ReadError(f"{lines.path}: no hosts", f"name {what}, with hosts and routes, or with a cluster")
    sections = fabric.switches() + '\n[traffic]\npattern = "uniform"\nload = 0.3\n'
    several = platform.left_out[_SEVERAL]
    to_join = f"{_SEVERAL} are left out ({several}): where these end is not clear; write one for each link"
    graph = fabric.graph(to_join) if several else fabric.graph()
    return Imported(graph, [], sections, tuple(_remarks(platform, media)))


def _leave_out_routers(platform: _Platform, fabric: Fabric) -> None:
    """Leave out the routers that no route names and nothing joins: nothing can pass them."""
    joined = {end for link in fabric.raw.links for end in (link.source, link.target)}
    joined.update(end for route in platform.routes for end in route.ends)
    for name, (host, _) in platform.hosts.items():
        if not host and name not in joined:
            fabric.remove(name)
            platform.left_out["routers that no route names"] += 1


def _remarks(platform: _Platform, media: int) -> Iterator[str]:
    """Yield what was left out or is meant otherwise."""
    path = platform.lines.path
    yield from (f"{path}: left out: {what} ({count})" for what, count in platform.left_out.items())
    if platform.in_rows:
        what = "cables in a row; packets take the shortest ways, whatever the routes are"
        yield f"{path}: {_SEVERAL} ({platform.in_rows}): {what}"
    if media:
        yield f"{path}: links that several pairs share, each between two switches: {media}"
    both = platform.both_ways + sum(up == down for one in platform.zones for _, up, down, _ in one.links)
    both += sum(given.get("sharing_policy") == "SHARED" for given, _ in platform.clusters)
    if both:
        yield f"{path}: links whose rate both directions share ({both}): here each direction has all of it"
    yield f"{path}: links are shared by packets here, and not as a flow that has no packets"


def _parsed(lines: Lines) -> _Platform:
    platform = _Platform(lines)
    parser = expat.ParserCreate()

    def start(tag: str, given: dict[str, str]) -> None:
        _element(platform, tag, given, parser.CurrentLineNumber)

    def end(tag: str) -> None:
        if tag in _ZONES:
            platform.within.pop()

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parsed_xml(lines, parser, "a platform of SimGrid")
    return platform


def _element(platform: _Platform, tag: str, given: dict[str, str], line: int) -> None:
    lines = platform.lines
    inside = platform.within[-1] if platform.within else None
    if tag in _ZONES:
        of_cluster = given.get("routing", "").lower() == "cluster"
        platform.within.append(Zone(given_of(lines, line, tag, given, "id"), line) if of_cluster else None)
        platform.zones += [one for one in platform.within[-1:] if one is not None]
    elif inside is not None and tag in _IN_CLUSTERS:
        _of_cluster(platform, inside, tag, given, line)
    elif tag in ("host", "router"):
        name = given_of(lines, line, tag, given, "id")
        platform.hosts.setdefault(name, (tag == "host", line))
        if inside is not None and tag == "router":
            inside.routers.append(name)
    elif tag == "link":
        name = given_of(lines, line, tag, given, "id")
        platform.links[name] = (numbers(lines, line, tag, given, "bandwidth", "latency"), line)
        policy = given.get("sharing_policy", "SHARED")
        if policy == "FATPIPE":
            platform.fat_pipes.add(name)
        elif policy == "SHARED":
            platform.half_duplex.add(name)
    elif tag in _ROUTES:
        ends = ("src", "dst") if tag == "route" else ("gw_src", "gw_dst")
        one, other = (given_of(lines, line, tag, given, end) for end in ends)
        platform.routes.append(_Route(line, (one, other)))
    elif tag == "link_ctn":
        if not platform.routes:
            lines.fail(line, "link_ctn stands outside of a route", "write it within <route>")
        platform.routes[-1].links.append(given_of(lines, line, tag, given, "id"))
    elif tag == "cluster":
        platform.clusters.append((given, line))
    elif tag not in _KNOWN:
        platform.left_out[f"<{tag[:40]}>"] += 1


_IN_CLUSTERS = ("host_link", "cabinet", "backbone")


def _of_cluster(platform: _Platform, inside: Zone, tag: str, given: dict[str, str], line: int) -> None:
    """Take an element of a zone that is a cluster."""
    if tag == "host_link":
        host, up, down = (given_of(platform.lines, line, tag, given, key) for key in ("id", "up", "down"))
        inside.links.append((host, up, down, line))
    elif tag == "cabinet":
        inside.cabinets.append((given, line))
    else:
        inside.backbone = given, line


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
    walks = _Walks()
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
            platform.both_ways += name in platform.half_duplex
            fabric.cable(one, other, line, (f"{one}>{other}:{name}", f"{other}>{one}:{name}"), (own, own))
        else:
            at_end = {**own, "delay_ps": 0.0}
            joined = [(end, at_end, at_end) for end in ends]
            medium(fabric, (f"{name}#in", f"{name}#out"), joined, line, own)
            media += 1
    return media


def _in_rows(
    platform: _Platform, fabric: Fabric, walks: _Walks, routes: list[_Route], done: Container[str]
) -> tuple[list[tuple[str, int, list[str]]], dict[_Place, int]]:
    """Return the links of longer routes that are not done, with a switch at each place where they meet.

    And the places that such routes pass, each with the line of one.
    """
    routes = sorted(routes, key=lambda route: len(route.links))
    for route in routes:
        walks.learn(route.ends[0], route.links, route.ends[1])
    found: dict[str, tuple[str, int, list[str]]] = {}
    names: dict[_Place, str] = {}
    passed: dict[_Place, int] = {}
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
    platform: _Platform, fabric: Fabric, links: list[tuple[str, int, list[str]]], passed: dict[_Place, int]
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


class _Walks:
    """The places that links join, learned route by route; short routes first say most.

    In a route of several links each begins where the one before ends.
    """

    def __init__(self) -> None:
        self._ends: dict[str, tuple[_Place, _Place]] = {}
        self._known: dict[int, _Place] = {}
        """What a place without a name turned out to be."""
        self._number = itertools.count()

    def ends(self, link: str) -> tuple[_Place, _Place]:
        """Return the places that a link joins."""
        one, other = self._ends[link]
        return self._at(one), self._at(other)

    def along(self, source: str, links: Sequence[str]) -> list[_Place] | None:
        """Return the places that a route passes, from its source to its end; None if it is none here."""
        found: list[_Place] = [source]
        for link in links:
            one, other = self.ends(link)
            if one == other or found[-1] not in (one, other):
                return None
            found.append(other if found[-1] == one else one)
        return found

    def learn(self, source: str, links: Sequence[str], target: str) -> None:
        """Let each link begin where the one before ends, as far as no other route says otherwise."""
        here: _Place = source
        for at, link in enumerate(links):
            if link not in self._ends:
                self._ends[link] = here, next(self._number)
            one, other = self.ends(link)
            if here not in (one, other):
                following = self._ends.get(links[at + 1], ()) if at + 1 < len(links) else (target,)
                # The end at which the route goes on is the far one; else a vertex with a name is.
                if one in map(self._at, following) or (isinstance(one, str) and isinstance(other, int)):
                    one, other = other, one
                self._join(here, one)
                here = self._at(other)
            else:
                here = other if here == one else one
        self._join(here, target)

    def _at(self, place: _Place) -> _Place:
        found = place
        while isinstance(found, int) and found in self._known:
            found = self._known[found]
        if isinstance(place, int) and place != found:
            self._known[place] = found  # the next time at once
        return found

    def _join(self, one: _Place, other: _Place) -> None:
        """Take two places for one, if at most one of them has a name."""
        one, other = self._at(one), self._at(other)
        if one == other:
            return
        if isinstance(one, int):
            self._known[one] = other
        elif isinstance(other, int):
            self._known[other] = one
