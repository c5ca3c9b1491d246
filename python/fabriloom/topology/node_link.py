"""Graphs of networkx, and as JSON in its node-link form: ``{"nodes": [{"id": …}], "links": [{"source": …,
"target": …}]}``.

With ``"directed": false`` (or without it) every entry of ``links`` is a cable, two links. With ``"directed":
true`` an entry is one link; two entries with the same ``cable`` are the two directions of a cable. If no
entry has a ``cable``, opposite links are paired in order and the remaining ones are one-way. Nodes and links
have the attributes of :mod:`.attributes`.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from .. import reading
from ..reading import ReadError
from . import attributes
from .attributes import add_links, add_vertex
from .family import family
from .foreign import foreign
from .graph import AS_SETTINGS, Graph, GraphError, Plane
from .raw import RawGraph, read_family
from .several import is_of_cables, whole_network, without_ports
from .written import address_of, cables_of, family_line, numbers_of, of_vertex

if TYPE_CHECKING:
    import networkx

KEYS = ("nodes", "links", "edges", "directed", "multigraph", "graph")


def read(raw: RawGraph, text: str) -> None:
    """Fill ``raw`` from JSON text. Raises ``GraphError`` with the line or the wrong entry."""
    data = reading.json_data(text, raw.origin)
    if not isinstance(data, dict):
        raw.fail('the file must be an object with "nodes" and "links"')
    attributes.known_only(raw, data, KEYS, "key", "", attributes.DRAWN)
    links_key = "edges" if "edges" in data and "links" not in data else "links"
    for key in ("nodes", links_key):
        if not isinstance(data.get(key), list):
            raw.fail(f'"{key}" must be there and be a list, as networkx.node_link_data makes it')
    about = data.get("graph")
    read_family(raw, about.get("fabriloom") if isinstance(about, dict) else None)
    for index, node in enumerate(data["nodes"]):
        _read_node(raw, node, f"nodes[{index}]")
    directed = data.get("directed", False)
    if not isinstance(directed, bool):
        raw.fail(f'"directed" is {directed!r}; it must be true or false')
    for index, entry in enumerate(data[links_key]):
        _read_link(raw, entry, directed, f"{links_key}[{index}]")
    if directed:
        raw.pair_links()


def _read_node(raw: RawGraph, node: Any, where: str) -> None:
    name = _id_of(node.get("id")) if isinstance(node, dict) else None
    if name is None:
        raw.fail('a node must be an object with an "id", a text or a number', where)
    values = {key: value for key, value in node.items() if key != "id"}
    attributes.add_vertex(raw, name, values, where)


def _id_of(value: Any) -> str | None:
    """Return the name of a node; None for what is none. The lists are tuples in Python, as of grids."""
    if isinstance(value, list) and value and all(isinstance(one, str | int) for one in value):
        return str(tuple(value))
    return str(value) if isinstance(value, str | int) else None


def _read_link(raw: RawGraph, entry: Any, directed: bool, where: str) -> None:
    if not isinstance(entry, dict):
        raw.fail('a link must be an object with "source" and "target"', where)
    source, target = (_id_of(entry.get(key)) for key in ("source", "target"))
    if source is None or target is None:
        key = "source" if source is None else "target"
        raw.fail(f'"{key}" is missing or is not the id of a node', where)
    # networkx writes the key of an edge between the same two nodes; it is not an attribute of the edge.
    values = {key: value for key, value in entry.items() if key not in ("source", "target", "key")}
    attributes.add_links(raw, source, target, values, where, one_way=directed)


def write(graph: Graph) -> str:
    """Return the graph as JSON text, one node or link per line; reading it gives the same graph."""
    family = family_line(graph)
    about = f'{{"fabriloom": {family}}}' if family else "{}"
    nodes = [
        json.dumps({"id": graph.vertex_name(vertex), **of_vertex(graph, vertex)})
        for vertex in range(graph.switches + graph.terminals)
    ]
    links = []
    for link, cable in enumerate(cables_of(graph)):
        entry: dict[str, Any] = {
            "source": graph.vertex_name(int(graph.link_source[link])),
            "target": graph.vertex_name(int(graph.link_target[link])),
            "name": graph.link_names[link],
        }
        if cable >= 0:
            entry["cable"] = cable
        links.append(json.dumps(entry | numbers_of(graph, link) | address_of(graph, link)))
    return (
        f'{{"directed": true, "multigraph": true, "graph": {about},\n"nodes": [\n'
        + ",\n".join(nodes)
        + '\n],\n"links": [\n'
        + ",\n".join(links)
        + "\n]}\n"
    )


# A graph within a scenario: what ``Scenario.from_dict`` makes of a :class:`Graph` given as topology.

MAX_CHARS = 1 << 28


@family("inline", "A graph made in Python, as `Scenario.from_dict` writes it into the scenario.")
def inline(
    content: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_CHARS,
            description="The graph as JSON in node-link form, as `topology.write` writes it to a file",
        ),
    ],
) -> Graph:
    """Read the graph.

    Raises:
        GraphError: the content cannot be used.
    """
    raw = RawGraph("content")
    try:
        read(raw, content)
    except ReadError as error:
        raise GraphError(f"content: {error.message}", "content") from None
    return raw.to_graph()


def table_of(graph: Graph) -> dict[str, Any]:
    """Return the ``[topology]`` of a graph: for rings the settings that build them, for planes their tables.

    Raises:
        GraphError: nothing in a scenario describes it.
    """
    if graph.several is not None and is_of_cables(graph):
        graph = without_ports(graph)
    if graph.several is not None and "parameters" not in graph.layout:
        return {"kind": "planes", "planes": [_plane(plane) for plane in graph.planes]}
    if graph.network_kind.cables:
        return {"kind": "inline", "content": write(graph)}
    if "parameters" not in graph.layout:
        raise GraphError(AS_SETTINGS, "topology")
    given = {name: value for name, value in graph.layout["parameters"].items() if value is not None}
    return {"kind": graph.family, **given}


def _plane(plane: Plane) -> dict[str, Any]:
    names = plane.graph.terminal_names
    if len(set(names)) < len(names):
        message = f'plane "{plane.name}" has several ports of a terminal: give it by its settings'
        raise GraphError(message, "topology")
    return {"name": plane.name, "network": table_of(plane.graph), "terminals": names}


def to_networkx(graph: Graph) -> networkx.MultiDiGraph:
    """Return a networkx multigraph with one directed edge per link; ``from_networkx`` restores the same
    graph, unless it is of rings.

    Nodes have the names of switches and terminals and the attributes ``kind``, ``x`` and ``y``. The key of an
    edge is the name of the link, and ``index`` its number; ``cable`` is equal for the two directions of a
    cable and absent for a one-way link. Raises GraphError for a network of planes, each of which has a graph.
    """
    import networkx

    graph = whole_network(graph)
    found = networkx.MultiDiGraph()
    family = family_line(graph)
    if family:
        found.graph["fabriloom"] = family
    for vertex in range(graph.switches + graph.terminals):
        found.add_node(graph.vertex_name(vertex), **of_vertex(graph, vertex))
    names = [*graph.switch_names, *graph.terminal_names]
    ends = zip(graph.link_source.tolist(), graph.link_target.tolist(), strict=True)
    for index, ((source, target), cable) in enumerate(zip(ends, cables_of(graph), strict=True)):
        more: dict[str, Any] = {"cable": cable} if cable >= 0 else {}
        more |= numbers_of(graph, index) | address_of(graph, index)
        name = graph.link_names[index]
        found.add_edge(names[source], names[target], key=name, name=name, index=index, **more)
    return found


def from_networkx(
    graph: networkx.Graph, terminals_per_switch: int = 0, attributes: Mapping[str, str] | None = None
) -> Graph:
    """Make a graph from any networkx graph, directed or not, multigraph or not.

    Nodes with ``kind="terminal"`` are terminals, all others are switches. Nodes that are whole numbers are
    taken in their order, all others as they were added. An undirected edge is a cable, that is, two links
    with the names ``name`` and ``reverse_name``. Directed edges are single links; equal ``cable`` attributes
    join two of them to a cable or, if no edge has this attribute, opposite edges are joined in order.
    ``parallel`` repeats an edge; ``rate="100 Mbit/s"`` and ``length="2 m"`` apply to one edge. Other
    attributes are ignored, unless their name is nearly one of these.

    Args:
        graph: the networkx graph.
        terminals_per_switch: terminals to attach to every switch of a graph without terminals.
        attributes: the meaning of other attributes, as for :func:`file`.

    Raises:
        GraphError: an attribute is misspelt or has an impossible value.
    """
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise GraphError(f"not a networkx graph: {type(graph).__name__}", "graph")
    raw = RawGraph("networkx graph", foreign=foreign(attributes))
    read_family(raw, graph.graph.get("fabriloom"))
    nodes = list(graph.nodes(data=True))
    if all(isinstance(node, int) for node, _ in nodes):
        nodes.sort(key=lambda one: one[0])
    for node, values in nodes:
        add_vertex(raw, str(node), values, f"node {node!r}")
    directed = graph.is_directed()
    for source, target, values in graph.edges(data=True):
        where = f"edge {source!r} to {target!r}"
        add_links(raw, str(source), str(target), values, where, one_way=directed)
    if directed:
        raw.pair_links()
    found = raw.to_graph(terminals_per_switch)
    for remark in found.remarks:
        warnings.warn(remark, stacklevel=2)
    return found
