"""The controls of a scenario: the page's settings that it has, with their options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .. import units
from ..scenario import Scenario
from ..topology.family import usual_routing

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
            now = technology[name]
            values = {"off": False, "on": True} | ({now: now} if isinstance(now, str) else {})
            settings = [(text, {f"technology.{name}": value}) for text, value in values.items()]
            yield _control(label, "fabric", settings, [*values.values()].index(now))


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
