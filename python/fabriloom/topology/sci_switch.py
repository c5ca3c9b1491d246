"""One switch: with a ringlet at every port, with long rings through its ports, or built of modules."""

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


# The Dolphin D515 switch module, and the switch of 16 ports built from six of them.
#
# A module has four user ports at 400 MB/s and four expansion ports at 500 MB/s on two B-Links (Belias and
# others, *Evaluation of Commercial SCI Components* for the ATLAS trigger, section 4): "separate circuitry
# (Link Controllers and B-links) for request and response packets".

USER_PORTS = EXPANSION_PORTS = 4
BUSES = 2
USER_BITS_PER_S = 400e6 * 8
EXPANSION_BITS_PER_S = 500e6 * 8
USER_MODULES, EXPANSION_MODULES = 4, 2


TerminalsPerRing = Annotated[Count, Field(description="Terminals at each user port")]
SeparateBuses = Annotated[
    bool, Field(description="One bus carries requests and the other responses; false: each carries both")
]


@family(
    "sci-module", "The D515 switch module: four user ports with a ring each, four expansion ports, two buses."
)
def sci_module(
    terminals_per_ring: TerminalsPerRing = 1,
    terminals_per_expansion_ring: Annotated[
        int,
        Field(ge=0, le=2**20, description="Terminals at each expansion port; 0: these ports are left open"),
    ] = 0,
    separate_buses: SeparateBuses = True,
) -> Graph:
    """Build one module with a ring of ``terminals_per_ring`` terminals at each of its four user ports.

    ``terminals_per_expansion_ring``: terminals at each of the four expansion ports; 0: these ports are open
    and are not stations. ``separate_buses``: one of the two buses carries requests and the other responses;
    False: each carries both.
    """
    user = whole(terminals_per_ring, "terminals_per_ring", 1, MAX_STATIONS, "the terminals at a user port")
    what = "the terminals at an expansion port"
    more = whole(terminals_per_expansion_ring, "terminals_per_expansion_ring", 0, MAX_STATIONS, what)
    check_stations(USER_PORTS * (user + 1) + EXPANSION_PORTS * (more + 1), "terminals_per_ring")
    rings, rates = _user_rings("s0", "user", range(USER_PORTS), user)
    if more:
        ringlets, _ = _user_rings("s0", "expansion", range(EXPANSION_PORTS), more, USER_PORTS * user)
        rings |= ringlets
        rates |= dict.fromkeys(ringlets, EXPANSION_BITS_PER_S)
    parameters = {
        "terminals_per_ring": user,
        "terminals_per_expansion_ring": more,
        "separate_buses": separate_buses,
    }
    return ring_graph(
        "sci-module",
        rings,
        {"s0": BUSES},
        {"parameters": parameters},
        ring_rates_bits_per_s=rates,
        parameter="terminals_per_ring",
        separate_buses=separate_buses,
    )


@family("sci-switch-16", "The 16-port switch of six D515 modules: four with user ports, two that join them.")
def sci_switch_16(terminals_per_ring: TerminalsPerRing = 1, separate_buses: SeparateBuses = True) -> Graph:
    """Build the switch of 16 user ports: four modules ``user(m)``, joined by two modules ``expansion(x)``.

    A ringlet joins one expansion port of every user module to one of every expansion module. All four ports
    of the expansion modules are then used, and two of each user module are open. ``separate_buses``: see
    :func:`sci_module`.
    """
    count = whole(terminals_per_ring, "terminals_per_ring", 1, MAX_STATIONS, "the terminals at a user port")
    links = USER_MODULES * EXPANSION_MODULES
    check_stations(USER_MODULES * USER_PORTS * (count + 1) + 2 * links, "terminals_per_ring")
    rings: dict[str, list[str]] = {}
    rates: dict[str, float] = {}
    for module in range(USER_MODULES):
        ports = range(module * USER_PORTS, (module + 1) * USER_PORTS)
        here, speed = _user_rings(f"user({module})", "user", ports, count)
        rings |= here
        rates |= speed
    for module in range(USER_MODULES):
        for other in range(EXPANSION_MODULES):
            rings[f"expansion({module},{other})"] = [f"user({module})", f"expansion({other})"]
            rates[f"expansion({module},{other})"] = EXPANSION_BITS_PER_S
    switches = [f"user({module})" for module in range(USER_MODULES)]
    switches += [f"expansion({module})" for module in range(EXPANSION_MODULES)]
    return ring_graph(
        "sci-switch-16",
        rings,
        dict.fromkeys(switches, BUSES),
        {"parameters": {"terminals_per_ring": count, "separate_buses": separate_buses}},
        ring_rates_bits_per_s=rates,
        parameter="terminals_per_ring",
        separate_buses=separate_buses,
    )


def _user_rings(
    switch: str, name: str, ports: range, count: int, first: int = 0
) -> tuple[dict[str, list[str]], dict[str, float]]:
    """Return one ring of ``count`` terminals per port, numbered by port from ``first``, and its rate."""
    rings = {
        f"{name}({port})": [switch, *(f"t{first + port * count + number}" for number in range(count))]
        for port in ports
    }
    return rings, dict.fromkeys(rings, USER_BITS_PER_S)
