"""Multistage networks of rings: a Banyan whose links are ringlets, or whose lines are long rings.

``terminals`` lines cross the stages as in ``banyan``; line ``x`` before a stage meets exchange ``x // base``.

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
from .family import Count, family
from .graph import Graph, GraphError, Ints, whole
from .ring_graph import Buses, Controllers, check_buses, check_stations, ring_graph
from .rings import MAX_PORTS, MAX_STATIONS
from .sci_switch import names_of_pairs, sender_and_receiver

WIRINGS = ("ringlet", "long-ring")


@family("sci-banyan", "A multistage network of rings from senders P0, P1, … to as many receivers M0, M1, …")
def sci_banyan(
    terminals: Annotated[Count, Field(description="Inputs, and as many outputs: a power of the base")] = 16,
    variant: Variant = "omega",
    base: Annotated[Count, Field(description="Lines that an exchange joins")] = 2,
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
        "parameters": {
            "terminals": terminals,
            "variant": variant,
            "base": base,
            "wiring": wiring,
            "pairs_per_ring": pairs_per_ring,
            "buses": buses,
            "controllers": controllers,
        },
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
