"""Graph files: round trips lose nothing, bad files say what is wrong and where."""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import networkx
import numpy as np
import pytest
from fabriloom import topology
from fabriloom.reading.texts import refused_in
from fabriloom.topology import Graph, GraphError
from hypothesis import given, settings
from hypothesis import strategies as st

from .common import EXAMPLES, assert_same, example_id

SMALL = [example for example in EXAMPLES if example[1].get("terminals", 0) <= 128 and example[0] != "clos5"]


def round_trip(graph: Graph, path: Path) -> Graph:
    topology.write(graph, path)
    return topology.file(path)


@pytest.mark.parametrize("form", ["graphml", "json", "csv"])
@pytest.mark.parametrize("example", SMALL, ids=example_id)
def test_a_file_gives_the_same_graph_and_family_back(example, form, tmp_path):
    graph = topology.build(example[0], **example[1])
    back = round_trip(graph, tmp_path / f"graph.{form}")
    assert_same(graph, back)
    assert back.family == graph.family
    assert back.layout.keys() == graph.layout.keys()


@pytest.mark.parametrize("example", SMALL, ids=example_id)
def test_networkx_gives_the_same_graph_back(example):
    graph = topology.build(example[0], **example[1])
    back = topology.from_networkx(topology.to_networkx(graph))
    assert_same(graph, back)
    assert back.family == graph.family


NAMES = (
    st.text(st.characters(blacklist_categories=["Cs", "Cc", "Cn"]), min_size=1, max_size=8)
    .map(str.strip)
    .filter(lambda name: name and not refused_in(name))
)


@st.composite
def odd_graphs(draw) -> Graph:
    """Draw a connected graph with any names, parallel and one-way links in any order, and numbers on some
    links."""
    switches = draw(st.integers(1, 5))
    terminals = draw(st.integers(2, 5))
    names = draw(st.lists(NAMES, min_size=switches + terminals, max_size=switches + terminals, unique=True))
    pairs = [(s, s - 1, True) for s in range(1, switches)]
    pairs += [(switches + t, draw(st.integers(0, switches - 1)), True) for t in range(terminals)]
    if switches > 1:
        ends = st.tuples(st.integers(0, switches - 1), st.integers(0, switches - 1), st.booleans())
        pairs += [pair for pair in draw(st.lists(ends, max_size=6)) if pair[0] != pair[1]]
    links = [link for a, b, both in pairs for link in ([(a, b), (b, a)] if both else [(a, b)])]
    mates = np.concatenate([[2, 1] if both else [-1] for *_, both in pairs])
    place = np.arange(len(links))
    reverse = np.where(mates == 2, place + 1, np.where(mates == 1, place - 1, -1))
    order = np.array(draw(st.permutations(range(len(links)))))
    where = np.argsort(order)
    legal = {"rate_bits_per_s": st.integers(10**3, 10**12).map(float), "length_m": st.floats(0, 1e6)}
    attributes = {
        key: np.array(
            draw(st.lists(numbers | st.just(float("nan")), min_size=len(links), max_size=len(links)))
        )
        for key, numbers in legal.items()
    }
    return Graph(
        switch_names=names[:switches],
        terminal_names=names[switches:],
        link_source=np.array([links[at][0] for at in order]),
        link_target=np.array([links[at][1] for at in order]),
        link_reverse=np.where(reverse[order] < 0, -1, where[reverse[order]]),
        link_names=[f"{draw(NAMES)} {index}" for index in range(len(links))],
        family="file",
        layout={"parameters": {}},
        positions=None if draw(st.booleans()) else np.arange(2.0 * switches).reshape(switches, 2) / 3,
        attributes={key: values for key, values in attributes.items() if not np.isnan(values).all()},
    )


