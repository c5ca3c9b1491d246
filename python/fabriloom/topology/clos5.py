"""Five-stage folded Clos: pods of terminal and middle switches, joined by centre switches.

With 32-port switches 1024 terminals are 4 pods of 16 terminal and 16 middle switches and 32 centre switches:
160 in all. Middle switch ``j`` of every pod reaches the same group of centre switches, so the centre is one
small Clos per group.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from .clos import MAX_PORTS, SwitchPorts, even_centre, rows
from .family import Count, as_wide_as_terminals, family
from .graph import MAX_TERMINALS, Graph, GraphError, assemble, check_size, whole


@family(
    "clos5",
    "A folded Clos network of five stages, for 1024 terminals and more.",
    routing="up-down",
    cut=as_wide_as_terminals,
)
def clos5(
    terminals: Annotated[Count, Field(description="Number of terminals")], switch_ports: SwitchPorts = 32
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
        lambda switch, number: f"t{switch[4:]}.{number}",
        (np.concatenate([low[0], high[0]]), np.concatenate([low[1], high[1]])),
        np.repeat([low_parallel, high_parallel], [len(low[0]), len(high[0])]),
        {
            "parameters": {"terminals": terminals, "switch_ports": switch_ports},
            "levels": np.repeat(np.arange(3), counts),
            "terminals_per_switch": half,
            "pods": pods,
        },
        rows(counts, max(2.0, max(counts) / 5)),
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
        "evenly. "
        f"Nearest legal sizes: {' or '.join(map(str, near))}; from {legal[0]} to {legal[-1]}, powers of two: "
        f"{', '.join(map(str, doubled)) or 'none'}",
        "terminals",
    )
