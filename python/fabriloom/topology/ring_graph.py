"""A graph from rings: each ring lists switches and terminals in the order of its links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from .graph import Graph, GraphError, Ints, counted, whole
from .rings import MAX_BUSES, MAX_PORTS, MAX_STATIONS, Rings

Buses = Annotated[int, Field(ge=1, le=4, description="Equal buses of every switch")]
Ports = Annotated[int, Field(ge=2, le=8, description="Ports of the switch")]
Controllers = Annotated[
    Literal["shared", "own"],
    Field(
        description="shared: a port is one station, at all buses of its switch; own: a port is a link "
        "controller for every bus, in a row on its ring"
    ),
]
CONTROLLERS = ("shared", "own")


def check_stations(stations: int, parameter: str) -> None:
    """Refuse absurd sizes before allocating memory; ``stations`` may be a number of any size."""
    if stations > MAX_STATIONS:
        raise GraphError(
            f"{parameter} asks for {counted(stations)} stations; SCI numbers its nodes with 16 bits, so at "
            f"most {MAX_STATIONS:,} are built. Make {parameter} smaller",
            parameter,
        )


def check_buses(buses: object, parameter: str = "buses") -> int:
    """Check a number of buses."""
    return whole(buses, parameter, 1, MAX_BUSES, "the buses of a switch")


def ring_graph(
    family: str,
    rings: Mapping[str, Sequence[str]],
    switches: Mapping[str, int],
    layout: dict[str, Any],
    *,
    terminals: Sequence[str] | None = None,
    roles: Mapping[str, str] | None = None,
    pairs: Sequence[tuple[str, str]] = (),
    ring_rates_bits_per_s: Mapping[str, float] | None = None,
    positions: NDArray[np.float64] | None = None,
    separate_buses: bool = False,
    controllers: str = "shared",
    parameter: str = "rings",
) -> Graph:
    """Build the graph of a ring network.

    Args:
        rings: per ring, its name and its vertices in order.
        switches: per switch, its number of buses; every other name is a terminal.
        terminals: the order of the terminals; default: as the rings name them.
        roles: per terminal "sender", "receiver" or "both" (default).
        pairs: terminals that are each other's partner.
        separate_buses: see :class:`Rings`.
        controllers: "own" replaces a switch with several buses by one per bus, ``s0.0``, ``s0.1``, …, that
            follow each other on its rings.
        parameter: the parameter that errors name.

    Raises:
        GraphError: the result is not a ring network.
    """
    if controllers not in CONTROLLERS:
        message = f"controllers is {controllers!r}; it must be one of {', '.join(CONTROLLERS)}"
        raise GraphError(message, "controllers")
    part_of = None
    if controllers == "own":
        part_of = np.repeat(np.arange(len(switches)), list(switches.values()))
        rings, layout, positions = _one_per_bus(rings, switches, layout, positions)
        switches = {name: 1 for switch in switches for name in _controllers(switch, switches[switch])}
    check_stations(sum(map(len, rings.values())), parameter)
    _check_rings(rings, switches, parameter)
    stations = [name for ring in rings.values() for name in ring]
    if terminals is None:
        terminals = list(dict.fromkeys(name for name in stations if name not in switches))
    number = {name: index for index, name in enumerate([*switches, *terminals])}
    vertex = np.array([number[name] for name in stations], np.int64)
    sizes = np.array([len(ring) for ring in rings.values()], np.int64)
    following = np.arange(1, len(vertex) + 1)
    ends = np.cumsum(sizes)
    following[ends - 1] = ends - sizes
    ports = np.flatnonzero(vertex < len(switches))
    ports = ports[np.argsort(vertex[ports], kind="stable")]
    count = np.bincount(vertex[ports], minlength=len(switches))
    _check_ports(list(switches), count, parameter)
    partner = np.full(len(terminals), -1, np.int64)
    for one, other in pairs:
        a, b = number[one] - len(switches), number[other] - len(switches)
        partner[a], partner[b] = b, a
    rates = ring_rates_bits_per_s
    return Graph(
        switch_names=list(switches),
        terminal_names=list(terminals),
        link_source=vertex,
        link_target=vertex[following],
        link_reverse=np.full(len(vertex), -1, np.int64),
        link_names=_link_names(stations, following),
        family=family,
        layout=layout,
        positions=positions,
        attributes={}
        if rates is None
        else {"rate_bits_per_s": np.repeat(np.array([rates[name] for name in rings], np.float64), sizes)},
        rings=Rings(
            station_next=following,
            station_ring=np.repeat(np.arange(len(sizes)), sizes),
            port_start=np.concatenate([[0], np.cumsum(count)]),
            port_station=ports,
            bus_count=np.array(list(switches.values()), np.int64),
            ring_names=list(rings),
            role=None if roles is None else [roles.get(name, "both") for name in terminals],
            partner=partner,
            part_of=part_of,
            separate_buses=separate_buses,
        ),
    )


def _controllers(switch: str, buses: int) -> list[str]:
    return [switch] if buses == 1 else [f"{switch}.{bus}" for bus in range(buses)]


def _one_per_bus(
    rings: Mapping[str, Sequence[str]],
    switches: Mapping[str, int],
    layout: dict[str, Any],
    positions: NDArray[np.float64] | None,
) -> tuple[Mapping[str, Sequence[str]], dict[str, Any], NDArray[np.float64] | None]:
    """Return rings in which a controller per bus replaces each port, and the controllers' positions."""
    counts = list(switches.values())
    rings = {
        ring: [one for name in names for one in _controllers(name, switches.get(name, 1))]
        for ring, names in rings.items()
    }
    if "levels" in layout:
        layout = layout | {"levels": np.repeat(layout["levels"], counts)}
    if positions is not None:
        bus = np.concatenate([np.arange(count) for count in counts])
        positions = np.repeat(positions, counts, axis=0) + np.stack([0.4 * bus, 0.3 * bus], axis=1)
    return rings, layout, positions


