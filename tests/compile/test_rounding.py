"""A time of the user that whole grains change by more than 1 % is told, and no other."""

from __future__ import annotations

from typing import Any

import pytest
from fabriloom.compile import compile
from fabriloom.scenario import Scenario

BASE: dict[str, Any] = {
    "topology": {"kind": "crossbar", "terminals": 2},
    "technology": {"preset": "generic", "cycle": "100 ns"},
    "run": {"duration": "1 ms"},
}


def warned(**more: Any) -> list[str]:
    return compile(Scenario.from_dict(BASE | more)).warnings


@pytest.mark.parametrize("wait", ["1 ps", "30 ns", "1 us"])
def test_a_random_wait_of_few_cycles_is_told(wait: str) -> None:
    found = warned(traffic={"arrivals": {"kind": "random-wait", "wait": wait}})
    assert [wait in one and "100 ns" in one for one in found] == [True]


def test_times_below_a_cycle_are_told() -> None:
    (found,) = warned(run={"duration": "1 ms", "warmup": "50 ns"})
    assert "run.warmup of 50 ns becomes 0" in found
    (found,) = warned(time_code=[], fault=[{"terminal": 0, "at": "150 ns"}])
    assert "fault[0].at of 150 ns becomes 100 ns" in found


def test_long_times_and_exact_ones_are_not() -> None:
    assert warned(traffic={"arrivals": {"kind": "random-wait", "wait": "10 us"}}) == []
    assert warned(traffic={"arrivals": {"kind": "wait", "wait": "30 ns"}}) == []
