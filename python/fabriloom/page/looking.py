"""The parts, the drawing and the controls of a scenario, shown before it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .. import __version__, units
from ..compile import compile, graph_of
from ..reading import toml_text
from ..report.drawing import fabric_svg
from ..report.drawing.large import is_large, parts_of
from ..report.drawing.links import has_ports
from ..report.drawing.style import counted
from ..scenario import Scenario
from ..scenario.load import FILE_KEYS
from ..topology import Graph
from ..topology.family import usual_routing
from . import limits
from .choices import Chosen, chosen

# The controls of a scenario: the page's settings that it has, with their options.

_LINK_LENGTHS = tuple(f"{size} B" for size in (8, 16, 32, 64, 128, 256, 512, 1024))
_RING_LENGTHS = {"lock": ("16 B",), "": ("16 B", "64 B", "256 B")}
_BUFFERS = tuple(f"{size} B" for size in (16, 32, 43, 64, 128, 256, 512))
_MESSAGES = tuple(f"{size} B" for size in (64, 128, 256, 512, 1024, 2048, 4096))
_RATES = tuple(f"{rate} kHz" for rate in (1, 2, 5, 10, 15, 20, 30, 40, 60))
_FLITS = (1, 2, 4, 8, 16, 32, 64)
_PLACES = (1, 2, 4, 8, 16, 32)
_SCALES = (
    ("Input buffer", "input_buffer", _BUFFERS),
    ("Input buffer (flits)", "input_buffer_flits", _FLITS),
    ("Places to receive", "requests_in", _PLACES),
)
"""Settings of a technology, if it has them."""
_DELAYS = ("1 ns", *(f"{100 * 2**n} ns" for n in range(8)))

Settings = dict[str, Any]


def controls(scenario: Scenario) -> list[dict[str, Any]]:
    """Return the controls in order: ``{label, part, options: [{text, settings}], at}``.

    ``at`` is the current option; ``part`` is ``fabric``, or ``traffic``, which two fabrics share.
    """
    resolved = scenario.resolve()
    program = resolved.get("program")
    found = [*(_traffic(scenario, resolved["traffic"]) if program is None else _program(program))]
    found += _technology(resolved["technology"])
    return [*found, *_routing(scenario, resolved["routing"])]


def _control(label: str, part: str, options: Sequence[tuple[str, Settings]], at: int) -> dict[str, Any]:
    return {
        "label": label,
        "part": part,
        "at": at,
        "options": [{"text": text, "settings": settings} for text, settings in options],
    }


def _scale(label: str, part: str, path: str, values: Sequence[Any], now: Any) -> dict[str, Any]:
    """Return a slider over values, which include the current one."""
    values = list(values)
    if now not in values:
        values = sorted([*values, now], key=_size)
    options = [(_text(value), {path: value}) for value in values]
    return _control(label, part, options, values.index(now))


def _size(value: Any) -> float:
    if not isinstance(value, str):
        return float(value)
    if value.endswith("B"):
        return float(units.parse_bytes(value))
    if value.endswith("Hz"):
        return float(units.parse_event_rate_millihz(value))
    return float(units.parse_time_ps(value))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return "none" if value.startswith("0 ") else value
    return f"{value:g}"


def _traffic(scenario: Scenario, traffic: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if scenario.traffic.needs_load():
        loads = [*(n / 100 for n in (1, 2, 3, 4, 6, 8)), *(n / 20 for n in range(2, 21))]
        load = _scale("Offered load", "traffic", "traffic.load", loads, traffic["load"])
        for option in load["options"]:
            option["text"] = f"{100 * option['settings']['traffic.load']:.3g} %"
        yield load
    if scenario.traffic.is_rated():
        scales = (0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.5, 1.7, 2.0, 2.5, 3.0, 5.0)
        yield _scale("Rates multiplied by", "traffic", "traffic.scale", scales, traffic["scale"])
    length, pattern = traffic["length"], traffic["pattern"]
    if length["kind"] == "fixed" and pattern["kind"] not in ("descriptors", "flows"):
        lengths = _LINK_LENGTHS
        if "transaction" in traffic:
            lengths = _RING_LENGTHS.get(traffic["transaction"], _RING_LENGTHS[""])
        if len(lengths) > 1:
            yield _scale("Packet length", "traffic", "traffic.length", lengths, length["value"])
    if pattern["kind"] in ("local", "hot-spot"):
        yield _share(pattern)


def _program(program: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if isinstance(program.get("rate"), str):
        rates = sorted({*_RATES, program["rate"]}, key=_size)
        yield _scale("Events attempted", "traffic", "program.rate", rates, program["rate"])
    for name, label in (("block", "Block of data"), ("fragment", "Fragment"), ("size", "Message")):
        if isinstance(program.get(name), str):
            yield _scale(label, "traffic", f"program.{name}", _MESSAGES, program[name])


def _share(pattern: dict[str, Any]) -> dict[str, Any]:
    local = pattern["kind"] == "local"
    shares = [n / 10 for n in range(0 if local else 1, 11)]
    label = "Locality" if local else "Share to the hot spot"
    share = _scale(label, "traffic", "traffic.pattern.share", shares, pattern["share"])
    for option in share["options"]:
        option["text"] = f"{100 * option['settings']['traffic.pattern.share']:.3g} %"
    return share


def _technology(technology: dict[str, Any]) -> Iterator[dict[str, Any]]:
    def scale(label: str, name: str, values: Sequence[Any], now: Any) -> dict[str, Any]:
        return _scale(label, "fabric", f"technology.{name}", values, now)

    for label, name, values in _SCALES:
        if name in technology:
            yield scale(label, name, values, technology[name])
    if "retry" in technology:
        yield scale("Retry delay", "retry.delay", _DELAYS, technology["retry"]["delay"])
    for label, name in (("Bandwidth allocation", "bandwidth_allocation"), ("Phases", "phases")):
        if name in technology:
            settings = [("off", {f"technology.{name}": False}), ("on", {f"technology.{name}": True})]
            yield _control(label, "fabric", settings, int(technology[name]))


def _routing(scenario: Scenario, routing: dict[str, Any]) -> Iterator[dict[str, Any]]:
    kind = scenario.topology.kind
    ways = _ways(kind)
    if not ways:
        return
    now = {f"routing.{name}": value for name, value in routing.items()}
    found = [at for at, (_, settings) in enumerate(ways) if _holds(settings, now)]
    if not found:
        ways = [("as in the file", {}), *ways]
    yield _control("Routing", "fabric", ways, found[0] if found else 0)


def _ways(kind: str) -> list[tuple[str, Settings]]:
    """Return the routings of a topology, each with all its settings, so that one replaces another."""

    def way(kind: str, adaptive: bool = True, universal: bool = False, **more: Any) -> Settings:
        given = {"kind": kind, "adaptive": adaptive, "universal": universal, "spread": None, **more}
        return {f"routing.{name}": value for name, value in given.items()}

    if kind in ("torus", "ring"):
        order = "dimension-order"
        return [
            ("shorter direction (can deadlock)", way(order, variant="minimal")),
            ("no transit over the edges", way(order, variant="no-edge-transit")),
            ("up*/down*", way("up-star-down-star", variant=None)),
        ]
    usual = usual_routing(kind)
    if usual not in ("dimension-order", "up-down"):
        return []
    ways = [
        ("adaptive within groups", way(usual)),
        ("deterministic", way(usual, adaptive=False)),
        ("universal (random intermediate switch)", way(usual, universal=True)),
    ]
    return ways if usual == "up-down" else [*ways, ("up*/down*", way("up-star-down-star"))]


def _holds(settings: Settings, now: Settings) -> bool:
    """Return whether settings are in force; a setting of None must be absent."""
    return all(now.get(path) == value for path, value in settings.items())


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
