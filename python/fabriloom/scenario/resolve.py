"""From the written form to the resolved form: every setting present, in one canonical form."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from fabriloom.process.children import deferred
from fabriloom.scenario.errors import Path
from fabriloom.scenario.fields import Section
from fabriloom.scenario.schema import CODES, Scenario
from fabriloom.scenario.sections.run import Ports, has_ports
from fabriloom.scenario.sections.study import OTHERS, Study
from fabriloom.scenario.sections.topology import structure_of
from fabriloom.scenario.sections.traffic import DEFAULT_LOAD
from fabriloom.technology.presets import settings, without_parts
from fabriloom.topology.family import usual_routing

if TYPE_CHECKING:
    from fabriloom.scenario.sections.interface import Interface


FAULT_SETTINGS = (
    "disconnect", "restart", "start_rate", "fault_stops", "disconnect_cycles", "restart_cycles",
    "echo_timeout", "close_after", "closed_for",
)  # fmt: skip
"""Settings of a technology that describe faults; without faults they have no effect."""

CODE_SETTINGS = (
    "time_code_bits", "time_code_latency", "time_code_jitter", "time_code_forward", "interrupt_hold",
    "broadcast_flits", "broadcast_cycles", "broadcast_hold_cycles",
)  # fmt: skip
"""Settings of a technology for time-codes, interrupts and broadcasts; without these they have no effect."""

RESEND_SETTINGS = ("resend_after", "resend_limit", "resend_backoff")
"""Settings of a protocol for repeated packets; without repetition they have no effect."""


def resolve(scenario: Scenario) -> dict[str, Any]:
    """See :meth:`Scenario.resolve`."""
    resolved = _dump(scenario.model_copy(update={"ports": _ports(scenario)}))
    technology = _dump(_filled(scenario.technology, settings(scenario.technology.preset)))
    resolved["technology"] = without_parts(technology)
    if not resolved["technology"].get("token", True):
        del resolved["technology"]["token"]
    resolved["interface"] = [_interface(one) for one in scenario.interface]
    for name in ("fault", "interface", *CODES):
        if not getattr(scenario, name):
            del resolved[name]
    watched = any(getattr(scenario.technology, name, None) for name in ("watchdog_ps", "watchdog_cycles"))
    for is_used, names in (
        (scenario.fault, FAULT_SETTINGS),
        (resolved["technology"].get("close_after"), ("closed_for",)),
        (has_codes(scenario), CODE_SETTINGS),
        (watched, ("watchdog", "watchdog_cycles")),
    ):
        for name in () if is_used else names:
            resolved["technology"].pop(name, None)
    fill_routing_of(scenario, resolved["routing"])
    if scenario.program is None:
        del resolved["output"]["messages"]
    else:
        resolved["protocol"] = _dump(filled_protocol(scenario))
        if scenario.protocol is None or not scenario.protocol.resend_after_ps:
            for name in RESEND_SETTINGS:
                del resolved["protocol"][name]
    if scenario.has_traffic:
        fill_traffic(resolved["traffic"], scenario)
    else:
        del resolved["traffic"]
    resolved = _whole_floats(resolved)
    for others in OTHERS:
        if getattr(scenario, others) in ({}, Study()):
            del resolved[others]
    for path in files(scenario):
        table = resolved
        for step in path[:-1]:
            table = table[step]  # type: ignore[index]
        table["sha256"] = checksum(scenario.base_dir / table["path"])
    return resolved


def _ports(scenario: Scenario) -> Ports | None:
    """Return ``[ports]``, or its defaults if the topology has several ports; for programs with ``per``."""
    ports = scenario.ports or (Ports() if has_ports(scenario.topology) else None)
    if ports is None or scenario.program is None:
        return ports
    return ports.model_copy(update={"per": ports.per or "message"})


def has_codes(scenario: Scenario) -> bool:
    """Whether any terminal sends time-codes, interrupts or broadcasts."""
    return any(getattr(scenario, name) for name in CODES)


def listed(scenario: Scenario, *names: str) -> Iterator[tuple[Path, Any]]:
    """Yield the tables of some lists with their places in the scenario."""
    for name in names:
        for place, one in enumerate(getattr(scenario, name)):
            yield (name, place), one


def _filled(section: Section, preset: Mapping[str, Any], prefix: str = "") -> Section:
    """Fill a section with the preset's values where none is given."""
    found: dict[str, Any] = {}
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, Section):
            found[name] = _filled(value, preset, f"{prefix}{name}_")
        elif value is None and prefix + name in preset:
            found[name] = preset[prefix + name]
    return section.model_copy(update=found)