@pytest.mark.parametrize("form", ["graphml", "json", "csv", "networkx"])
@settings(max_examples=40)
@given(graph=odd_graphs())
def test_any_graph_survives(graph, form, tmp_path_factory):
    # Where no link is marked as half of a cable, opposite one-way links are read as cables: not such a graph.
    if (graph.link_reverse < 0).all():
        return
    if form == "networkx":
        back = topology.from_networkx(topology.to_networkx(graph))
    else:
        back = round_trip(graph, tmp_path_factory.mktemp("g") / f"graph.{form}")
    assert_same(graph, back)
    assert back.family == "file"


@pytest.mark.parametrize("example", SMALL[:8], ids=example_id)
def test_a_graphml_file_of_networkx_is_read(example, tmp_path):
    graph = topology.build(example[0], **example[1])
    networkx.write_graphml(topology.to_networkx(graph), tmp_path / "graph.graphml")
    assert_same(graph, topology.file(tmp_path / "graph.graphml"))


@pytest.mark.parametrize("count", [1.5, -1, None, "1"])
def test_a_wrong_number_of_terminals_is_said(count):
    with pytest.raises(GraphError, match=r"terminals_per_switch \(the terminals to attach to every switch\)"):
        topology.from_networkx(networkx.path_graph(2), count)


@pytest.mark.parametrize("kind", ["sci-ring", "sci-bridge", "sci-dual-ring"])
def test_rings_are_no_files_of_links(kind, tmp_path):
    graph = topology.build(kind, terminals=2)
    with pytest.raises(GraphError, match="a network of rings is more than its links: write the settings"):
        topology.write(graph, tmp_path / "graph.csv")
    assert not any(tmp_path.iterdir())
    plane = graph.planes[0].graph
    with pytest.raises(GraphError, match="a network of rings is more than its links"):
        topology.from_networkx(topology.to_networkx(plane))


@pytest.mark.parametrize("kind", ["crossbar", "cable"])
def test_planes_are_written_one_by_one(kind, tmp_path):
    graph = topology.build(kind, replicate=2, **({"terminals": 4} if kind == "crossbar" else {}))
    for written in (
        lambda: topology.write(graph, tmp_path / "graph.json"),
        lambda: topology.to_networkx(graph),
    ):
        with pytest.raises(GraphError, match="plane by plane: take the graph of each of its planes"):
            written()
    for plane in graph.planes:
        assert round_trip(plane.graph, tmp_path / "graph.csv") == plane.graph
        assert topology.from_networkx(topology.to_networkx(plane.graph)) == plane.graph


def test_a_changed_file_is_no_longer_of_the_family(tmp_path):
    graph = topology.grid([3, 3], 2, 2)
    topology.write(graph, tmp_path / "graph.csv")
    lines = (tmp_path / "graph.csv").read_text().splitlines(keepends=True)
    (tmp_path / "graph.csv").write_text("".join(lines[:-1]))
    back = topology.file(tmp_path / "graph.csv")
    assert back.family == "file"
    assert back.links == graph.links - 2


def test_a_plain_edge_list_with_parallel_cables(tmp_path):
    path = tmp_path / "net.csv"
    path.write_text("source,target,parallel,length_m\na,b,3,2.5\nb,c,1,\n")
    graph = topology.file(path, terminals_per_switch=2)
    assert graph.switch_names == ["a", "b", "c"]
    assert graph.terminal_names == ["t.a.0", "t.a.1", "t.b.0", "t.b.1", "t.c.0", "t.c.1"]
    assert graph.links == 2 * (6 + 4)
    assert graph.link_names[12:18] == ["a>b#0", "b>a#0", "a>b#1", "b>a#1", "a>b#2", "b>a#2"]
    assert graph.attributes["length_m"][12:18].tolist() == [2.5] * 6
    assert np.isnan(graph.attributes["length_m"][18:]).all()


