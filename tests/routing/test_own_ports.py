"""Ways of the user's own through rings: what a table gives, and what is said of wrong ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fabriloom import topology
from fabriloom.routing import RoutingError, port_route
from fabriloom.routing.own_ports import own_ports
from fabriloom.routing.rings import PASS, ring_path

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


def rings_passed(source: int, target: int, folder: Path, text: str = WAYS) -> list[str]:
    rings = GRAPH.rings
    assert rings is not None
    links = ring_path(GRAPH, own_ports(GRAPH, written(folder, text)), source, target)
    return list(dict.fromkeys(rings.ring_names[rings.station_ring[link]] for link in links))


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
        (
            "switch,ring,terminal,to",
            "switch|ring|terminal|to",
            "line 1: the columns are separated by bars",
        ),
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
