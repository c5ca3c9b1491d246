"""Graphs made in Python as the topology of a scenario, and names as the reference writes them."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from typing import Any

import fabriloom
import networkx
import pytest

from .python_page import PAGE

NAMES = sorted(set(re.findall(r"^### (fabriloom\.[\w.]+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)))
GRAPHS: dict[str, Any] = {
    "own": lambda: fabriloom.topology.from_networkx(networkx.petersen_graph(), 2),
    "torus": lambda: fabriloom.topology.build("torus", shape=[4, 4], terminals_per_switch=1),
    "rings": lambda: fabriloom.topology.build("sci-ring", terminals=5),
    "planes": lambda: fabriloom.topology.build("crossbar", terminals=4, replicate=2),
}


def test_names_of_the_reference_need_one_import() -> None:
    """In an interpreter that has imported nothing else."""
    assert "fabriloom.topology.from_networkx" in NAMES
    script = f"import fabriloom\nfor name in {NAMES!r}: eval(name)\nassert 'topology' in dir(fabriloom)"
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_is_a_topology(name: str) -> None:
    """In a run, in a changed scenario, and again after the scenario was written down."""
    graph = GRAPHS[name]()
    given = {"topology": graph, "traffic": {"load": 0.1}, "run": {"duration": "50 us", "precision": 0.0}}
    results = fabriloom.run(given)
    assert results.graph.link_names == graph.link_names
    assert results.graph.terminal_names == graph.terminal_names
    scenario = fabriloom.Scenario.from_dict(given)
    assert fabriloom.Scenario.from_dict(scenario.resolved).sha256 == scenario.sha256
    other = scenario.with_settings(
        {"topology": GRAPHS["own"]()} | ({} if name != "rings" else {"technology": {}})
    )
    assert fabriloom.run(other).graph.switches == 10


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_are_equal_if_all_parts_are(name: str) -> None:
    assert GRAPHS[name]() == GRAPHS[name]()
    others = [GRAPHS[other]() for other in GRAPHS if other != name]
    assert GRAPHS[name]() not in others
    one = GRAPHS[name]()
    reverse = one.link_reverse.copy()
    reverse[0] = -1 if reverse[0] >= 0 else 0
    assert one != dataclasses.replace(one, link_reverse=reverse)


def test_a_wrong_graph_is_refused_in_words() -> None:
    with pytest.raises(fabriloom.ScenarioError, match="the file must be an object"):
        fabriloom.run({"topology": {"kind": "inline", "content": "[]"}, "traffic": {"load": 0.1}})
    with pytest.raises(fabriloom.ScenarioError, match="not JSON"):
        fabriloom.run({"topology": {"kind": "inline", "content": "{"}, "traffic": {"load": 0.1}})


def test_tables_become_those_of_pandas() -> None:
    pytest.importorskip("pandas", reason="pandas is not installed: make setup-pandas")
    links = fabriloom.run({"topology": GRAPHS["own"](), "run": {"duration": "20 us"}}).links
    assert links.to_pandas()["link"].tolist() == links["link"].to_list()