def test_an_undirected_json_graph(tmp_path):
    path = tmp_path / "net.json"
    path.write_text(
        '{"nodes": [{"id": 0}, {"id": 1}, {"id": "x", "kind": "terminal"}, {"id": "y", "kind": "terminal"}],'
        '"links": [{"source": 0, "target": 1, "parallel": 2}, {"source": "x", "target": 0}, '
        '{"source": 1, "target": "y"}]}'
    )
    graph = topology.file(path)
    assert graph.terminal_names == ["x", "y"]
    assert graph.link_reverse.tolist() == [1, 0, 3, 2, 5, 4, 7, 6]
    assert graph.terminal_out_links.tolist() == [4, 7]
    assert graph.terminal_in_links.tolist() == [5, 6]


def test_any_networkx_graph():
    graph = topology.from_networkx(networkx.petersen_graph(), terminals_per_switch=1)
    assert (graph.switches, graph.terminals, graph.links) == (10, 10, 50)
    multi = networkx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    assert topology.from_networkx(multi, 1).links == 2 * (3 + 3)


def test_nodes_that_are_numbers_are_numbered_as_they_are():
    """A trace says 0 and means node 0, in whatever order the edges were added."""
    assert topology.from_networkx(networkx.Graph([(2, 1), (1, 0)]), 1).switch_names == ["0", "1", "2"]
    assert topology.from_networkx(networkx.Graph([("2", "1"), ("1", "0")]), 1).switch_names == ["2", "1", "0"]


WIRE = {"parallel": 3, "rate": "10 Mbit/s", "length": "150 cm"}


def two_switches(form: str, folder: Path, edge: dict[str, object], node: dict[str, object]) -> Graph:
    """Two switches and what a format says of the cable between them and of the first switch."""
    edge, node = dict(edge), dict(node)
    path = folder / f"net.{form}"
    if form == "csv":
        columns = ["kind", "source", "target", *edge, *node]
        cable = ["cable", "a", "b", *map(str, edge.values()), *["" for _ in node]]
        switch = ["switch", "a", "", *["" for _ in edge], *map(str, node.values())]
        other = ["switch", "b", *["" for _ in columns[2:]]]
        path.write_text("\n".join(",".join(line) for line in (columns, switch, other, cable)))
        return topology.file(path, terminals_per_switch=1)
    found = networkx.Graph()
    found.add_node("a", **node)
    found.add_edge("a", "b", **edge)
    if form == "networkx":
        return topology.from_networkx(found, 1)
    if form == "graphml":
        networkx.write_graphml(found, path)
    else:
        path.write_text(json.dumps(networkx.node_link_data(found, edges="links")))
    return topology.file(path, terminals_per_switch=1)


FORMS = ["csv", "json", "graphml", "networkx"]


@pytest.mark.parametrize("form", FORMS)
def test_an_attribute_means_the_same_in_every_format(form, tmp_path):
    graph = two_switches(
        form, tmp_path, {**WIRE, "_tray": "B7", "label": "trunk"}, {"label": "left", "x": 1.5}
    )
    assert graph.link_names[4:] == ["a>b#0", "b>a#0", "a>b#1", "b>a#1", "a>b#2", "b>a#2"]
    assert graph.attributes["rate_bits_per_s"][4:].tolist() == [1e7] * 6
    assert graph.attributes["length_m"][4:].tolist() == [1.5] * 6


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("edge", "node", "message"),
    [
        ({"paralel": 2}, {}, 'unknown {} "paralel"; did you mean "parallel"?'),
        ({"lenght_m": 2}, {}, 'unknown {} "lenght_m"; did you mean "length_m"?'),
        ({"Paralel": 2}, {}, 'unknown {} "Paralel"; did you mean "parallel"?'),
        ({"nmae": 2}, {}, 'unknown {} "nmae"; did you mean "name"?'),
        ({"delay": 3}, {}, "has no unit; expected a time; give it a unit, or call it delay_ps"),
        ({"delay": "2 s"}, {}, "the delay of a cable is from 0 ps to 1 s"),
        (
            {"delay": "1 us", "length": "1 m"},
            {},
            "length and delay both give the delay of the cable; keep one",
        ),
        ({}, {"knd": "terminal"}, 'unknown {} "knd"; did you mean "kind"?'),
        ({"rate": 100_000_000}, {}, "has no unit; expected a rate in bits per second"),
        ({"rate": "100 MB/s"}, {}, 'write "800 Mbit/s" for the same rate'),
        ({"parallel": 1.5}, {}, "it must be a whole number"),
        ({"parallel": 10**9}, {}, "a network has at most 8,388,608 links in all"),
        ({"length": "1e12 m"}, {}, "is too long for a cable; the most is 1000000 m"),
    ],
)
def test_what_has_no_meaning_is_refused_in_every_format(form, edge, node, message, tmp_path):
    what = "column" if form == "csv" else "attribute of a " + ("cable" if edge else "switch or terminal")
    with pytest.raises(GraphError) as caught:
        two_switches(form, tmp_path, edge, node)
    assert message.format(what) in str(caught.value)


