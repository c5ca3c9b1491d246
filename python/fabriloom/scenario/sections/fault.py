"""``[[fault]]``: what fails during a run, and when it is repaired."""

from __future__ import annotations

from pydantic import Field

from fabriloom.scenario.fields import FileName, PositiveTimePs, Section, Terminal, TimePs

KINDS = ("link", "cable", "switch", "terminal")
"""What can fail."""


class Fault(Section):
    """Something fails: a link, a cable, a switch or a terminal, one of them."""

    link: FileName | None = Field(
        default=None,
        description='One direction of a cable, as results name it: "s0>s1", of several "s0>s1#2"',
    )
    cable: FileName | None = Field(
        default=None, description="Both directions of a cable, named by one of them"
    )
    switch: FileName | None = Field(default=None, description="A switch by name: all links at it fail")
    terminal: Terminal | None = Field(
        default=None, description="A terminal by number or name: all links at it fail"
    )
    at_ps: TimePs = Field(alias="at", description="When it fails")
    repaired_ps: PositiveTimePs | None = Field(
        default=None, alias="repaired", description="When it is repaired; never if not given"
    )

    @property
    def what(self) -> list[str]:
        """Which of the kinds are named."""
        return [kind for kind in KINDS if getattr(self, kind) is not None]
