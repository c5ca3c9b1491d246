"""One switch: with a ringlet at every port, or with long rings that pass through its ports."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .family import Count, family
from .graph import Graph, GraphError, whole
from .ring_graph import Buses, Controllers, Ports, check_buses, check_stations, ring_graph
from .rings import MAX_PORTS, MAX_STATIONS

ROLES = ("both", "pairs")


@family("sci-switch", "One switch with a ringlet of terminals at every port.")
def sci_switch(
    ports: Ports = 4,
    terminals_per_ring: Annotated[Count, Field(description="Terminals at each port")] = 1,
    buses: Buses = 1,
    controllers: Controllers = "shared",
    roles: Annotated[
        Literal["both", "pairs"],
        Field(
            description="both: every terminal sends and receives; pairs: the first half of the ports have "
            "senders P0, P1, …, the second half receivers M0, M1, …"
        ),
    ] = "both",
) -> Graph:
    """Build a switch with one ring per port.

    ``roles``: "both": every terminal ``t0``, ``t1``, … sends and receives; "pairs": the first half of the
    ports have senders ``P0``, ``P1``, …, the second half receivers ``M0``, ``M1``, …, and ``Pi`` is the
    partner of ``Mi``.
    """
    whole(ports, "ports", 2, MAX_PORTS, "the ports of the switch")
    whole(terminals_per_ring, "terminals_per_ring", 1, MAX_STATIONS, "the terminals at each port")
    check_stations(ports * (terminals_per_ring + 1), "terminals_per_ring")
    if roles not in ROLES:
        raise GraphError(f"roles is {roles!r}; it must be one of {', '.join(ROLES)}", "roles")
    paired = roles == "pairs"
    if paired and ports % 2:
        raise GraphError(f"ports is {ports}; half senders and half receivers need an even number", "ports")
    count = ports * terminals_per_ring
    half = count // 2
    names = [f"t{number}" for number in range(count)]
    if paired:
        names = [*(f"P{number}" for number in range(half)), *(f"M{number}" for number in range(half))]
    rings = {
        f"ring({port})": ["s0", *names[port * terminals_per_ring : (port + 1) * terminals_per_ring]]
        for port in range(ports)
    }
    parameters = {"ports": ports, "terminals_per_ring": terminals_per_ring, "buses": check_buses(buses)}
    pairs = list(zip(names[:half], names[half:], strict=True)) if paired else []
    return ring_graph(
        "sci-switch",
        rings,
        {"s0": buses},
        {"parameters": {**parameters, "roles": roles, "controllers": controllers}},
        roles=sender_and_receiver(pairs) if paired else None,
        pairs=pairs,
        controllers=controllers,
        parameter="terminals_per_ring",
    )


@family("sci-long-rings", "One switch with a long ring through every port: senders, the port, receivers.")
def sci_long_rings(
    ports: Ports = 4,
    pairs_per_ring: Annotated[Count, Field(description="Senders, and as many receivers, on each ring")] = 1,
    buses: Buses = 1,
    controllers: Controllers = "shared",
) -> Graph:
    """Build a switch with one long ring per port: senders, port, receivers.

    Senders are ``P0``, ``P1``, …, receivers ``M0``, ``M1``, …, ``pairs_per_ring`` of each on a ring; ``Pi``
    and ``Mi`` are partners and need no bus.
    """
    whole(ports, "ports", 2, MAX_PORTS, "the ports of the switch")
    whole(pairs_per_ring, "pairs_per_ring", 1, MAX_STATIONS, "the senders on each ring")
    check_stations(ports * (2 * pairs_per_ring + 1), "pairs_per_ring")
    count = ports * pairs_per_ring
    senders, receivers = names_of_pairs(count)
    rings = {}
    for port in range(ports):
        here = slice(port * pairs_per_ring, (port + 1) * pairs_per_ring)
        rings[f"ring({port})"] = [*senders[here], "s0", *receivers[here]]
    parameters = {"ports": ports, "pairs_per_ring": pairs_per_ring, "buses": check_buses(buses)}
    pairs = list(zip(senders, receivers, strict=True))
    return ring_graph(
        "sci-long-rings",
        rings,
        {"s0": buses},
        {"parameters": parameters | {"controllers": controllers}},
        terminals=[*senders, *receivers],
        roles=sender_and_receiver(pairs),
        pairs=pairs,
        controllers=controllers,
        parameter="pairs_per_ring",
    )


def names_of_pairs(count: int) -> tuple[list[str], list[str]]:
    """Return the names of ``count`` senders and the same number of receivers."""
    return [f"P{number}" for number in range(count)], [f"M{number}" for number in range(count)]


def sender_and_receiver(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Return the role of each terminal of the pairs: the first sends, the second receives."""
    return {name: role for pair in pairs for name, role in zip(pair, ("sender", "receiver"), strict=True)}
