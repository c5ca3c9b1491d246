"""Candidates: a network of a family, how many of it, and the settings that are varied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from ..results.figures import value_text
from ..scenario.errors import ScenarioError
from ..scenario.load import build as scenario_of
from .families import SHAPES, Shape, Wanted

if TYPE_CHECKING:
    from ..scenario import Scenario
    from .schema import Requirements

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
"""Values that need not be said."""


@dataclass(frozen=True)
class Candidate:
    """One thing that could be built."""

    shape: Shape
    networks: int
    settings: Mapping[str, Any]
    """Values of ``[vary]`` and of the family's dotted paths."""

    @property
    def family(self) -> str:
        """The family of its network."""
        return self.shape.family

    @property
    def name(self) -> str:
        """In words: ``4 x clos, 8 a switch, 1 centre, 3 a pair``."""
        parts = [
            f"{_text(value)} {_SHORT[name]}" if name in _SHORT else f"{name} {_text(value)}"
            for name, value in self.shape.parameters.items()
            if name not in _LEFT_OUT.get(self.family, ()) and _USUAL.get(name) != value
        ]
        parts += [f"{path.rpartition('.')[2]} {_text(value)}" for path, value in self.settings.items()]
        several = f"{self.networks} x " if self.networks > 1 else ""
        return several + ", ".join([self.family, *parts])

    @property
    def kind(self) -> tuple[str, ...]:
        """What is alike in candidates that differ in their size and links only."""
        settings = (f"{path} {value}" for path, value in self.settings.items())
        return (self.family, f"{self.networks} networks", *settings)

    def scenario(self, base: Scenario, changed: Mapping[str, Any]) -> Scenario:
        """One of its networks, with settings changed besides. Raises ScenarioError."""
        topology = {"kind": self.family, **self.shape.parameters}
        return base.with_settings({"topology": topology, **self.settings, **changed})


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "x".join(str(part) for part in value)
    if isinstance(value, Mapping) and "kind" in value:
        return str(value["kind"])
    return value_text(value)


def base_of(requirements: Requirements) -> Scenario:
    """A scenario with everything that candidates share, of one switch; errors point into the requirements.

    Raises ScenarioError.
    """
    from .schema import SCENARIO

    data = {name: requirements.raw[name] for name in SCENARIO if name in requirements.raw}
    rings = of_rings(requirements)
    first: dict[str, Any] = {"kind": "crossbar", "terminals": max(2, requirements.require.terminals)}
    if rings:
        first = {"kind": "sci-long-rings", "ports": 2, "pairs_per_ring": 1}
    data = {"name": requirements.name or "design", **data, "topology": first}
    return scenario_of(data, requirements.source, requirements.base_dir)


def check_settings(requirements: Requirements) -> None:
    """Raise ScenarioError for a path that is varied and is no setting, or a value that is not legal there."""
    base = base_of(requirements)
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


def of_rings(requirements: Requirements) -> bool:
    """Whether networks of rings are looked at, by the families that are named or by the technology."""
    if requirements.families:
        return any(SHAPES[name].of_rings for name in requirements.families)
    technology = requirements.technology
    return technology is not None and technology.preset.startswith("sci")


def families_of(requirements: Requirements) -> list[str]:
    """The families that are looked at."""
    if requirements.families:
        return list(requirements.families)
    rings = of_rings(requirements)
    return [name for name, family in SHAPES.items() if family.usual and family.of_rings == rings]


def candidates(requirements: Requirements, only: Sequence[str] | None = None) -> Iterator[Candidate]:
    """All candidates, family by family; ``only``: of these families."""
    varied = [[(path, value) for value in values] for path, values in requirements.vary.items()]
    for name in families_of(requirements) if only is None else only:
        table = requirements.families.get(name, {})
        own = [[(path, value) for value in values] for path, values in table.items() if "." in path]
        given = {key: values for key, values in table.items() if "." not in key}
        wanted = Wanted(requirements.require.terminals, requirements.limits.switch_ports, given)
        settings = [dict(pairs) for pairs in product(*varied, *own)]
        for shape in SHAPES[name].make(wanted):
            for networks, one in product(requirements.networks, settings):
                yield Candidate(shape, networks, one)
