"""Failures that are drawn: as often as they should be, and the same for the same seed."""

from __future__ import annotations

from itertools import pairwise

import pytest
from fabriloom import Scenario, topology
from fabriloom.compile import compile
from fabriloom.faults.rates import drawn, mtbf_of_bits_ps
from fabriloom.topology.named import each_of

MS = 10**9
GRAPH = topology.build(kind="grid", shape=[2, 2], terminals_per_switch=1)


def test_mean_times_are_those_asked_for() -> None:
    """Ten thousand times each: 4 standard errors are 4 %, so this fails by chance once in 16,000."""
    found = list(drawn("1", 30_000 * MS, 2 * MS, MS))
    assert 9_600 < len(found) < 10_400
    down = sum(repaired - at for at, repaired in found if repaired is not None)
    assert down / len(found) == pytest.approx(MS, rel=0.04)
    assert all(at <= repaired for at, repaired in found if repaired is not None)
    assert all(one[1] <= other[0] for one, other in pairwise(found) if one[1])


def test_equal_seeds_draw_the_same() -> None:
    assert list(drawn("1/0/a", 10**10, MS, MS)) == list(drawn("1/0/a", 10**10, MS, MS))
    assert list(drawn("1/0/a", 10**10, MS, MS)) != list(drawn("1/0/b", 10**10, MS, MS))


def test_what_is_never_repaired_fails_once() -> None:
    found = list(drawn("1", 10**12, MS, None))
    assert len(found) == 1
    assert found[0][1] is None


def test_bit_errors_come_as_often_as_bits() -> None:
    # 1e-9 at 100 Mbit/s: one in 10 s.
    assert mtbf_of_bits_ps(1e-9, 1e8) == pytest.approx(10 * 10**12)


@pytest.mark.parametrize(("kind", "count"), [("link", 16), ("cable", 8), ("switch", 4), ("terminal", 4)])
def test_all_is_each(kind: str, count: int) -> None:
    assert len(each_of(GRAPH, kind, "all")) == count == len({name for name, _ in each_of(GRAPH, kind, "all")})


def test_a_rate_gives_outages_of_each_cable() -> None:
    base = {"topology": {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 1}, "seed": 3}
    fault = {"cable": "all", "bit_error_rate": 1e-6}
    compiled = compile(Scenario.from_dict({**base, "fault": [fault], "run": {"duration": "20 ms"}}))
    arrays = compiled.arrays
    # Eight cables, both ways 200 Mbit/s: one in 5 ms each, 32 in 20 ms, of two links each.
    assert 20 < len(arrays["fault_link"]) / 2 < 46
    up, down = (arrays[f"fault_{name}_ticks"].astype(float) * compiled.tick_ps for name in ("up", "down"))
    # Each lasts as long as it takes to notice at both ends and to start again.
    assert up - down == pytest.approx((19.2 + 2 * 0.85) * 1e6, rel=1e-3)
