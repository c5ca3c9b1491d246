"""Candidates: a network of a family, its number, and the varied settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from ..results.figures import value_text
from ..scenario import Scenario
from ..scenario.errors import ScenarioError
from ..scenario.load import build as scenario_of
from ..topology import LINKS, NetworkKind, kind_of
from .families import SHAPES, Shape, Wanted
from .schema import SCENARIO, Requirements

_SHORT = {
    "terminals_per_switch": "a switch",
    "centre_switches": "centre",
    "links_per_pair": "a pair",
    "links_per_edge": "an edge",
    "pairs_per_ring": "pairs a ring",
    "terminals_per_ring": "a ring",
    "switches_per_group": "a group",
    "global_links": "global",
    "switch_ports": "ports",
}
_LEFT_OUT = {"clos": ("terminals", "switch_ports"), "sci-banyan": ("terminals",)}
_USUAL = {"variant": "omega", "pairs_per_ring": 1, "buses": 1, "controllers": "shared"}
"""Values that names omit."""


@dataclass(frozen=True)
class Candidate:
    """One possible system."""

    shape: Shape
    networks: int
    settings: Mapping[str, Any]
    """Values of ``[vary]`` and of the dotted paths of the family."""
    ports_each: int = 1
    """Ports of a terminal in each of the networks."""
    choice: Mapping[str, Any] = field(default_factory=dict)
    """``[ports]`` if terminals have several."""

    @property
    def family(self) -> str:
        return self.shape.family

    @property
    def name(self) -> str:
        """The candidate as text: ``4 x clos, 8 a switch, 1 centre, 3 a pair``; ports are per network."""
        parts = [
            f"{_text(value)} {_SHORT[name]}" if name in _SHORT else f"{name} {_text(value)}"
            for name, value in self.shape.parameters.items()
            if name not in _LEFT_OUT.get(self.family, ()) and _USUAL.get(name) != value
        ]
        parts += [f"{self.ports_each} ports a terminal"] if self.ports_each > 1 else []
        parts += [f"{path.rpartition('.')[2]} {_text(value)}" for path, value in self.settings.items()]
        several = f"{self.networks} x " if self.networks > 1 else ""
        return several + ", ".join([self.family, *parts])

    @property
    def kind(self) -> tuple[str, ...]:
        """A key that is equal for candidates that differ only in size and links."""
        settings = (f"{path} {value}" for path, value in self.settings.items())
        return (self.family, f"{self.networks} networks", f"{self.ports_each} ports", *settings)

    @property
    def topology(self) -> dict[str, Any]:
        """Return the ``[topology]`` of all its networks."""
        one = {"kind": self.family, **self.shape.parameters}
        if self.ports_each > 1:
            each = {"network": one, "ports_per_terminal": self.ports_each}
            planes = [{"name": f"p{number}", **each} for number in range(self.networks)]
            return {"kind": "planes", "planes": planes}
        return one if self.networks == 1 else one | {"replicate": self.networks}

    def scenario(self, base: Scenario, changed: Mapping[str, Any]) -> Scenario:
        """Return the scenario of all its networks, with further changes. Raises ScenarioError."""
        several = {"ports": dict(self.choice)} if self.choice else {}
        return base.with_settings({"topology": self.topology, **several, **self.settings, **changed})


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "x".join(str(part) for part in value)
    if isinstance(value, Mapping) and "kind" in value:
        return str(value["kind"])
    return value_text(value)


def base_of(requirements: Requirements, several: bool = False) -> Scenario:
    """Return a scenario with everything that candidates share; errors point into the requirements.

    It has one switch, or, with ``several``, two and ``[ports]``. Raises ScenarioError.
    """
    data = {name: requirements.raw[name] for name in SCENARIO if name in requirements.raw}
    first: dict[str, Any] = {"kind": "crossbar", "terminals": max(2, requirements.require.terminals)}
    if not kind_for(requirements).cables:
        first = {"kind": "sci-long-rings", "ports": 2, "pairs_per_ring": 1}
    elif several:
        first |= {"replicate": 2}
        data |= {"ports": requirements.raw["ports"]} if "ports" in requirements.raw else {}
    data = {"name": requirements.name or "design", **data, "topology": first}
    return scenario_of(data, requirements.source, requirements.base_dir)


def check_settings(requirements: Requirements) -> None:
    """Raise ScenarioError for a varied path that is not a setting, or an illegal value."""
    base = base_of(requirements, several=any(per * count > 1 for count, per in _networks(requirements)))
    tables = {("vary",): requirements.vary}
    tables |= {("families", name): table for name, table in requirements.families.items()}
    for place, table in tables.items():
        for path, values in table.items():
            for index, value in enumerate(values if "." in path else ()):
                try:
                    base.with_settings({path: value})
                except ScenarioError as mistake:
                    key = mistake.unknown_key
                    at = (*place, path) if key else (*place, path, index)
                    raise requirements.error(mistake.message, at, mistake.hint, key) from None


def kind_for(requirements: Requirements) -> NetworkKind:
    """Return the kind of networks that are considered, from the named families or the technology."""
    if requirements.families:
        return next((kind for kind in map(kind_of, requirements.families) if not kind.cables), LINKS)
    technology = requirements.technology
    return LINKS if technology is None else technology.network_kind


def families_of(requirements: Requirements) -> list[str]:
    if requirements.families:
        return list(requirements.families)
    kind = kind_for(requirements)
    return [name for name, family in SHAPES.items() if family.usual and kind_of(name) == kind]


def candidates(requirements: Requirements, only: Sequence[str] | None = None) -> Iterator[Candidate]:
    """Yield all candidates, family by family; ``only``: of these families."""
    varied = [[(path, value) for value in values] for path, values in requirements.vary.items()]
    for name in families_of(requirements) if only is None else only:
        table = requirements.families.get(name, {})
        own = [[(path, value) for value in values] for path, values in table.items() if "." in path]
        given = {key: values for key, values in table.items() if "." not in key}
        settings = [dict(pairs) for pairs in product(*varied, *own)]
        for per, counts in _by_ports(requirements):
            wanted = Wanted(per * requirements.require.terminals, requirements.limits.switch_ports, given)
            shapes = (shape for shape in SHAPES[name].make(wanted) if shape.terminals % per == 0)
            for shape, count in product(shapes, counts):
                several = per * count > 1
                choice = requirements.raw.get("ports", {}) if several else {}
                for one in settings if several else _of_one_port(settings):
                    yield Candidate(shape, count, one, per, choice)


def _networks(requirements: Requirements) -> list[tuple[int, int]]:
    """Return the numbers of networks, with the ports of a terminal in each."""
    counts = dict.fromkeys(requirements.networks)
    if requirements.terminal_ports is None:
        return [(count, 1) for count in counts]
    ports = dict.fromkeys(requirements.terminal_ports)
    return [(count, all_ports // count) for all_ports in ports for count in counts if all_ports % count == 0]


def _by_ports(requirements: Requirements) -> list[tuple[int, list[int]]]:
    """Return the numbers of networks by the ports of a terminal in each."""
    found: dict[int, list[int]] = {}
    for count, per in _networks(requirements):
        found.setdefault(per, []).append(count)
    return list(found.items())


def _of_one_port(settings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Remove settings that choose among ports, and duplicates."""
    kept = [{path: one[path] for path in one if not path.startswith("ports.")} for one in settings]
    return [one for number, one in enumerate(kept) if one not in kept[:number]]


