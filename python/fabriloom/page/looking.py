"""The parts, the drawing and the controls of a scenario, shown before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import __version__
from ..compile import compile, graph_of
from ..reading import toml_text
from ..report.drawing import fabric_svg
from ..report.drawing.large import is_large, parts_of
from ..report.drawing.links import has_ports
from ..report.drawing.style import counted
from ..scenario import Scenario
from ..scenario.load import FILE_KEYS
from ..topology import Graph
from . import limits
from .choices import Chosen, chosen
from .controls import controls


def look(spec: Mapping[str, Any], beside: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Describe one or two fabrics, both with the traffic of the first.

    Raises ScenarioError and Refusal.
    """
    return [describe(one) for one in sides(spec, beside)]


def sides(spec: Mapping[str, Any], beside: Mapping[str, Any] | None) -> list[Chosen]:
    """Return the scenarios of one or two fabrics."""
    first = chosen(spec)
    return [first] if beside is None else [first, chosen(beside, first)]


def describe(one: Chosen) -> dict[str, Any]:
    """Build and draw a scenario."""
    scenario = one.scenario
    graph = graph_of(scenario)
    limits.check_size(graph)
    compiled = compile(scenario)
    return {
        **pictured(scenario, graph),
        "controls": controls(scenario),
        "warnings": compiled.warnings,
        "text": toml_text(_with_places(one.written, scenario)),
        "shared": toml_text(one.written),
    }


def pictured(scenario: Scenario, graph: Graph) -> dict[str, Any]:
    """Return the drawing of a scenario's network, with its names and sizes."""
    drawn = graph.links <= limits.DRAWN_LINKS
    return {
        "name": title_of(scenario),
        "description": scenario.description,
        "facts": facts(graph),
        "links": [str(name) for name in graph.link_names] if drawn else [],
        "svg": drawing(graph),
        "parts": parts_of(graph) if is_large(graph) and drawn else None,
        "origin": f"Scenario {scenario.sha256[:16]}, seed {scenario.seed}, Fabriloom {__version__}",
    }


def title_of(scenario: Scenario) -> str:
    """Return a title for a scenario."""
    return scenario.name or f"{scenario.topology.kind} network"


def facts(graph: Graph) -> str:
    """Return the sizes of a network as one line."""
    parts = [counted(graph.terminals, "terminal"), counted(graph.links, "link")]
    if graph.several is not None:
        parts.insert(0, counted(len(graph.planes), "plane"))
    if graph.network_kind.buses:
        parts.insert(1, counted(graph.own_rings.rings, "ring"))
    if graph.switches:
        parts.insert(1, counted(graph.switches, "switch", "es"))
    numbers = ["ports"] if has_ports(graph) else []
    numbers += ["logical addresses"] if graph.layout.get("addresses") else []
    return ", ".join(parts) + (f"; the numbers are {' and '.join(numbers)}" if numbers else "")


def drawing(graph: Graph) -> str | None:
    """Draw the fabric without loads; None if it is too large for strokes."""
    if is_large(graph):
        return None
    return fabric_svg(graph, np.zeros(graph.links), "link in use", alone=True)


def _with_places(value: Any, scenario: Scenario) -> Any:
    """Return the data with full paths of its files, so that it can be saved anywhere."""
    if not isinstance(value, Mapping):
        return value
    return {
        key: str((scenario.base_dir / inner).resolve()) if key in FILE_KEYS else _with_places(inner, scenario)
        for key, inner in value.items()
    }
