"""``fabriloom export``: a network for other tools: routing tables, path addresses, graph files."""

from __future__ import annotations

from typing import Any

import fabriloom

from .. import exits
from ..exits import Mistake, say
from ..frame import Call, command
from ..house import (
    Compiled,
    Graph,
    compile,
    dumps,
    edge_list,
    folders,
    graphml,
    output,
    routers,
    several,
    written,
)


@command("file settings", "out force")
def export(call: Call) -> None:
    """Write routing tables by logical address as CSV and as C arrays, path addresses, and the network as
    files.

    Without --out, the routing table of all routers is printed as CSV.
    """
    with call.output() as folder:
        compiled = compile.compile(call.scenario())
        _check(compiled, folder is None)
        files = _files(compiled)
        if folder is None:
            return say(files["routing.csv"].rstrip("\n"))
        for name, text in files.items():
            with folder.file(name) as out:
                out.write(output.encoded(text))
        with exits.undisturbed():
            place = folder.finish()
    for name in files:
        say(f"Written to {folders.shown(place / name)}")
    return None


def _check(compiled: Compiled, is_printed: bool) -> None:
    """Raise Mistake if the network has no routing tables, or not the one that is to be printed."""
    if not compiled.graph.network_kind.cables:
        raise Mistake(
            "routing tables are of networks of links; in a network of rings name ports: see fabriloom check"
        )
    if len(compiled.graph.planes) > 1 and is_printed:
        raise Mistake("each plane has routing tables of its own: write --out DIR")


def _files(compiled: Compiled) -> dict[str, str]:
    """Return the texts of all files by name. Raises RoutingError."""
    assert isinstance(compiled.routes, compile.LinkRoutes)
    scenario, found = compiled.scenario, dict[str, str]()
    about = (
        f"{scenario.name or 'A network'}: scenario {scenario.sha256[:12]}, Fabriloom {fabriloom.__version__}"
    )
    planes = zip(compiled.graph.planes, compiled.routes.planes, _pairs(compiled), strict=True)
    of_cables = several.is_of_cables(compiled.graph)
    tech = compiled.routes.technology
    last = tech.last_port, tech.last_address
    first = {port for port, priority in enumerate(compiled.arrays["port_priority"]) if priority}
    for plane, (graph, table), pairs in planes:
        high = {at for at, port in enumerate(plane.port.tolist()) if port in first}
        alone = len(compiled.graph.planes) == 1
        head = "" if alone else f"{plane.name}-"
        whose = about if alone else f"{about}, plane {plane.name}"
        if pairs:
            found[f"{head}paths.csv"] = routers.paths_as_csv(graph, table, pairs)
        by_level = table.by_source is not None and table.kind == "table"
        if table.levels is not None or by_level:
            found[f"{head}levels.csv"] = dumps.levels(graph, table)
        if by_level:
            found[f"{head}table.csv"] = dumps.by_name(graph, table, tech.lanes)
        if table.by_source is None:  # else no router knows the way
            tables = routers.routers(graph, table, high, compiled.routes.distributions, last)
            found[f"{head}routing.csv"] = routers.as_csv(tables)
            if routers.fits_masks(tables):
                found[f"{head}routing.c"] = routers.as_c(tables, whose)
            found |= _dumps(compiled, head, plane, table)
        if not of_cables:
            found |= _networks(head, graph) | written.files(graph, compiled.arrays, compiled.tick_ps)
    if of_cables:
        for name in ("paths.csv", "levels.csv", "table.csv"):
            _join(found, [f"{plane.name}-{name}" for plane in compiled.graph.planes], name)
        found |= _networks("", several.without_ports(compiled.graph))
    return found


def _join(found: dict[str, str], parts: list[str], name: str) -> None:
    """Put the rows of all planes into one file, which a scenario reads."""
    if len(parts) > 1 and all(part in found for part in parts):
        texts = [found.pop(part) for part in parts]
        found[name] = texts[0] + "".join(text.partition("\n")[2] for text in texts[1:])


def _dumps(compiled: Compiled, head: str, plane: Any, table: Any) -> dict[str, str]:
    """Return the table by name, with lanes, and what a subnet manager would dump, where they can hold it.

    Adapters in several planes have the names of their hosts, by which these planes are joined again.
    """
    assert isinstance(compiled.routes, compile.LinkRoutes)
    found, graph = dict[str, str](), plane.graph
    classes = compiled.routes.classes
    routes = compiled.routes
    if table.levels is not None:
        found[f"{head}table.csv"] = dumps.by_name(graph, table, 1)
    elif len(classes.lanes) == 1 and not classes.halves and not len(table.via_switch):
        found[f"{head}table.csv"] = dumps.by_name(graph, table, routes.technology.lanes, routes.lane_choice)
    if dumps.fits_forwarding(graph, table):
        whole, hosts = compiled.graph, list[str]()
        if whole.several is not None:
            owners = (whole.terminal_names[at] for at in whole.several.terminal[plane.port].tolist())
            hosts = [f"{owner.replace(' ', '_')} {plane.name}" for owner in owners]
        rail = [one.name for one in whole.planes].index(plane.name), hosts
        found |= {f"{head}ibnetdiscover.out": dumps.ibnetdiscover(graph, *rail)}
        found |= {f"{head}lfts.out": dumps.lfts(graph, table, *rail)}
    return found


def _networks(head: str, graph: Graph) -> dict[str, str]:
    """Return a network as files; their names begin with ``head``."""
    return {f"{head}network.csv": edge_list.write(graph), f"{head}network.graphml": graphml.write(graph)}


def _pairs(compiled: Compiled) -> list[list[tuple[int, int]]]:
    """Return, per plane and in its numbers, the pairs of terminals with traffic between them."""
    graph, demand = compiled.graph, compiled.demand()
    source, target = demand.source, demand.target
    if graph.several is not None:
        _, source, target = compile.port_pairs(compiled.routes, compiled.scenario.port_choice, source, target)
    found = []
    for plane in graph.planes:
        number = {port: at for at, port in enumerate(plane.port.tolist())}
        ends = zip(source.tolist(), target.tolist(), strict=True)
        found.append(sorted({(number[one], number[other]) for one, other in ends if one in number}))
    return found