def check_networks(requirements: Requirements) -> None:
    """Raise ScenarioError if several networks or ports are impossible or have no effect."""
    found = _networks(requirements)
    several = any(per * count > 1 for count, per in found)
    if not found:
        message = f"none of {requirements.networks} networks divides terminal_ports evenly"
        hint = "each network has an equal number of the ports: write for example networks = [1, 2, 4] with 4"
        raise requirements.error(message, ("terminal_ports",), f"{hint} ports")
    if several and not kind_for(requirements).cables:
        path = ("networks",) if max(requirements.networks) > 1 else ("terminal_ports",)
        message = "of rings design looks at one network, in which each terminal has one port"
        raise requirements.error(message, path, "remove it", key=True)
    fails = not kind_for(requirements).cables and requirements.require.after_failure is not None
    if fails and not getattr(requirements.technology, "timeout_ps", None):
        message = "after_failure runs the worst failure, and where rings fail transactions need a time-out"
        raise requirements.error(message, ("require", "after_failure"), 'write technology.timeout = "100 us"')
    varied = [("vary", path) for path in requirements.vary]
    varied += [("families", name, path) for name, table in requirements.families.items() for path in table]
    chosen = [("ports",)] if requirements.ports is not None else []
    chosen += [path for path in varied if path[-1].startswith("ports.")]
    if chosen and not several:
        message = "[ports] chooses among the ports of a terminal, and here every terminal has one"
        raise requirements.error(message, chosen[0], "add for example networks = [1, 2]", key=True)
