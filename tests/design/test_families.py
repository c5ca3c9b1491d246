"""Formulas of families agree with built networks; counts of failures agree with networkx and by trial.

The reference page of requirements is that of the schema.

Every wrong file of ``tests/cases/design`` gives exactly the message that stands at its head.
"""

from __future__ import annotations

import os
import random
from itertools import combinations
from pathlib import Path

import networkx
import numpy as np
import pytest
from expects import assert_told, names_in, unpack
from fabriloom import topology
from fabriloom.design import design, load
from fabriloom.design.families import SHAPES, Wanted
from fabriloom.design.schema import page
from fabriloom.design.sieve import least_cables, least_switches
from fabriloom.scenario import ScenarioError
from fabriloom.topology import measure

SWITCHED = [name for name in SHAPES if topology.kind_of(name).cables]


@pytest.mark.parametrize("family", SWITCHED)
@pytest.mark.parametrize("terminals", [12, 16, 32, 60])
def test_shapes_are_as_they_are_built(family: str, terminals: int) -> None:
    shapes = list(SHAPES[family].make(Wanted(terminals, 24, {})))
    for shape in random.Random(f"{family} {terminals}").sample(shapes, min(12, len(shapes))):
        counts = measure.counts(topology.build(family, **shape.parameters))
        ports = counts.terminals + 2 * counts.switch_cables
        found = (counts.terminals, counts.switches, counts.ports_used_max, ports, counts.cables)
        assert found == (shape.terminals, shape.switches, shape.ports_max, shape.ports, shape.cables), shape


@pytest.mark.parametrize("family", SWITCHED)
def test_no_narrow_place_is_too_narrow(family: str) -> None:
    """The load of even traffic never allows more than a narrow place of the family does."""
    from fabriloom import routing

    for shape in list(SHAPES[family].make(Wanted(18, 16, {})))[::7][:8]:
        graph = topology.build(family, **shape.parameters)
        full = 1 / routing.channel_loads(graph, routing.build(graph)).max()
        for inside, links in shape.cuts:
            crossing = inside * (shape.terminals - inside) / (shape.terminals - 1)
            assert full <= links / crossing * 1.000001, shape


def test_every_family_is_made() -> None:
    for name, family in SHAPES.items():
        assert list(family.make(Wanted(64, 32, {}))), name


GRAPHS = [
    ("grid", {"shape": [3, 4], "terminals_per_switch": 2}, 2, 2),
    ("torus", {"shape": [4, 4], "terminals_per_switch": 1}, 4, 4),
    ("tree", {"arity": 3, "depth": 2, "terminals_per_switch": 2}, 1, 1),
    ("ring", {"switches": 6, "terminals_per_switch": 1, "links_per_edge": 2}, 4, 2),
    ("clos", {"terminals": 16, "switch_ports": 8, "centre_switches": 2, "links_per_pair": 2}, 4, 2),
    ("hypercube", {"dimensions": 3}, 3, 3),
]


@pytest.mark.parametrize(("family", "parameters", "cables", "switches"), GRAPHS)
def test_least_failures(family: str, parameters: dict[str, object], cables: int, switches: int) -> None:
    graph = topology.build(family, **parameters)
    assert (least_cables(graph), least_switches(graph)) == (cables, switches)
    assert least_cables(graph, 2) == min(cables, 2)


def test_least_switches_by_trial() -> None:
    """In random graphs it is the size of the smallest set that parts two others, tried one by one."""
    dice = random.Random(5)
    for _ in range(12):
        drawn = networkx.gnp_random_graph(7, 0.45, seed=dice.randrange(10**6))
        if not networkx.is_connected(drawn):
            continue
        graph = topology.from_networkx(drawn, terminals_per_switch=1)
        assert least_switches(graph, 6) == _by_trial(drawn, 6)
        assert least_cables(graph) == networkx.edge_connectivity(drawn)


def test_failures_of_terminals_with_several_ports() -> None:
    """Two equal networks have twice the cables, and a switch of each has to fail. Two ports of a terminal at
    one switch are as one.
    """
    two = topology.build(
        "clos", terminals=16, switch_ports=8, centre_switches=2, links_per_pair=2, replicate=2
    )
    assert (least_cables(two), least_switches(two)) == (8, 2)
    both = topology.build("crossbar", terminals=6, replicate=3)
    assert (least_cables(both, 4), least_switches(both)) == (4, 3)
    network = {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 2}
    large = topology.build("planes", planes=[{"name": "p0", "network": network, "ports_per_terminal": 2}])
    assert (least_cables(large), least_switches(large)) == (2, 2)


def _by_trial(graph: networkx.Graph, most: int) -> int:
    for count in range(1, len(graph) - 1):
        for gone in combinations(graph, count):
            if not networkx.is_connected(graph.subgraph(set(graph) - set(gone))):
                return min(count, most)
    return most


def test_cables_lie_along_rows_and_columns() -> None:
    from fabriloom.design.sieve import metres

    graph = topology.build("grid", shape=[3, 2], links_per_edge=2)
    assert np.isclose(metres(graph, 1.5), 2 * 7 * 1.5)


PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "requirements.md"


def test_the_page_is_current() -> None:
    if os.environ.get("FABRILOOM_EXPECT") == "write":
        PAGE.write_text(page(), encoding="utf-8")
    assert page() == PAGE.read_text(encoding="utf-8")


FOLDER = Path(__file__).resolve().parent.parent / "cases" / "design"


def message_of(file: Path) -> str:
    """What a user reads who gives this file to the command."""
    with pytest.raises(ScenarioError) as caught:
        design(load(file), finalists=1)
    return f"{caught.value}\n"


@pytest.mark.parametrize("name", names_in(FOLDER))
def test_message(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(unpack(FOLDER, tmp_path))
    assert_told(Path(name), message_of, FOLDER)
