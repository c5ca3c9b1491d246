"""Links that lose some of their physical lanes and go on with the others: when, and at which rate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import Any

from numpy.typing import NDArray

from ..faults import Outage
from ..scenario import Scenario
from ..technology.lanes import LaneRules
from ..technology.model import Ps, exact_ps
from .columns import Times, whole

RATE = "rate"
"""The engine's word for an outage after which a link has another rate."""
Lost = tuple[list[int], int, int | None, int]
"""Links that lose lanes together, when, until when (None: for good), and how many."""
Failure = tuple[list[int], int, int | None]


def fewest(scenario: Scenario, rules: LaneRules) -> int:
    """Return the fewest lanes with which a link may go on. Raises ScenarioError for more than there are."""
    lost, there = 0, rules.physical + rules.spare
    for place, fault in enumerate(scenario.fault):
        lost += fault.physical_lanes or 0
        if fault.physical_lanes is not None and fault.physical_lanes >= there:
            message = f"links have {there} physical lanes, and fail as a whole without them"
            hint = "leave it out"
            if there == 1:
                message = "links have one physical lane, and fail as a whole without it"
                hint = "give technology.physical_lanes, or leave it out"
            raise scenario.error(message, ("fault", place, "physical_lanes"), hint)
    return max(1, rules.working(lost))


def character_ps(full_ps: Ps, left: int, physical: int) -> Ps:
    """Return the time of a character on a link that has some of its lanes left."""
    return exact_ps(Fraction(full_ps) * physical / left)


def slower_ps(times: Times, least: int, physical: int) -> NDArray[Any]:
    """Return the times of characters on links that have lost lanes."""
    full = set(times["character"].tolist())
    return whole([character_ps(one, left, physical) for one in full for left in range(least, physical)])


def rate_changes(
    lost: Iterable[Lost], rules: LaneRules, pause: int, ticks: Callable[[int, int], int]
) -> tuple[list[Outage], list[Failure]]:
    """Return the changes of rates, and the failures of links that have lost all their lanes.

    ``pause``: ticks from a change until the link goes on; ``ticks``: those of a character of a link with that
    number of lanes. What changes during a pause waits for its end.
    """
    moments: dict[int, list[tuple[int, int]]] = {}
    for links, at, repaired, lanes in lost:
        for link in links:
            of_link = moments.setdefault(link, [])
            of_link.append((at, lanes))
            of_link.extend([] if repaired is None else [(repaired, -lanes)])
    changes, failures = list[Outage](), list[Failure]()
    for link, of_link in moments.items():
        failed, left, free, down = 0, rules.physical, 0, None
        for tick, turns in groupby(sorted(of_link), key=itemgetter(0)):
            lanes = [turn[1] for turn in turns]
            failed += sum(lanes)
            before, left = left, rules.working(failed)
            if not left:
                down = tick if down is None else down
                continue
            if down is not None:
                failures.append(([link], down, tick))
                down = None
            if left != before or max(lanes) > 0:
                at, free = max(tick, free), max(tick, free) + pause
                changes.append(Outage(at, link, at + 1, free, RATE, ticks(link, left)))
        failures.extend([] if down is None else [([link], down, None)])
    return changes, failures
