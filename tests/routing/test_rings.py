"""Tables of ports of ring networks: the ways they give, what they share, and what waits for what on them.

Several tables of the ports, by which the transactions of a terminal go one after the other.

Ways of the user's own through rings: what a table gives, and what is said of wrong ones.
"""

from __future__ import annotations

from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from fabriloom import Scenario, run, topology
from fabriloom.routing import PASS, RoutingError, port_route
from fabriloom.routing.even import ring_loads
from fabriloom.routing.own_ports import own_ports
from fabriloom.routing.rings import BLOCK, PortRoute, ring_dependency_cycle, ring_segments, rings_of
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


SWITCH = topology.build("sci-switch-16")
BY_TRANSACTION = {"kind": "fewest-buses", "by_transaction": True}


def one_flow(routing: dict[str, Any]) -> Scenario:
    """From the first to the last terminal of the switch of 16 ports, which two modules join."""
    return Scenario.from_dict(
        {
            "topology": {"kind": "sci-switch-16"},
            "routing": routing,
            "traffic": {
                "pattern": {"kind": "flows", "flows": [{"source": "t0", "target": "t15", "rate": "20 MB/s"}]}
            },
            "run": {"duration": "1 ms", "warmup": "0.1 ms", "precision": 0.0},
        }
    )


def test_every_table_takes_the_same_and_deals_it_out_otherwise() -> None:
    first, second = port_route(SWITCH, by_transaction=True).tables()
    entries = [table.exits[table.blocks] for table in (first, second)]
    usual = port_route(SWITCH)
    assert np.array_equal(entries[0] == PASS, entries[1] == PASS)
    assert not np.array_equal(entries[0], entries[1])
    assert np.array_equal(entries[0], usual.exits[usual.blocks])


@pytest.mark.parametrize(
    ("kind", "given"), [("sci-ring", {"terminals": 4}), ("sci-module", {}), ("sci-torus", {"shape": [3, 3]})]
)
def test_where_there_is_one_way_there_is_one_table(kind: str, given: dict[str, Any]) -> None:
    assert port_route(topology.build(kind, **given), by_transaction=True).turns == 1


def test_loads_are_spread_over_the_ways() -> None:
    pair = np.array([0]), np.array([15]), np.array([2.0])
    nobody = np.zeros(16)
    by_target = ring_loads(SWITCH, port_route(SWITCH), pair, nobody).bus_requests
    spread = ring_loads(SWITCH, port_route(SWITCH, by_transaction=True), pair, nobody).bus_requests
    assert sorted(by_target) == [0.0, 0.0, 0.0, 2.0, 2.0, 2.0]
    assert sorted(spread) == [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]


def test_packets_of_a_pair_take_turns() -> None:
    """Half of the requests and of the responses cross each module; else one has all the requests."""
    busy = []
    for routing in ({"kind": "fewest-buses"}, BY_TRANSACTION):
        buses = run(one_flow(routing)).buses
        assert buses is not None
        busy.append(
            sorted(buses.filter(buses["switch"].str.starts_with("expansion"))["utilisation"].to_list())
        )
    (least, most), shared = busy
    assert most > 2 * least > 0
    assert shared == pytest.approx([(least + most) / 2] * 2, rel=0.02)


def test_senders_behind_one_port_share_it_alike() -> None:
    """The answers of the receivers have a bus of their own, and do not decide whose request goes next."""
    flows = [{"source": f"t{4 * port}", "target": f"t{port - 1}", "rate": "90 MB/s"} for port in (1, 2, 3)]
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "sci-module", "terminals_per_ring": 4},
            "technology": {"preset": "sci-lc2", "port_requests_out": 2},
            "traffic": {"pattern": {"kind": "flows", "flows": flows}},
            "run": {"duration": "1 ms", "warmup": "0.2 ms", "precision": 0.0},
            "output": {"flows": True},
        }
    )
    rates = run(scenario).flows["mbytes_per_s"].to_list()
    assert len(rates) == 3
    assert max(rates) < 60
    assert min(rates) > 0.9 * max(rates)