def test_what_yed_draws_is_passed_over(tmp_path):
    path = tmp_path / "yed.graphml"
    path.write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">'
        '<key for="node" id="d5" yfiles.type="nodegraphics"/>'
        '<key for="edge" id="d9" yfiles.type="edgegraphics"/>'
        '<key attr.name="description" attr.type="string" for="node" id="d4"/>'
        '<graph edgedefault="undirected"><node id="n0"><data key="d4"/><data key="d5"><y:ShapeNode>'
        '<y:NodeLabel>left</y:NodeLabel></y:ShapeNode></data></node><node id="n1"/>'
        '<edge id="e0" source="n0" target="n1"><data key="d9">'
        "<y:PolyLineEdge/></data></edge></graph></graphml>"
    )
    assert topology.file(path, terminals_per_switch=1).links == 6


@pytest.mark.parametrize(
    ("arrowheads", "attribute", "links"),
    [
        ('source="none" target="none"', "", 6),
        ('source="standard" target="standard"', "", 6),
        ('source="none" target="standard"', "", 5),
        ('source="none" target="none"', ' directed="true"', 5),
    ],
)
def test_an_edge_that_yed_draws_without_arrowheads_is_a_cable(arrowheads, attribute, links, tmp_path):
    path = tmp_path / "yed.graphml"
    path.write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">'
        '<key for="edge" id="d9" yfiles.type="edgegraphics"/><graph edgedefault="directed"><node id="n0"/>'
        f'<node id="n1"/><edge source="n0" target="n1"{attribute}><data key="d9"><y:PolyLineEdge>'
        f"<y:Arrows {arrowheads}/></y:PolyLineEdge></data></edge></graph></graphml>"
    )
    assert topology.file(path, terminals_per_switch=1).links == links


