"""Requirements on messages of programs: how long those that are chosen may take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..programs import Programs
from ..programs.kinds import ANY, FIRST_SPECIAL, SEND
from ..scenario import Scenario
from ..topology import Graph
from ..traffic import TrafficError
from ..traffic.names import Terminals


@dataclass(frozen=True)
class Required:
    """The requirement of messages, in the words of the table of requirements of flows."""

    chosen: tuple[int, int, int]
    """Source, target and tag; -1: any."""
    flow: str
    source: str
    target: str
    packet_bytes: int
    """The longest of them."""
    requirement_ns: float
    row: int = -1
    bound_ns: float | None = None
    no_bound: str = "delays of messages depend on the programs"


def required(scenario: Scenario, graph: Graph, programs: Programs) -> Iterator[Required]:
    """Yield the requirements on messages. Raises ScenarioError if no program sends such messages."""
    rows = (scenario.protocol and scenario.protocol.requirements) or []
    terminals, names = Terminals(graph.terminal_names), graph.terminal_names
    for number, row in enumerate(rows):
        path = ("protocol", "requirements", number)
        ends = {"source": -1, "target": -1}
        for name in ends:
            key = getattr(row, name)
            if key is not None:
                try:
                    ends[name] = terminals.one(key, name)
                except TrafficError as error:
                    raise scenario.error(error.message, (*path, name), error.hint) from error
        source, target = ends.values()
        tag = -1 if row.tag is None else row.tag
        by, to = (names[one] if one >= 0 else "any" for one in (source, target))
        fits = _fitting(programs, source, target, tag)
        if not fits.any():
            message = "no program sends such a message"
            raise scenario.error(message, path, "correct source, target or tag, or remove it")
        label = row.name or f"{by}:{to}" + ("" if tag < 0 else f" tag {tag}")
        longest = int(programs.size_bytes[fits].max())
        yield Required((source, target, tag), label, by, to, longest, row.within_ps / 1000)


def _fitting(programs: Programs, source: int, target: int, tag: int) -> np.ndarray:
    """Return the sends that may make such messages; what the message received last names may be any."""
    fits = programs.kind == SEND
    if source >= 0:
        fits &= programs.terminal == source
    for wanted, column in ((target, programs.peer), (tag, programs.tag)):
        if wanted >= 0:
            fits &= (column == wanted) | ((column >= FIRST_SPECIAL) & (column != ANY))
    return fits
