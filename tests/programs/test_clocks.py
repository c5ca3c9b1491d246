"""Clocks that drift, and starts that differ."""

from __future__ import annotations

import pytest
from fabriloom.programs import Programs
from fabriloom.programs.kinds import UNTIL, WAIT

from .common import CROSSBAR, READY, lists, operations, programs, results

SHIFTER = READY["barrel-shifter"]


def clocked(**clocks: object) -> Programs:
    return programs({**SHIFTER, "clocks": clocks})


def test_exact_clocks_change_nothing() -> None:
    assert lists(clocked(start="0 s", drift_ppm=0)) == lists(programs(SHIFTER))


def test_every_time_is_by_the_clock_of_its_terminal() -> None:
    exact, drifting = programs(SHIFTER), clocked(drift_ppm=100)
    timed = (exact.kind == UNTIL) & (exact.amount > 0)
    ratio = exact.amount[timed] / drifting.amount[timed]
    for terminal in range(4):
        own = ratio[exact.terminal[timed] == terminal]
        # Whole nanoseconds of at least 30 us.
        assert own.max() - own.min() < 5e-5
        assert abs(own.mean() - 1) <= 1e-4
    assert len({round(one, 5) for one in ratio.tolist()}) > 4


def test_programs_start_at_different_times() -> None:
    late = clocked(start="20 us")
    first = [one[0] for one in lists(late) if one]
    assert all(one.startswith("until ") for one in first)
    assert len(set(first)) == len(first) == CROSSBAR["terminals"]
    again = lists(clocked(start="20 us"))
    assert again == lists(late)


def test_waits_have_no_start() -> None:
    program = {
        **operations(t0=["wait 1 ms", "send t.1 8 B"], t1=["receive t.0"]),
        "clocks": {"drift_ppm": 1000},
    }
    found = programs(program)
    (wait,) = found.amount[found.kind == WAIT].tolist()
    assert wait != 10**9
    assert wait == pytest.approx(10**9, rel=1.001e-3)


def test_a_shift_that_drifts_collides() -> None:
    """Senders in step never meet; starts apart by several slots make them."""
    settings = {"kind": "barrel-shifter", "fragment": "2 kB", "events": 200, "slot": "200 us"}
    steady = results(settings).summary["message_latency_ns"]["max"]
    apart = results({**settings, "clocks": {"start": "2 ms"}}).summary["message_latency_ns"]["max"]
    assert apart > 1.5 * steady
