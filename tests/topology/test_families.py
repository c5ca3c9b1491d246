"""What holds for every family: links, names, ports, connection, and a table of what each example takes.

Cables besides those of a family or a file, too.
"""

from __future__ import annotations

import contextlib
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, get_type_hints

import fabriloom
import numpy as np
import pytest
from fabriloom import topology
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.studies import inspection
from fabriloom.topology import Graph, GraphError, build, edge_list, measure
from fabriloom.topology.banyan import VARIANTS
from fabriloom.topology.kinds import kind_of
from fabriloom.topology.measure import counts
from fabriloom.topology.raw import components
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from .common import EXAMPLES, example_id

TABLE = Path(__file__).with_name("counts.txt")
small = st.integers(1, 4)
shapes = st.lists(small, min_size=1, max_size=4).filter(lambda shape: max(shape) > 1)
FAMILIES = {
    "crossbar": st.fixed_dictionaries({"terminals": st.integers(2, 40)}),
    "ring": st.fixed_dictionaries(
        {"switches": st.integers(2, 9), "terminals_per_switch": small, "links_per_edge": small}
    ),
    "grid": st.fixed_dictionaries({"shape": shapes, "terminals_per_switch": small, "links_per_edge": small}),
    "torus": st.fixed_dictionaries({"shape": shapes, "terminals_per_switch": small, "links_per_edge": small}),
    "hypercube": st.fixed_dictionaries(
        {"dimensions": st.integers(1, 6), "terminals_per_switch": small, "links_per_edge": small}
    ),
    "clos": st.builds(
        lambda half, edges: {"terminals": half * min(edges, 2 * half), "switch_ports": 2 * half},
        st.integers(1, 16),
        st.integers(2, 32),
    ),
    "clos5": st.builds(
        lambda half, pods: {"terminals": half * half * min(pods, 2 * half), "switch_ports": 2 * half},
        st.integers(2, 6),
        st.integers(2, 12),
    ),
    "dragonfly": st.builds(
        lambda a, h, groups, terminals: {
            "switches_per_group": a,
            "global_links": h,
            "groups": min(groups, a * h + 1),
            "terminals_per_switch": terminals,
        },
        st.integers(2, 5),
        small,
        st.integers(2, 12),
        small,
    ),
    "dragonfly_plus": st.builds(
        lambda leaves, spines, h, groups, arrangement: {
            "leaves": leaves,
            "spines": spines,
            "global_links": h,
            "groups": min(groups, spines * h + 1),
            "arrangement": arrangement,
        },
        small,
        small,
        small,
        st.integers(2, 9),
        st.sampled_from(("relative", "absolute", "circulant")),
    ),
    "slim_fly": st.fixed_dictionaries({"order": st.sampled_from([3, 4, 5, 7, 8])}),
    "polarfly": st.fixed_dictionaries(
        {"order": st.sampled_from([2, 3, 4, 5, 7, 8, 9]), "terminals_per_switch": small}
    ),
    "hyperx": shapes.flatmap(
        lambda shape: st.fixed_dictionaries(
            {
                "shape": st.just(shape),
                "terminals_per_switch": small,
                "links_per_dimension": st.lists(small, min_size=len(shape), max_size=len(shape)),
            }
        )
    ),
    "hammingmesh": st.fixed_dictionaries(
        {
            "board": st.lists(small, min_size=2, max_size=2),
            "boards": st.lists(small, min_size=2, max_size=2),
            "terminals_per_switch": st.integers(2, 3),
        }
    ),
    "jellyfish": st.integers(3, 16).flatmap(
        lambda switches: st.fixed_dictionaries(
            {
                "switches": st.just(switches),
                "degree": st.integers(2, switches - 1),
                "graph_seed": st.integers(0, 99),
            }
        )
    ),
    "twisted_torus": st.lists(st.integers(2, 5), min_size=2, max_size=3).flatmap(
        lambda shape: st.fixed_dictionaries(
            {
                "shape": st.just(shape),
                "twist": st.lists(
                    st.integers(0, shape[-1] - 1), min_size=len(shape) - 1, max_size=len(shape) - 1
                ),
            }
        )
    ),
    "xgft": st.integers(1, 3).flatmap(
        lambda levels: st.fixed_dictionaries(
            {
                "children": st.lists(st.integers(2, 3), min_size=levels, max_size=levels),
                "parents": st.lists(small, min_size=levels, max_size=levels).map(lambda w: [1, *w[1:]]),
            }
        )
    ),
    "kautz": st.fixed_dictionaries({"degree": st.integers(2, 3), "length": st.integers(1, 4)}),
    "de_bruijn": st.fixed_dictionaries({"degree": st.integers(2, 3), "length": st.integers(1, 4)}),
    "fat_tree": st.fixed_dictionaries({"arity": st.integers(2, 4), "levels": st.integers(1, 4)}),
    "banyan": st.builds(
        lambda base, stages, variant: {"terminals": base**stages, "variant": variant, "base": base},
        st.integers(2, 4),
        st.integers(1, 4),
        st.sampled_from(VARIANTS),
    ),
    "star": st.fixed_dictionaries(
        {"arms": st.integers(2, 9), "terminals_per_switch": small, "links_per_edge": small}
    ),
    "tree": st.fixed_dictionaries(
        {
            "arity": st.integers(2, 3),
            "depth": st.integers(1, 3),
            "terminals_per_switch": small,
            "links_per_edge": small,
        }
    ),
}