RINGS = {
    "left": ["a", "b", "west"],
    "right": ["c", "d", "east"],
    "high": ["west", "east"],
    "low": ["west", "east"],
}
GRAPH = topology.build("sci-rings", rings=RINGS, switches=["west", "east"])
WAYS = """switch,ring,terminal,to
west,left,right,high
west,left,d,low
east,high,right,right
east,low,right,right
east,right,left,low
west,low,left,left
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "ways.csv"
    path.write_text(text)
    return path


def rings_passed(source: int, target: int, folder: Path) -> list[str]:
    rings = GRAPH.rings
    assert rings is not None
    passed = ring_segments(GRAPH, own_ports(GRAPH, written(folder, WAYS)), source, target)
    return [rings.ring_names[rings.station_ring[station]] for station, _ in passed]


def test_packets_go_as_the_table_says(tmp_path: Path) -> None:
    assert rings_passed(0, 2, tmp_path) == ["left", "high", "right"]
    # A row for the terminal itself goes before one for its ring.
    assert rings_passed(0, 3, tmp_path) == ["left", "low", "right"]
    assert rings_passed(2, 0, tmp_path) == ["right", "low", "left"]
    assert rings_passed(0, 1, tmp_path) == ["left"]


@pytest.mark.parametrize(
    "family", [{"kind": "sci-switch", "terminals_per_ring": 3}, {"kind": "sci-torus", "shape": [3, 2]}]
)
def test_the_usual_ways_written_as_a_table_are_the_same(tmp_path: Path, family: dict) -> None:
    graph = topology.build(**family)
    usual, rings = port_route(graph), graph.rings
    assert rings is not None
    lines = ["switch,ring,terminal,to"]
    for port, station in enumerate(rings.port_station.tolist()):
        switch = int(rings.port_switch[port])
        for terminal, name in enumerate(graph.terminal_names):
            exit_port = usual.exit(port, terminal)
            if exit_port != PASS:
                to = int(rings.port_station[rings.port_start[switch] + exit_port])
                cells = [graph.switch_names[switch], graph.link_names[station], name, graph.link_names[to]]
                lines.append(",".join(f'"{cell}"' for cell in cells))
    own = own_ports(graph, written(tmp_path, "\n".join(lines)))
    for column in range(usual.blocks.shape[1]):
        assert np.array_equal(own.exits[own.blocks[:, column]], usual.exits[usual.blocks[:, column]])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("west,left,d,low", "wast,left,d,low", 'line 3: there is no switch "wast"; did you mean "west"?'),
        (
            "west,left,d,low",
            "west,right,d,low",
            'line 3: west is not on a ring "right"; it is on left, high, low',
        ),
        ("west,left,d,low", "west,left,e,low", 'line 3: there is no terminal or ring "e"'),
        (
            "west,left,d,low",
            "west,left,d,left",
            'line 3: packets cannot leave west where they came, by "left"',
        ),
        ("west,left,d,low", "west,left,right,low", "line 3: this destination was given in line 2 already"),
        ("east,high,right,right\n", "", "packets from a to c do not arrive: no row takes them off"),
        ("east,high,right,right", "east,high,right,low", "do not arrive"),
        ("switch,ring", "switch;ring", "unknown column"),
        ("switch,ring,terminal,to", "switch|ring|terminal|to", "line 1: the columns are separated by bars"),
        ("ring,terminal", "ring,terminl", 'line 1: unknown column "terminl"; did you mean "terminal"?'),
        (",to\n", "\n", 'line 1: the column "to" is missing'),
    ],
)
def test_wrong_tables_are_refused_with_their_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(RoutingError) as caught:
        own_ports(GRAPH, written(tmp_path, WAYS.replace(old, new, 1)))
    assert message in str(caught.value)
    assert caught.value.parameter == "path"


def test_ports_on_one_ring_are_told_apart_by_their_links(tmp_path: Path) -> None:
    graph = topology.build("sci-rings", rings=[["a", "s", "b", "s"], ["c", "s"]], switches=["s"])
    with pytest.raises(RoutingError, match=r's is on "ring\(0\)" 2 times; name the link .* "s>b" or "s>a"'):
        own_ports(graph, written(tmp_path, "switch,ring,terminal,to\ns,ring(0),c,ring(1)\n"))
    ways = "switch,ring,terminal,to\ns,s>b,c,ring(1)\ns,s>a,c,ring(1)\ns,ring(1),a,s>a\ns,ring(1),b,s>b\n"
    own_ports(graph, written(tmp_path, ways))
