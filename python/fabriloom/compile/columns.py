"""Columns and helpers that both kinds of network share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _native, codes
from ..scenario import Scenario
from ..scenario.errors import Path
from ..technology import RingTechnology, Technology, TechnologyError
from ..technology.model import Ps, Rate
from ..topology import Graph
from ..topology.named import UnknownPartError, vertices_of
from ..traffic.kinds import rate_of

Arrays = dict[str, Any]
Times = dict[str, NDArray[Any]]
Tenths = NDArray[np.int64]
"""Per link: the assumed load of its opposite direction, in tenths, 0 to 10."""


def unused() -> Arrays:
    """Return every column of the engine empty and every scalar 0: a network without any feature."""
    return {**{name: 0 for name, _ in _native.scalars()}, **codes.unused()}


def per_link(
    graph: Graph,
    times_of: Callable[[Rate | None, float | None, int], Mapping[str, Ps]],
    beside: NDArray[np.int64] | None = None,
) -> Times:
    """Return the times in ps of every link, as ``times_of(rate_bits_per_s, length_m, beside)`` computes them.

    Rate and length are None if the topology does not give the link its own. ``beside`` is an optional further
    number per link.
    """
    rates = graph.attributes.get("rate_bits_per_s")
    lengths = graph.attributes.get("length_m")
    other = np.zeros(graph.links) if beside is None else beside
    if rates is None and lengths is None:  # much faster than row by row
        kind_of = np.asarray(other, np.int64)
        numbers = np.arange(kind_of.max(initial=0) + 1)
        kinds = np.stack([np.full(len(numbers), -1.0), np.full(len(numbers), -1.0), numbers], axis=1)
    else:
        rate = np.full(graph.links, np.nan) if rates is None else np.asarray(rates, np.float64)
        length = np.full(graph.links, np.nan) if lengths is None else np.asarray(lengths, np.float64)
        keys = np.stack([np.nan_to_num(rate, nan=-1.0), np.nan_to_num(length, nan=-1.0), other], axis=1)
        kinds, kind_of = np.unique(keys, axis=0, return_inverse=True)
    rows = [times_of(rate_of(r), None if m < 0 else float(m), int(b)) for r, m, b in kinds.tolist()]
    return {name: whole([row[name] for row in rows])[kind_of.ravel()] for name in rows[0]}


def whole(values: Sequence[Ps]) -> NDArray[Any]:
    """Return a column of whole numbers, or of fractions if one of them is none."""
    return np.array(values, np.int64 if all(isinstance(value, int) for value in values) else object)


def with_lengths(scenario: Scenario, graph: Graph, technology: Technology) -> Graph:
    """Return the graph with the length that stands for each given delay of a cable. Raises ScenarioError."""
    delays = graph.attributes.get("delay_ps")
    if delays is None:
        return graph
    if not technology.cable_delay_ps_per_m:
        message = f"cables of {scenario.technology.preset} have no delay, so the file can give them none"
        raise scenario.error(message, ("topology",), "set technology.cable_delay, or leave the delays out")
    lengths = graph.attributes.get("length_m", np.full(graph.links, np.nan))
    lengths = np.where(np.isnan(delays), lengths, delays / technology.cable_delay_ps_per_m)
    return replace(graph, attributes={**graph.attributes, "length_m": lengths})


def check_rates(scenario: Scenario, graph: Graph, technology: Technology | RingTechnology) -> None:
    """Refuse link rates of the topology that the technology cannot have."""
    rates = graph.attributes.get("rate_bits_per_s")
    if rates is None:
        return
    fastest = int(np.argmax(np.nan_to_num(rates, nan=-1.0)))
    if not rates[fastest] > 0:
        return
    try:
        technology.check_rate(rate_of(float(rates[fastest])))
    except TechnologyError as error:
        message = f"the rate of {graph.link_names[fastest]} is too high: {error.message}"
        raise scenario.error(message, ("topology",), error.hint) from error


def vertices_named(scenario: Scenario, graph: Graph, kind: str, name: str | int, path: Path) -> list[int]:
    """Return the vertices of a switch, or of the ports of a terminal. Raises ScenarioError."""
    try:
        return vertices_of(graph, kind, name)
    except UnknownPartError as error:
        raise scenario.error(error.message, path, error.hint) from error


def refuse_beside(scenario: Scenario, what: str, others: Mapping[str, tuple[Path, bool]]) -> None:
    """Raise ScenarioError if one of the others, each with its setting and whether it is there, is there."""
    for other, (path, is_there) in others.items():
        if is_there:
            message = f"{what} is not defined beside {other}"
            raise scenario.error(message, path, "remove one of the two", key=True)


def terminal_links(graph: Graph) -> Arrays:
    """Return the columns of the link on which each port sends, and of the link on which it receives."""
    return {
        "terminal_out_link": u32(graph.terminal_out_links),
        "terminal_in_link": u32(graph.terminal_in_links),
    }


def u32(values: Any) -> NDArray[np.uint32]:
    """Return a column of 32-bit numbers."""
    return np.ascontiguousarray(values, np.uint32)


def fill(count: int, value: int) -> NDArray[np.uint32]:
    """Return a column with the same number in every row."""
    return np.full(count, value, np.uint32)