TERMINALS = "kind,source,target\nterminal,x,a\nterminal,y,a\n"
BAD = {
    "empty.csv": ("", "the file is empty"),
    "columns.csv": ("source,targt\na,b\n", 'line 1: unknown column "targt"; did you mean "target"?'),
    "target.csv": ("source,name\na,b\n", 'line 1: the column "target" is missing'),
    "short.csv": (
        "source,target,name\na,b,c\na,b\n",
        "line 3: 2 values for 3 columns; is the line cut short?",
    ),
    "quote.csv": ('source,target\na,"b', "line 2: not CSV, or cut short"),
    "kind.csv": ("kind,source,target\nswich,a,\n", 'line 2: kind is "swich"'),
    "none.csv": ("source,target\na,b\n", "the file has no terminals"),
    "one.csv": ("kind,source,target\nterminal,x,a\n", "1 terminal; a network needs two"),
    "twice.csv": (
        TERMINALS + "cable,x,b\n" * 8 + "cable,a,b\n",
        'line 2: terminal "x" sends on 9 links to a and b (line 2',
    ),
    "loose.csv": (TERMINALS + "terminal,z,\n", 'line 4: terminal "z" sends on 0 links'),
    "parts.csv": (
        TERMINALS + "terminal,z,b\n",
        'the network falls into 2 parts that no link joins: "a", "x", "y"; "b", "z"',
    ),
    "names.csv": (
        "kind,source,target,name\nterminal,x,a,l\nterminal,y,a,\ncable,a,b,m\ncable,a,b,m\n",
        'line 5: two links are named "m" (the other: line 4)',
    ),
    "again.csv": (TERMINALS + "terminal,x,a\n", 'line 4: "x" is there already (line 2)'),
    "self.csv": (TERMINALS + "cable,a,a\n", 'line 4: a link leads from "a" to itself'),
    "both.csv": (
        TERMINALS + "cable,x,y\n",
        'line 4: "x" and "y" are both terminals. A cable between two terminals is a network by itself',
    ),
    "many.csv": (
        "source,target,parallel\na,b,1000000000\n",
        "line 2: parallel is '1000000000'; a network has at most 8,388,608 links in all",
    ),
    "nobody.csv": ("source,target,parallel\na,b,0\n", "line 2: parallel is '0'; it must be 1 or more"),
    "bars.csv": (
        "source|target|parallel\na|b|2\n",
        "line 1: the columns are separated by bars; save the file with commas or semicolons",
    ),
    "bare.csv": (
        "source,target,rate\na,b,100000000\n",
        'line 2: rate: "100000000" has no unit; expected a rate in bits per second; give it a unit',
    ),
    "extreme.csv": (
        "source,target,rate_bits_per_s\na,b,1e15\n",
        "line 2: rate_bits_per_s is '1e15'; the rate of a link is from 1 kbit/s to 51200 Gbit/s",
    ),
    "long.csv": ("source,target,length\na,b,1e9 km\n", 'line 2: length: "1e9 km" is too long for a cable'),
    "said-twice.csv": (
        "source,target,length,length_m\na,b,2 m,2\n",
        "line 2: length and length_m say the same; keep one",
    ),
    "switch.csv": (
        "kind,source,target,rate\nswitch,a,,10 Mbit/s\n",
        "line 2: rate has no meaning in a line of kind switch",
    ),
    "undirected-cable.json": (
        '{"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b", "cable": 1}]}',
        "links[0]: cable is for one-way links",
    ),
    "top.json": ('{"nodes": [], "links": [], "grpah": {}}', 'unknown key "grpah"; did you mean "graph"?'),
    "hyper.graphml": (
        "<graphml><graph>\n<hyperedge/></graph></graphml>",
        "line 2: a hyperedge; a cable joins",
    ),
    "tag.graphml": (
        "<graphml><graph><node id='a'/><node id='b'/>\n"
        "<edge source='a' target='b' parallel='2'/></graph></graphml>",
        'line 2: <edge parallel="…">: write <data key="parallel">…</data> in the edge',
    ),
    "float.csv": (
        "source,target,parallel\na,b,1.5\n",
        "line 2: parallel is '1.5'; it must be a whole number",
    ),
    "length.csv": ("source,target,length_m\na,b,two\n", "line 2: length_m is 'two'; it must be a number"),
    "minus.csv": (
        "kind,source,target,length_m\nterminal,x,a,\nterminal,y,a,-2\n",
        "line 3: length_m is '-2'; a cable is from 0 m to 1000000 m long",
    ),
    "half.csv": (
        "kind,source,target,cable\nterminal,x,a,\nterminal,y,a,\nlink,a,b,7\n",
        "line 4: cable 7 has one link",
    ),
    "cut.json": (
        '{"nodes": [\n{"id": 1}',
        "line 2, column 10: not JSON: expecting ',' delimiter at the end of the file",
    ),
    "list.json": ("[1]", 'the file must be an object with "nodes" and "links"'),
    "oneway.json": (
        '{"directed": true, "nodes": [{"id": "a"}, {"id": "x", "kind": "terminal"}, '
        '{"id": "y", "kind": "terminal"}],'
        ' "links": [{"source": "x", "target": "a"}, {"source": "a", "target": "y"}]}',
        "one and at most 8. Some links are one-way: if they are cables, say so in the file: edgedefault=",
    ),
    "nolinks.json": ('{"nodes": []}', '"links" must be there and be a list'),
    "end.json": (
        '{"nodes": [{"id": 1, "kind": "terminal"}], "links": [{"source": 1, "target": 2}]}',
        'links[0]: there is no switch or terminal "2"',
    ),
    "id.json": ('{"nodes": [{"name": 1}], "links": []}', 'nodes[0]: a node must be an object with an "id"'),
    "cut.graphml": (
        "<graphml>\n<graph>\n<node id='a'>",
        "line 3: not GraphML, or cut short: no element found",
    ),
    "html.graphml": ("<html></html>", "line 1: the file must begin with <graphml>, not <html>"),
    "bomb.graphml": (
        "<!DOCTYPE a [<!ENTITY b 'c'>]><graphml/>",
        "line 1: a document type declaration is not accepted",
    ),
    "end.graphml": (
        "<graphml><graph edgedefault='undirected'>\n<node id='a'/>\n<edge source='a' "
        "target='b'/></graph></graphml>",
        'line 3: there is no switch or terminal "b"',
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_says_what_and_where(name, tmp_path):
    content, expected = BAD[name]
    (tmp_path / name).write_text(content)
    hang = 1 if name in ("end.graphml",) else 0
    with pytest.raises(GraphError) as caught:
        topology.file(tmp_path / name, terminals_per_switch=hang)
    assert str(caught.value).startswith(f"{tmp_path / name}: ")
    assert expected in str(caught.value)
    assert caught.value.parameter in ("path", "terminals_per_switch")


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"source,target\na,\xff\n")
    with pytest.raises(GraphError, match="line 2, column 3: not UTF-8 text"):
        topology.file(tmp_path / "x.csv")


def test_a_missing_file_and_an_unknown_format(tmp_path):
    with pytest.raises(GraphError, match=r"none\.csv: cannot be read: no such file"):
        topology.file(tmp_path / "none.csv")
    with pytest.raises(GraphError, match=r'extension "\.txt" says no format; formats are graphml, json, csv'):
        topology.file(tmp_path / "none.txt")
    with pytest.raises(GraphError, match="format is 'yaml'"):
        topology.file(tmp_path / "none.txt", format="yaml")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(GraphError, match="this is a folder"):
        topology.file(tmp_path / "folder.csv")
    for name, reads in (("x.gml", "read_gml"), ("x.gv", "nx_pydot.read_dot")):
        with pytest.raises(GraphError, match="says no format") as caught:
            topology.file(tmp_path / name)
        assert f'networkx.write_graphml(networkx.{reads}("{name}"), "x.graphml")' in caught.value.hint
    for name, hint in (("x.xlsx", "save the sheet as CSV"), ("x.tsv", 'format = "csv"')):
        with pytest.raises(GraphError, match="says no format") as caught:
            topology.file(tmp_path / name)
        assert hint in caught.value.hint


def test_tuples_of_networkx_are_names_in_json(tmp_path):
    grid = networkx.grid_2d_graph(2, 3)
    (tmp_path / "grid.json").write_text(json.dumps(networkx.node_link_data(grid, edges="links")))
    read = topology.file(tmp_path / "grid.json", terminals_per_switch=1)
    assert_same(read, topology.from_networkx(grid, 1))
    assert read.switch_names[:2] == ["(0, 0)", "(0, 1)"]
    (tmp_path / "grid.json").write_text('{"nodes": [{"id": [0, [1]]}], "links": []}')
    with pytest.raises(GraphError, match=r'nodes\[0\]: a node must be an object with an "id", a text or'):
        topology.file(tmp_path / "grid.json")


def test_terminals_twice_over(tmp_path):
    (tmp_path / "x.csv").write_text(TERMINALS)
    with pytest.raises(GraphError, match="has terminals of its own"):
        topology.file(tmp_path / "x.csv", terminals_per_switch=2)


@pytest.mark.parametrize("form", ["graphml", "json", "csv"])
@settings(max_examples=60)
@given(data=st.data())
def test_a_damaged_file_never_gives_another_error(form, tmp_path_factory, data):
    path = tmp_path_factory.mktemp("damaged") / f"graph.{form}"
    topology.write(topology.grid([2, 2], 1, 2), path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(1, len(content)))])
    with contextlib.suppress(GraphError):
        topology.file(path)


