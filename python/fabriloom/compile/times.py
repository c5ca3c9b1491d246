"""The tick of a scenario: the greatest common divisor of its durations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import units
from ..scenario import Scenario
from ..scenario.errors import Path
from ..technology.model import Ps
from .columns import Tenths

if TYPE_CHECKING:
    from .codes import Codes
    from .networks import Routes
    from .programs import Messages
    from .sources import Packets

MOST_LINK_TICKS = 2**30
"""Limit for a link, a switch or a station; see ``crates/engine/src/fabric/check``."""
MOST_DELAY_TICKS = 2**40
"""Limit for a retry delay or a time-out."""
MOST_WAIT_TICKS = 2**50
"""Limit for a duration of a protocol, a program or a list."""
MOST_RUN_TICKS = 2**60
"""Limit for a run."""


@dataclass(frozen=True)
class Durations:
    """The durations that one place of a scenario gives."""

    name: str
    path: Path
    common_ps: Ps
    """Their greatest common divisor; 0 if all are 0."""
    longest_ps: Ps
    most_ticks: int

    @staticmethod
    def of(name: str, path: Path, values_ps: Ps | Sequence[Ps] | NDArray[Any], most_ticks: int) -> Durations:
        """Return the durations of a list or a column."""
        values = np.atleast_1d(np.asarray(values_ps))
        if values.dtype == object:
            several = set(values.tolist())
            return Durations(name, path, common_ps(*several), max(several), most_ticks)
        values = values.astype(np.int64)
        common = int(np.gcd.reduce(values)) if len(values) else 0
        return Durations(name, path, common, int(values.max(initial=0)), most_ticks)


@dataclass(frozen=True)
class Times:
    """The tick that divides all durations of a scenario."""

    scenario: Scenario
    routes: Routes
    sources: Packets | Messages
    codes: Codes | None
    beside: Tenths | None
    """Assumed load of the opposite direction per link; None: full load, as loads and bounds assume."""
    tick_ps: Ps


def times_of(sources: Packets | Messages, beside: Tenths | None = None) -> Times:
    """Return the tick of a scenario, for a load of the opposite directions. Raises ScenarioError.

    The loads of terminals are computed with the full share of flow control.
    """
    scenario, routes = sources.scenario, sources.routes
    network = routes.network
    own, codes = sources.durations, network.codes(scenario)
    own = own if codes is None else own + codes.durations()
    tick = tick_ps(scenario, [*network.durations(beside), *own], network.technology.grain_ps)
    return Times(scenario, routes, sources, codes, beside, tick)


def common_ps(*durations: Ps) -> Ps:
    """Return the greatest common divisor of durations; 0 if all are 0."""

    def of_two(one: Ps, other: Ps) -> Ps:
        if isinstance(one, int) and isinstance(other, int):
            return gcd(one, other)
        numerator = gcd(one.numerator * other.denominator, other.numerator * one.denominator)
        found = Fraction(numerator, one.denominator * other.denominator)
        return found.numerator if found.denominator == 1 else found

    return reduce(of_two, durations, 0)


def coarsest_ps(durations: Iterable[Durations], grain_ps: Ps) -> Ps:
    """Return the longest step of which these durations and the grain are whole multiples."""
    return common_ps(grain_ps, *(one.common_ps for one in durations))


def tick_ps(scenario: Scenario, durations: Sequence[Durations], grain_ps: Ps) -> Ps:
    """Return the tick in ps, a fraction if a duration is one.

    Raises ScenarioError for a duration that has too many ticks or is not a multiple.
    """
    tick = coarsest_ps(durations, grain_ps)
    for one in durations:
        if one.longest_ps // tick > one.most_ticks:
            raise _too_long(scenario, durations, one, tick, grain_ps)
    if scenario.run.duration_ps // tick > MOST_RUN_TICKS:
        run = Durations.of("run.duration", ("run", "duration"), scenario.run.duration_ps, MOST_RUN_TICKS)
        raise _too_long(scenario, durations, run, tick, grain_ps)
    return tick


def _too_long(
    scenario: Scenario, durations: Sequence[Durations], found: Durations, tick: Ps, grain_ps: Ps
) -> Exception:
    """Return an error that names the duration that is too long, and the one that makes ticks short."""
    longest = units.format_time_ps(found.longest_ps)
    step = units.format_time_ps(tick)
    message = f"{found.name} of {longest} is too long beside the other times: more than "
    message += f"{found.most_ticks:,} steps of {step}, of which all of them are whole numbers"

    def without(one: Durations) -> Ps:
        return coarsest_ps((other for other in durations if other is not one), grain_ps)

    finest = max((one for one in durations if one.common_ps), key=without, default=None)
    hint = "shorten it"
    if finest is not None and finest is not found and without(finest) > tick:
        hint += f", or round {finest.name}, so that steps of {units.format_time_ps(without(finest))} do"
    return scenario.error(message, found.path, hint)