def check_sound(graph: Graph) -> None:
    """Assert what the rest of the house relies on."""
    vertices = graph.switches + graph.terminals
    outs = np.bincount(graph.link_source, minlength=vertices)
    ins = np.bincount(graph.link_target, minlength=vertices)
    assert (outs[graph.switches :] == 1).all()
    assert (ins[graph.switches :] == 1).all()
    assert (graph.link_source != graph.link_target).all()

    paired = np.flatnonzero(graph.link_reverse >= 0)
    reverse = graph.link_reverse[paired]
    assert (graph.link_reverse[reverse] == paired).all()
    assert (graph.link_source[paired] == graph.link_target[reverse]).all()
    assert (graph.link_target[paired] == graph.link_source[reverse]).all()

    terminals = graph.switches + np.arange(graph.terminals)
    assert (graph.link_source[2 * np.arange(graph.terminals)] == terminals).all()
    assert (graph.terminal_out_links == 2 * np.arange(graph.terminals)).all()
    assert (graph.terminal_in_links == 2 * np.arange(graph.terminals) + 1).all()

    names = graph.switch_names + graph.terminal_names
    assert len(set(names)) == vertices
    assert len(set(graph.link_names)) == graph.links == len(graph.link_names)
    for index in range(0, graph.links, max(1, graph.links // 50)):
        ends = f"{names[graph.link_source[index]]}>{names[graph.link_target[index]]}"
        assert graph.link_names[index].split("#")[0] == ends
    assert not components(vertices, graph.link_source, graph.link_target).any()
    assert graph.positions is not None
    assert graph.positions.shape == (graph.switches, 2)
    assert len(np.unique(graph.positions.round(6), axis=0)) == graph.switches
    for column in (graph.link_source, graph.link_target, graph.link_reverse):
        assert column.dtype == np.int64


@pytest.mark.parametrize("example", EXAMPLES, ids=example_id)
def test_examples_are_sound(example):
    check_sound(topology.build(example[0], **example[1]))


@pytest.mark.parametrize("example", EXAMPLES, ids=example_id)
def test_the_schema_refuses_one_where_the_family_does(example: tuple[str, dict[str, Any]]) -> None:
    kind, parameters = example
    hints = get_type_hints(topology.FAMILIES[kind].build, include_extras=True)
    del hints["return"]
    refused = dict[str, str]()
    for name, hint in hints.items():
        with contextlib.suppress(ValidationError):
            one = TypeAdapter(hint).validate_python(1)
            try:
                build(kind, **{**parameters, name: one})
            except GraphError as error:
                refused[name] = str(error)
    assert not [name for name, message in refused.items() if "must be from" in message]


@pytest.mark.parametrize("kind", FAMILIES)
@settings(max_examples=40)
@given(data=st.data())
def test_every_member_of_a_family_is_sound(kind, data):
    parameters = data.draw(FAMILIES[kind])
    graph = topology.build(kind, **parameters)
    check_sound(graph)
    assert graph.family == kind
    again = topology.build(kind, **graph.layout["parameters"])
    assert again.link_names == graph.link_names
    assert measure.distances(graph).unreachable_pairs == 0
    per_edge = parameters.get("links_per_edge")
    if per_edge:
        links = graph.switch_links
        _, parallel = np.unique(
            graph.link_source[links] * graph.switches + graph.link_target[links], return_counts=True
        )
        assert (parallel == per_edge).all()


@settings(max_examples=60)
@given(FAMILIES["clos"] | FAMILIES["clos5"].map(lambda parameters: parameters | {"five": True}))
def test_a_clos_keeps_to_the_ports_of_its_switches(parameters):
    five = parameters.pop("five", False)
    graph = (topology.clos5 if five else topology.clos)(**parameters)
    assert graph.terminals == parameters["terminals"]
    assert measure.ports_used(graph).max() <= parameters["switch_ports"]
    up = graph.layout["levels"][graph.link_source[graph.switch_links]] == 0
    assert up.sum() == graph.terminals


@pytest.mark.parametrize(
    ("terminals", "edges", "centres", "parallel"),
    [(64, 4, 2, 8), (128, 8, 4, 4), (256, 16, 8, 2), (512, 32, 16, 1)],
)
def test_the_clos_sizes_of_the_testbed(terminals, edges, centres, parallel):
    graph = topology.clos(terminals)
    assert np.bincount(graph.layout["levels"]).tolist() == [edges, centres]
    assert graph.layout["parameters"]["links_per_pair"] == parallel
    assert (measure.ports_used(graph) == 32).all()


def test_names_of_a_grid():
    graph = topology.grid([8, 8], 16, 4)
    assert graph.switch_names[3 * 8 + 4] == "s(3,4)"
    assert "t(3,4).7>s(3,4)" in graph.link_names
    assert "s(3,4)>s(3,5)#2" in graph.link_names
    assert graph.layout["coordinates"][3 * 8 + 4].tolist() == [3, 4]


def test_a_torus_of_two_has_no_doubled_edge():
    assert topology.torus([2, 2]).links == topology.grid([2, 2]).links
    assert topology.hypercube(2).links == topology.grid([2, 2]).links


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("base", "stages"), [(2, 1), (2, 4), (3, 3), (4, 2)])
def test_destination_digits_lead_through_a_banyan(variant, base, stages):
    graph = topology.banyan(base**stages, variant, base)
    ports = graph.layout["output_port"]
    links = np.flatnonzero(ports >= 0)
    assert links.size == graph.links - graph.terminals
    onward = np.full((graph.switches, base), -1)
    onward[graph.link_source[links], ports[links]] = graph.link_target[links]
    assert (onward >= 0).all()
    destination = np.arange(graph.terminals)
    at = np.repeat(graph.terminal_entry_switches[:, None], graph.terminals, axis=1)
    for stage in range(stages):
        assert (graph.layout["levels"][at] == stage).all()
        at = onward[at, destination // base ** graph.layout["tag_digit"][stage] % base]
    assert (at == graph.switches + destination).all()


def test_banyan_variants_differ():
    wirings = {tuple(topology.banyan(16, variant).link_target.tolist()) for variant in VARIANTS}
    assert len(wirings) == len(VARIANTS)


def test_omega_begins_with_a_shuffle():
    entry = topology.banyan(8).terminal_entry_switches
    assert entry.tolist() == [0, 1, 2, 3, 0, 1, 2, 3]


def test_every_pair_of_groups_of_a_dragonfly_has_as_many_cables() -> None:
    graph = topology.dragonfly(4, 2, groups=5)
    group = np.arange(graph.switches) // 4
    links = graph.switch_links
    ends = group[graph.link_source[links]], group[graph.link_target[links]]
    cables = np.zeros((5, 5), int)
    np.add.at(cables, ends, 1)
    assert (cables[~np.eye(5, dtype=bool)] == 2).all()
    own = np.bincount(graph.link_source[links][ends[0] != ends[1]], minlength=graph.switches)
    assert own.max() == 2


def test_fat_tree_reaches_every_switch_of_the_top():
    graph = topology.fat_tree(2, 3)
    up = {
        (s, t)
        for s, t in zip(graph.link_source.tolist(), graph.link_target.tolist(), strict=True)
        if s < t < 12
    }
    tops = {0}
    for _ in range(2):
        tops = {t for s, t in up if s in tops}
    assert tops == {8, 9, 10, 11}


def test_counts_stay_as_they_are():
    rows = [f"{'network':42}switches terminals cables links ports bisection exact mean_switches diameter"]
    for kind, parameters in EXAMPLES:
        graph = topology.build(kind, **parameters)
        count, half, apart = measure.counts(graph), measure.bisection(graph), measure.distances(graph)
        ports = f"{count.ports_used_min}-{count.ports_used_max}"
        rows.append(
            f"{example_id((kind, parameters)):42}{count.switches:8}{count.terminals:10}{count.cables:7}"
            f"{count.links:6}{ports:>6}{half.links:10}{'yes' if half.exact else 'no':>6}"
            f"{apart.mean_switches:14.4f}{apart.diameter_switches:9}"
        )
    table = "\n".join(rows) + "\n"
    if not TABLE.exists():
        TABLE.write_text(table, encoding="utf-8")
        pytest.fail(f"{TABLE.name} was missing and has been written anew: read it and keep it")
    assert table == TABLE.read_text(encoding="utf-8")


def test_a_grid_of_16384_terminals_is_built_in_a_second():
    # Three tries: the bound is on the work, not on what else the machine does.
    def seconds() -> float:
        start = time.perf_counter()
        assert topology.grid([32, 32], 16, 4).links == 48640
        return time.perf_counter() - start

    assert min(seconds() for _ in range(3)) < 1


REFUSED = [
    ("grid", {"shape": [100_000, 10_000]}, "shape", "asks for 1,000,000,000 terminals; at most 1,048,576"),
    ("grid", {"shape": [10**30] * 20}, "shape", "about 10^"),
    ("grid", {"shape": [8, 8], "terminals_per_switch": 10**9}, "shape", "terminals"),
    ("grid", {"shape": [8, 8], "links_per_edge": 10**6}, "links_per_edge", "links (two per cable)"),
    ("grid", {"shape": [8, 0]}, "shape", "side of 0"),
    ("grid", {"shape": [8, -1]}, "shape", "side of -1"),
    ("grid", {"shape": [8, 1.5]}, "shape", "whole numbers"),
    ("grid", {"shape": []}, "shape", "whole numbers"),
    ("grid", {"shape": "8x8"}, "shape", "whole numbers"),
    ("grid", {"shape": [2] * 21}, "shape", "at most 20"),
    ("grid", {"shape": [1]}, "shape", "a network needs two terminals"),
    ("torus", {"shape": [4, 4], "terminals_per_switch": 0}, "terminals_per_switch", "it must be from 1"),
    ("ring", {"switches": 1}, "switches", "it must be from 2"),
    ("ring", {"switches": 10**9}, "switches", "1,000,000,000"),
    ("hypercube", {"dimensions": 64}, "dimensions", "from 1 to 20"),
    ("crossbar", {"terminals": 1}, "terminals", "from 2"),
    ("crossbar", {"terminals": True}, "terminals", "whole number"),
    ("clos", {"terminals": 100}, "terminals", "nearest: 96 or 112; using every port: 32, 64, 128, 256, 512"),
    ("clos", {"terminals": 1024}, "terminals", "larger ones need five stages (clos5)"),
    ("clos", {"terminals": 10**9}, "terminals", "at most 1,048,576"),
    ("clos", {"terminals": 0}, "terminals", "from 1"),
    ("clos", {"terminals": 256, "switch_ports": 1}, "switch_ports", "from 2"),
    (
        "clos",
        {"terminals": 256, "terminals_per_switch": 32},
        "terminals_per_switch",
        "needs one to the centre",
    ),
    ("clos", {"terminals": 256, "links_per_pair": 4}, "links_per_pair", "16 pairs share 32 ports"),
    (
        "clos",
        {"terminals": 64, "centre_switches": 5, "links_per_pair": 8},
        "links_per_pair",
        "Raise switch_ports, or lower one of the three",
    ),
    ("clos5", {"terminals": 1000}, "terminals", "Nearest legal sizes: 992 or 1024"),
    ("clos5", {"terminals": 100_000}, "terminals", "from 32 to 8192"),
    ("dragonfly", {"switches_per_group": 2, "groups": 4}, "groups", "so 3 at most"),
    ("fat_tree", {"arity": 2, "levels": 30}, "levels", "from 1 to 20"),
    ("fat_tree", {"arity": 1000, "levels": 20}, "levels", "about 10^"),
    ("banyan", {"terminals": 20}, "terminals", "not a power of base 2; the nearest are 16 and 32"),
    ("banyan", {"terminals": 16, "variant": "gamma"}, "variant", "one of omega, flip"),
    ("banyan", {"terminals": 16, "base": 1}, "base", "from 2"),
    ("banyan", {"terminals": 1 << 20}, "terminals", "links"),
    ("star", {"arms": 1}, "arms", "from 2"),
    ("tree", {"arity": 10, "depth": 20}, "depth", "terminals"),
    ("slim_fly", {"order": 6}, "order", "4w - 1, 4w or 4w + 1"),
    ("slim_fly", {"order": 15}, "order", "no power of a prime; the nearest are 13 and 16"),
    ("slim_fly", {"order": 2000}, "order", "from 3 to 724"),
    ("polarfly", {"order": 6}, "order", "the nearest are 5 and 7"),
    ("polarfly", {"order": 5, "terminals_per_switch": 10**6}, "order", "terminals"),
    ("hyperx", {"shape": [4, 4], "links_per_dimension": [1]}, "links_per_dimension", "each of the 2 sides"),
    ("hyperx", {"shape": [4000]}, "shape", "links (two per cable)"),
    ("jellyfish", {"switches": 5, "degree": 5}, "degree", "once each"),
    ("jellyfish", {"switches": 6, "degree": 1}, "degree", "only two switches"),
    ("twisted_torus", {"shape": [8], "twist": [1]}, "shape", "one side"),
    ("twisted_torus", {"shape": [4, 8], "twist": [4, 4]}, "twist", "each of the 2 sides but the last"),
    ("twisted_torus", {"shape": [4, 8], "twist": [8]}, "twist", "the last side is 8"),
    ("hammingmesh", {"board": [2], "boards": [2, 2]}, "board", "two whole numbers"),
    ("hammingmesh", {"board": [2, 2], "boards": [10**5, 10**5]}, "boards", "terminals"),
    ("xgft", {"children": [4, 4], "parents": [1]}, "parents", "one per level"),
    ("xgft", {"children": [4, 4], "parents": [2, 2]}, "parents", "a terminal has one cable"),
    ("kautz", {"degree": 2, "length": 20}, "length", "1,572,864 terminals"),
    ("de_bruijn", {"degree": 1, "length": 2}, "degree", "from 2"),
    ("dragonfly", {"switches_per_group": 4, "arrangement": "random"}, "arrangement", "one of relative"),
    ("dragonfly_plus", {"leaves": 2, "spines": 2, "groups": 9}, "groups", "so 3 at most; raise"),
    ("gird", {"shape": [2, 2]}, "kind", 'there is no topology "gird"; did you mean "grid"?'),
    ("grid", {"shap": [2, 2]}, "shap", 'grid has no parameter "shap"; did you mean "shape"?'),
    ("grid", {}, "shape", 'grid needs the parameter "shape"'),
]


@pytest.mark.parametrize(("kind", "parameters", "at_fault", "message"), REFUSED)
def test_what_cannot_be_built_is_refused_with_the_reason(kind, parameters, at_fault, message):
    with pytest.raises(GraphError) as caught:
        topology.build(kind, **parameters)
    assert caught.value.parameter == at_fault
    assert message in str(caught.value)


def test_levels_differ_by_one_along_every_cable_of_a_levelled_family():
    for kind, parameters in EXAMPLES:
        graph = topology.build(kind, **parameters)
        levels = graph.layout.get("levels")
        if levels is not None:
            links = graph.switch_links
            steps = levels[graph.link_target[links]] - levels[graph.link_source[links]]
            assert set(np.abs(steps).tolist()) <= {1}
            assert sorted(set(levels.tolist())) == list(range(levels.max() + 1))
            assert all(high - low == 1 for low, high in pairwise(sorted(set(levels.tolist()))))


@pytest.mark.parametrize(
    ("given", "shape"), [({"terminals": 64, "arity": 4}, (4, 3)), ({"terminals": 64, "levels": 2}, (8, 2))]
)
def test_fat_tree_of_a_number_of_terminals(given: dict[str, int], shape: tuple[int, int]) -> None:
    graph = topology.fat_tree(**given)
    assert graph.terminals == 64
    assert tuple(graph.layout["parameters"].values()) == shape


def test_fat_tree_says_which_numbers_there_are() -> None:
    with pytest.raises(topology.GraphError, match="write 64 or 256"):
        topology.fat_tree(terminals=100, arity=4)
    with pytest.raises(topology.GraphError, match="write arity or levels"):
        topology.fat_tree(terminals=64)


THREE = {"kind": "grid", "shape": [3, 3]}
CORNERS = [["s(0,0)", "s(2,2)"], ["s(0,0)", "s(0,1)"]]


def three(cables: list[list[str]], **more: Any) -> Graph:
    return build(**THREE, **more, more_cables=cables)


def test_cables_are_two_way_and_behind_the_others() -> None:
    before, graph = build(**THREE), three(CORNERS)
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
    graph = build(**THREE)
    path = tmp_path / "network.csv"
    path.write_text(edge_list.write(graph))
    again = build(kind="file", path=str(path), more_cables=CORNERS)
    assert again.link_names == three(CORNERS).link_names
    taken = [name for name in topology.FAMILIES if kind_of(name).cables]
    assert "torus" in taken
    schema = Scenario.model_json_schema()["$defs"]
    assert all("more_cables" in fields_of(name, schema) for name in taken)


def fields_of(kind: str, schema: dict[str, Any]) -> set[str]:
    tables = [one["properties"] for one in schema.values() if "properties" in one]
    return next({*one} for one in tables if one.get("kind", {}).get("const") == kind)


def test_packets_take_them() -> None:
    """Neighbours in the drawing or not: what was four links away is one."""
    traffic = {"pattern": {"kind": "permutation", "map": [8, *range(7, -1, -1)]}, "senders": [0]}
    topologies = (THREE, THREE | {"more_cables": CORNERS[:1]})
    scenarios = [Scenario.from_dict({"topology": one, "traffic": traffic}) for one in topologies]
    without, with_one = map(fabriloom.run, scenarios)
    assert inspection.inspect(scenarios[1])["network"]["family"] == "grid"
    assert with_one.summary["latency_ns"]["min"] < without.summary["latency_ns"]["min"]


@pytest.mark.parametrize(
    ("topology", "words"),
    [
        ({**THREE, "more_cables": [["s(0,0)", "s(2,3)"]]}, 'there is no switch "s(2,3)"; did you mean'),
        ({**THREE, "more_cables": [["s(0,0)", "s(0,0)"]]}, "a cable joins two switches"),
        ({**THREE, "more_cables": [["s(0,0)"]]}, "needs at least 2 entries"),
        ({"kind": "sci-ring", "terminals": 4, "more_cables": CORNERS}, "more_cables"),
    ],
)
def test_what_cannot_be_a_cable_is_told(topology: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError, match=words.replace("(", r"\(").replace(")", r"\)")) as caught:
        inspection.inspect(Scenario.from_dict({"topology": topology}))
    assert (caught.value.path or ())[:2] == ("topology", "more_cables")


def test_the_structure_of_the_family_is_gone() -> None:
    """A routing that counts on coordinates says so."""
    scenario = {"topology": {**THREE, "more_cables": CORNERS}, "routing": {"kind": "dimension-order"}}
    with pytest.raises(ScenarioError, match="dimension-order routing needs switches with coordinates"):
        inspection.inspect(Scenario.from_dict(scenario))
    with pytest.raises(GraphError, match="networks of links"):
        build(kind="sci-ring", terminals=4, more_cables=CORNERS)
