"""``[ports]``: which of its ports a terminal uses, where terminals have several."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from fabriloom.scenario.fields import Section, setting
from fabriloom.topology import MOST_PORTS

Replicate = Annotated[
    Annotated[int, Field(ge=1, le=MOST_PORTS)] | None,
    AfterValidator(lambda count: None if count == 1 else count),
    Field(
        description="Number of equal networks, in each of which every terminal has a port, see [ports]; "
        "1 if not given"
    ),
]


class Ports(Section):
    """How a terminal chooses the port for a packet, among those in a plane of the destination."""

    choice: Literal["round-robin", "destination", "shortest-queue", "first-free", "nominal"] = setting(
        "`round-robin`: the ports in turn. `destination`: destination number modulo ports. "
        "`shortest-queue`: the port with the fewest packets waiting or being sent. `first-free`: the port "
        "that is free first. `nominal`: the first port; the others are in reserve",
        "round-robin",
    )
    per: Literal["message", "packet"] | None = setting(
        "Of programs, what gets a port: `message`, all packets of a message go by one port; "
        "`packet`: each packet gets its own, so a message is spread over several. Default: `message`",
        None,
    )


def has_ports(topology: Any) -> bool:
    """Whether terminals have several ports in a topology."""
    return getattr(topology, "replicate", None) is not None or topology.kind == "planes"
