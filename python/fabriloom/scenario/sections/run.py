"""``[run]``, ``[output]``, ``[ports]``: duration, precision, tables that are kept, the port of a packet."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from fabriloom.scenario.fields import AutoTimePs, PositiveTimePs, Section, optional, setting
from fabriloom.topology import MOST_PORTS

Replicate = Annotated[
    Annotated[int, Field(ge=1, le=MOST_PORTS)] | None,
    AfterValidator(lambda count: None if count == 1 else count),
    Field(
        description="Number of equal networks, in each of which every terminal has a port, see [ports]; "
        "1 if not given"
    ),
]
Choice = Literal["round-robin", "destination", "shortest-queue", "first-free", "nominal", "nearest"]


class Ports(Section):
    """How a terminal chooses the port for a packet, among those in a plane of the destination."""

    choice: Choice = setting(
        "`round-robin`: the ports in turn. `destination`: destination number modulo ports. "
        "`shortest-queue`: the port with the fewest packets waiting or being sent. `first-free`: the port "
        "that is free first. `nominal`: the first port; the others are in reserve. `nearest`: on rings "
        "without switches, the port with the fewest links to the target",
        "round-robin",
    )
    per: Literal["message", "packet"] | None = optional(
        "Of programs, what gets a port: `message`, all packets of a message go by one port; "
        "`packet`: each packet gets its own, so a message is spread over several. Default: `message`"
    )


def has_ports(topology: Any) -> bool:
    """Whether terminals have several ports in a topology."""
    return getattr(topology, "replicate", None) is not None or topology.kind in ("planes", "sci-dual-ring")


class Run(Section):
    """The end of a run."""

    duration_ps: PositiveTimePs = setting(
        "Limit of the simulated time, including the warm-up; 1 s for programs if not given", 10_000_000_000
    )
    warmup_ps: AutoTimePs = setting(
        "Time that is not measured. auto: until a steady state is detected. 0 for programs if not given",
        "auto",
    )
    precision: Annotated[float, Field(ge=0, lt=1)] = setting(
        "The run ends when the 95 % half-widths of throughput, mean network latency and mean "
        "total latency are below this fraction of their values; 0: never, the default for programs",
        0.01,
    )
    precision_of: Literal["all", "throughput"] = setting(
        "What has to be that precise. throughput: throughput alone, once it is known whether packets pile "
        "up; `fabriloom saturate` sets it",
        "all",
    )
    packets: Annotated[int, Field(ge=0, le=2**62)] = setting(
        "The run ends when this many packets have been delivered; 0: no limit", 0
    )
    drain: bool = setting("After the duration, deliver the packets that exist", False)


class Output(Section):
    """The tables of a run that are kept."""

    links: bool = setting("Table of links", True)
    flows: Literal["auto"] | bool = setting("Table of flows; auto: unless there are too many", "auto")
    trace: bool = setting("Table of all delivered packets", False)
    messages: bool = setting("Table of all messages of a program", False)
