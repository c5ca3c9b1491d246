"""``[[fault]]``: what fails during a run, and when it is repaired."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from fabriloom.scenario.fields import PositiveTimePs, Section, Terminal, TimePs

KINDS = ("link", "cable", "switch", "terminal")
"""What can fail."""
WHEN = ("at", "mtbf", "bit_error_rate")
"""How a fault says when."""

Name = Annotated[str, Field(min_length=1, max_length=1000)]
"""Of a link, a cable or a switch."""


class Fault(Section):
    """A link, a cable, a switch or a terminal fails, once or again and again; "all": each of them."""

    link: Name | None = Field(
        default=None,
        description='One direction of a cable, as results name it: "s0>s1", of several "s0>s1#2"',
    )
    cable: Name | None = Field(default=None, description="Both directions of a cable, named by one of them")
    switch: Name | None = Field(default=None, description="A switch by name: all links at it fail")
    terminal: Terminal | None = Field(
        default=None, description="A terminal by number or name: all links at it fail"
    )
    at_ps: TimePs | None = Field(default=None, alias="at", description="When it fails")
    repaired_ps: PositiveTimePs | None = Field(
        default=None, alias="repaired", description="With at: when it is repaired; never if not given"
    )
    mtbf_ps: PositiveTimePs | None = Field(
        default=None,
        alias="mtbf",
        description="Instead of at: mean time from running again to the next failure, drawn at random from "
        "an exponential distribution",
    )
    mttr_ps: PositiveTimePs | None = Field(
        default=None,
        alias="mttr",
        description="With mtbf: mean time to repair, drawn likewise; it is never repaired if not given",
    )
    stuck: bool = Field(
        default=False,
        description="Of a terminal: it does not fail, but accepts nothing from at to "
        "repaired; then it continues, and nothing is lost",
    )
    bit_error_rate: Annotated[float, Field(gt=0, le=1e-3)] | None = Field(
        default=None,
        description="Instead of at, of links and cables that send characters all the time: probability that "
        "a bit is wrong; the link is disconnected by each and starts again at once",
    )

    @property
    def when(self) -> list[str]:
        """Which of the ways to say when are taken."""
        given = (self.at_ps, self.mtbf_ps, self.bit_error_rate)
        return [name for name, value in zip(WHEN, given, strict=True) if value is not None]

    @property
    def what(self) -> list[str]:
        """Which of the kinds are named."""
        return [kind for kind in KINDS if getattr(self, kind) is not None]
