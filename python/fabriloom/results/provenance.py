"""Provenance of a result: everything needed to reproduce it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..reading.texts import escaped
from ..scenario.schema import Scenario


@dataclass(frozen=True)
class Provenance:
    """The scenario, the seed and the program version of a result."""

    name: str
    scenario_sha256: str
    seed: int
    version: str
    engine: str
    """``trains``, ``rings`` or ``twin``."""
    description: str = ""
    resolved: dict[str, Any] = field(default_factory=dict)
    """The resolved scenario: all defaults filled in, units in canonical form."""
    source_text: str = ""
    """The scenario as written, or an empty string."""
    source_name: str = ""
    """File name of the scenario, without the folder."""

    @classmethod
    def of(cls, scenario: Scenario, engine: str = "trains") -> Provenance:
        """Return the provenance of a scenario to be run by ``engine``."""
        from .. import __version__

        source = scenario.source
        return cls(
            name=scenario.name or escaped(Path(source.file).stem) or f"{scenario.topology.kind} network",
            scenario_sha256=scenario.sha256,
            seed=scenario.seed,
            version=__version__,
            engine=engine,
            description=scenario.description,
            resolved=scenario.resolved,
            source_text=source.text,
            source_name=escaped(Path(source.file).name),
        )

    def named(self) -> dict[str, Any]:
        """Return what every summary begins with."""
        return {
            "name": self.name,
            "scenario_sha256": self.scenario_sha256,
            "version": self.version,
            "seed": self.seed,
        }
