"""Rings joined by one switch, also one that is built of modules, and multistage networks of such switches.

Of a multistage network ``terminals`` lines cross the stages as in ``banyan``; line ``x`` before a stage meets
exchange ``x // base``.

=========  ==============================================================================================
ringlet    every line between two stages, and between a stage and a node, is a ring of two stations; an
           exchange is a switch of ``2 base`` ports. Packets cross a bus in every stage.
long-ring  the line that goes straight through every exchange (in and out at the same place) is one ring,
           from a sender through all stages to a receiver and back; an exchange is a switch of ``base``
           ports, passed by ``base`` rings. A packet for the receiver on its ring crosses no bus. This is
           the first-grade optimised network for base 2, the second-grade one for more (Richter, Kleber,
           Ohlenroth 1999, section 6.7).
=========  ==============================================================================================

Long rings close without extra wiring if the straight line from input ``i`` ends at output ``i``. Otherwise
the output's receiver stays on the ring, and the wire back to the sender is a permutation.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from .banyan import Variant, inverse, lines_before
from .family import Count, Several, family
from .graph import Graph, GraphError, Ints, whole
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
    check_buses(buses)
    pairs = list(zip(senders, receivers, strict=True))
    return ring_graph(
        "sci-long-rings",
        rings,
        {"s0": buses},
        {},
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
    return ring_graph(
        "sci-module",
        rings,
        {"s0": BUSES},
        {},
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
        {},
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


WIRINGS = ("ringlet", "long-ring")


@family("sci-banyan", "A multistage network of rings from senders P0, P1, … to as many receivers M0, M1, …")
def sci_banyan(
    terminals: Annotated[Several, Field(description="Inputs, and as many outputs: a power of the base")] = 16,
    variant: Variant = "omega",
    base: Annotated[Several, Field(description="Lines that an exchange joins")] = 2,
    wiring: Annotated[
        Literal["ringlet", "long-ring"],
        Field(
            description="ringlet: a ring at every line, an exchange is a switch of twice the base's ports; "
            "long-ring: rings pass straight through all stages, an exchange is a switch of the base's ports"
        ),
    ] = "ringlet",
    pairs_per_ring: Annotated[
        Count, Field(description="Senders at each input, receivers at each output")
    ] = 1,
    buses: Buses = 1,
    controllers: Controllers = "shared",
) -> Graph:
    """Build a multistage network of rings with ``terminals`` inputs and as many outputs.

    ``pairs_per_ring``: senders at each input and receivers at each output. Sender ``Pi`` and receiver ``Mj``
    are partners if the straight line from the input of ``Pi`` ends at the output of ``Mj``, in both wirings.
    """
    if wiring not in WIRINGS:
        raise GraphError(f"wiring is {wiring!r}; it must be one of {', '.join(WIRINGS)}", "wiring")
    ringlet = wiring == "ringlet"
    most = MAX_PORTS // 2 if ringlet else MAX_PORTS
    ports = f"with {wiring} wiring an exchange is a switch of {'2 base' if ringlet else 'base'} ports"
    whole(base, "base", 2, most, "the lines of an exchange", ports)
    whole(pairs_per_ring, "pairs_per_ring", 1, MAX_STATIONS, "the senders at each input")
    whole(terminals, "terminals", base, MAX_STATIONS, "a power of base", f"base is {base}")
    check_buses(buses)
    before = lines_before(terminals, variant, base)
    stages = len(before) - 1
    check_stations(terminals * (stages * (2 if ringlet else 1) + 2 * pairs_per_ring), "terminals")

    straight = _straight_lines(before)
    closes = bool((straight[-1] == np.arange(terminals)).all())
    rings = (
        _ringlets(before, base, pairs_per_ring) if ringlet else _long_rings(straight, base, pairs_per_ring)
    )
    senders, receivers = names_of_pairs(terminals * pairs_per_ring)
    partners = (straight[-1][:, None] * pairs_per_ring + np.arange(pairs_per_ring)).ravel()
    pairs = [(sender, receivers[other]) for sender, other in zip(senders, partners.tolist(), strict=True)]
    per_stage = terminals // base
    layout: dict[str, Any] = {
        "base": base,
        "stages": stages,
        "variant": variant,
        "wiring": wiring,
        "levels": np.repeat(np.arange(stages), per_stage),
        "closes_without_wiring": closes,
    }
    return ring_graph(
        "sci-banyan",
        rings,
        {_exchange(stage, number): buses for stage in range(stages) for number in range(per_stage)},
        layout,
        terminals=[*senders, *receivers],
        roles=sender_and_receiver(pairs),
        pairs=pairs,
        positions=_positions(stages, per_stage),
        controllers=controllers,
        parameter="terminals",
    )


def _exchange(stage: int, number: int) -> str:
    return f"s({stage},{number})"


def _positions(stages: int, per_stage: int) -> np.ndarray:
    spread = max(2.0, per_stage / (2.0 * max(stages - 1, 1)))
    return np.stack(np.divmod(np.arange(stages * per_stage), per_stage), axis=1) * np.array([spread, 1.0])


def _straight_lines(before: list[Ints]) -> list[Ints]:
    """Return, per stage and after the last one, the line of the straight path from each input."""
    lines, line = [], np.arange(len(before[0]))
    for permutation in before:
        line = permutation[line]
        lines.append(line)
    return lines


def _long_rings(straight: list[Ints], base: int, pairs_per_ring: int) -> dict[str, list[str]]:
    """Return each straight line as a ring: senders, one port in every stage, receivers."""
    count = len(straight[0])
    senders, receivers = names_of_pairs(count * pairs_per_ring)
    ways = [line.tolist() for line in straight]
    rings = {}
    for line in range(count):
        out = ways[-1][line]
        rings[f"ring({line})"] = [
            *senders[line * pairs_per_ring : (line + 1) * pairs_per_ring],
            *(_exchange(stage, way[line] // base) for stage, way in enumerate(ways[:-1])),
            *receivers[out * pairs_per_ring : (out + 1) * pairs_per_ring],
        ]
    return rings


def _ringlets(before: list[Ints], base: int, pairs_per_ring: int) -> dict[str, list[str]]:
    """Return one ring per line before every stage and after the last one."""
    count, stages = len(before[0]), len(before) - 1
    senders, receivers = names_of_pairs(count * pairs_per_ring)
    rings = {}
    for line, place in enumerate(before[0].tolist()):
        here = senders[line * pairs_per_ring : (line + 1) * pairs_per_ring]
        rings[f"in({line})"] = [*here, _exchange(0, place // base)]
    for stage in range(1, stages):
        for line, place in enumerate(before[stage].tolist()):
            here = [_exchange(stage - 1, line // base), _exchange(stage, place // base)]
            rings[f"line({stage},{line})"] = here
    for out, line in enumerate(inverse(before[stages]).tolist()):
        here = receivers[out * pairs_per_ring : (out + 1) * pairs_per_ring]
        rings[f"out({out})"] = [_exchange(stages - 1, line // base), *here]
    return rings
