"""What the routing tests share: small graphs of their own, random graphs, and a table made by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import networkx as nx
import numpy as np
from fabriloom.cli import check_certificate
from fabriloom.compile import Compiled, compile
from fabriloom.routing import NONE, RouteTable
from fabriloom.scenario import Scenario
from fabriloom.studies import route_choices
from fabriloom.topology import Graph
from hypothesis import strategies as st


def graph_of(switches: int, cables: Iterable[tuple[int, int]], homes: Sequence[int]) -> Graph:
    """Build switches a, b, c, … with cables between them and terminals 0, 1, … on the switches ``homes``."""
    ends = [*cables, *((switches + number, home) for number, home in enumerate(homes))]
    names = [chr(ord("a") + number) for number in range(switches)] + [str(n) for n in range(len(homes))]
    links = [pair for a, b in ends for pair in ((a, b), (b, a))]
    return Graph(
        switch_names=names[:switches],
        terminal_names=names[switches:],
        link_source=np.array([a for a, _ in links], np.int64),
        link_target=np.array([b for _, b in links], np.int64),
        link_reverse=np.arange(len(links)) ^ 1,
        link_names=[f"{names[a]}>{names[b]}#{number // 2}" for number, (a, b) in enumerate(links)],
        family="file",
    )


def proved(scenario: Scenario, seed: int) -> Compiled:
    """Compile a scenario that is said not to deadlock, with certificates that are right."""
    compiled = compile(scenario)
    parts = route_choices.proofs(compiled)
    assert parts is not None, seed
    assert compiled.deadlock.free, seed
    assert [check_certificate.fault(part) for part in parts] == [None] * len(parts), seed
    return compiled


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Connected multigraphs of 2 to 12 switches with 2 to 14 terminals anywhere."""
    switches = draw(st.integers(2, 12))
    number = st.integers(0, switches - 1)
    tree = [(switch, draw(st.integers(0, switch - 1))) for switch in range(1, switches)]
    more = draw(st.lists(st.tuples(number, number).filter(lambda ends: ends[0] != ends[1]), max_size=16))
    return graph_of(switches, [*tree, *more], draw(st.lists(number, min_size=2, max_size=14)))


def by_hand(graph: Graph, ways: dict[tuple[str, str], str]) -> RouteTable:
    """Build a table from {(switch, terminal): links separated by spaces}; local links are filled in."""
    groups: dict[tuple[int, ...], int] = {}
    route = np.full((graph.switches, graph.terminals), NONE, np.uint32)
    local = {
        (graph.vertex_name(int(a)), graph.vertex_name(int(b))): name
        for a, b, name in zip(graph.link_source, graph.link_target, graph.link_names, strict=True)
        if b >= graph.switches
    }
    for (switch, terminal), links in (local | ways).items():
        group = tuple(graph.link_names.index(link) for link in links.split())
        entry = groups.setdefault(group, len(groups)) * 2
        route[graph.switch_names.index(switch), graph.terminal_names.index(terminal)] = entry
    members = np.array([link for group in groups for link in group], np.uint32)
    start = np.cumsum([0, *(len(group) for group in groups)]).astype(np.uint32)
    return RouteTable(
        group_switch=graph.link_source[members[start[:-1]]].astype(np.uint32),
        group_start=start,
        group_links=members,
        rows=route,
        terminal_class=np.arange(graph.terminals, dtype=np.uint32),
    )


def dependencies(graph: Graph, table: RouteTable) -> nx.DiGraph:
    """Return the channel dependency graph, link by link and class by class: slow and plain."""
    found = nx.DiGraph()
    for target in range(graph.terminals):
        for source in range(graph.terminals):
            if source == target:
                continue
            todo = [link for link in range(graph.links) if graph.link_source[link] == graph.switches + source]
            seen = set(todo)
            while todo:
                link = todo.pop()
                vertex = int(graph.link_target[link])
                if vertex >= graph.switches:
                    assert vertex == graph.switches + target
                    continue
                for onward in table.group(int(table.route[vertex, target]) >> 1).tolist():
                    found.add_edge(link, onward)
                    if onward not in seen:
                        seen.add(onward)
                        todo.append(onward)
    return found


def assert_cycle(graph: Graph, cycle: list[int]) -> None:
    """Check that every link of the cycle enters the switch that the next one leaves."""
    assert len(cycle) > 1
    for link, onward in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
        assert graph.link_target[link] == graph.link_source[onward]
