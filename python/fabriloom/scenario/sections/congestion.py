"""``[congestion_control]``: switches mark packets, and terminals that hear of it send less often."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabriloom.scenario.fields import PositiveTimePs, Section, setting

MOST_DELAY = 2**14 - 1
"""Most packet times of a rest: a multiplier has 14 bits."""


class CongestionControl(Section):
    """Congestion control of InfiniBand, annex A10 of the specification; the names are those of the annex."""

    threshold: Annotated[int, Field(ge=1, le=15)] = setting(
        "How early a switch marks packets (FECN): once other packets that wait for the same output have "
        "more than (16 - threshold) / 16 of an input buffer; 15 is the earliest",
        8,
    )
    marking_rate: Annotated[int, Field(ge=0, le=65535)] = setting(
        "Packets between two marked ones, of those that a link could mark; 0: all are marked", 3
    )
    victim_mask: Literal["none", "all"] = setting(
        "`none`: only roots of congestion mark packets, which have credit to send them; `all`: outputs that "
        "wait for credit mark them, too",
        "none",
    )
    becn_delay_ps: PositiveTimePs = setting(
        "Time from the delivery of a marked packet until its sender hears of it (BECN)", 1_000_000
    )
    ccti_increase: Annotated[int, Field(ge=0, le=255)] = setting(
        "What a BECN adds to the index of the port in the table (CCTI)", 1
    )
    ccti_limit: Annotated[int, Field(ge=1, le=65535)] = setting("The highest index", 127)
    ccti_timer_ps: PositiveTimePs = setting(
        "After this time the index falls by one, again and again; the annex counts in 1.024 us", 10_240_000
    )
    cct: Annotated[list[Annotated[float, Field(ge=0, le=MOST_DELAY)]], Field(max_length=65536)] | None = (
        setting(
            "The table: by index, for how many times of the packet that it has sent a port rests before the "
            "next one, in eighths (multiplier / 2^shift); if not given, the index itself",
            None,
        )
    )
