"""Cables besides those of a family or a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fabriloom
import pytest
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.studies import inspection
from fabriloom.topology import FAMILIES, Graph, GraphError, build, edge_list
from fabriloom.topology.kinds import kind_of
from fabriloom.topology.measure import counts

GRID = {"kind": "grid", "shape": [3, 3]}
CORNERS = [["s(0,0)", "s(2,2)"], ["s(0,0)", "s(0,1)"]]


def grid(cables: list[list[str]], **more: Any) -> Graph:
    return build(**GRID, **more, more_cables=cables)


def test_cables_are_two_way_and_behind_the_others() -> None:
    before, graph = build(**GRID), grid(CORNERS)
    assert graph.link_names[before.links :] == [
        "s(0,0)>s(2,2)",
        "s(2,2)>s(0,0)",
        "s(0,0)>s(0,1)#1",
        "s(0,1)>s(0,0)#1",
    ]
    pairs = zip(graph.link_source.tolist(), graph.link_target.tolist(), strict=True)
    ends = [tuple(map(graph.vertex_name, pair)) for pair in pairs]
    for link, back in enumerate(graph.link_reverse):
        assert ends[back] == ends[link][::-1]
        assert graph.link_reverse[back] == link
    assert (graph.positions == before.positions).all()
    assert counts(graph).cables == counts(before).cables + 2


def test_every_family_and_a_file_take_them(tmp_path: Path) -> None:
    """What is written, read again and extended is the same network as the extended one."""
    graph = build(**GRID)
    path = tmp_path / "network.csv"
    path.write_text(edge_list.write(graph))
    again = build(kind="file", path=str(path), more_cables=CORNERS)
    assert again.link_names == grid(CORNERS).link_names
    taken = [name for name in FAMILIES if kind_of(name).cables]
    assert "torus" in taken
    assert all("more_cables" in fields_of(name) for name in taken)


def fields_of(kind: str) -> set[str]:
    tables = [
        one["properties"] for one in Scenario.model_json_schema()["$defs"].values() if "properties" in one
    ]
    return next({*one} for one in tables if one.get("kind", {}).get("const") == kind)


def test_packets_take_them() -> None:
    """Neighbours in the drawing or not: what was four links away is one."""
    traffic = {"pattern": {"kind": "permutation", "map": [8, *range(7, -1, -1)]}, "senders": [0]}
    topologies = (GRID, GRID | {"more_cables": CORNERS[:1]})
    scenarios = [Scenario.from_dict({"topology": one, "traffic": traffic}) for one in topologies]
    without, with_one = map(fabriloom.run, scenarios)
    assert inspection.inspect(scenarios[1])["network"]["family"] == "grid"
    assert with_one.summary["latency_ns"]["min"] < without.summary["latency_ns"]["min"]


@pytest.mark.parametrize(
    ("topology", "words"),
    [
        ({**GRID, "more_cables": [["s(0,0)", "s(2,3)"]]}, 'there is no switch "s(2,3)"; did you mean'),
        ({**GRID, "more_cables": [["s(0,0)", "s(0,0)"]]}, "a cable joins two switches"),
        ({**GRID, "more_cables": [["s(0,0)"]]}, "needs at least 2 entries"),
        ({"kind": "sci-ring", "terminals": 4, "more_cables": CORNERS}, "more_cables"),
    ],
)
def test_what_cannot_be_a_cable_is_told(topology: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError, match=words.replace("(", r"\(").replace(")", r"\)")) as caught:
        inspection.inspect(Scenario.from_dict({"topology": topology}))
    assert (caught.value.path or ())[:2] == ("topology", "more_cables")


def test_the_structure_of_the_family_is_gone() -> None:
    """A routing that counts on coordinates says so."""
    scenario = {"topology": {**GRID, "more_cables": CORNERS}, "routing": {"kind": "dimension-order"}}
    with pytest.raises(ScenarioError, match="dimension-order routing needs switches with coordinates"):
        inspection.inspect(Scenario.from_dict(scenario))
    with pytest.raises(GraphError, match="networks of links"):
        build(kind="sci-ring", terminals=4, more_cables=CORNERS)
