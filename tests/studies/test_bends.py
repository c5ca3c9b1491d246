"""Points of a curve are placed where it bends."""

from __future__ import annotations

from itertools import pairwise

from fabriloom import Scenario, curve
from fabriloom.studies import curves

from .test_studies import small


def knee(load: float) -> tuple[float, float]:
    """Accepted and latency of a network that is full at 0.62."""
    return min(load, 0.62), 1 / (1 - min(load, 0.62) / 0.63)


def test_splits_surround_the_knee() -> None:
    loads = list(curves.FIRST)
    while len(loads) < 20:
        accepted, late = zip(*(knee(load) for load in loads), strict=True)
        full = [None if load > 0.62 else time for load, time in zip(loads, late, strict=True)]
        parts = curves.splits(curves.places(loads, accepted, full), 4)
        assert parts
        loads = sorted([*loads, *(curves.middle(*loads[at : at + 2]) for at in parts)])
    assert sum(0.5 < load < 0.72 for load in loads) >= len(loads) / 2
    assert min(after - before for before, after in pairwise(loads)) > 0.9 / 512


def test_a_straight_line_is_split_evenly() -> None:
    found = curves.places([0.1, 0.4, 0.7, 1.0], [0.1, 0.4, 0.7, 1.0], [5.0] * 4)
    assert sorted(curves.splits(found, 9)) == [0, 1, 2]


def test_nothing_arrives() -> None:
    found = curves.places([0.5, 1.0], [0.0, 0.0], [None, None])
    assert curves.splits(found, 4) == [0]


def test_points_are_the_same_for_any_number_of_jobs() -> None:
    seen: list[tuple[int, int]] = []
    one = curve(small(), points=9, progress=lambda done: seen.append((done.finished, done.runs)))
    loads = [point.settings["traffic.load"] for point in one.points]
    assert loads == sorted(set(loads))
    assert {*curves.FIRST} < {*loads}
    assert (len(loads), one.runs, one.interrupted, seen[-1]) == (9, 9, False, (9, 9))
    assert curve(small(), points=9, jobs=3).summary == one.summary


def test_every_line_of_a_sweep_has_its_own_points() -> None:
    scenario = small(sweep={"traffic.load": [0.2, 1.0], "traffic.length": ["16 B", "64 B"]})
    found = curve(scenario, points=6)
    assert len(found.points) == found.runs == 12
    by_length = [(point.settings["traffic.length"], point.settings["traffic.load"]) for point in found.points]
    assert by_length == sorted(by_length)


def test_rates_are_raised_by_their_scale() -> None:
    flows = [{"source": 0, "target": 1, "rate": "4 MB/s"}, {"source": 2, "target": 1, "rate": "4 MB/s"}]
    text = {"pattern": {"kind": "flows", "flows": flows}}
    scenario = Scenario.from_dict({**small().raw, "traffic": text})
    found = curve(scenario, [0.5, 2.0], points=6)
    assert [point.settings["traffic.scale"] for point in found.points][:: len(found.points) - 1] == [0.5, 2.0]
