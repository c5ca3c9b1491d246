"""Calls of the compiled core: pass arrays, return tables and named errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..topology.graph import Graph
from .table import RouteTable, RoutingError, check_size


def numbers(values: ArrayLike) -> NDArray[np.uint32]:
    """Return a contiguous array of 32-bit numbers."""
    return np.ascontiguousarray(values, dtype=np.uint32).ravel()


class Core:
    """The compiled core with one graph; its errors name the graph's switches, terminals and links."""

    def __init__(self, graph: Graph, parameter: str | None = "kind") -> None:
        from .._native import RouteNetwork

        self.graph = graph
        self.parameter = parameter
        ends = numbers(graph.link_source), numbers(graph.link_target)
        self._network: Any = self.named(RouteNetwork)(graph.switches, graph.terminals, *ends)

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
            raise RoutingError(message, self.parameter, named) from None

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
        check_size(self.graph.switches, self.graph.terminals + len(via_switch), self.parameter)
        made = getattr(self, rule)(*arguments, spread, via_switch)
        group_switch, group_start, group_links, route = made
        terminals = self.graph.terminals
        return RouteTable(
            group_switch=group_switch,
            group_start=group_start,
            group_links=group_links,
            route=route.reshape(self.graph.switches, terminals + len(via_switch)),
            terminal_class=np.arange(terminals, dtype=np.uint32),
            via_switch=via_switch,
            via_class=np.arange(terminals, terminals + len(via_switch), dtype=np.uint32),
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
    return (
        numbers(table.group_start),
        numbers(table.group_links),
        numbers(table.route),
        numbers(table.terminal_class),
        numbers(table.via_switch),
        numbers(table.via_class),
    )