def _check_rings(rings: Mapping[str, Sequence[str]], switches: Mapping[str, int], parameter: str) -> None:
    home: dict[str, str] = {}
    for ring, names in rings.items():
        if len(names) < 2:
            what = f'only "{names[0]}"' if names else "nothing"
            raise GraphError(f"{ring} has {what} on it; a ring has two stations or more", parameter)
        for name, onward in zip(names, [*names[1:], names[0]], strict=True):
            if name in switches:
                if name == onward:
                    message = f'switch "{name}" follows itself on {ring}; leave one of the two out'
                    raise GraphError(message, parameter)
            elif name in home:
                where = f"on {home[name]} and on {ring}" if home[name] != ring else f"twice on {ring}"
                raise GraphError(
                    f'terminal "{name}" is {where}; a terminal is one station. Name it in switches if it '
                    "joins rings",
                    parameter,
                )
            else:
                home[name] = ring
    if not home:
        raise GraphError("no ring has a terminal on it", parameter)


def _check_ports(switches: Sequence[str], count: Ints, parameter: str) -> None:
    for name, ports in zip(switches, count.tolist(), strict=True):
        if ports < 2:
            on = "is on one ring only" if ports else "is on no ring"
            raise GraphError(
                f'switch "{name}" {on}; its bus joins two ports or more. Put it on another ring, or take it '
                "out",
                parameter,
            )
        if ports > MAX_PORTS:
            message = f'switch "{name}" is on rings {ports} times; it has at most {MAX_PORTS} ports'
            raise GraphError(message, parameter)


def _link_names(stations: Sequence[str], following: Ints) -> list[str]:
    """Return ``from>to`` per link, with a number for parallel links."""
    names = [f"{name}>{stations[onward]}" for name, onward in zip(stations, following.tolist(), strict=True)]
    total: dict[str, int] = {}
    for name in names:
        total[name] = total.get(name, 0) + 1
    seen: dict[str, int] = {}
    numbered = []
    for name in names:
        place = seen[name] = seen.get(name, -1) + 1
        numbered.append(f"{name}#{place}" if total[name] > 1 else name)
    return numbered
