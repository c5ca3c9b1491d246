"""Graphs as JSON in the node-link form: ``{"nodes": [{"id": …}], "links": [{"source": …, "target": …}]}``.

With ``"directed": false`` (or nothing) every entry of ``links`` is a cable, two links; ``parallel`` makes
several of it. With ``"directed": true`` an entry is one link; two with the same ``cable`` are the two
directions of a cable; where no entry has a ``cable``, opposite links are paired in order and what remains is
one-way.
"""

from __future__ import annotations

import json
from typing import Any

from .graph import Graph
from .raw import (
    ATTRIBUTES,
    RawGraph,
    RawLink,
    RawVertex,
    cables_of,
    family_line,
    numbers_of,
    place_of,
    read_family,
    read_kind,
    read_numbers,
)


def read(raw: RawGraph, text: str) -> None:
    """Fill ``raw`` from JSON text; raises ``GraphError`` with the line of a syntax error or the entry at
    fault."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raw.fail(f"not JSON, or cut short: {error.msg}", f"line {error.lineno}, column {error.colno}")
    except RecursionError:
        raw.fail("not a graph: nested too deeply")
    if not isinstance(data, dict):
        raw.fail('the file must be an object with "nodes" and "links"')
    links_key = "edges" if "edges" in data and "links" not in data else "links"
    for key in ("nodes", links_key):
        if not isinstance(data.get(key), list):
            raw.fail(f'"{key}" must be there and be a list')
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
    if not isinstance(node, dict) or not isinstance(node.get("id"), str | int):
        raw.fail('a node must be an object with an "id"', where)
    place = read_numbers(raw, node, ("x", "y"), where)
    terminal = read_kind(raw, node.get("kind"), where)
    raw.add_vertex(RawVertex(str(node["id"]), terminal, where, place.get("x"), place.get("y")))


def _read_link(raw: RawGraph, entry: Any, directed: bool, where: str) -> None:
    if not isinstance(entry, dict):
        raw.fail('a link must be an object with "source" and "target"', where)
    for key in ("source", "target"):
        if not isinstance(entry.get(key), str | int):
            raw.fail(f'"{key}" is missing or is not the id of a node', where)
    for key in ("name", "reverse_name"):
        if entry.get(key) is not None and not isinstance(entry[key], str):
            raw.fail(f"{key} is {entry[key]!r}; it must be a text", where)
    cable = entry.get("cable")
    if cable is not None and not isinstance(cable, str | int):
        raw.fail(f"cable is {cable!r}; it must be a number or a text", where)
    numbers = read_numbers(raw, entry, ATTRIBUTES, where)
    index = read_numbers(raw, entry, ("index",), where).get("index")
    link = RawLink(
        str(entry["source"]), str(entry["target"]), entry.get("name"), cable, where, numbers, index
    )
    parallel = entry.get("parallel", 1)
    if isinstance(parallel, bool) or not isinstance(parallel, int):
        raw.fail(f"parallel is {parallel!r}; it must be a whole number", where)
    if not directed:
        raw.add_cable(link, entry.get("reverse_name"), parallel)
    elif parallel != 1:
        raw.fail("parallel needs an undirected graph; repeat the link instead", where)
    else:
        raw.links.append(link)


def write(graph: Graph) -> str:
    """Return the graph as JSON text, one node or link a line; reading it gives the same graph."""
    family = family_line(graph)
    about = f'{{"fabriloom": {family}}}' if family else "{}"
    nodes = []
    for vertex in range(graph.switches + graph.terminals):
        kind = "switch" if vertex < graph.switches else "terminal"
        nodes.append(json.dumps({"id": graph.vertex_name(vertex), "kind": kind, **place_of(graph, vertex)}))
    links = []
    for link, cable in enumerate(cables_of(graph)):
        entry: dict[str, Any] = {
            "source": graph.vertex_name(int(graph.link_source[link])),
            "target": graph.vertex_name(int(graph.link_target[link])),
            "name": graph.link_names[link],
        }
        if cable >= 0:
            entry["cable"] = cable
        links.append(json.dumps(entry | numbers_of(graph, link)))
    return (
        f'{{"directed": true, "multigraph": true, "graph": {about},\n"nodes": [\n'
        + ",\n".join(nodes)
        + '\n],\n"links": [\n'
        + ",\n".join(links)
        + "\n]}\n"
    )
