"""``[[time_code]]`` and ``[[interrupt]]``: SpaceWire control codes, which reach every terminal."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from fabriloom.scenario.fields import PositiveTimePs, Section, Terminal, TimePs, setting

MOST_NUMBER = 31
"""The largest number of a distributed interrupt."""


class TimeCode(Section):
    """A terminal that sends time-codes: a time master."""

    master: Terminal = setting("The terminal; it sends by all its ports")
    every_ps: PositiveTimePs = setting("Time from one time-code to the next")
    first_ps: TimePs | None = setting("Time of the first time-code; if not given, one interval", None)
    until_ps: PositiveTimePs | None = setting(
        "The terminal sends no time-code after this time, so that another one can be the master; "
        "if not given, it sends to the end of the run",
        None,
    )


class Interrupt(Section):
    """A terminal that sends a distributed interrupt, once or periodically."""

    source: Terminal = setting("The terminal; it sends by all its ports")
    number: Annotated[int, Field(ge=0, le=MOST_NUMBER)] = setting("Number of the interrupt")
    first_ps: TimePs = setting("Time of the first interrupt", 0)
    every_ps: PositiveTimePs | None = setting(
        "Time from one interrupt to the next; if not given, one only", None
    )
