"""The Dolphin D515 switch module, and the switch of 16 ports built from six of them.

A module has four user ports at 400 MB/s and four expansion ports at 500 MB/s on two B-Links (Belias and
others, *Evaluation of Commercial SCI Components* for the ATLAS trigger, section 4): "separate circuitry (Link
Controllers and B-links) for request and response packets".
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from .family import Count, family
from .graph import Graph, whole
from .ring_graph import check_stations, ring_graph
from .rings import MAX_STATIONS

USER_PORTS = EXPANSION_PORTS = 4
BUSES = 2
USER_BITS_PER_S = 400e6 * 8
EXPANSION_BITS_PER_S = 500e6 * 8
USER_MODULES, EXPANSION_MODULES = 4, 2


TerminalsPerRing = Annotated[Count, Field(description="Terminals at each user port")]
SeparateBuses = Annotated[
    bool,
    Field(description="One bus carries requests and the other responses; false: each carries both"),
]


@family(
    "sci-module",
    "The D515 switch module: four user ports with a ring each, four expansion ports, two buses.",
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


@family(
    "sci-switch-16",
    "The 16-port switch of six D515 modules: four with user ports, two that join them.",
)
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
