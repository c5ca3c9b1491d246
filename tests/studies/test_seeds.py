"""One scenario with several seeds.

When a run is called saturated, and when it is only short.

Scenarios beside each other: the points of each are those of its own curve.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import fabriloom
import polars as pl
import pytest
from fabriloom import Scenario, ScenarioError, curve, repeat, studies
from fabriloom.cli import show
from fabriloom.report import for_comparison
from fabriloom.results import columns
from fabriloom.simulate import run


def small(**sections: Any) -> Scenario:
    base: dict[str, Any] = {
        "name": "Crossbar",
        "seed": 5,
        "topology": {"kind": "crossbar", "terminals": 8},
        "traffic": {"pattern": "uniform", "length": "32 B", "load": 0.3},
        "run": {"duration": "1 ms", "warmup": "100 us", "precision": 0.0},
    }
    return Scenario.from_dict({**base, **sections})


def test_seeds_follow_that_of_the_scenario_and_each_run_is_one_of_its_own() -> None:
    found = repeat(small(), 3, jobs=1)
    assert found.table["seed"].to_list() == [5, 6, 7]
    alone = fabriloom.run(small(seed=7)).summary
    assert found.points[2].summary["latency_ns"] == alone["latency_ns"]
    assert found.summary["varied"] == ["seed"]


def test_means_are_those_of_the_runs() -> None:
    found = repeat(small(), 4)
    assert found.means.columns == columns.studies.SEEDS.names
    row = found.means.row(by_predicate=pl.col("quantity") == "accepted_mbytes_per_s", named=True)
    values = found.table["accepted_mbytes_per_s"].to_list()
    mean = sum(values) / 4
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / 3)
    assert row["runs"] == 4
    assert row["mean"] == pytest.approx(mean)
    assert row["spread"] == pytest.approx(spread)
    assert row["ci95"] == pytest.approx(3.1824 * spread / 2)
    assert (row["least"], row["greatest"]) == (min(values), max(values))
    halves = found.table["accepted_mbytes_per_s_ci95"].to_list()
    assert row["holding"] == sum(abs(v - mean) <= h for v, h in zip(values, halves, strict=True))
    assert not {"trusted", "end_reason", "seed"} & set(found.means["quantity"])


def test_runs_of_a_program_are_equal_and_have_no_intervals() -> None:
    program = {"kind": "ping-pong", "size": "333 B", "rounds": 7}
    scenario = {"topology": {"kind": "crossbar", "terminals": 2}, "program": program}
    means = repeat(Scenario.from_dict(scenario), 3, jobs=1).means
    assert set(means["holding"]) == {None}
    assert set(means["spread"]) == {0.0}


def test_a_seed_that_misleads_shows_beside_others() -> None:
    """The retry ring stands still now and then; single intervals cannot know how often."""
    path = Path(__file__).parents[2] / "scenarios" / "sci-retry-ring.toml"
    found = repeat(fabriloom.load(path), 6)
    accepted = found.means.row(by_predicate=pl.col("quantity") == "accepted_mbytes_per_s", named=True)
    assert accepted["holding"] < 6, "some run excludes the mean of all"
    halves = found.table["accepted_mbytes_per_s_ci95"]
    assert halves.min() < accepted["ci95"] < halves.max()
    stood = [any("stood still" in told for told in point.summary["warnings"]) for point in found.points]
    assert any(stood)
    assert all(
        "technology.phases" in told
        for point in found.points
        for told in point.summary["warnings"]
        if "stood still" in told
    )


def test_tables_are_written_in_both_forms(tmp_path: Path) -> None:
    found = repeat(small(), 2)
    names = [path.name for path in (*found.to_parquet(tmp_path), *found.to_csv(tmp_path))]
    assert names == ["points.parquet", "seeds.parquet", "points.csv", "seeds.csv"]
    assert pl.read_csv(tmp_path / "seeds.csv")["quantity"].to_list() == found.means["quantity"].to_list()


def end(load: float, duration: str, seed: int) -> str:
    """Why a grid of eight terminals ended."""
    scenario = {
        "name": "grid",
        "seed": seed,
        "topology": {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 2},
        "technology": {"preset": "ds-link-c104"},
        "traffic": {"pattern": "uniform", "length": "64 B", "load": load, "arrivals": "poisson"},
        "run": {"duration": duration, "precision": 0.0},
    }
    return run(Scenario.from_dict(scenario)).summary["end"]["reason"]


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_run_of_a_few_packets_is_not_called_saturated(seed: int) -> None:
    """Six packets per source: one more that waits is chance."""
    assert end(0.2, "200 us", seed) == "time_limit"


@pytest.mark.parametrize("seed", range(1, 4))
def test_too_much_is_found(seed: int) -> None:
    """Sources that make more than the grid carries, some 0.6 of its links, fall behind without end."""
    assert end(0.75, "4 ms", seed) == "saturated"


def comparison_small(**sections: Any) -> Scenario:
    """A crossbar of eight terminals, beside it one of four, and one whose sources never wait."""
    base: dict[str, Any] = {
        "name": "eight",
        "topology": {"kind": "crossbar", "terminals": 8},
        "traffic": {"pattern": "uniform", "length": "32 B", "load": 0.2},
        "run": {"duration": "500 us", "warmup": "100 us", "precision": 0.0},
        "variants": {"four": {"topology.terminals": 4}, "full": {"traffic.arrivals": "backlog"}},
    }
    return Scenario.from_dict({**base, **sections})


def test_points_are_those_of_the_curves() -> None:
    found = studies.compare(studies.variants(comparison_small()), [0.1, 0.4])
    assert [point.settings for point in found.points] == [
        {"scenario": "eight", "traffic.load": 0.1},
        {"scenario": "eight", "traffic.load": 0.4},
        {"scenario": "four", "traffic.load": 0.1},
        {"scenario": "four", "traffic.load": 0.4},
        {"scenario": "full"},
    ]
    alone = curve(comparison_small(variants={}), [0.1, 0.4])
    for one, other in zip(alone.points, found.of("eight"), strict=True):
        assert one.summary["latency_ns"] == other.summary["latency_ns"]
    assert found.graphs["four"].terminals == 4
    assert found.table["scenario"].to_list() == ["eight"] * 2 + ["four"] * 2 + ["full"]


def test_what_is_finished_is_kept(tmp_path: Any) -> None:
    named = studies.variants(comparison_small())
    first = studies.compare(named, [0.1], out=tmp_path)
    again = studies.compare(named, [0.1], out=tmp_path)
    assert first.table.equals(again.table)
    assert len(list((tmp_path / "points").glob("*.json"))) == 3


def test_the_report_names_what_is_different() -> None:
    page = for_comparison(studies.compare(studies.variants(comparison_small()), [0.1]))
    assert "topology.terminals" in page
    assert "traffic.arrivals.kind" in page
    assert "run.duration" not in page.split("What is different")[1].split("</table>")[0]


@pytest.mark.parametrize(
    ("variants", "says"),
    [
        ({"a": {"topology.terminal": 4}}, "terminal"),
        ({"a": {"topology.terminals": "many"}}, "terminals"),
        ({"a": {"sweep": {}}}, "variants cannot change the sweep"),
        ({"a": {"name.first": 1}}, "name is a single value"),
    ],
)
def test_wrong_variants_are_refused(variants: dict[str, Any], says: str) -> None:
    with pytest.raises(ScenarioError, match=says):
        comparison_small(variants=variants)


def test_a_variant_can_be_another_network() -> None:
    found = studies.variants(
        comparison_small(variants={"ring": {"topology": {"kind": "ring", "switches": 4}}})
    )
    assert found["ring"].topology.kind == "ring"


def test_a_variant_may_have_the_name_of_the_scenario() -> None:
    scenario = comparison_small(name="own", variants={"own": {"traffic.length": "32 B"}})
    assert list(studies.variants(scenario)) == ["own (2)", "own"]


def pings(size: str) -> Scenario:
    """A program: one message to and fro."""
    return Scenario.from_dict(
        {
            "name": size,
            "topology": {"kind": "crossbar", "terminals": 2},
            "program": {"kind": "ping-pong", "size": size, "rounds": 3},
        }
    )


@pytest.mark.parametrize("first", ["program", "traffic"])
def test_a_program_beside_traffic_shows_what_both_have(
    first: str, capsys: pytest.CaptureFixture[str]
) -> None:
    both = {"program": pings("64 B"), "traffic": comparison_small(variants={})}
    found = studies.compare({first: both.pop(first), **both}, [0.1])
    show.points(found.points, found.varied, "both")
    assert "accepted MB/s" in capsys.readouterr().out
    assert "Latency against throughput" in for_comparison(found)


def test_programs_beside_each_other_show_their_messages(capsys: pytest.CaptureFixture[str]) -> None:
    found = studies.compare({size: pings(size) for size in ("64 B", "1 kB")})
    show.points(found.points, found.varied, "both")
    assert "messages 1/s" in capsys.readouterr().out
    assert "Waited" in for_comparison(found)
