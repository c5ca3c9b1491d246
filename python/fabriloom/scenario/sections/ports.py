"""``[ports]``: which of its ports a terminal sends by, where terminals have several."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from fabriloom.scenario.fields import Section


class Ports(Section):
    """Which of its ports a terminal sends a packet by, of those in a plane of the destination."""

    choice: Literal["round-robin", "destination", "shortest-queue", "first-free", "nominal"] = Field(
        default="round-robin",
        description="`round-robin`: one after the other. `destination`: by the number of the destination. "
        "`shortest-queue`: the one with the fewest packets that wait there or are being sent. `first-free`: "
        "packets wait for whichever is free first. `nominal`: the first one, the others are in reserve",
    )


def has_ports(topology: Any) -> bool:
    """Whether a topology says that terminals have several ports."""
    return getattr(topology, "replicate", None) is not None or topology.kind == "planes"
