"""Graphs as GraphML, as graph editors and networkx write it.

Nodes and edges have the attributes of :mod:`.attributes`. An undirected edge is a cable, two links; directed
edges are paired as in JSON. Drawing data (which yEd marks as its own) are ignored, apart from the label of
a node, which is its name if no other node has it: its attribute ``_NodeLabel``.
"""

from __future__ import annotations

import html
from collections import Counter
from typing import Any
from xml.parsers import expat

from ..reading.texts import refused_in
from . import attributes
from .graph import Graph, GraphError
from .raw import ATTRIBUTES, CABLE, RawGraph, read_family
from .written import address_of, cables_of, family_line, numbers_of, of_vertex

XML = {"node": ("id",), "edge": ("id", "source", "target", "directed", "sourceport", "targetport")}
"""The attributes that GraphML itself defines per element; all others belong in ``<data>``."""


class _Reader:
    """Reads the elements of a GraphML file into a raw graph."""

    def __init__(self, raw: RawGraph) -> None:
        self.raw = raw
        self.keys: dict[str, str] = {}
        self.defaults: dict[tuple[str, str], str] = {}
        self.labels: dict[str, str] = {}
        """Of nodes, as yEd draws them."""
        self.stack: list[str] = []
        self.values: dict[str, dict[str, str]] = {"graph": {}, "node": {}, "edge": {}}
        self.opened: dict[str, dict[str, str]] = {}
        self.where: dict[str, str] = {}
        self.text: list[str] = []
        self.key = ("", "")
        self.directed = False
        self.arrowheads: list[bool] = []
        """Of the edge that is read, at its source and at its target, as it is drawn."""
        self.graphs = 0
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text.append
        self.parser.StartDoctypeDeclHandler = self.doctype

    def doctype(self, *_: object) -> None:
        self.raw.fail("a document type declaration is not accepted; GraphML needs none", self.line())

    def line(self) -> str:
        return f"line {self.parser.CurrentLineNumber}"

    def start(self, tag: str, given: dict[str, str]) -> None:
        name = tag.rsplit(" ", 1)[-1]
        if not self.stack and name != "graphml":
            self.raw.fail(f"the file must begin with <graphml>, not <{name}>", self.line())
        self.label(self.stack[-1] if self.stack else "")
        self.stack.append(name)
        self.text.clear()
        if name == "graph":
            self.graphs += 1
            if self.graphs > 1:
                self.raw.fail("a second graph; a file holds one", self.line())
            self.directed = given.get("edgedefault", "undirected") == "directed"
        elif name == "key":
            self.key = (given.get("for", "all"), given.get("id", ""))
            drawn = any(name.startswith("yfiles") for name in given)
            name = given.get("attr.name", given.get("id", ""))
            self.keys[given.get("id", "")] = f"_{name}" if drawn else name
        elif name == "hyperedge":
            self.raw.fail("a hyperedge; a cable joins two ends, so write edges", self.line())
        elif name in XML:
            self.opened[name] = given
            self.values[name] = {}
            self.where[name] = self.line()
        elif name == "data":
            self.key = ("data", given.get("key", ""))
        elif name == "Arrows" and "edge" in self.stack:
            self.arrowheads = [given.get(end, "none") != "none" for end in ("source", "target")]

    def label(self, element: str) -> None:
        """Keep the label that yEd draws as the attribute ``_NodeLabel``; elements can follow its text."""
        text = " ".join("".join(self.text).split())  # a label can have several lines
        if element == "NodeLabel" and text and "node" in self.stack:
            self.values["node"].setdefault("_NodeLabel", text)

    def end(self, _: str) -> None:
        name = self.stack.pop()
        self.label(name)
        if name == "data" and self.stack and self.stack[-1] in self.values:
            self.values[self.stack[-1]][self.keys.get(self.key[1], self.key[1])] = "".join(self.text).strip()
        elif name == "default" and self.key[0] != "data":
            self.defaults[self.key[0], self.keys[self.key[1]]] = "".join(self.text).strip()
        elif name == "node":
            self.node(self.opened[name], self.with_defaults(name), self.where[name])
        elif name == "edge":
            self.edge(self.opened[name], self.with_defaults(name), self.where[name])

    def with_defaults(self, element: str) -> dict[str, Any]:
        common = {key: value for (kind, key), value in self.defaults.items() if kind in (element, "all")}
        return common | self.values[element]

    def node(self, given: dict[str, str], values: dict[str, Any], where: str) -> None:
        if "id" not in given:
            self.raw.fail("a node without an id", where)
        self.only("node", given, where)
        attributes.add_vertex(self.raw, given["id"], values, where)
        if "_NodeLabel" in values:
            self.labels[given["id"]] = values["_NodeLabel"]

    def call_by_labels(self) -> None:
        """Call nodes by their labels, unless the file or the user names them or two would have one name."""
        vertices = self.raw.vertices
        if "node_name" in self.raw.foreign.mapped or any(one.label for one in vertices.values()):
            return
        count = Counter([*self.labels.values(), *vertices])
        for name, label in self.labels.items():
            if count[label] == 1 and not refused_in(label):
                vertices[name].label = label

    def edge(self, given: dict[str, str], values: dict[str, Any], where: str) -> None:
        for end in ("source", "target"):
            if end not in given:
                self.raw.fail(f"an edge without a {end}", where)
        self.only("edge", given, where)
        drawn, self.arrowheads = self.arrowheads, []
        by_default = self.directed and len(set(drawn)) != 1
        one_way = given.get("directed", str(by_default)).lower() == "true"
        attributes.add_links(self.raw, given["source"], given["target"], values, where, one_way=one_way)

    def only(self, element: str, given: dict[str, str], where: str) -> None:
        """Refuse attributes of ours in the tag of an element: GraphML has them in elements of their own."""
        for name in given:
            if name in XML[element] or " " in name or name.startswith("parse."):
                continue
            if name in (attributes.OF_VERTICES if element == "node" else attributes.OF_LINKS):
                self.raw.fail(
                    f'<{element} {name[:40]}="…">: write <data key="{name[:40]}">…</data> in the {element}',
                    where,
                )
            self.raw.foreign.ignored.setdefault(name)


