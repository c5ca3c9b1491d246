"""What single failures leave of a network: against the core's own loads, by hand, and against runs.

With new tables after each: against the graph, and by hand.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from fabriloom import Scenario, ScenarioError, routing, run
from fabriloom.cli.app import app
from fabriloom.compile import compile, networks
from fabriloom.compile.links import Newest
from fabriloom.results import columns
from fabriloom.routing import NONE, channel_loads, native
from fabriloom.studies import failures
from fabriloom.studies.kinds import inspection_of
from fabriloom.studies.links.failures import LinkWays
from fabriloom.studies.links.loads import Limits, channel_load, full_at
from fabriloom.topology import Graph
from typer.testing import CliRunner

CLOS = {"kind": "clos", "terminals": 64}
GRID = {"kind": "grid", "shape": [2, 3], "terminals_per_switch": 2}
MIXED: dict[str, dict[str, int]] = {"crossbar": {"terminals": 2}, "cable": {}}
RING = {"kind": "sci-ring", "terminals": 4}
SWITCH = {"kind": "sci-switch", "ports": 4, "terminals_per_ring": 2}


def ways(topology: dict[str, Any], **sections: Any) -> LinkWays:
    compiled = compile(Scenario.from_dict({"topology": topology, **sections}))
    found = inspection_of(compiled).ways()
    assert isinstance(found, LinkWays)
    return found


def found(topology: dict[str, Any], kinds: str = "all") -> dict[str, Any]:
    return failures.look(compile(Scenario.from_dict({"topology": topology})), kinds)


class Plain:
    """The same in the plainest way: every entry of the table again, until nothing changes."""

    def __init__(self, it: LinkWays) -> None:
        self.graph, table = it.graph, it.routes.table
        self.demand, self.classes = it.demand.matrix(), table.classes
        entry = table.route.astype(np.int64).ravel()
        lines = [
            (row, link) for row in np.flatnonzero(entry != NONE) for link in table.group(int(entry[row] >> 1))
        ]
        self.row, self.link = np.array(lines, np.int64).T
        target = self.graph.link_target[self.link]
        kind = self.row % self.classes
        self.inside = target < self.graph.switches
        self.arrives = target == self.graph.switches + kind
        self.next = np.where(self.inside, target * self.classes + kind, 0)
        self.enters = self.graph.link_target[self.graph.terminal_out_links]

    def after(self, dead: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the share that arrives per pair of terminals, and packets per link."""
        graph, rows = self.graph, self.graph.switches * self.classes
        alive = ~np.isin(self.link, dead)
        share = np.where(
            alive, 1 / np.maximum(np.bincount(self.row[alive], minlength=rows)[self.row], 1), 0.0
        )
        there = np.zeros(rows)
        for _ in range(graph.switches + 1):
            ahead = share * np.where(self.inside, there[self.next], self.arrives)
            there = np.bincount(self.row, weights=ahead, minlength=rows)
        sent = np.where(np.isin(graph.terminal_out_links, dead)[:, None], 0.0, self.demand)
        flow, load = np.zeros((graph.switches, self.classes)), np.zeros(graph.links)
        np.add.at(flow, self.enters, sent)
        flow = flow.ravel()
        for _ in range(graph.switches + 1):
            over = flow[self.row] * share
            load += np.bincount(self.link, weights=over, minlength=graph.links)
            flow = np.bincount(self.next[self.inside], weights=over[self.inside], minlength=rows)
        load[graph.terminal_out_links] += sent.sum(axis=1)
        between = there.reshape(-1, self.classes)[self.enters]
        return np.where(sent.sum(axis=1, keepdims=True) > 0, between, 0.0), load


