"""``[run]``, ``[output]``, ``[ports]``: duration, precision, tables that are kept, the port of a packet."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from fabriloom.scenario.fields import AutoTimePs, PositiveTimePs, Section, Terminal, TimePs, optional, setting
from fabriloom.topology import MOST_PORTS

Replicate = Annotated[
    Annotated[int, Field(ge=1, le=MOST_PORTS)] | None,
    AfterValidator(lambda count: None if count == 1 else count),
    Field(
        description="Equal networks, in each of which every terminal has a port, see [ports]; 1 if not given"
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


KINDS = ("link", "cable", "switch", "bus", "terminal")
"""Kinds of components that can fail."""
WHEN = ("at", "mtbf", "bit_error_rate")
"""Settings that give the time of a fault."""

Name = Annotated[str, Field(min_length=1, max_length=1000)]
"""Name of a link, a cable or a switch."""


class Fault(Section):
    """A link, a cable, a switch, a bus or a terminal that fails once or repeatedly; "all": every one of
    that kind.
    """

    link: Name | None = optional(
        'One direction of a cable, by its name in the results: "s0>s1", or "s0>s1#2" of parallel ones'
    )
    cable: Name | None = optional("Both directions of a cable, by the name of one of them")
    switch: Name | None = optional("A switch, by name: all its links fail")
    bus: Name | None = optional(
        "Of rings: the buses of a switch, by name; they transfer nothing; the rings continue"
    )
    terminal: Terminal | None = optional("A terminal: all its links fail")
    at_ps: TimePs | None = optional("Time of the failure")
    repaired_ps: PositiveTimePs | None = optional("With at: time of the repair; if not given, never")
    mtbf_ps: PositiveTimePs | None = optional(
        "Instead of at: mean time to the next failure, from when it runs; exponentially distributed"
    )
    mttr_ps: PositiveTimePs | None = optional(
        "With mtbf: mean time to repair, exponentially distributed; if not given, it is never repaired"
    )
    stuck: bool = setting(
        "With terminal: it accepts nothing from at to repaired, or never again; no packet is lost", False
    )
    silent: bool = setting(
        "With terminal: it sends nothing from at to repaired, and stops in the middle of a packet; what it "
        "has sent holds links until then, or until a watchdog ends it",
        False,
    )
    physical_lanes: Annotated[int, Field(ge=1, le=16)] | None = optional(
        "With link or cable: how many of its physical lanes fail; it goes on with the others"
    )
    bit_error_rate: Annotated[float, Field(gt=0, le=1e-3)] | None = optional(
        "Instead of at, for links and cables: probability that a bit is wrong"
    )
    replay: bool = setting(
        "With bit_error_rate, on links with credits: the link sends a wrong flit, and all after "
        "it, again; no packet is lost",
        False,
    )

    @property
    def stops(self) -> bool:
        """Whether a component takes or moves nothing for a time, and loses nothing."""
        return self.stuck or self.silent or self.bus is not None

    @property
    def when(self) -> list[str]:
        """Return the settings of the time of the fault that are given."""
        given = (self.at_ps, self.mtbf_ps, self.bit_error_rate)
        return [name for name, value in zip(WHEN, given, strict=True) if value is not None]

    @property
    def what(self) -> list[str]:
        """Return the kinds of components that are named."""
        return [kind for kind in KINDS if getattr(self, kind) is not None]