def read(raw: RawGraph, content: bytes) -> None:
    """Fill ``raw`` from the bytes of a GraphML file. Raises ``GraphError`` with the line."""
    reader = _Reader(raw)
    try:
        reader.parser.Parse(content, True)
    except expat.ExpatError as error:
        raw.fail(f"not GraphML, or cut short: {expat.ErrorString(error.code)}", f"line {error.lineno}")
    except GraphError:
        raise
    except (LookupError, ValueError) as error:
        # The parser asks Python for the encoding named in the first line.
        raw.fail(f"its text cannot be read: {error}", "line 1")
    if not reader.graphs:
        raw.fail("there is no <graph> in the file")
    read_family(raw, reader.values["graph"].get("fabriloom"))
    reader.call_by_labels()
    raw.pair_links()


def write(graph: Graph) -> str:
    """Return the graph as GraphML; reading it gives the same graph."""
    from xml.sax.saxutils import quoteattr  # brings half of the network protocols along

    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    ]
    for owner, key, kind in (  # an identifier has one owner
        ("graph", "fabriloom", "string"),
        ("node", "kind", "string"),
        ("node", "x", "double"),
        ("node", "y", "double"),
        ("node", "cycle_ps", "double"),
        ("node", "address", "int"),
        ("edge", "name", "string"),
        ("edge", "cable", "int"),
        ("edge", "edge_address", "int"),
        *(("edge", key, "double") for key in ATTRIBUTES),
        *(("edge", key, "string") for key in (CABLE,) if key in graph.attributes),
    ):
        name = key.removeprefix("edge_")
        lines.append(f'  <key id="{key}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>')
    lines.append('  <graph edgedefault="directed">')
    family = family_line(graph)
    if family:
        lines.append(f"    {_data('fabriloom', family)}")
    for vertex in range(graph.switches + graph.terminals):
        data = "".join(_data(key, value) for key, value in of_vertex(graph, vertex).items())
        lines.append(f"    <node id={quoteattr(graph.vertex_name(vertex))}>{data}</node>")
    for link, cable in enumerate(cables_of(graph)):
        values: dict[str, Any] = {"name": graph.link_names[link]}
        if cable >= 0:
            values["cable"] = cable
        values |= {f"edge_{key}": value for key, value in address_of(graph, link).items()}
        data = "".join(_data(key, value) for key, value in (values | numbers_of(graph, link)).items())
        ends = (graph.vertex_name(int(end[link])) for end in (graph.link_source, graph.link_target))
        source, target = (quoteattr(end) for end in ends)
        lines.append(f"    <edge source={source} target={target}>{data}</edge>")
    return "\n".join([*lines, "  </graph>", "</graphml>", ""])


def _data(key: str, value: object) -> str:
    return f'<data key="{key}">{html.escape(str(value), quote=False)}</data>'