def _interface(one: Interface) -> dict[str, Any]:
    from fabriloom.technology.protocols import interface_settings

    return _dump(_filled(one, interface_settings(one.preset)))


def filled_protocol(scenario: Scenario) -> Section:
    """Return ``[protocol]`` with every setting, written or not."""
    from fabriloom.scenario.sections.protocol import Protocol
    from fabriloom.technology.protocols import protocol

    written = scenario.protocol or Protocol()
    found = protocol(written.preset, written.overrides())
    if scenario.network_kind.transactions:
        found["transaction"] = written.transaction or "nwrite"
    return written.model_copy(update=found)


def _dump(model: Any) -> dict[str, Any]:
    with deferred():
        values = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return _kind_first(values)


def _kind_first(table: dict[str, Any]) -> dict[str, Any]:
    first = {name: table[name] for name in ("kind", "preset") if name in table}
    found = {**first, **table} if first else table
    return {name: _kind_first(inner) if type(inner) is dict else inner for name, inner in found.items()}


def fill_traffic(values: dict[str, Any], scenario: Scenario) -> None:
    """Fill in settings that depend on the network, and the default load where one is needed."""
    senders = values.pop("senders")
    values.pop("transaction", None)
    own_times = scenario.traffic.is_open() or scenario.traffic.pattern.kind == "descriptors"
    by_load = scenario.traffic.needs_load() or not own_times
    refuses = scenario.network_kind.transactions and by_load and scenario.program is None
    values.setdefault("source_queue", "none" if refuses else 0)
    values["senders"] = senders
    if scenario.network_kind.transactions:
        values["transaction"] = scenario.transaction
    if scenario.traffic.needs_load():
        values.setdefault("load", DEFAULT_LOAD)
    else:
        values.pop("load", None)
    if scenario.traffic.is_rated():
        values.setdefault("scale", 1.0)


def fill_routing_of(scenario: Scenario, routing: dict[str, Any]) -> None:
    """Replace ``auto`` in the routing of a scenario."""
    if scenario.network_kind.cables:
        fill_routing(routing, structure_of(scenario.topology))
    else:
        _fill_ring_routing(routing)


def fill_routing(routing: dict[str, Any], topology: str) -> None:
    """Replace ``auto`` by the usual routing of the topology, if that does not depend on the graph."""
    kind = usual_routing(topology) or "auto"
    if routing["kind"] == "auto":
        routing["kind"] = kind
    if routing.get("of") == "auto":
        routing["of"] = kind
    if routing["kind"] == "dimension-order" and topology in ("torus", "ring"):
        routing.setdefault("variant", "no-edge-transit")


def _fill_ring_routing(routing: dict[str, Any]) -> None:
    """Replace ``auto`` by the routing of rings: over the fewest buses, unless the user gives a table."""
    own = {name: routing[name] for name in ("path", "sha256") if name in routing}
    fewest = {"kind": "fewest-buses", "by_transaction": routing.get("by_transaction", False)}
    classes = {name: routing[name] for name in ("traffic_class",) if name in routing}
    routing.clear()
    routing.update(({"kind": "table", **own} if own else fewest) | classes)


def _whole_floats(value: Any) -> Any:
    """Write whole floating-point numbers as integers: 1.0 and 1 mean the same load."""
    kind = type(value)  # plain values, most of them strings
    if kind is dict:
        return {name: inner if name in OTHERS else _whole_floats(inner) for name, inner in value.items()}
    if kind is list:
        return [_whole_floats(inner) for inner in value]
    return int(value) if kind is float and value.is_integer() else value


def files(scenario: Scenario) -> dict[Path, Any]:
    """Return the tables of a scenario that name files, by the settings that do so."""
    planes = enumerate(getattr(scenario.topology, "planes", ()))
    after = getattr(scenario.routing, "after_fault", None)
    places: list[tuple[Path, Any]] = [
        (("topology",), scenario.topology),
        *((("topology", "planes", place, "network"), plane.network) for place, plane in planes),
        (("routing",), scenario.routing),
        (("routing", "after_fault"), after),
        (("routing", "after_fault", "service_levels"), getattr(after, "service_levels", None)),
        (("routing", "service_levels"), getattr(scenario.routing, "service_levels", None)),
        (("traffic", "pattern"), scenario.traffic.pattern),
        (("program",), scenario.program),
    ]
    return {(*path, "path"): model for path, model in places if getattr(model, "path", None) is not None}


def checksum(file: FilePath) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sha256(resolved: dict[str, Any]) -> str:
    """Return the SHA-256 of a resolved form, independent of the order of its keys."""
    text = json.dumps(resolved, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
