"""Where a result comes from: everything needed to make it again."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..printable import escaped

if TYPE_CHECKING:
    from ..scenario.schema import Scenario


@dataclass(frozen=True)
class Provenance:
    """The scenario, the seed and the program that made a result."""

    name: str
    scenario_sha256: str
    seed: int
    version: str
    engine: str
    """``trains``, ``rings`` or ``twin``."""
    description: str = ""
    resolved: dict[str, Any] = field(default_factory=dict)
    """The resolved scenario: all defaults filled, canonical integers."""
    source_text: str = ""
    """The scenario as its author wrote it, or empty."""
    source_name: str = ""
    """Name of its file, without the folder."""

    @classmethod
    def of(cls, scenario: Scenario, engine: str = "trains") -> Provenance:
        """Of a scenario to be run by ``engine``."""
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
