"""A dragonfly and a Slim Fly at full load: channel loads by formula, and runs that keep below them.

What a paper prints about a network, with tolerances, beside a curve of it.

Where a sweep of the input saturates, on made-up measurements.
"""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fabriloom import Scenario
from fabriloom_papers import low_diameter as here
from fabriloom_papers.beside import Beside
from fabriloom_papers.lab import Effort, Measured
from fabriloom_papers.published import numbers
from fabriloom_papers.rows import near
from fabriloom_papers.scinet import networks
from fabriloom_papers.scinet.curves import Sweep

DOCS = Path(__file__).resolve().parents[2] / "docs"
TABLE = DOCS / "generated" / "low-diameter.csv"
PAGE = DOCS / "background" / "low-diameter.md"
LARGE = [case for case in here.CASES if case.network is here.LARGE]


def kept() -> list[dict[str, str]]:
    """The table that is kept."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("case", LARGE, ids=lambda case: f"{case.routing}-{case.to_next}")
def test_channel_loads_are_those_of_the_formulas(case: here.Case) -> None:
    """Exact with minimal paths; a random switch may be one of the two groups, so a little more is carried."""
    assert case.formula is not None
    tolerance = 1e-9 if case.routing == "hops" else 0.02
    assert here.by_channel_load(case) == pytest.approx(case.formula, rel=tolerance)


def test_the_table_has_the_numbers_of_today() -> None:
    for case, line in zip(here.CASES, kept(), strict=True):
        assert float(line["by_channel_load"]) == pytest.approx(here.by_channel_load(case), abs=1e-4)
        assert 0 < float(line["accepted"]) <= 1.02 * float(line["by_channel_load"])


def test_a_run_accepts_what_the_table_says() -> None:
    """The quickest of the runs: minimal paths to the next group."""
    case = next(
        one for one in here.CASES if one.network is here.SMALL and one.to_next and one.routing == "hops"
    )
    line = kept()[here.CASES.index(case)]
    assert here.accepted(case) == pytest.approx(float(line["accepted"]), abs=0.002)


def test_the_page_shows_the_table() -> None:
    shown = re.findall(r"^\| (?:dragonfly|slim_fly).*\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in shown]
    assert cells == [list(line.values()) for line in kept()]


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
