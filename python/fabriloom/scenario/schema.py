"""The scenario: the description of a run, both as written in a file and as used by the program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, PrivateAttr, model_validator

from fabriloom import reading
from fabriloom.arguments import choice
from fabriloom.scenario.errors import Path, Place, ScenarioError
from fabriloom.scenario.fields import Section, Written, bare, later, optional, setting
from fabriloom.scenario.in_flits import in_bytes, size_of
from fabriloom.scenario.sections.routing import Auto, Routing
from fabriloom.scenario.sections.run import Output, Ports, Run
from fabriloom.scenario.sections.study import OTHERS, Study, Values
from fabriloom.scenario.sections.technology import RING_PRESET, CharacterLinks, Technology
from fabriloom.scenario.sections.topology import Topology, network_kind
from fabriloom.scenario.sections.traffic import Traffic
from fabriloom.scenario.source import SourceMap
from fabriloom.topology.kinds import NetworkKind

if TYPE_CHECKING:
    from fabriloom.scenario.sections.interface import Broadcast, Interface, Interrupt, TimeCode
    from fabriloom.scenario.sections.program import Program
    from fabriloom.scenario.sections.protocol import CongestionControl, Protocol
    from fabriloom.scenario.sections.run import Fault
else:
    Broadcast = later("interface", "Broadcast")
    Interrupt = later("interface", "Interrupt")
    TimeCode = later("interface", "TimeCode")
    CongestionControl = later("protocol", "CongestionControl")
    Fault = later("run", "Fault")
    Interface = later("interface", "Interface")
    Program = later("program", "Program")
    Protocol = later("protocol", "Protocol")


_OF_MTU = ("raw", "spacewire", "verbs-infiniband", "verbs-roce", "mpi-infiniband")
"""Protocols whose packets are as long as the technology allows."""


CODES = ("time_code", "interrupt", "broadcast")
"""The lists of what terminals send besides packets."""


def with_preset(data: Any) -> Any:
    """Add the defaults that depend on other sections to the written data.

    Sizes in flits become bytes. Networks of rings have their own default preset, SpaceWire protocols have
    packets of any length, and a technology with an MTU has packets of that length. By default, a program
    runs to its end, or for a second, and is measured from its beginning; so are a single burst and a run
    with faults or codes.
    """
    if not isinstance(data, dict):
        return data
    technology, run = data.get("technology", {}), data.get("run", {})
    has_buses = network_kind(data.get("topology")).buses
    if has_buses and isinstance(technology, dict) and "preset" not in technology:
        data = {**data, "technology": {"preset": RING_PRESET, **technology}}
    data = in_bytes(data)
    program, protocol = data.get("program"), data.get("protocol", {})
    of_spacewire = isinstance(program, dict) and program.get("kind") in ("rmap", "ccsds", "spacewire-d")
    if of_spacewire and isinstance(protocol, dict):
        data = {**data, "protocol": {"preset": "spacewire", **protocol}}
    if mtu := size_of(data.get("technology"), "mtu"):
        data = _in_packets_of(mtu, data)
    if data.get("program") is not None and isinstance(run, dict):
        data = {**data, "run": {"duration": "1 s", "warmup": "0 ps", "precision": 0.0, **run}}
    unsteady = any(data.get(name) for name in ("fault", *CODES)) or _is_one_burst(data.get("traffic"))
    if unsteady and isinstance(run, dict):
        data = {**data, "run": {"warmup": "0 ps", "precision": 0.0, **data.get("run", {})}}
    return data


def _in_packets_of(mtu: str, data: dict[str, Any]) -> dict[str, Any]:
    """Let packets and those of messages have this payload unless they have one of their own."""
    protocol, traffic = data.get("protocol", {}), data.get("traffic", {})
    alone = data.get("program") is None
    if (alone or "traffic" in data) and isinstance(traffic, dict):
        data = {**data, "traffic": {"length": mtu, **traffic}}
    if alone:
        return data
    if isinstance(protocol, dict) and protocol.get("preset", "raw") in _OF_MTU:
        data = {**data, "protocol": {"packet": mtu, **protocol}}
    return data


def _is_one_burst(traffic: Any) -> bool:
    arrivals = traffic.get("arrivals") if isinstance(traffic, dict) else None
    return isinstance(arrivals, dict) and arrivals.get("kind") == "burst" and "every" not in arrivals


class Scenario(Written):
    """A network, its traffic, and how to run it."""

    schema_address: str | None = optional(
        "For editors: address of the JSON Schema", alias="$schema", exclude=True
    )
    name: Annotated[str, Field(max_length=200)] = setting("Short name for tables and reports", "")
    description: str = setting("Description in prose", "")
    seed: Annotated[int, Field(ge=0, lt=2**63)] = setting("Seed of all random streams", 1)
    topology: Topology = setting("Switches, terminals and links")
    technology: Technology = setting(
        "Rates, buffers and delays of links, switches and rings. The default preset is "
        "ds-link-c104; for networks of rings it is sci-lc2",
        CharacterLinks(preset="ds-link-c104"),
    )
    interface: Annotated[list[Interface], Field(max_length=256)] = setting("Interface chips of terminals", [])
    routing: Routing = setting("Which links packets may take", Auto(kind="auto"))
    ports: Ports | None = optional("Which of its ports a terminal uses, where it has several")
    congestion_control: CongestionControl | None = optional(
        "Switches that mark packets, and terminals that send less often then, as with InfiniBand"
    )
    traffic: Traffic = setting("Sources, destinations, lengths and rates of packets", Traffic())
    protocol: Protocol | None = optional("How the messages of a program become packets")
    program: Program | None = optional("The operations of the terminals, instead of traffic or beside it")
    fault: Annotated[list[Fault], Field(max_length=4096)] = setting("Failures during the run", [])
    time_code: Annotated[list[TimeCode], Field(max_length=64)] = setting("Terminals that send time-codes", [])
    interrupt: Annotated[list[Interrupt], Field(max_length=256)] = setting(
        "Terminals that send distributed interrupts", []
    )
    broadcast: Annotated[list[Broadcast], Field(max_length=256)] = setting(
        "Terminals that send SpaceFibre's broadcast messages", []
    )
    run: Run = setting("The end of a run", Run())
    output: Output = setting("The tables of a run that are kept", Output())
    sweep: Annotated[dict[str, Values], Field(max_length=8)] = setting(
        'Lists of values by dotted path, such as "traffic.load" = [0.1, 0.2], or ranges, such as { from = 1, '
        "to = 63 } or { from = 0.1, to = 0.9, count = 9 }; curves and studies run all combinations",
        {},
    )
    variants: Annotated[dict[str, dict[str, Any]], Field(max_length=32)] = setting(
        "Named scenarios to compare, each a table of values by dotted path that replace those of "
        'this file: [variants.fixed] with "routing.adaptive" = false',
        {},
    )
    study: Study = setting("Further points of a study", Study())

    @model_validator(mode="before")
    @classmethod
    def _preset(cls, value: Any) -> Any:
        return with_preset(value)

    _tried: tuple[dict[str, Any], SourceMap] | None = PrivateAttr(default=None)
    """The values that the sweep and the variants try, with their places; passed on to derived scenarios."""

    @property
    def of_rings(self) -> bool:
        """Whether the network consists of rings and buses (SCI)."""
        return self.network_kind.buses

    @property
    def network_kind(self) -> NetworkKind:
        """What networks of this kind have."""
        return network_kind(self.topology)

    @property
    def needs_load(self) -> bool:
        """Whether a load determines how often packets are created."""
        return self.has_traffic and self.traffic.needs_load()

    @property
    def has_traffic(self) -> bool:
        """Whether terminals are sources: without a program, or beside theirs if traffic is written."""
        return self.program is None or "traffic" in self.raw

    @property
    def port_choice(self) -> str:
        """How a terminal with several ports chooses one."""
        return (self.ports or Ports()).choice

    @property
    def spreads_messages(self) -> bool:
        """Whether each packet of a message gets a port of its own."""
        return self.ports is not None and self.ports.per == "packet"

    @property
    def transaction(self) -> Literal["nwrite", "dmove", "nread", "lock"]:
        """The transaction of a packet in networks of rings."""
        if self.program is None:
            return self.traffic.transaction or "nwrite"
        return (self.protocol and self.protocol.transaction) or "nwrite"

    def __repr__(self) -> str:
        """Return name, topology, technology and traffic in one line."""
        size = getattr(self.topology, "shape", None) or getattr(self.topology, "terminals", None)
        network = self.topology.kind + (f" {size}" if isinstance(size, int | list) else "")
        work = f"{self.traffic.pattern.kind} traffic"
        if self.program is not None:
            work = f"program {self.program.kind}" + (f" beside {work}" if self.has_traffic else "")
        elif isinstance(self.traffic.load, float | int):
            work += f" at load {self.traffic.load:g}"
        name = f" {self.name!r}" if self.name else ""
        return f"<Scenario{name}: {network}, {self.technology.preset}, {work}>"

    __str__ = __repr__

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what was written: the classes of its tables are made when they are used, and have no place
        in a module."""
        from fabriloom.scenario.load import build

        return build, (self.raw, self.source, self.base_dir.absolute())

    @staticmethod
    def from_dict(data: Mapping[str, Any], base_dir: FilePath | str | None = None) -> Scenario:
        """Make a scenario from a dictionary of the same form as a file, in which ``topology`` may also be a
        :class:`Graph`. Raises :class:`ScenarioError`."""
        from fabriloom.scenario.load import from_dict

        return from_dict(data, base_dir)

    def with_settings(self, settings: Mapping[str, Any]) -> Scenario:
        """Return a copy with values at dotted paths replaced: ``{"traffic.load": 0.3}``. Raises
        :class:`ScenarioError`."""
        from fabriloom.scenario.load import with_settings

        return with_settings(self, settings)

    def points(self) -> Iterator[tuple[dict[str, Any], Scenario]]:
        """Return every combination of the values of ``[sweep]``, the last path changing fastest."""
        from fabriloom.scenario.load import points

        return points(self)

    def alone(self) -> Scenario:
        """Return the scenario of a single run, without sweep, variants and study."""
        others = {name: {} for name in OTHERS if getattr(self, name) not in ({}, Study())}
        return self.with_settings(others) if others else self

    def resolve(self) -> dict[str, Any]:
        """Return the resolved form: every default filled in and units in canonical form.

        It is a scenario itself, and resolving it again changes nothing. It gives the checksums of the files
        that the scenario names.
        """
        from fabriloom.scenario.resolve import resolve

        return resolve(self)

    @cached_property
    def resolved(self) -> dict[str, Any]:
        """The resolved form, computed once; do not change it."""
        return self.resolve()

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the resolved form in hexadecimal; it identifies what was simulated."""
        from fabriloom.scenario.resolve import sha256

        return sha256(self.resolved)

    def parameters(self, section: str) -> dict[str, Any]:
        """Return the given settings of a section, by their names with units.

        File paths are absolute and checksums are left out; routing and load are filled in as in the resolved
        form. ``parameters("topology")`` is ``{"kind": "grid", "shape": [8, 8], …}``.
        """
        from fabriloom.scenario.resolve import fill_routing_of, fill_traffic

        choice("section", section, [name for name, given in self if isinstance(given, Section)])
        values = getattr(self, section).model_dump(exclude_none=True)
        if section == "routing":
            fill_routing_of(self, values)
        elif section == "traffic":
            fill_traffic(values, self)
        return _complete(values, self._base_dir)

    def located(self, error: Exception, section: str, base: Path = ()) -> ScenarioError:
        """Convert an error of a room to a :class:`ScenarioError`.

        ``parameter`` of the error names the setting of ``section`` at fault; ``base`` is the path to its
        table, such as ``("pattern",)``. An error with a ``place`` in another file keeps it.
        """
        return _located(self, error, section, base)


def _complete(value: Any, base_dir: FilePath) -> Any:
    if isinstance(value, dict):
        return {
            name: str(base_dir / inner) if name == "path" else _complete(inner, base_dir)
            for name, inner in value.items()
            if name != "sha256"
        }
    if isinstance(value, list):
        return [_complete(inner, base_dir) for inner in value]
    return value


_LINE = re.compile(
    r"(?:[^\n:]*: )?line (?P<line>\d{1,9})(?:, column (?P<column>\d{1,9}))?: (?P<rest>.*)", re.DOTALL
)


def _located(scenario: Scenario, error: Exception, section: str, base: Path = ()) -> ScenarioError:
    """See :meth:`Scenario.located`."""
    if isinstance(error, ScenarioError):
        return error
    message = str(getattr(error, "message", "") or error)
    hint = str(getattr(error, "hint", "") or "")
    parameter = getattr(error, "parameter", None)
    path = _path(scenario, section, base, parameter)
    beside = getattr(error, "beside", None)
    if beside is not None and not _is_written(scenario, path):
        path = _path(scenario, section, base, beside)
    elsewhere = getattr(error, "place", None)
    if elsewhere is not None:
        place = Place(*elsewhere)
        return ScenarioError(message, path, hint, place)
    if path[-1:] == ("path",) and (found := _in_named_file(scenario, path, message, error)):
        return ScenarioError(found[1], path, hint, found[0])
    return _narrowed(scenario.error(message, path, hint), error, scenario)


def _in_named_file(
    scenario: Scenario, path: Path, message: str, error: Exception
) -> tuple[Place, str] | None:
    """Return the line or cell of a named file in a message, and the message without the line."""
    match = _LINE.match(message)
    if match is None:
        return None
    model: Any = scenario
    for step in path:
        model = model[step] if isinstance(step, int) else getattr(model, step)
    file = scenario.base_dir / str(model)
    try:
        content = reading.text_of(file.read_bytes(), str(file))
    except (OSError, ValueError):
        return None
    lines = content.split("\n")
    number = int(match["line"])
    if not 0 < number <= len(lines):
        return None
    cell = getattr(error, "cell", None)
    if cell and file.suffix.lower() == ".csv":
        return Place(*reading.named_place(content, str(file), number, cell)), match["rest"]
    text = lines[number - 1].rstrip("\r")
    column = int(match["column"] or 1)
    return Place(str(file), number, column, 1 if match["column"] else max(1, len(text)), text), match["rest"]


def _path(scenario: Scenario, section: str, base: Path, parameter: Any) -> Path:
    """Return the path of a parameter by its written name; of the section if there is no such setting."""
    steps: tuple[Any, ...] = tuple(str(parameter).split(".")) if parameter else ()
    path: list[str | int] = [section]
    model: Any = getattr(scenario, section)
    for step in (*base, *steps):
        if isinstance(model, list) and str(step).isdecimal() and int(step) < len(model):
            path.append(int(step))
            model = model[int(step)]
            continue
        if isinstance(model, dict) and step in model:
            path.append(step)
            model = model[step]
            continue
        fields = getattr(type(model), "model_fields", {})
        name = next((n for n in fields if step in (n, fields[n].alias, bare(n.removesuffix("_flits")))), None)
        if name is None:
            break
        path.append(fields[name].alias or name)
        model = getattr(model, name)
    return tuple(path)


def _is_written(scenario: Scenario, path: Path) -> bool:
    """Whether the scenario gives this setting itself."""
    value: Any = scenario.raw
    for step in path:
        if isinstance(value, dict) and step not in value:
            return False
        value = value[step]
    return True


def _narrowed(found: ScenarioError, error: Exception, scenario: Scenario) -> ScenarioError:
    """Return the error with a place that covers only the part of a string at fault."""
    span, place = getattr(error, "span", None), found.place
    if span is None or place is None or not place.line:
        return found
    value: Any = scenario.raw
    for step in found.path or ():
        value = value[step]
    start = place.text.find(str(value), place.column - 1)
    if 0 <= start < place.column + 3:
        found.place = replace(place, column=start + 1 + span[0], length=span[1])
    return found
