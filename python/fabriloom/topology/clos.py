"""Folded Clos of three stages (terminal switches, each joined to every centre switch), and of five.

With 32-port switches 64, 128, 256 and 512 terminals are 4, 8, 16 and 32 terminal switches on 2, 4, 8 and 16
centre switches with 8, 4, 2 and 1 cables between each pair.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from .family import Bisection, Count, Several, as_wide_as_terminals, family, limited
from .graph import MAX_TERMINALS, Graph, GraphError, assemble, check_size, whole

MAX_PORTS = 4096


SwitchPorts = Annotated[Several, Field(description="Ports of a switch")]


def _cut(graph: Graph) -> Bisection:
    """Cut half of every centre switch's cables, independently of the division of the terminal switches."""
    parameters = graph.layout["parameters"]
    up = parameters["centre_switches"] * parameters["links_per_pair"]
    edges = graph.terminals // parameters["terminals_per_switch"]
    if edges % 2 == 0:
        method = "half of the terminal switches and of the centre switches each"
        return limited(graph, edges // 2 * up, method)
    # The odd switch stays on one side and half of its terminals' cables are cut. Both terms of the cost are
    # linear in the number of switches on a side, so no cut between this one and cutting all terminals' cables
    # is smaller.
    cables = (edges - 1) // 2 * up + parameters["terminals_per_switch"] // 2
    return limited(graph, cables, "half of the switches, one terminal switch's terminals divided")


@family(
    "clos",
    "A folded Clos network of three stages: terminal switches and centre switches.",
    routing="up-down",
    cut=_cut,
)
def clos(
    terminals: Annotated[
        Several, Field(description="Number of terminals: 64, 128, 256, 512 or any other legal size")
    ],
    switch_ports: SwitchPorts = 32,
    terminals_per_switch: Annotated[
        Count | None, Field(description="Terminals at each terminal switch")
    ] = None,
    centre_switches: Annotated[Count | None, Field(description="Centre switches")] = None,
    links_per_pair: Annotated[
        Count | None, Field(description="Parallel cables between each terminal switch and each centre switch")
    ] = None,
) -> Graph:
    """Build a folded Clos of switches ``edge(i)`` and ``centre(j)`` with terminals ``t(i).k``.

    Half of a terminal switch's ports are for terminals unless ``terminals_per_switch`` is given. The centre
    has the smallest number of switches that gives every terminal switch one cable up per terminal, spread
    evenly.

    Raises:
        GraphError: there are too few ports; the message names the nearest legal sizes.
    """
    if not isinstance(terminals, bool) and isinstance(terminals, int):
        check_size(terminals, 2 * terminals, "terminals")
    whole(switch_ports, "switch_ports", 2, MAX_PORTS, "the ports of a switch")
    per_switch = switch_ports // 2 if terminals_per_switch is None else terminals_per_switch
    most, limits = switch_ports - 1, f"a switch has {switch_ports} ports and needs one to the centre"
    whole(per_switch, "terminals_per_switch", 1, most, "terminals on a terminal switch", limits)
    edges = terminal_switches(terminals, per_switch, switch_ports)
    centres, parallel = _centre(edges, per_switch, switch_ports, centre_switches, links_per_pair)

    names = [f"edge({i})" for i in range(edges)] + [f"centre({j})" for j in range(centres)]
    low, high = np.divmod(np.arange(edges * centres), centres)
    return assemble(
        "clos",
        names,
        np.repeat(np.arange(edges), per_switch),
        (low, edges + high),
        parallel,
        rows([edges, centres]),
        {
            "parameters": {
                "terminals": terminals,
                "switch_ports": switch_ports,
                "terminals_per_switch": per_switch,
                "centre_switches": centres,
                "links_per_pair": parallel,
            },
            "levels": np.repeat(np.array([0, 1], np.int64), [edges, centres]),
        },
    )


def terminal_switches(terminals: int, per_switch: int, switch_ports: int) -> int:
    """Return the number of terminal switches of a three-stage Clos.

    Raises GraphError that names the nearest legal sizes.
    """
    whole(terminals, "terminals", 1, MAX_TERMINALS, "the number of terminals")
    most = per_switch * switch_ports
    if terminals % per_switch == 0 and 2 * per_switch <= terminals <= most:
        return terminals // per_switch
    below = min(max(terminals // per_switch, 2), switch_ports) * per_switch
    near = sorted({below, min(max(below + per_switch, 2 * per_switch), most)})
    powers = [per_switch * 2**power for power in range(1, 13) if 2**power <= switch_ports]
    more = "; larger ones need five stages (clos5)" if terminals > most else ""
    fits = [
        c
        for c in range(switch_ports // 2, 1, -1)
        if terminals % c == 0 and 2 <= terminals // c <= switch_ports
    ]
    instead = f"Set terminals_per_switch = {fits[0]} for exactly {terminals}, or take the " if fits else ""
    raise GraphError(
        f"terminals is {terminals}, which a three-stage Clos of {switch_ports}-port switches with "
        f"{per_switch} terminals each cannot have: legal are the multiples of {per_switch} from "
        f"{2 * per_switch} to {most}{more}. {instead or 'The '}nearest: {' or '.join(map(str, near))}; "
        f"using every port: {', '.join(map(str, powers))}",
        "terminals",
    )


def even_centre(low: int, up: int, switch_ports: int) -> tuple[int, int]:
    """Return the fewest centre switches, and cables per pair, that give ``low`` switches ``up`` cables."""
    for centres in range(1, up + 1):
        if up % centres == 0 and low * (up // centres) <= switch_ports:
            return centres, up // centres
    message = "one cable to each of `up` centres always fits: low <= switch_ports is checked before"
    raise AssertionError(message)


def _centre(
    edges: int, per_switch: int, switch_ports: int, centres: int | None, parallel: int | None
) -> tuple[int, int]:
    """Compute the centre switches and the cables per pair that are not given, and count the ports."""
    room = switch_ports - per_switch
    up = min(per_switch, room)
    if centres is None and parallel is None:
        return even_centre(edges, up, switch_ports)
    if centres is not None:
        limits = f"of switch_ports = {switch_ports}, {room} are left"
        whole(centres, "centre_switches", 1, room, "the centre switches", limits)
    if parallel is not None:
        most, limits = switch_ports // edges, f"{edges} pairs share {switch_ports} ports"
        whole(parallel, "links_per_pair", 1, most, "cables between a pair", limits)
    if centres is None:
        assert parallel is not None
        centres = max(1, min(-(-up // parallel), room // parallel))
    if parallel is None:
        parallel = max(1, min(-(-up // centres), room // centres, switch_ports // edges))
    if centres * parallel > room:
        raise GraphError(
            f"{centres} centre switches with links_per_pair {parallel} take {centres * parallel} ports of "
            f"each terminal switch; of its switch_ports = {switch_ports}, {room} are left beside its "
            f"{per_switch} terminals. Raise switch_ports, or lower one of the three",
            "links_per_pair",
        )
    return centres, parallel


def rows(widths: list[int], height: float | None = None) -> np.ndarray:
    """Return positions of rows of switches, the first row lowest, all spread over the same width."""
    width = max(widths) - 1
    step = (
        height
        if height is not None
        else max(1.5, width / 3.5 / (len(widths) - 1))
        if len(widths) > 1
        else 0.0
    )
    places: list[np.ndarray] = []
    for row, count in enumerate(widths):
        x = (np.arange(count) + 0.5) * (width + 1) / count - 0.5
        y = np.full(count, (len(widths) - 1 - row) * step)
        places.append(np.column_stack([x, y]))
    return np.concatenate(places)


# Five-stage folded Clos: pods of terminal and middle switches, joined by centre switches.
#
# With 32-port switches 1024 terminals are 4 pods of 16 terminal and 16 middle switches and 32 centre
# switches: 160 in all. Middle switch ``j`` of every pod reaches the same group of centre switches, so the
# centre is one small Clos per group.


@family(
    "clos5",
    "A folded Clos network of five stages, for 1024 terminals and more.",
    routing="up-down",
    cut=as_wide_as_terminals,
)
def clos5(
    terminals: Annotated[Several, Field(description="Number of terminals")],
    switch_ports: Annotated[int, Field(ge=4, le=2**20, description="Ports of a switch")] = 32,
) -> Graph:
    """Build a five-stage folded Clos of switches ``edge(p,i)``, ``middle(p,j)`` and ``centre(g,c)``.

    Terminals are ``t(p,i).k``. Half of the ports of each terminal and middle switch lead down, half up. The
    number of terminal switches per pod is the largest divisor of half the ports that divides ``terminals``
    evenly.
    """
    if not isinstance(terminals, bool) and isinstance(terminals, int):
        check_size(terminals, 3 * terminals, "terminals")
    whole(terminals, "terminals", 1, MAX_TERMINALS, "the number of terminals")
    whole(switch_ports, "switch_ports", 4, MAX_PORTS, "the ports of a switch")
    half = switch_ports // 2
    pods, edges = _pods(terminals, half, switch_ports)
    low_parallel = half // edges
    middles = half // low_parallel
    centres, high_parallel = even_centre(pods, half, switch_ports)

    names = [f"edge({pod},{i})" for pod in range(pods) for i in range(edges)]
    names += [f"middle({pod},{j})" for pod in range(pods) for j in range(middles)]
    names += [f"centre({group},{c})" for group in range(middles) for c in range(centres)]
    counts = [pods * edges, pods * middles, middles * centres]
    pod, edge, middle = (index.ravel() for index in np.indices((pods, edges, middles)))
    low = (pod * edges + edge, counts[0] + pod * middles + middle)
    pod, middle, centre = (index.ravel() for index in np.indices((pods, middles, centres)))
    high = (counts[0] + pod * middles + middle, counts[0] + counts[1] + middle * centres + centre)
    return assemble(
        "clos5",
        names,
        np.repeat(np.arange(pods * edges), half),
        (np.concatenate([low[0], high[0]]), np.concatenate([low[1], high[1]])),
        np.repeat([low_parallel, high_parallel], [len(low[0]), len(high[0])]),
        rows(counts, max(2.0, max(counts) / 5)),
        {"levels": np.repeat(np.arange(3), counts), "terminals_per_switch": half, "pods": pods},
    )


def _pods(terminals: int, half: int, switch_ports: int) -> tuple[int, int]:
    """Return the number of pods and of terminal switches in each."""
    sizes = [edges for edges in range(half, 0, -1) if half % edges == 0]
    for edges in sizes:
        pods, rest = divmod(terminals, edges * half)
        if rest == 0 and 2 <= pods <= switch_ports:
            return pods, edges
    legal = sorted({pods * edges * half for edges in sizes for pods in range(2, switch_ports + 1)})
    at = int(np.searchsorted(legal, terminals))
    near = legal[max(at - 1, 0) : at + 1]
    doubled = [2**power for power in range(1, 21) if 2**power in legal]
    raise GraphError(
        f"terminals is {terminals}, which a five-stage Clos of {switch_ports}-port switches cannot have "
        f"evenly. Nearest legal sizes: {' or '.join(map(str, near))}; from {legal[0]} to {legal[-1]}, "
        f"powers of two: {', '.join(map(str, doubled)) or 'none'}",
        "terminals",
    )
