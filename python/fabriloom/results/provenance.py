"""Where a result comes from: everything needed to make it again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Provenance:
    """The scenario, the seed and the program that made a result."""

    name: str
    scenario_sha256: str
    seed: int
    version: str
    engine: str
    """``trains`` or ``twin``."""
    description: str = ""
    resolved: dict[str, Any] = field(default_factory=dict)
    """The resolved scenario: all defaults filled, canonical integers."""
    source_text: str = ""
    """The scenario as its author wrote it, or empty."""
    source_name: str = ""
    """Name of its file, without the folder."""
