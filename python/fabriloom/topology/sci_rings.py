"""Rings: one, two, those of a torus, and the user's own, as names in order from the scenario or a file.

A CSV file has the columns ``ring`` and ``vertex``, one line per station in the order of its ring, and
``buses``: a number for a switch (on one of its lines at least), nothing for a terminal. A JSON file is
``{"rings": …, "switches": …}`` with both as in the scenario; ``rings`` may also be an object by name.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated, Any, NoReturn

import numpy as np
from pydantic import Field

from .. import reading
from ..reading import ReadError
from .family import Count, Several, TerminalsPerSwitch, family
from .file import content_of, read_error
from .graph import Graph, GraphError, whole
from .grid import checked_shape, lattice_positions
from .joined import Member, join
from .ring_graph import Buses, Controllers, check_buses, check_stations, ring_graph
from .rings import MAX_PORTS, MAX_STATIONS


@family("sci-ring", "One ring of terminals.")
def sci_ring(terminals: Annotated[Several, Field(description="Number of terminals")]) -> Graph:
    """Build one ring of terminals ``t0``, ``t1``, …, each sending to the next."""
    count = whole(terminals, "terminals", 2, MAX_STATIONS, "the stations of the ring")
    rings = {"ring": [f"t{number}" for number in range(count)]}
    return ring_graph("sci-ring", rings, {}, {}, parameter="terminals")


@family("sci-dual-ring", "Two rings of the same terminals in opposite directions.")
def sci_dual_ring(terminals: Annotated[Several, Field(description="Number of terminals")]) -> Graph:
    """Build two rings of the terminals ``t0``, ``t1``, …: each has a port on both.

    On the first each sends to the next one, on the second to the one before.
    """
    count = whole(terminals, "terminals", 2, MAX_STATIONS // 2, "the stations of each ring")
    names = [f"t{number}" for number in range(count)]
    members = []
    for way, around in enumerate((names, [names[0], *names[:0:-1]])):
        layout = {"parameters": {"terminals": count}}
        graph = ring_graph(
            "sci-dual-ring", {"ring": around}, {}, layout, terminals=names, parameter="terminals"
        )
        members.append(Member(f"way{way}", graph, np.arange(count), np.full(count, way)))
    return replace(join(members, names), layout={"parameters": {"terminals": count}})


@family("sci-bridge", "Two rings of terminals, joined by a switch of two ports.")
def sci_bridge(
    terminals: Annotated[Count, Field(description="Terminals on each of the two rings")],
    buses: Buses = 1,
    controllers: Controllers = "shared",
) -> Graph:
    """Build two rings of ``terminals`` terminals each, joined by a switch of two ports.

    The first ring has the terminals ``t0``, ``t1``, …, the second the following numbers.
    """
    count = whole(terminals, "terminals", 1, MAX_STATIONS // 2 - 1, "the terminals on each ring")
    rings = {
        f"ring({side})": ["s0", *(f"t{number}" for number in range(side * count, (side + 1) * count))]
        for side in range(2)
    }
    switch = {"s0": check_buses(buses)}
    return ring_graph("sci-bridge", rings, switch, {}, controllers=controllers, parameter="terminals")


# A torus of rings: one ring along every line of every dimension, and a ringlet with the terminals.


@family(
    "sci-torus",
    "Rings along every dimension of a torus; the terminals of a switch have a ringlet of their own.",
)
def sci_torus(
    shape: Annotated[
        list[Count],
        Field(min_length=1, max_length=7, description="Switches along each dimension, such as [8, 8]"),
    ],
    terminals_per_switch: TerminalsPerSwitch = 1,
    buses: Buses = 1,
) -> Graph:
    """Build a torus of switches ``s(i,j,…)`` with terminals ``t(i,j,…).k``.

    Each switch has a port on one ring of every dimension, in the order of ``shape``, and a last one on the
    ring of its terminals. Rings lead upwards and round the border; a dimension of one switch has none.
    """
    sides = checked_shape(shape, terminals_per_switch)
    whole(terminals_per_switch, "terminals_per_switch", 1, MAX_STATIONS, "the terminals at each switch")
    lines = [dimension for dimension, side in enumerate(sides) if side > 1]
    if not 1 <= len(lines) < MAX_PORTS:
        raise GraphError(
            f"shape has {len(lines)} dimensions of two switches or more; a switch has at most {MAX_PORTS} "
            "ports, one of them for its terminals",
            "shape",
        )
    switches = prod(sides)
    check_stations(switches * (len(lines) + 1 + terminals_per_switch), "shape")
    rings = {}
    for dimension in lines:
        for start in product(*(range(1 if at == dimension else side) for at, side in enumerate(sides))):
            line = [(*start[:dimension], step, *start[dimension + 1 :]) for step in range(sides[dimension])]
            free = ",".join("*" if at == dimension else str(x) for at, x in enumerate(start))
            rings[f"ring({free})"] = ["s" + _place(place) for place in line]
    places = list(product(*map(range, sides)))
    for place in places:
        home = _place(place)
        terminals = [f"t{home}.{number}" for number in range(terminals_per_switch)]
        rings[f"ring{home}"] = ["s" + home, *terminals]
    check_buses(buses)
    return ring_graph(
        "sci-torus",
        rings,
        {"s" + _place(place): buses for place in places},
        {"shape": list(sides), "coordinates": np.array(places, np.int64), "wrap": True},
        positions=lattice_positions(np.array(places, np.int64), sides),
        parameter="shape",
    )


def _place(place: Sequence[int]) -> str:
    return "(" + ",".join(map(str, place)) + ")"


ROLES = ("sender", "receiver", "both")
COLUMNS = ("ring", "vertex", "buses")


def sci_rings(
    rings: Sequence[Sequence[str]] | Mapping[str, Sequence[str]] | None = None,
    switches: Sequence[str] | Mapping[str, int] | None = None,
    path: str | Path | None = None,
    sha256: str | None = None,
    roles: Mapping[str, str] | None = None,
) -> Graph:
    """Build a network from rings of names; a name that is not among the switches is a terminal.

    ``switches``: names, or numbers of buses by name. ``path``: a CSV or JSON file instead of both;
    ``sha256``: checksum that it must have. ``roles``: terminals that only send ("sender") or only receive
    ("receiver"). Raises ``GraphError``.
    """
    parameter = "rings"
    if path is not None:
        if rings is not None or switches is not None:
            raise GraphError("rings and switches are in the file; leave them out, or leave out path", "path")
        rings, switches, parameter = *_read(Path(path), sha256), "path"
    if rings is None:
        raise GraphError('sci-rings needs "rings", or the "path" of a file with them', "rings")
    named, buses = _checked_rings(rings, parameter), _checked_switches(switches, parameter)
    for name in buses:
        if not any(name in ring for ring in named.values()):
            message = f'switch "{name}" is on no ring; its bus joins two ports or more'
            raise GraphError(message, _blame(parameter))
    _check_roles(roles, {name for ring in named.values() for name in ring} - set(buses))
    parameters = {"rings": [list(ring) for ring in named.values()], "switches": dict(buses)}
    layout = {"parameters": parameters | ({} if roles is None else {"roles": dict(roles)})}
    try:
        pairs = _partners(named, buses, roles or {})
        return ring_graph("sci-rings", named, buses, layout, roles=roles, pairs=pairs, parameter=parameter)
    except GraphError as error:
        if path is None:
            raise
        raise GraphError(f"{path}: {error}", "path") from None


def _partners(
    rings: Mapping[str, Sequence[str]], switches: Mapping[str, int], roles: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return the partners for local traffic: on each ring the senders and the receivers in their order, and
    the terminals with both roles if there are two.
    """
    found: list[tuple[str, str]] = []
    for ring in rings.values():
        terminals = [name for name in ring if name not in switches]
        own = {role: [name for name in terminals if roles.get(name, "both") == role] for role in ROLES}
        found += zip(own["sender"], own["receiver"], strict=False)
        found += [(own["both"][0], own["both"][1])] if len(own["both"]) == 2 else []
    return found


