"""``fabriloom export``: a network as others take it: routing tables, path addresses, graph files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import exits, folders, show
from .exits import Mistake

if TYPE_CHECKING:
    from ..compile import Compiled
    from ..output import Output
    from ..scenario import Scenario


def export(scenario: Scenario, folder: Output | None) -> int:
    """The files of a network into a folder; without one the routing tables are printed."""
    from ..compile import LinkParts, compile

    compiled = compile(scenario)
    if not isinstance(compiled.parts, LinkParts):
        raise Mistake(
            "routing tables are of networks of links; in a network of rings name ports: see fabriloom check"
        )
    if compiled.graph.several is not None:
        raise Mistake(
            "terminals have several ports, and each plane has routing tables of its own; export one"
        )
    files = _files(compiled)
    if folder is None:
        show.line(files["routing.csv"].rstrip("\n"))
        return exits.OK
    from ..output import encoded

    for name, text in files.items():
        with folder.file(name) as out:
            out.write(encoded(text))
    with exits.undisturbed():
        place = folder.finish()
    for name in files:
        show.line(f"Written to {folders.shown(place / name)}")
    return exits.OK


def _files(compiled: Compiled) -> dict[str, str]:
    """The texts of all files by their names. Raises RoutingError."""
    from .. import __version__
    from ..compile import LinkParts
    from ..routing import routers
    from ..topology import edge_list, graphml

    assert isinstance(compiled.parts, LinkParts)
    graph, table = compiled.graph, compiled.parts.table
    tables = routers.routers(graph, table)
    scenario = compiled.scenario
    about = f"{scenario.name or 'A network'}: scenario {scenario.sha256[:12]}, Fabriloom {__version__}"
    demand = compiled.demand()
    pairs = sorted(set(zip(demand.source.tolist(), demand.target.tolist(), strict=True)))
    return {
        "routing.csv": routers.as_csv(tables),
        "routing.c": routers.as_c(tables, about),
        **({"paths.csv": routers.paths_as_csv(graph, table, pairs)} if pairs else {}),
        "network.csv": edge_list.write(graph),
        "network.graphml": graphml.write(graph),
    }
