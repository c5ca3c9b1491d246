"""A dragonfly and a Slim Fly at full load: channel loads by formula, and runs that keep below them.

What a paper prints about a network, with tolerances, beside a curve of it.

Where a sweep of the input saturates, on made-up measurements.

Event building by strategies: the table that is kept, and the page that shows it.
"""

from __future__ import annotations

import csv
import math
import re
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fabriloom
import numpy as np
import pytest
from fabriloom import Scenario
from fabriloom.compile import compile
from fabriloom.programs import Programs
from fabriloom.programs.kinds import SEND, UNTIL
from fabriloom_papers import event_building_strategies as strategies
from fabriloom_papers import low_diameter
from fabriloom_papers.beside import Beside
from fabriloom_papers.lab import Effort, Measured
from fabriloom_papers.published import numbers
from fabriloom_papers.rows import near
from fabriloom_papers.scinet import networks
from fabriloom_papers.scinet.curves import Sweep
from programs.common import programs

DOCS = Path(__file__).resolve().parents[2] / "docs"
LARGE = [case for case in low_diameter.CASES if case.network is low_diameter.LARGE]


def kept(name: str) -> list[dict[str, str]]:
    """A table that is kept."""
    with (DOCS / "generated" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("name", "page", "row"),
    [
        ("low-diameter", "background/low-diameter.md", "(?:dragonfly|slim_fly)"),
        ("event-building-strategies", "guides/which-event-building-strategy.md", r"\d+ \|"),
    ],
)
def test_the_page_shows_the_table(name: str, page: str, row: str) -> None:
    """On the page a picture may stand behind the columns; what repeats the row above is left out."""
    shown = re.findall(rf"^\|(?: {row}|  \|).*\|$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)
    lines = [list(line.values()) for line in kept(name)]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in shown]
    for above, below in pairwise(cells):
        below[0] = below[0] or above[0]
    assert [row[: len(lines[0])] for row in cells] == lines


@pytest.mark.parametrize("case", LARGE, ids=lambda case: f"{case.routing}-{case.to_next}")
def test_channel_loads_are_those_of_the_formulas(case: low_diameter.Case) -> None:
    """Exact with minimal paths; a random switch may be one of the two groups, so a little more is carried."""
    assert case.formula is not None
    tolerance = 1e-9 if case.routing == "hops" else 0.02
    assert low_diameter.by_channel_load(case) == pytest.approx(case.formula, rel=tolerance)


def test_the_table_has_the_numbers_of_today() -> None:
    for case, line in zip(low_diameter.CASES, kept("low-diameter"), strict=True):
        assert float(line["by_channel_load"]) == pytest.approx(low_diameter.by_channel_load(case), abs=1e-4)
        assert 0 < float(line["accepted"]) <= 1.02 * float(line["by_channel_load"])


def test_a_run_accepts_what_the_table_says() -> None:
    """The quickest of the runs: minimal paths to the next group."""
    small = [one for one in low_diameter.CASES if one.network is low_diameter.SMALL and one.to_next]
    case = next(one for one in small if one.routing == "hops")
    line = kept("low-diameter")[low_diameter.CASES.index(case)]
    assert low_diameter.accepted(case) == pytest.approx(float(line["accepted"]), abs=0.002)


def point(load: float, accepted: float, latency_us: float) -> Any:
    latency = {"mean": 1000 * latency_us, "mean_ci95": 10.0}
    rates = {f"{what}_mbytes_per_s": accepted for what in ("offered", "accepted")}
    summary = {**rates, "accepted_mbytes_per_s_ci95": 1.0, "latency_ns": latency}
    return SimpleNamespace(settings={"traffic.load": load}, summary=summary)


def test_rows_have_their_kind_and_tolerance() -> None:
    curve: Any = SimpleNamespace(
        points=[point(0.1, 238, 11.2), point(0.5, 1100, 30.0), point(0.6, 1340, 60.0)]
    )
    rows = Beside(numbers("macrame")).rows(curve)
    assert [(row["kind"], row["within"]) for row in rows] == [
        ("predicted", True),
        ("reported", None),
        ("predicted", False),
        ("reported", None),
        ("calibrated", True),
    ]
    assert all(row["tolerance"] for row in rows if row["kind"] != "reported")
    assert rows[-1]["parameter"]


def test_another_network_has_none() -> None:
    assert Beside.of(Scenario.from_dict({"topology": {"kind": "crossbar", "terminals": 4}})) is None