def _check_roles(roles: Mapping[str, str] | None, terminals: set[str]) -> None:
    if roles is not None and not isinstance(roles, Mapping):
        raise GraphError('roles must be a table of roles by terminals, such as {t0 = "sender"}', "roles")
    for name, role in (roles or {}).items():
        if name not in terminals:
            near = difflib.get_close_matches(str(name), terminals, 1)
            hint = f' Did you mean "{near[0]}"?' if near else ""
            raise GraphError(f'roles has "{name}", which is no terminal on a ring.{hint}', "roles")
        if role not in ROLES:
            message = f'the role of "{name}" is {role!r}; it must be one of {", ".join(ROLES)}'
            raise GraphError(message, "roles")


def _blame(parameter: str) -> str:
    return parameter if parameter == "path" else "switches"


def _checked_rings(rings: Any, parameter: str) -> dict[str, list[str]]:
    if isinstance(rings, Mapping):
        named = dict(rings)
    elif isinstance(rings, Sequence) and not isinstance(rings, str):
        named = {f"ring({number})": ring for number, ring in enumerate(rings)}
    else:
        named = {}
    if not named:
        raise GraphError("rings must be a list of rings, each a list of names", parameter)
    for ring, names in named.items():
        if isinstance(names, str) or not isinstance(names, Sequence):
            raise GraphError(f"{ring} is {names!r}; it must be a list of names", parameter)
        for name in names:
            if not isinstance(name, str) or not name:
                raise GraphError(f"{ring} has {name!r} on it; a station is named by a text", parameter)
    return {str(ring): list(names) for ring, names in named.items()}


