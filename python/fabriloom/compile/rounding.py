"""Warnings for times of the user that whole grains change: a grain is 1 ns, or a cycle of links of flits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from ..scenario import Scenario
from ..technology.model import Ps
from ..units import format_cycle, format_time_ps

_WORTH = 0.01
"""Part of a time from which its change is reported."""
_MOST = 3


def roundings(scenario: Scenario, grain_ps: Ps) -> list[str]:
    """Return a warning for each time that changes by more than 1 %."""
    found = []
    for name, time_ps, becomes_ps in _times(scenario, Fraction(grain_ps)):
        if abs(becomes_ps - time_ps) > _WORTH * time_ps:
            becomes = "0" if becomes_ps == 0 else format_time_ps(round(becomes_ps))
            message = (
                f"{name} of {format_time_ps(time_ps)} becomes {becomes}: such times are whole multiples "
            )
            found.append(f"{message}of {format_cycle(grain_ps)}")
    return found[:_MOST]


def _times(scenario: Scenario, grain_ps: Fraction) -> Iterator[tuple[str, int, Any]]:
    """Yield times that are rounded down to grains: their names, and what they become, in ps."""
    sections: list[tuple[str, Any]] = [("run", scenario.run)]
    sections += [(f"fault[{place}]", one) for place, one in enumerate(scenario.fault)]
    sections += [(f"time_code[{place}]", one) for place, one in enumerate(scenario.time_code)]
    sections += [(f"interrupt[{place}]", one) for place, one in enumerate(scenario.interrupt)]
    for section, model in sections:
        for name, time_ps in model.written("mtbf_ps", "mttr_ps").items():
            if name.endswith("_ps") and isinstance(time_ps, int) and time_ps > 0:
                yield f"{section}.{name[:-3]}", time_ps, time_ps // grain_ps * grain_ps
    arrivals = scenario.traffic.arrivals
    wait_ps = getattr(arrivals, "wait_ps", None)
    if scenario.program is None and arrivals.kind == "random-wait" and wait_ps:
        # The mean of an exponential time that is rounded down; 0 where a grain is thousands of such times.
        grains = float(grain_ps / wait_ps)
        becomes_ps = grain_ps * math.exp(-grains) / -math.expm1(-grains)
        yield "the mean traffic.arrivals.wait", wait_ps, becomes_ps