def drawn(seed: int) -> dict[str, Any]:
    """Random cables, some of them parallel, random terminals, and their traffic."""
    random = np.random.default_rng(seed)
    switches = int(random.integers(3, 12))
    cables = [(int(random.integers(at)), at) for at in range(1, switches)]
    cables += [
        tuple(random.choice(switches, 2, replace=False).tolist()) for _ in range(random.integers(0, 14))
    ]
    homes = random.integers(0, switches, random.integers(2, 20))
    nodes = [{"id": f"s{at}", "kind": "switch"} for at in range(switches)]
    nodes += [{"id": f"t{at}", "kind": "terminal"} for at in range(len(homes))]
    links = [{"source": f"s{a}", "target": f"s{b}"} for a, b in cables]
    links += [{"source": f"t{at}", "target": f"s{home}"} for at, home in enumerate(homes)]
    pattern = [
        "uniform",
        {"kind": "permutation", "random": True},
        {"kind": "hot-spot", "target": 0, "share": 0.3},
    ][seed % 3]
    kind = ["shortest-path", "up-star-down-star"][seed // 3 % 2]
    return {
        "topology": {"kind": "inline", "content": json.dumps({"nodes": nodes, "links": links})},
        "routing": {"kind": kind, "adaptive": bool(seed % 4)},
        "traffic": {"pattern": pattern, "length": "16 B", "load": 0.1},
    }


def test_what_a_failure_touches_is_all_that_changes() -> None:
    """As following everything again, bit by bit, and as the plain way; after random sets of links, too."""
    for seed in range(24):
        sections = drawn(seed)
        it = ways(sections.pop("topology"), **sections)
        random, plain = np.random.default_rng(seed), Plain(it)
        every = failures.failures(it.graph, "all")
        every += [("cable", "", np.unique(random.choice(it.graph.links, size))) for size in (0, 1, 2, 5)]
        for kind, name, dead in every:
            found = it.after(kind, name, dead)
            assert found == it.after(kind, name, dead, whole=True)
            between, load = plain.after(dead)
            out = np.isin(it.graph.terminal_out_links, dead)
            runs = ~(out | np.isin(it.graph.terminal_in_links, dead)) | (kind == "cable")
            asked = (plain.demand > 0) & runs[:, None] & runs[None, :]
            assert found.cut_off == np.count_nonzero(asked & (between < 1e-9))
            assert found.lossy == np.count_nonzero(asked & (between < 1 - 1e-9))
            assert found.delivered_share == pytest.approx((plain.demand * between).sum() / plain.demand.sum())
            if (plain.demand * asked).any():
                share = (plain.demand * between)[asked].sum() / plain.demand[asked].sum()
                assert found.others_share == pytest.approx(share, abs=1e-12)
            bound = channel_load(it.routes, load, it.packet, full_at(it.routes, load, it.packet, it.limits))
            assert found.bound["load_bound"] == pytest.approx(bound["load_bound"])


@pytest.mark.parametrize("topology", [CLOS, GRID, {"kind": "banyan", "terminals": 16, "variant": "omega"}])
@pytest.mark.parametrize("shared", [False, True])
def test_without_a_failure_loads_are_those_of_the_core(
    topology: dict[str, Any], shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the terminals of a switch share their columns of the table."""
    if shared:
        monkeypatch.setattr(native, "SHARED_ABOVE", 0)
    it = ways(topology)
    demand = it.compiled.demand()
    expected = channel_loads(it.graph, it.routes.table, demand.pairs, demand.even)
    left = it.after("none", "", np.empty(0, np.int64))
    full = full_at(it.routes, expected, it.packet, Limits(*np.ones((3, len(expected)))))
    assert left.bound == pytest.approx(channel_load(it.routes, expected, it.packet, full))
    assert (left.cut_off, left.lossy, left.delivered_share) == (0, 0, 1.0)
    plain = Plain(it)
    for kind, name, dead in failures.failures(it.graph, "all"):
        left = it.after(kind, name, dead)
        assert left == it.after(kind, name, dead, whole=True)
        between, _ = plain.after(dead)
        assert left.delivered_share == pytest.approx((plain.demand * between).sum() / plain.demand.sum())


def test_a_clos_network_loses_nothing_but_what_hangs_at_what_fails() -> None:
    by_kind = {row["name"]: row for row in found(CLOS)["failures"]}
    centre, cable = by_kind["centre(1)"], by_kind["edge(0)>centre(0)#1"]
    for row in (centre, cable):
        assert (row["cut_off_pairs"], row["lossy_pairs"], row["delivered_share"]) == (0, 0, pytest.approx(1))
    # Fifteen of sixteen cables of a switch of sixteen terminals are left, and 48 of 63 packets go over them.
    without = found(CLOS)["without"]
    assert cable["load_bound"] == pytest.approx(without["load_bound"])
    # Half of the cables carry what went over all.
    share = 16 * 48 / 63 / 8
    assert centre["load_bound"] == pytest.approx(without["load_bound"] / share, rel=0.03)
    terminal = by_kind["t(0).0>edge(0)"]
    assert terminal["cut_off_pairs"] == terminal["lossy_pairs"] == 2 * 63


def test_one_way_through_a_grid_is_a_single_point_of_failure() -> None:
    after = found(GRID, "cables")
    assert after["cut_off_count"] == after["count"]
    assert "cut terminals off" in failures.verdict(after)
    defined = set(columns.FAILURES.names)
    assert {*after["failures"][0], *after} - {"without", "failures"} == defined


def test_a_choice_that_leads_to_a_dead_end_is_seen() -> None:
    """All cables from the second centre to the last switch: half of what goes there goes by that centre."""
    it = ways(CLOS)
    dead = [link for link, name in enumerate(it.graph.link_names) if name.startswith("centre(1)>edge(3)")]
    left = it.after("cable", "", np.array(dead))
    assert (left.cut_off, left.lossy) == (0, 48 * 16)
    assert left.delivered_share == pytest.approx(1 - 48 * 16 / (64 * 63) / 2)


@pytest.mark.parametrize("fault", [{"cable": "s(0,0)>s(0,1)"}, {"switch": "s(1,1)"}])
def test_a_run_loses_what_was_foretold(fault: dict[str, str]) -> None:
    scenario = Scenario.from_dict(
        {
            "topology": GRID,
            "traffic": {"pattern": "uniform", "length": "16 B", "load": 0.1},
            "fault": [{**fault, "at": "0 us"}],
            "run": {"duration": "8 ms"},
        }
    )
    name = next(iter(fault.values()))
    rows = found(GRID)["failures"]
    [row] = [row for row in rows if row["name"] == name]
    packets = run(scenario).summary["packets"]
    # Of thousands of packets; those of terminals at a failed switch wait for ever.
    share = packets["delivered"] / packets["offered"]
    assert share == pytest.approx(row["delivered_share"], abs=0.02)


@pytest.mark.parametrize(("topology", "pairs"), [(GRID, [[0, 9], [0, 11]]), (SWITCH, [[0, 4], [0, 6]])])
def test_only_pairs_that_send_are_counted(topology: dict[str, Any], pairs: list[list[int]]) -> None:
    """Two flows from terminal 0: only its own cable or ring stops both."""
    flows = [
        {"source": source, "target": target, "length": "64 B", "rate": "1 MB/s"} for source, target in pairs
    ]
    compiled = compile(
        Scenario.from_dict({"topology": topology, "traffic": {"pattern": {"kind": "flows", "flows": flows}}})
    )
    rows = failures.look(compiled, "cables")["failures"]
    assert {row["cut_off_pairs"] for row in rows} == {0, 1, 2}
    for row in rows:
        assert row["delivered_share"] == 1 - row["cut_off_pairs"] / 2


@pytest.mark.parametrize("replicate", [1, 2])
def test_what_arrives_is_payload_also_of_flows_of_other_lengths(replicate: int) -> None:
    """By hand: of 1538 B a frame has 1500, of 84 B 8. At 1 Gbit/s t.0 fills its link at 12.304 in 20 us."""
    flows = [
        {"source": 0, "target": 1, "length": "1500 B", "period": "20 us"},
        {"source": 2, "target": 3, "length": "8 B", "period": "4 us"},
    ]
    scenario = {
        "topology": {"kind": "crossbar", "terminals": 4, "replicate": replicate},
        "technology": {"preset": "ethernet-1g"},
        "traffic": {"pattern": {"kind": "flows", "flows": flows}},
        **({"ports": {"choice": "nominal"}} if replicate > 1 else {}),
    }
    looked = failures.look(compile(Scenario.from_dict(scenario)), "cables")
    of = {row["name"].removeprefix("p0/"): row for row in looked["failures"]}
    into = of["t.1>s"]
    assert into["delivered_share"] == pytest.approx(2 / 77)
    assert into["accepted_mbytes_per_s_bound"] == pytest.approx(2 * 20 / 12.304)
    if replicate == 1:  # else the other port takes over
        assert of["t.0>s"]["accepted_mbytes_per_s_bound"] == pytest.approx(2 * 4 / 0.672)
        assert of["t.2>s"]["accepted_mbytes_per_s_bound"] == pytest.approx(75 * 20 / 12.304)


def test_nothing_is_left_where_all_is_lost() -> None:
    """Rates whose shares are not exact in binary."""
    flows = [("t(0).0", "t(1).0", "32 B", "4 us"), ("t(0).1", "t(1).1", "512 B", "40 us")]
    keys = ("source", "target", "length", "period")
    scenario = {
        "topology": {"kind": "grid", "shape": [2], "terminals_per_switch": 2, "links_per_edge": 3},
        "technology": {"preset": "spacewire-200"},
        "traffic": {
            "pattern": {"kind": "flows", "flows": [dict(zip(keys, row, strict=True)) for row in flows]}
        },
    }
    looked = failures.look(compile(Scenario.from_dict(scenario)), "switches")
    for row in looked["failures"]:
        assert (row["delivered_share"], row["accepted_mbytes_per_s_bound"] or 0.0) == (0.0, 0.0)


def test_a_dead_ring_takes_its_terminals_with_it() -> None:
    after = found(SWITCH)
    cables = [row for row in after["failures"] if row["kind"] == "cable"]
    # Two of eight terminals: 2 x 7 ways from them, 2 x 6 to them.
    assert len(cables) == 12
    assert {row["cut_off_pairs"] for row in cables} == {26}
    assert cables[0]["delivered_share"] == pytest.approx(1 - 26 / 56)
    [switch] = [row for row in after["failures"] if row["kind"] == "switch"]
    assert (switch["cut_off_pairs"], switch["delivered_share"]) == (0, 0)


def test_long_rings_through_a_banyan_have_more_to_lose_than_ringlets() -> None:
    def worst(wiring: str) -> float:
        topology = {"kind": "sci-banyan", "terminals": 8, "variant": "omega", "base": 2, "wiring": wiring}
        after = found(topology, "cables")
        assert after["cut_off_count"] == after["count"]
        return after["failures"][0]["delivered_share"]

    assert worst("long-ring") < worst("ringlet")


@pytest.mark.parametrize(
    ("topology", "technology", "traffic", "share"),
    [
        (SWITCH, {"preset": "sci-lc2", "close_after": 1, "closed_for": "10 ms"}, {}, 1 - 26 / 56),
        # Where only a link stops: pairs whose packet crosses it, and three of four terminals use both rings.
        (RING, {"preset": "rpr-10g"}, {"transaction": "dmove"}, 0.5),
        ({**RING, "replicate": 2}, {"preset": "rpr-10g"}, {"transaction": "nread"}, 1 / 4 + 3 / 4 / 2),
    ],
)
def test_a_run_of_rings_loses_what_was_foretold(
    topology: dict[str, Any], technology: dict[str, Any], traffic: dict[str, Any], share: float
) -> None:
    several = "replicate" in topology
    link = "p0/t0>t1" if several else "t0>t1"
    scenario = {
        "topology": topology,
        "technology": {**technology, "timeout": "20 us"},
        "traffic": {"length": "64 B", "load": 0.05 if topology == SWITCH else 0.01, **traffic},
        "fault": [{"link": link, "at": "0 us"}],
        "run": {"duration": "4 ms"},
        **({"ports": {"choice": "round-robin"}} if several else {}),
    }
    packets = run(Scenario.from_dict(scenario)).summary["packets"]
    looked = failures.look(compile(Scenario.from_dict(scenario)), "cables")["failures"]
    [row] = [row for row in looked if row["name"] == link]
    assert row["delivered_share"] == pytest.approx(share)
    assert packets["delivered"] / packets["offered"] == pytest.approx(share, abs=0.02)


def test_what_cannot_be_looked_at() -> None:
    with pytest.raises(ScenarioError, match="too many"):
        failures.look(compile(Scenario.from_dict({"topology": {"kind": "sci-ring", "terminals": 600}})))
    with pytest.raises(ScenarioError, match="random switches"):
        ways(CLOS, routing={"universal": True})
    mixed = [{"name": name, "network": {"kind": name, **more}} for name, more in MIXED.items()]
    for topology in ({"kind": "cable"}, {"kind": "planes", "planes": mixed}):
        with pytest.raises(ScenarioError, match="a cable joins two terminals"):
            found(topology)


@pytest.mark.parametrize("choice", ["round-robin", "destination", "nominal"])
def test_several_ports_are_followed_as_if_everything_were_again(choice: str) -> None:
    """After many failures as after one, and as all ways followed again."""
    topology = {"kind": "clos", "terminals": 16, "switch_ports": 8, "replicate": 2}
    many = ways(topology, ports={"choice": choice})
    for kind, name, dead in failures.failures(many.graph, "all"):
        found = many.after(kind, name, dead)
        assert found == many.after(kind, name, dead, whole=True)
        assert found == ways(topology, ports={"choice": choice}).after(kind, name, dead)


def test_failures_of_a_table_of_runs_are_those_of_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """As far as it has no more entries than columns may have."""
    monkeypatch.setattr(native, "SHARED_ABOVE", 0)
    found = []
    for above in (1 << 22, 0):
        monkeypatch.setattr(native, "RUNS_ABOVE", above)
        monkeypatch.setattr(networks, "_known", Newest(1))
        it = ways({"kind": "grid", "shape": [5, 2]})
        found.append([it.after(*failure) for failure in failures.failures(it.graph, "all")])
        assert (it.routes.table.runs is None) == bool(above)
    assert found[0] == found[1]
    monkeypatch.setattr("fabriloom.studies.links.failures.MOST_ENTRIES", 99)
    with pytest.raises(ScenarioError, match="failures are looked at with at most 99 pairs"):
        ways({"kind": "grid", "shape": [5, 2]})


@pytest.mark.parametrize("choice", ["round-robin", "shortest-queue", "first-free", "destination", "nominal"])
@pytest.mark.parametrize("tech", ["spacewire-200", "generic"])
def test_without_a_failure_there_is_what_check_says(choice: str, tech: str, tmp_path: Path) -> None:
    """Also where a terminal has ports of unlike rates, which queues fill in proportion, and small buffers."""
    rate = {"spacewire-200": "50 Mbit/s", "generic": ""}[tech]
    lines = [
        f"{kind},{one},{to}"
        for one in "abc"
        for kind, to in (("terminal", "r,,9 m"), ("cable", f"q,{rate},"))
    ]
    text = "\n".join(["kind,source,target,rate,length", "switch,r,,,", "switch,q,,,", *lines, ""])
    (tmp_path / "net.csv").write_text(text, encoding="utf-8")
    given = {
        "topology": {"kind": "file", "path": str(tmp_path / "net.csv")},
        "technology": {"preset": tech},
        "ports": {"choice": choice},
        "traffic": {"load": 0.5, "length": "64 B"},
    }
    compiled = compile(Scenario.from_dict(given))
    said, left = inspection_of(compiled).network()["channel_load"], failures.look(compiled)["without"]
    for name in ("load_bound", "accepted_mbytes_per_s_bound"):
        assert left[name] == pytest.approx(said[name])
    assert left["load_bound"] < 1


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
@pytest.mark.parametrize("reroute", routing.AROUND)
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


def test_tables_that_meet_others_are_counted() -> None:
    """Levels of their own leave new tables alone without a cycle; packets by both can close one."""
    torus, lanes = {"kind": "torus", "shape": [4, 4]}, {"preset": "generic", "lanes": 4}
    _, found = looked(torus, "cables", "lash", routing={"kind": "lash"}, technology=lanes)
    assert (found["deadlock_count"], found["deadlock_free"]) == (0, True)
    assert 0 < found["between_count"] <= 32
    said = f"none can deadlock by new tables alone, {found['between_count']} beside packets by the old"
    assert said in failures.verdict(found)
    with pytest.raises(ScenarioError, match="new service levels are for packets that have some"):
        looked(torus, "cables", "lash")


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