def _checked_switches(switches: Any, parameter: str) -> dict[str, int]:
    blame = _blame(parameter)
    if switches is None:
        return {}
    if isinstance(switches, str) or not isinstance(switches, Mapping | Sequence):
        raise GraphError("switches must be a list of names, or numbers of buses by name", blame)
    for name in switches:
        if not isinstance(name, str) or not name:
            raise GraphError(f"switches has {name!r}; a switch is named by a text", blame)
    buses = switches if isinstance(switches, Mapping) else dict.fromkeys(switches, 1)
    if len(buses) < len(switches):
        twice = next(name for name in switches if list(switches).count(name) > 1)
        raise GraphError(f'switches has "{twice}" twice', blame)
    for count in buses.values():
        check_buses(count, blame)
    return dict(buses)


def _read(path: Path, sha256: str | None) -> tuple[Any, Any]:
    content = content_of(path, sha256)
    suffix = path.suffix.lower()
    if suffix not in (".json", ".csv"):
        message = f'{path}: the extension "{path.suffix}" says no format; formats are csv, json'
        raise GraphError(message, "path")
    try:
        text = reading.text_of(content, str(path))
        return _read_json(path, text) if suffix == ".json" else _read_csv(path, text)
    except ReadError as error:
        raise read_error(path, error) from None


def _read_json(path: Path, text: str) -> tuple[Any, Any]:
    data = reading.json_data(text, str(path))
    if not isinstance(data, dict) or "rings" not in data:
        _fail(path, "", 'the file must be an object with "rings" and "switches"')
    return data["rings"], data.get("switches")


def _read_csv(path: Path, text: str) -> tuple[dict[str, list[str]], dict[str, int]]:
    rings: dict[str, list[str]] = {}
    switches: dict[str, int] = {}
    for line, row in reading.named_rows(text, str(path), COLUMNS, ("buses",)):
        ring, vertex, buses = (row[column] for column in COLUMNS)
        where = f"line {line}"
        if not ring or not vertex:
            _fail(path, where, "a line is the name of a ring and of a switch or terminal on it")
        rings.setdefault(ring, []).append(vertex)
        if buses:
            number = int(buses) if buses.isascii() and buses.isdigit() and len(buses) < 10 else None
            if number is None or switches.get(vertex, number) != number:
                message = f'buses is "{buses[:40]}"; it must be a number, the same on every line of a switch'
                _fail(path, where, message)
            switches[vertex] = number
    return rings, switches


def _fail(path: Path, where: str, message: str) -> NoReturn:
    raise GraphError(": ".join(part for part in (str(path), where, message) if part), "path")
