"""``[[fault]]``: failures and repairs during a run."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from fabriloom.scenario.fields import PositiveTimePs, Section, Terminal, TimePs, optional, setting

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
