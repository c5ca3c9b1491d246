"""A graph within a scenario: what ``Scenario.from_dict`` makes of a :class:`Graph` given as topology."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from ..reading import ReadError
from .family import family
from .graph import Graph, GraphError, Plane

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
    from . import node_link
    from .raw import RawGraph

    raw = RawGraph("content")
    try:
        node_link.read(raw, content)
    except ReadError as error:
        raise GraphError(f"content: {error.message}", "content") from None
    return raw.to_graph()


def table_of(graph: Graph) -> dict[str, Any]:
    """Return the ``[topology]`` of a graph: for rings the settings that build them, for planes their tables.

    Raises:
        GraphError: nothing in a scenario describes it.
    """
    from . import node_link
    from .several import is_of_cables, without_ports

    if graph.several is not None and is_of_cables(graph):
        graph = without_ports(graph)
    if graph.several is not None:
        return {"kind": "planes", "planes": [_plane(plane) for plane in graph.planes]}
    if graph.network_kind.cables:
        return {"kind": "inline", "content": node_link.write(graph)}
    if "parameters" not in graph.layout:
        raise GraphError("a network of rings is given by its settings, not as a graph", "topology")
    given = {name: value for name, value in graph.layout["parameters"].items() if value is not None}
    return {"kind": graph.family, **given}


def _plane(plane: Plane) -> dict[str, Any]:
    names = plane.graph.terminal_names
    if len(set(names)) < len(names):
        message = f'plane "{plane.name}" has several ports of a terminal: give it by its settings'
        raise GraphError(message, "topology")
    return {"name": plane.name, "network": table_of(plane.graph), "terminals": names}
