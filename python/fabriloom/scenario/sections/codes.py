"""``[[time_code]]`` and ``[[interrupt]]``: SpaceWire characters of no packet, which go to every terminal."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from fabriloom.scenario.fields import PositiveTimePs, Section, Terminal, TimePs

MOST_NUMBER = 31
"""The largest number of a distributed interrupt."""


class TimeCode(Section):
    """A terminal that sends time-codes: the master of time."""

    master: Terminal = Field(description="The terminal by number or name; of several ports, by all of them")
    every_ps: PositiveTimePs = Field(alias="every", description="From one time-code to the next")
    first_ps: TimePs | None = Field(
        default=None, alias="first", description="When it sends the first one; after every if not given"
    )
    until_ps: PositiveTimePs | None = Field(
        default=None,
        alias="until",
        description="After this time it sends none, so that another terminal can be the master; the end of "
        "the run if not given",
    )


class Interrupt(Section):
    """A terminal that sends a distributed interrupt, once or again and again."""

    source: Terminal = Field(description="The terminal by number or name; of several ports, by all of them")
    number: Annotated[int, Field(ge=0, le=MOST_NUMBER)] = Field(description="Number of the interrupt")
    first_ps: TimePs = Field(default=0, alias="first", description="When it sends it first")
    every_ps: PositiveTimePs | None = Field(
        default=None, alias="every", description="From one to the next; once if not given"
    )
