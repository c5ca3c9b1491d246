"""What single failures leave of a network with new tables after each: against the graph, and by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from fabriloom import Scenario, ScenarioError, routing
from fabriloom.cli.app import app
from fabriloom.compile import compile
from fabriloom.studies import failures
from fabriloom.topology import Graph
from typer.testing import CliRunner

TREE = {"kind": "fat_tree", "arity": 4, "levels": 3}
FIXED = {"kind": "auto", "adaptive": False}
NETWORKS: list[dict[str, Any]] = [
    {"kind": "jellyfish", "switches": 12, "degree": 3, "terminals_per_switch": 2},
    {"kind": "tree", "arity": 2, "depth": 3, "terminals_per_switch": 1},
    {"kind": "grid", "shape": [2, 3], "terminals_per_switch": 2, "links_per_edge": 2},
    {"kind": "grid", "shape": [3], "replicate": 2},
]


def looked(network: dict[str, Any], kinds: str, reroute: str, **more: Any) -> tuple[Graph, dict[str, Any]]:
    compiled = compile(Scenario.from_dict({"topology": network, **more}))
    return compiled.graph, failures.look(compiled, kinds, reroute)


@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize("reroute", failures.RULES)
@pytest.mark.parametrize("network", NETWORKS[:3], ids=lambda one: str(one["kind"]))
def test_only_pairs_without_any_path_are_cut_off(
    network: dict[str, Any], reroute: str, adaptive: bool
) -> None:
    graph, found = looked(network, "all", reroute, routing={"kind": "auto", "adaptive": adaptive})
    dead = {(kind, name): links for kind, name, links in failures.failures(graph, "all")}
    for row in found["failures"]:
        left = nx.DiGraph()
        left.add_nodes_from(range(graph.switches + graph.terminals))
        alive = np.setdiff1d(np.arange(graph.links), dead[row["kind"], row["name"]])
        left.add_edges_from(np.stack([graph.link_source[alive], graph.link_target[alive]], axis=1).tolist())
        ends = range(graph.switches, graph.switches + graph.terminals)
        if row["kind"] == "switch":
            gone = graph.switch_names.index(row["name"])
            ends = [end for end in ends if graph.terminal_entry_switches[end - graph.switches] != gone]
        cut = sum(one != other and not nx.has_path(left, one, other) for one in ends for other in ends)
        assert row["cut_off_pairs"] == row["lossy_pairs"] == cut, row["name"]
    assert found["deadlock_count"] == 0 or reroute == "shortest-path"


def test_loads_are_those_of_the_new_table() -> None:
    """Between switches of a tree: everything arrives, and the fullest link says how much."""
    graph, found = looked(TREE, "cables", "auto", routing=FIXED, technology={"preset": "infiniband-4x-edr"})
    byte_rates = {row["name"]: row["accepted_mbytes_per_s_bound"] for row in found["failures"]}
    [name] = [name for name in byte_rates if name == "s(0,0)>s(1,0)"]
    dead = np.zeros(graph.links, bool)
    dead[graph.link_names.index(name)] = True
    table = routing.around(graph, dead, adaptive=False)
    loads = routing.channel_loads(graph, table)
    before = routing.channel_loads(graph, routing.build(graph, adaptive=False))
    ratio = max(before) / max(loads)
    assert byte_rates[name] / found["without"]["accepted_mbytes_per_s_bound"] == pytest.approx(ratio)
    assert ratio > 0.5  # one neighbour of each switch alone would carry a twelfth


def test_new_tables_that_can_deadlock_are_counted() -> None:
    torus = {"kind": "torus", "shape": [4, 4]}
    _, kept = looked(torus, "cables", "auto", routing={"kind": "auto"})
    _, found = looked(torus, "cables", "shortest-path", routing={"kind": "auto"})
    cables = [row for row in found["failures"] if not row["name"].startswith("t")]
    assert (kept["deadlock_count"], kept["deadlock_free"]) == (0, True)
    assert (found["deadlock_count"], found["deadlock_free"]) == (len(cables), False)
    assert f"{len(cables)} can deadlock with their new tables" in failures.verdict(found)


def test_planes_have_new_tables_each() -> None:
    _, found = looked(NETWORKS[3], "cables", "auto")
    _, kept = looked(NETWORKS[3], "cables", "auto", ports={"choice": "nominal"})
    assert found["count"] == kept["count"] == 10
    assert all(row["lossy_pairs"] > 0 for row in found["failures"])  # a chain has no other way


def test_what_has_no_new_tables(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="rings have no tables that are made after a failure"):
        looked({"kind": "sci-ring", "terminals": 4}, "all", "auto")
    dateline = {"kind": "dimension-order", "variant": "minimal", "lane_choice": "dateline"}
    lanes = {"preset": "generic", "lanes": 2}
    with pytest.raises(ScenarioError, match="with lane_choice dateline no new tables are made"):
        looked({"kind": "torus", "shape": [4]}, "all", "auto", routing=dateline, technology=lanes)
    file = tmp_path / "net.toml"
    file.write_text('[topology]\nkind = "grid"\nshape = [2, 2]\n')
    for options, message in (
        (["--fault", "all", "--reroute", "shortest"], 'did you mean "shortest-path"?'),
        (["--reroute", "auto"], "add --fault all"),
    ):
        ended = CliRunner().invoke(app, ["check", str(file), *options])
        assert ended.exit_code == 2
        assert message in ended.output
    ended = CliRunner().invoke(app, ["check", str(file), "--fault", "all", "--reroute", "up*/down*"])
    assert "new tables (up-star-down-star)" in ended.output
