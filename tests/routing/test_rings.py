"""Tables of ports of ring networks: the ways they give, what they share, and what waits for what on them."""

from __future__ import annotations

from hashlib import sha256
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pytest
from fabriloom import topology
from fabriloom.routing import PASS, RoutingError, port_route
from fabriloom.routing.rings import BLOCK, PortRoute, ring_dependency_cycle, rings_of
from fabriloom.topology import Graph
from numpy.typing import NDArray

Entries = NDArray[np.uint8]


def entries(graph: Graph, route: PortRoute) -> Entries:
    """Spell a table out, one row of entries per port."""
    rows = route.exits[route.blocks].reshape(rings_of(graph).ports, -1)
    assert (rows[:, graph.terminals :] == PASS).all()
    return rows[:, : graph.terminals]


def table(rows: Entries) -> PortRoute:
    """Put rows of entries into blocks, equal or not."""
    width = -(-rows.shape[1] // BLOCK)
    padded = np.full((len(rows), width * BLOCK), PASS, np.uint8)
    padded[:, : rows.shape[1]] = rows
    return PortRoute(
        np.arange(len(rows) * width, dtype=np.uint32).reshape(-1, width), padded.reshape(-1, BLOCK)
    )


def torus(*shape: int, per_switch: int = 1) -> Graph:
    """A torus of rings."""
    return topology.build("sci-torus", shape=list(shape), terminals_per_switch=per_switch)


@pytest.mark.parametrize(
    "shape", [(2,), (5,), (3, 2), (4, 4), (1, 4), (3, 1, 2), (3, 4, 2), (2, 3, 2, 2), (9, 8), (2, 65)]
)
@pytest.mark.parametrize("per_switch", [1, 3])
def test_a_torus_goes_by_the_lowest_dimension_left(shape: tuple[int, ...], per_switch: int) -> None:
    graph = torus(*shape, per_switch=per_switch)
    places = np.array(list(product(*map(range, shape))))[:, np.array(shape) > 1]
    lines = places.shape[1]
    # By switch, terminal and dimension: whether it is to be gone along.
    left = (places[:, None] != places[None, :]).repeat(per_switch, axis=1)
    onward = np.where(left.any(axis=2), left.argmax(axis=2), lines)
    expected = np.full((len(places), lines + 1, graph.terminals), PASS)
    for line in range(lines):
        expected[:, line] = np.where(left[:, :, line], PASS, onward)
    expected[:, lines] = np.where(onward == lines, PASS, onward)
    assert np.array_equal(entries(graph, port_route(graph)), expected.reshape(-1, graph.terminals))


TABLES: list[tuple[str, dict[str, Any], str]] = [
    ("sci-torus", {"shape": [32, 32]}, "2397640965d55db6"),
    ("sci-torus", {"shape": [16, 16, 4], "terminals_per_switch": 5}, "a3601f2b24ca8053"),
    ("sci-banyan", {"terminals": 512}, "645095281040e5cf"),
    ("sci-banyan", {"terminals": 64, "wiring": "long-ring", "pairs_per_ring": 3}, "f504d4ad5584d255"),
    ("sci-banyan", {"terminals": 27, "variant": "baseline", "base": 3}, "9bec372d529d5db3"),
    (
        "sci-banyan",
        {"terminals": 64, "variant": "butterfly", "base": 4, "pairs_per_ring": 3},
        "a20d8c0ab207eb5f",
    ),
    ("sci-switch-16", {"terminals_per_ring": 5}, "125f9357b932f4eb"),
    ("sci-module", {"terminals_per_ring": 5, "terminals_per_expansion_ring": 2}, "cb74ba305578c31f"),
    ("sci-long-rings", {"ports": 5, "pairs_per_ring": 5}, "692b0dca3c13e426"),
]


@pytest.mark.parametrize(("kind", "parameters", "digest"), TABLES)
def test_ways_stay_what_they_were(kind: str, parameters: dict[str, Any], digest: str) -> None:
    graph = topology.build(kind, **parameters)
    assert sha256(entries(graph, port_route(graph)).tobytes()).hexdigest()[:16] == digest


def test_a_table_grows_with_what_differs() -> None:
    """A byte per port and terminal would be 50 MB, and 805 MB for 128 x 128."""
    route = port_route(torus(64, 64))
    assert route.blocks.nbytes + route.exits.nbytes < 50e6 / 15
    assert len(route.exits) < 5 * 64


def chain(*terminals: int, closed: bool) -> Graph:
    """Rings with so many terminals, each joined to the next by a switch, the last to the first if closed."""
    rings, places = [], iter(range(sum(terminals)))
    for ring, count in enumerate(terminals):
        names = [f"t{next(places)}" for _ in range(count)]
        before = [f"s{ring}"] if ring or closed else []
        after = [f"s{(ring + 1) % len(terminals)}"] if ring + 1 < len(terminals) or closed else []
        rings.append([*before, *names, *after])
    switches = [f"s{ring}" for ring in range(0 if closed else 1, len(terminals))]
    return topology.build("sci-rings", rings=rings, switches=switches)


def waits(graph: Graph, rows: Entries) -> Any:
    """Walk all ways, one packet after the other: an edge from each station to the one that it waits for."""
    rings, found = rings_of(graph), nx.DiGraph()
    homes = graph.terminal_out_links
    for source, target in product(range(graph.terminals), repeat=2):
        station, seen = int(homes[source]), set[int]()
        while source != target and station not in seen:
            seen.add(station)
            taker, exit = station, PASS
            while exit == PASS:
                taker = int(rings.station_next[taker])
                port = rings.station_port[taker]
                exit = PASS if port < 0 else int(rows[port, target])
                if taker in (station, homes[target]):
                    break
            if exit == PASS:
                break
            onward = int(rings.port_station[rings.port_start[graph.link_source[taker]] + exit])
            found.add_edge(station, onward)
            station = onward
    return found


@pytest.mark.parametrize("seed", range(16))
def test_dependencies_are_those_of_every_single_packet(seed: int) -> None:
    draw = np.random.default_rng(seed)
    graph = chain(*(int(size) for size in draw.integers(1, 40, 5)), closed=seed % 3 == 0)
    rings = rings_of(graph)
    rows = entries(graph, port_route(graph)).copy()
    for _ in range(draw.integers(0, 9)):
        port, first = draw.integers(rings.ports), draw.integers(graph.terminals)
        other = 1 - port % 2
        rows[port, first : first + draw.integers(1, 30)] = PASS if draw.random() < 0.5 else other
    cycle, wait = ring_dependency_cycle(graph, table(rows)), waits(graph, rows)
    assert (cycle is None) == nx.is_directed_acyclic_graph(wait)
    for station, onward in zip(cycle or [], [*(cycle or [])[1:], *(cycle or [])[:1]], strict=True):
        assert wait.has_edge(station, onward)


def test_equal_tables_have_equal_cycles_however_they_are_kept() -> None:
    graph = chain(30, 30, 30, 30, closed=True)
    route = port_route(graph)
    assert len(route.exits) < len(table(entries(graph, route)).exits)
    cycle = ring_dependency_cycle(graph, route)
    assert cycle
    assert cycle == ring_dependency_cycle(graph, table(entries(graph, route)))


@pytest.mark.parametrize("wrong", ["short", "unknown block", "unknown port"])
def test_a_table_that_does_not_fit_is_refused(wrong: str) -> None:
    graph = torus(3, 3)
    route = port_route(graph)
    blocks, exits = route.blocks.copy(), route.exits.copy()
    if wrong == "short":
        blocks = blocks[1:]
    elif wrong == "unknown block":
        blocks[0, 0] = len(exits)
    else:
        exits[0, 0] = 3
    with pytest.raises(RoutingError, match="does not fit the network"):
        ring_dependency_cycle(graph, PortRoute(blocks, exits))