def sweeps_point(output: float, loss: float, least_ns: float, most_ns: float) -> Measured:
    """A measurement with these rates and latencies."""
    return Measured(
        end_reason="time_limit",
        accepted_mbytes_per_s=output,
        accepted_mbytes_per_s_ci95=math.nan,
        latency_ns=least_ns,
        latency_ns_ci95=math.nan,
        packets=1000,
        latency_values_ns=np.zeros(0),
        latency_counts=np.zeros(0, np.int64),
        offered_mbytes_per_s=output + loss,
        refused_share=loss / (output + loss),
        made_ns=most_ns,
        least_ns=least_ns,
        most_ns=most_ns,
        link_shares={},
        source_mbytes_per_s={},
    )


SWEEP = Sweep(
    [100.0, 200.0, 300.0, 400.0],
    [
        sweeps_point(76, 0, 900, 1000),
        sweeps_point(152, 0, 900, 1040),
        sweeps_point(228, 0, 950, 1500),
        sweeps_point(228, 76, 990, 9000),
    ],
)


def test_knees_are_steps_of_the_input() -> None:
    """Losses begin at the last step, the latency grows one earlier."""
    assert SWEEP.knee() == 400
    assert SWEEP.latency_knee() == 200
    assert SWEEP.latency_below_ns() == 1040
    assert SWEEP.latency_above_ns() == (950, 9000)
    assert SWEEP.at(400).lost_mbytes_per_s == pytest.approx(76)


def test_a_sweep_that_does_not_saturate_has_no_knee() -> None:
    """Neither of losses nor of latency."""
    light = Sweep(SWEEP.inputs[:2], SWEEP.points[:2])
    assert math.isnan(light.knee())
    assert light.latency_knee() == 200
    assert all(map(math.isnan, light.latency_above_ns()))


def test_steps_reach_what_a_link_carries() -> None:
    """25 MB/s a step and sender, so that the printed inputs are among them."""
    steps = networks.steps(Effort(quick=False), ())
    assert (steps[0], steps[-1], len(steps)) == (25, 500, 20)
    inputs = {gross * networks.senders(networks.OMEGA) for gross in steps}
    assert {1600, 2000, 6800, 7200, 8000} <= inputs
    assert networks.senders(networks.LONG_4 | {"pairs_per_ring": 2}) == 8
    assert networks.senders(networks.RINGLET_SWITCH) == 2


def test_limits_around_a_printed_value() -> None:
    """Also of a negative one."""
    assert near({"value": 200}, 0.03) == (194, 206)
    assert near({"value": -20}, 0.1) == (-22, -18)


LEVEL_3 = {"kind": "level-3", "events": 12, "fragment": "100 B", "sources": 4, "targets": 4}


def test_a_run_gives_the_line_that_is_kept() -> None:
    """The quickest of them."""
    case = strategies.Case(50, "barrel shift")
    line = kept("event-building-strategies")[strategies.CASES.index(case)]
    assert strategies.line(case) == list(line.values())


def sends(found: Programs, source: int) -> list[tuple[int, int]]:
    """The target and the event of each message of a source, in order."""
    rows = (found.kind == SEND) & (found.terminal == source)
    return list(zip(found.peer[rows].tolist(), found.tag[rows].tolist(), strict=True))


@pytest.mark.parametrize("order", ["same", "rotating", "random"])
def test_every_order_sends_the_same_fragments(order: str) -> None:
    found = programs({**LEVEL_3, "order": order})
    for source in range(4):
        assert sorted(sends(found, source)) == sorted((4 + event % 4, event) for event in range(12))
        # Groups of as many events as there are targets follow each other.
        groups = [event // 4 for _, event in sends(found, source)]
        assert groups == sorted(groups)


def test_sources_that_rotate_never_send_to_the_same_target() -> None:
    found = programs({**LEVEL_3, "order": "rotating"})
    for step in zip(*(sends(found, source) for source in range(4)), strict=True):
        assert len({target for target, _ in step}) == 4


def test_a_source_waits_until_its_next_fragment_is_due() -> None:
    """Events are due every 100 us; in rotating order source 1 begins each group with the second event."""
    found = programs({**LEVEL_3, "order": "rotating", "rate": "10 kHz"})
    rows = found.terminal == 1
    kinds, amounts = found.kind[rows].tolist(), found.amount[rows].tolist()
    waits = [amount // 10**8 for kind, amount in zip(kinds, amounts, strict=True) if kind == UNTIL]
    assert waits == [1, 2, 3, 5, 6, 7, 9, 10, 11]
    assert kinds[0] == UNTIL


@pytest.mark.parametrize("name", ["event-builder-300", "event-builder-500"])
def test_the_large_scenarios_can_run(name: str) -> None:
    """They take minutes: too long for a test."""
    scenario = fabriloom.load(DOCS.parent / "scenarios" / "large" / f"{name}.toml")
    found = compile(scenario)
    assert found.graph.terminals > 600
    assert not found.warnings
