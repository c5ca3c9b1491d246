"""One scenario with several seeds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import fabriloom
import polars as pl
import pytest
from fabriloom import Scenario, repeat
from fabriloom.results import columns


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
    assert found.means.columns == columns.SEEDS.names
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


@pytest.mark.parametrize("seeds", [1, 0, -3, 1001])
def test_a_number_of_seeds_out_of_range(seeds: int) -> None:
    with pytest.raises(ValueError, match="is not from 2 to 1,000"):
        repeat(small(), seeds)
