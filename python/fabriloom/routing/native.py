"""Calls of the compiled core: pass arrays, return tables and named errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..topology.graph import AS_CABLES, Graph
from .table import RouteTable, RoutingError, Runs, Shared, check_size

SHARED_ABOVE = 1 << 22
"""Adaptive tables with more entries than this have a column per switch, which its terminals share."""
RUNS_ABOVE = SHARED_ABOVE
"""Tables of such columns with more entries than this are kept as runs, if these are few."""


def numbers(values: ArrayLike) -> NDArray[np.uint32]:
    """Return a contiguous array of 32-bit numbers."""
    return np.ascontiguousarray(values, dtype=np.uint32).ravel()


class Core:
    """The compiled core with one graph; its errors name the graph's switches, terminals and links."""

    def __init__(
        self,
        graph: Graph,
        parameter: str | None = "kind",
        entered: str = "by-senders",
        rings: NDArray[np.uint32] | None = None,
    ) -> None:
        from .._native import RouteNetwork

        self.graph = graph
        self.parameter = parameter
        ends = numbers(graph.link_source), numbers(graph.link_target)
        limits = SHARED_ABOVE, RUNS_ABOVE
        self._network: Any = self.named(RouteNetwork)(
            graph.switches, graph.terminals, *ends, *limits, entered, numbers(() if rings is None else rings)
        )

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return self.named(getattr(self._network, name))

    def named(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its errors turned into ``RoutingError``."""
        return partial(self._call, function)

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except ValueError as error:
            words = error.args[0] if error.args else ""
            if not isinstance(words, list):
                raise
            message = "".join(self._name(kind, value) for kind, value in words)
            named = [(kind, int(value)) for kind, value in words if kind in ("switch", "terminal", "link")]
            found = RoutingError(message, self.parameter, named)
            if message.startswith("no way from"):
                found.hint = self._one_way()
            raise found from None

    def _one_way(self) -> str:
        """Return what to do where links of a file have no opposite direction, perhaps by an oversight."""
        graph = self.graph
        alone = np.flatnonzero(graph.link_reverse < 0)
        if not len(alone) or graph.family not in ("file", "inline"):
            return ""
        name = graph.link_names[alone[0]]
        return f"{len(alone):,} of {graph.links:,} links have no way back, such as {name}; {AS_CABLES}"

    def _name(self, kind: str, value: str) -> str:
        names = {
            "switch": self.graph.switch_names,
            "terminal": self.graph.terminal_names,
            "link": self.graph.link_names,
        }.get(kind)
        return names[int(value)] if names is not None else value

    def table(
        self, rule: str, arguments: tuple[Any, ...], spread: str, via: ArrayLike, kind: str
    ) -> RouteTable:
        """Build a table by a rule of the core; classes are those of the terminals, then of ``via``."""
        via_switch = numbers(via)
        self.check_size(spread, via_switch, runs=True)
        made = getattr(self, rule)(*arguments, spread, via_switch)
        return table_of(self.graph, made, via_switch, kind)

    def ways(self, table: tuple[NDArray[np.uint32], ...], sends: NDArray[np.float64]) -> Any:
        """Return the paths of all packets of a table."""
        from .._native import RouteWays

        return self.named(RouteWays)(self._network, table, sends)

    def check_size(self, spread: str, via: NDArray[np.uint32], runs: bool = False) -> None:
        """Raise ``RoutingError`` if the table of a rule would be too large; ``runs``: the core looks at those
        that may have them.
        """
        switches, columns = self.graph.switches, self.graph.terminals + len(via)
        shared = spread == "adaptive" and switches * columns > SHARED_ABOVE
        if shared:
            columns = len(np.unique(self.graph.terminal_exit_switches)) + len(via)
        if not (shared and runs) or len(via):
            check_size(switches, columns, self.parameter, shared)


def table_of(graph: Graph, made: tuple[Any, ...], via: NDArray[np.uint32], kind: str) -> RouteTable:
    """Return the table of the columns that the core made: classes of the terminals, then of ``via``."""
    (group_switch, group_start, group_links), (rows, start, end), (column, exit_), _ = made
    terminals = graph.terminals
    if not len(start):
        rows = rows.reshape(graph.switches, -1 if graph.switches else terminals + len(via))
    return RouteTable(
        group_switch=group_switch,
        group_start=group_start,
        group_links=group_links,
        rows=rows,
        terminal_class=np.arange(terminals, dtype=np.uint32),
        via_switch=via,
        via_class=np.arange(terminals, terminals + len(via), dtype=np.uint32),
        shared=Shared(column, exit_) if len(column) else None,
        runs=Runs(start, end) if len(start) else None,
        kind=kind,
    )


class RingCore(Core):
    """The compiled core with a ring network."""

    def __init__(self, graph: Graph, parameter: str | None = "kind") -> None:
        from .._native import RingNetwork

        if not graph.network_kind.buses:
            raise RoutingError(f"a {graph.family} has no rings; its routing is a table of groups", parameter)
        self.graph = graph
        self.parameter = parameter
        rings = graph.own_rings
        ports = numbers(rings.port_start), numbers(rings.port_station)
        stations = numbers(graph.terminal_out_links)
        self._network: Any = self.named(RingNetwork)(numbers(rings.station_next), *ports, stations)


def columns(table: RouteTable) -> tuple[NDArray[np.uint32], ...]:
    """Return the columns of a table in the order in which the core takes them."""
    shared = [()] * 2 if table.shared is None else [table.shared.column, table.shared.exit]
    runs = [()] * 2 if table.runs is None else [table.runs.start, table.runs.end]
    return (
        numbers(table.group_start),
        numbers(table.group_links),
        numbers(table.rows),
        numbers(table.terminal_class),
        numbers(table.via_switch),
        numbers(table.via_class),
        *map(numbers, shared),
        *map(numbers, runs),
    )
