"""What a candidate still delivers after the worst single failure, counted and simulated.

Routing tables stay as they are and groups shrink to the links that are left, see ``studies.failures``;
rebuilt tables may do better.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..compile import compile
from ..results.figures import figures
from ..studies.failures import failures
from ..studies.kinds import inspection_of
from ..studies.left import Left
from .sieve import Looked, Miss

if TYPE_CHECKING:
    from ..scenario import Scenario
    from .schema import Requirements


def suffers(requirements: Requirements, scenario: Scenario, looked: Looked) -> None:
    """Note the worst single failure, and whether too little arrives after it."""
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
    """The failure after which least arrives: its name, that share, and what is written in ``[[fault]]``."""
    compiled = compile(scenario)
    if compiled.graph.rings is not None:
        return "any link of a ring", 0.0, {}
    asked, graph = requirements.require, compiled.graph
    both = not (asked.survive_links or asked.survive_switches)
    ways, found = inspection_of(compiled).ways(), list[Left]()
    for kind, name, dead in failures(graph, "all"):
        ends = np.concatenate([graph.link_source[dead], graph.link_target[dead]])
        if kind == "cable" and (both or asked.survive_links) and np.all(ends < graph.switches):
            found.append(ways.after(kind, name, dead))
        if kind == "switch" and (both or asked.survive_switches) and graph.switches > 1:
            found.append(ways.after(kind, name, dead))
    if not found:
        return "its only switch", 0.0, {}
    worst = min(found, key=lambda left: (left.others_share, left.name))
    return f"{worst.kind} {worst.name}", worst.others_share, {worst.kind: worst.name, "at": "0 s"}
