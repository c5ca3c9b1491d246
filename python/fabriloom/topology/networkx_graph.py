"""Convert graphs to and from networkx."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .graph import Graph, GraphError

if TYPE_CHECKING:
    import networkx


def to_networkx(graph: Graph) -> networkx.MultiDiGraph:
    """Return a networkx multigraph with one directed edge per link; ``from_networkx`` restores the same
    graph.

    Nodes have the names of switches and terminals and the attributes ``kind``, ``x`` and ``y``. The key of an
    edge is the name of the link, and ``index`` its number; ``cable`` is equal for the two directions of a
    cable and absent for a one-way link.
    """
    import networkx

    from .written import cables_of, family_line, numbers_of, of_vertex

    found = networkx.MultiDiGraph()
    family = family_line(graph)
    if family:
        found.graph["fabriloom"] = family
    for vertex in range(graph.switches + graph.ports):
        kind = "switch" if vertex < graph.switches else "terminal"
        found.add_node(graph.vertex_name(vertex), kind=kind, **of_vertex(graph, vertex))
    names = [*graph.switch_names, *graph.port_names]
    ends = zip(graph.link_source.tolist(), graph.link_target.tolist(), strict=True)
    for index, ((source, target), cable) in enumerate(zip(ends, cables_of(graph), strict=True)):
        more: dict[str, Any] = {"cable": cable} if cable >= 0 else {}
        name = graph.link_names[index]
        found.add_edge(
            names[source], names[target], key=name, name=name, index=index, **more, **numbers_of(graph, index)
        )
    return found


def from_networkx(
    graph: networkx.Graph, terminals_per_switch: int = 0, attributes: Mapping[str, str] | None = None
) -> Graph:
    """Make a graph from any networkx graph, directed or not, multigraph or not.

    Nodes with ``kind="terminal"`` are terminals, all others are switches. An undirected edge is a cable, that
    is, two links with the names ``name`` and ``reverse_name``. Directed edges are single links; equal
    ``cable`` attributes join two of them to a cable or, if no edge has this attribute, opposite edges are
    joined in order. ``parallel`` repeats an edge; ``rate="100 Mbit/s"`` and ``length="2 m"`` apply to one
    edge. Other attributes are ignored, unless their name is nearly one of these.

    Args:
        graph: the networkx graph.
        terminals_per_switch: terminals to attach to every switch of a graph without terminals.
        attributes: the meaning of other attributes, as for :func:`file`.

    Raises:
        GraphError: an attribute is misspelt or has an impossible value.
    """
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise GraphError(f"not a networkx graph: {type(graph).__name__}", "graph")
    from .attributes import add_links, add_vertex
    from .foreign import foreign
    from .raw import RawGraph, read_family

    raw = RawGraph("networkx graph", foreign=foreign(attributes))
    read_family(raw, graph.graph.get("fabriloom"))
    for node, values in graph.nodes(data=True):
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
