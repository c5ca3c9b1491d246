"""Graph files of others: attributes without a meaning here are passed over with one remark, or given one."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import networkx
import pytest
from fabriloom import topology
from fabriloom.compile import compile
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.topology import Graph, GraphError

MAPPED = {"rate": "LinkSpeedRaw bit/s", "node_name": "label", "delay": "Latency us"}
FORMS = ["csv", "json", "graphml", "networkx"]


def collected() -> networkx.MultiGraph:
    """A network as collections publish it: parallel cables, labels that are not unique, some numbers."""
    found = networkx.MultiGraph(DateObtained="2011", Network="Own")
    for node, label in enumerate(("North", "South", "South")):
        found.add_node(str(node), Internal=1, label=label, Longitude=-1.5 * node, hyperedge=node % 2)
    found.add_edge("0", "1", LinkSpeed="10", LinkSpeedRaw=1e10, LinkType="Fibre", Latency=2.5)
    found.add_edge("0", "1", LinkLabel="<10 Gbps")
    found.add_edge("1", "2", LinkNote="planned", key_="x")
    return found


def read(form: str, folder: Path, attributes: dict[str, str] | None = None) -> Graph:
    graph, path = collected(), folder / f"net.{form}"
    if form == "networkx":
        with warnings.catch_warnings(action="ignore"):  # the remark is in the graph as well
            return topology.from_networkx(graph, 1, attributes)
    if form == "csv":
        rows = [f"switch,{name},,{values['label']},,," for name, values in graph.nodes(data=True)]
        rows += [
            f",{a},{b},,{more.get('LinkSpeedRaw', '')},{more.get('Latency', '')},{more.get('LinkNote', '')}"
            for a, b, more in graph.edges(data=True)
        ]
        path.write_text("\n".join(["kind,source,target,label,LinkSpeedRaw,Latency,LinkNote", *rows]))
    elif form == "json":
        path.write_text(json.dumps(networkx.node_link_data(graph, edges="links")))
    else:
        networkx.write_graphml(graph, path)
    return topology.file(path, terminals_per_switch=1, attributes=attributes)


@pytest.mark.parametrize("form", FORMS)
def test_what_has_no_meaning_is_named_once(form, tmp_path):
    graph = read(form, tmp_path)
    assert (graph.switches, graph.terminals, graph.links) == (3, 3, 12)
    (remark,) = graph.remarks
    assert '"LinkSpeedRaw", ' in remark
    assert 'such as rate = "LinkSpeedRaw bit/s"' in remark
    assert graph.attributes == {}


@pytest.mark.parametrize("form", FORMS)
def test_a_meaning_can_be_given(form, tmp_path):
    graph = read(form, tmp_path, MAPPED)
    assert graph.switch_names == ["North", "South (1)", "South (2)"]
    assert graph.attributes["rate_bits_per_s"][6:8].tolist() == [1e10, 1e10]
    assert graph.attributes["delay_ps"][6:8].tolist() == [2.5e6, 2.5e6]
    assert graph.link_names[6:8] == ["North>South (1)#0", "South (1)>North#0"]
    assert not any("LinkSpeedRaw" in remark or "such as" in remark for remark in graph.remarks)


@pytest.mark.parametrize(
    ("mapped", "column", "value", "other"),
    [
        ({"delay": "delay us"}, "delay_ps", 2.5e6, "length"),
        ({"delay": "latency us"}, "delay_ps", 7e6, "length"),
        ({"length": "length km"}, "length_m", 120e3, "delay"),
    ],
)
def test_of_length_and_delay_the_mapped_one_counts(mapped, column, value, other, tmp_path):
    found = networkx.Graph()
    found.add_edge("a", "b", length=120.0, delay=2.5, latency=7)
    (tmp_path / "a.csv").write_text("source,target,length,delay,latency\na,b,120.0,2.5,7\n")
    (tmp_path / "a.json").write_text(json.dumps(networkx.node_link_data(found, edges="links")))
    networkx.write_graphml(found, tmp_path / "a.graphml")
    with warnings.catch_warnings(action="ignore"):
        graphs = [topology.from_networkx(found, 1, mapped)]
    graphs += [
        topology.file(tmp_path / f"a.{form}", terminals_per_switch=1, attributes=mapped)
        for form in ("csv", "json", "graphml")
    ]
    for graph in graphs:
        assert graph.attributes[column][-2:].tolist() == [value, value]
        assert list(graph.attributes) == [column]
        assert any(f'"{other}"' in remark for remark in graph.remarks)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("attributes", "message", "parameter"),
    [
        ({"rate": "LinkSpedRaw bit/s"}, 'no cable has an attribute "LinkSpedRaw"', "attributes.rate"),
        ({"rate": "LinkSpeedRaw us"}, '"us" in "LinkSpeedRaw us" is no unit of it', "attributes.rate"),
        ({"rats": "LinkSpeedRaw"}, 'did you mean "rate"?', "attributes"),
        ({"node_name": ""}, "node_name names no attribute", "attributes.node_name"),
        ({"rate": "LinkSpeedRaw"}, "has no unit", "path"),
    ],
)
def test_a_wrong_meaning_is_refused(form, attributes, message, parameter, tmp_path):
    with pytest.raises(GraphError, match=r"LinkSp|rate|names no") as caught:
        read(form, tmp_path, attributes)
    assert message in str(caught.value)
    assert caught.value.parameter in (parameter, "rate")


@pytest.mark.parametrize(
    ("labels", "mapped", "names"),
    [
        (("left", "right"), None, ["left", "right"]),
        (("upper\nleft", "right"), None, ["upper left", "right"]),
        (("hall", "hall"), None, ["n0", "n1"]),
        (("n1", "right"), None, ["n0", "right"]),
        ((" ", "right\u202e"), None, ["n0", "n1"]),
        (("left", "right"), {"node_name": "_NodeLabel"}, ["left", "right"]),
        (("left", "right"), {"node_name": "city"}, ["Rome", "n1"]),
    ],
)
def test_labels_that_yed_draws_are_names(labels, mapped, names, tmp_path):
    path = tmp_path / "yed.graphml"
    node = (
        '<node id="n{0}">{2}<data key="d5"><y:ShapeNode><y:NodeLabel>{1}<y:LabelModel/></y:NodeLabel>'
        "</y:ShapeNode></data></node>"
    )
    path.write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">'
        '<key for="node" id="d5" yfiles.type="nodegraphics"/><graph edgedefault="undirected">'
        + node.format(0, labels[0], '<data key="city">Rome</data>')
        + node.format(1, labels[1], "")
        + '<edge source="n0" target="n1" weight="2"/></graph></graphml>',
        encoding="utf-8",
    )
    assert topology.file(path, terminals_per_switch=1, attributes=mapped).switch_names == names


def test_a_scenario_reads_a_collection(tmp_path):
    networkx.write_graphml(collected(), tmp_path / "net.graphml")
    table = {"kind": "file", "path": "net.graphml", "terminals_per_switch": 1}
    compiled = compile(Scenario.from_dict({"topology": table}, tmp_path))
    assert [warning for warning in compiled.warnings if "ignored" in warning]
    mapped = {**table, "attributes": {"rate": "LinkSpede bit/s"}}
    scenario = Scenario.from_dict({"topology": mapped}, tmp_path)
    with pytest.raises(ScenarioError, match="no cable has") as caught:
        compile(scenario)
    assert caught.value.path == ("topology", "attributes", "rate")


def test_a_delay_is_that_of_a_cable(tmp_path):
    (tmp_path / "net.csv").write_text("source,target,delay,length\na,b,1 us,\na,b,,200 m\n")
    table = {"kind": "file", "path": "net.csv", "terminals_per_switch": 1}
    scenario = Scenario.from_dict({"topology": table, "technology": {"preset": "spacewire-200"}}, tmp_path)
    arrays = compile(scenario).arrays
    assert arrays["link_arrival_ticks"][4:8].tolist() == [arrays["link_arrival_ticks"][4]] * 4


LINES = "kind,source,target\nterminal,camera,r1\nterminal,disk,r2\ncable,r1,r2\n"


@pytest.mark.parametrize(
    ("more", "remarks"),
    [
        ("cable,camera,r2\n", []),
        ("cable,Camera,r2\n", ['line 5: the switch "Camera" and "camera" differ in capitals']),
        ("cable,camra,r2\n", ['line 5: the switch "camra" has one cable; did you mean "camera"?']),
        ("cable,r1,R2\ncable,R2,r2\n", ['line 5: the switch "R2" and "r2" differ in capitals']),
    ],
)
def test_a_name_that_is_perhaps_misspelt(more, remarks, tmp_path):
    (tmp_path / "net.csv").write_text(LINES + more)
    found = topology.file(tmp_path / "net.csv").remarks
    assert len(found) == len(remarks)
    assert all(expected in remark for expected, remark in zip(remarks, found, strict=True))


def test_declared_switches_are_all_declared(tmp_path):
    (tmp_path / "net.csv").write_text(LINES + "switch,r1,\nswitch,r2,\ncable,camra,r2\n")
    with pytest.raises(GraphError, match=r'line 7: "camra" is in no line .* did you mean "camera"'):
        topology.file(tmp_path / "net.csv")