@pytest.mark.parametrize("encoding", ["u-f-8", "hex", "utf-7", "shift_jis", "idna"])
def test_graphml_in_an_encoding_that_cannot_be_read(tmp_path, encoding):
    path = tmp_path / "x.graphml"
    path.write_text(f'<?xml version="1.0" encoding="{encoding}"?>\n<graphml/>', encoding="ascii")
    with pytest.raises(GraphError, match="line 1: its text cannot be read"):
        topology.file(path)


def test_numbers_keep_their_place_when_only_some_links_have_them(tmp_path):
    graph = topology.crossbar(3)
    rates = np.full(graph.links, np.nan)
    rates[4] = 1e8
    graph = replace(graph, attributes={"rate_bits_per_s": rates})
    for form in ("graphml", "json", "csv"):
        assert_same(graph, round_trip(graph, tmp_path / f"x.{form}"))


def test_another_file_than_the_one_meant(tmp_path):
    (tmp_path / "x.csv").write_text(TERMINALS)
    checksum = hashlib.sha256(TERMINALS.encode()).hexdigest()
    assert topology.file(tmp_path / "x.csv", sha256=checksum).terminals == 2
    with pytest.raises(GraphError, match="not the one that was meant") as caught:
        topology.file(tmp_path / "x.csv", sha256="0" * 64)
    assert caught.value.parameter == "sha256"


