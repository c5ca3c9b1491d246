"""``[[time_code]]`` and ``[[interrupt]]``: SpaceWire control codes, which reach every terminal."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from fabriloom.scenario.fields import PositiveTimePs, Section, Terminal, TimePs

MOST_NUMBER = 31
"""The largest number of a distributed interrupt."""


class TimeCode(Section):
    """A terminal that sends time-codes: a time master."""

    master: Terminal = Field(description="The terminal; it sends by all its ports")
    every_ps: PositiveTimePs = Field(alias="every", description="Time from one time-code to the next")
    first_ps: TimePs | None = Field(
        default=None, alias="first", description="Time of the first time-code; if not given, one interval"
    )
    until_ps: PositiveTimePs | None = Field(
        default=None,
        alias="until",
        description="The terminal sends no time-code after this time, so that another one can be the master; "
        "if not given, it sends to the end of the run",
    )


class Interrupt(Section):
    """A terminal that sends a distributed interrupt, once or periodically."""

    source: Terminal = Field(description="The terminal; it sends by all its ports")
    number: Annotated[int, Field(ge=0, le=MOST_NUMBER)] = Field(description="Number of the interrupt")
    first_ps: TimePs = Field(default=0, alias="first", description="Time of the first interrupt")
    every_ps: PositiveTimePs | None = Field(
        default=None, alias="every", description="Time from one interrupt to the next; if not given, one only"
    )
