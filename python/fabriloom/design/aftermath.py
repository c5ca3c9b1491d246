"""The share that a candidate delivers after the worst single failure, counted and simulated.

Routing tables stay unchanged, and groups shrink to the remaining links, see ``studies.failures``;
rebuilt tables may do better.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compile import compile
from ..results.figures import figures
from ..scenario import Scenario
from ..studies.failures import failures
from ..studies.kinds import inspection_of
from ..topology import Graph
from .schema import Requirements
from .sieve import Looked, Miss


def suffers(requirements: Requirements, scenario: Scenario, looked: Looked) -> None:
    """Record the worst single failure, and whether too little arrives after it."""
    asked = requirements.require
    if asked.after_failure is None:
        return
    name, have, ahead = _worst(requirements, scenario)
    looked.facts |= {"after_failure": have, "worst_failure": name, "failure": ahead}
    if have < asked.after_failure:
        text = f"{figures(100 * have, 3)} % of the packets arrive after the failure of {name}, "
        text += f"{figures(100 * asked.after_failure, 3)} % are asked"
        looked.misses.append(Miss(("require", "after_failure"), have, asked.after_failure, text))


def _worst(requirements: Requirements, scenario: Scenario) -> tuple[str, float, dict[str, Any]]:
    """Return the worst failure: its name, the delivered share, and its ``[[fault]]`` table."""
    compiled = compile(scenario)
    ways = inspection_of(compiled).ways()
    found = [ways.after(*one) for one in _counted(requirements, compiled.graph)]
    if not found:
        return "its only switch", 0.0, {}
    worst = min(found, key=lambda left: (left.others_share, left.name))
    return f"{worst.kind} {worst.name}", worst.others_share, {worst.kind: worst.name, "at": "0 s"}


def _counted(requirements: Requirements, graph: Graph) -> Iterator[tuple[str, str, NDArray[np.int64]]]:
    """Return the failures that count: of cables between switches, of one cable of each ring, of switches."""
    asked = requirements.require
    both = not (asked.survive_links or asked.survive_switches)
    found = list(failures(graph, "all"))
    if both or asked.survive_links:
        yield from _cables(graph, [one for one in found if one[0] != "switch"])
    if (both or asked.survive_switches) and graph.switches > 1:
        yield from (one for one in found if one[0] == "switch")


def _cables(
    graph: Graph, found: list[tuple[str, str, NDArray[np.int64]]]
) -> Iterator[tuple[str, str, NDArray[np.int64]]]:
    """Return those of cables between switches, on rings the first of each ring: any other breaks as much."""
    seen = set[int]()
    for kind, name, dead in found:
        if graph.network_kind.cables:
            ends = np.concatenate([graph.link_source[dead], graph.link_target[dead]])
            if np.all(ends < graph.switches):
                yield kind, name, dead
            continue
        ring = int(graph.own_rings.station_ring[dead[0]])
        if ring not in seen:
            seen.add(ring)
            yield kind, name, dead