def test_people_write_from_and_to(tmp_path):
    (tmp_path / "net.csv").write_text("kind;From;To;length\nterminal;x;a;1,5 m\nterminal;y;a;\n")
    graph = topology.file(tmp_path / "net.csv")
    assert graph.terminal_names == ["x", "y"]
    (tmp_path / "net.csv").write_text("kind;From;To;length\nterminal;x;a;1.500 m\nterminal;y;a;2,5 m\n")
    with pytest.raises(GraphError, match=r'line 2: length: "1.500 m" can be 1 or 1500'):
        topology.file(tmp_path / "net.csv")


@pytest.mark.parametrize("form", ["graphml", "json", "csv"])
def test_sizes_and_delays_survive(form, tmp_path):
    (tmp_path / "net.csv").write_text(
        "kind,source,target,buffer,lanes,delay,cycle\nswitch,a,,8,,,1.3 GHz\nswitch,b,,,,,\n"
        "cable,a,b,16,4,1 us,\ncable,a,b,,,,\n"
    )
    graph = topology.file(tmp_path / "net.csv", terminals_per_switch=1)
    assert graph.attributes["buffer_chars"][4:].tolist()[:2] == [16, 16]
    assert graph.attributes["buffer_chars"][7] == 8
    assert np.isnan(graph.attributes["buffer_chars"][6])
    assert graph.attributes["lanes"][4] == 4
    own = np.asarray(graph.link_source) == 0
    own[:2] = True  # the terminal that is attached to the switch has its clock
    assert graph.attributes["cycle_ps"][own].tolist() == [10000 / 13] * 4
    assert np.isnan(graph.attributes["cycle_ps"][~own]).all()
    assert_same(graph, round_trip(graph, tmp_path / f"other.{form}"))
