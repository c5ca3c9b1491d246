"""Results of networks of rings: the same tables and more, each key and column defined."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fabriloom import Results, Scenario, run
from fabriloom.results import ConservationError, columns
from fabriloom.results.summary import check_conservation


def ring_results(**sections: Any) -> Results:
    """A switch with two senders and two receivers that offer more than its bus carries."""
    base: dict[str, Any] = {
        "name": "Switch",
        "topology": {"kind": "sci-switch", "roles": "pairs"},
        "technology": {"preset": "scinet"},
        "traffic": {"pattern": "local", "arrivals": "together", "load": 0.5},
        "run": {"duration": "300 us", "warmup": "50 us", "precision": 0.0},
        "output": {"flows": True, "trace": True},
    }
    return run(Scenario.from_dict({**base, **sections}))


@pytest.fixture(scope="module")
def overloaded() -> Results:
    return ring_results()


def test_every_key_is_defined_and_every_defined_is_produced(overloaded: Results) -> None:
    defined = [*columns.SUMMARY.names, *columns.RING_SUMMARY.names]
    assert sorted(columns.flatten(overloaded.summary)) == sorted(defined)
    assert overloaded.summary["engine"]["name"] == "rings"


@pytest.mark.parametrize("terminals", [3, None])
def test_every_column_is_defined(overloaded: Results, terminals: int | None) -> None:
    ring = {"kind": "sci-ring", "terminals": terminals}
    found = overloaded if terminals is None else ring_results(topology=ring, traffic={"load": 0.1})
    assert found.links.columns == columns.RING_LINKS.names
    assert len(found.links) == found.graph.links
    assert found.buses.columns == columns.BUSES.names
    assert len(found.buses) == found.graph.switches
    for table in (columns.FLOWS, columns.BATCHES, columns.TRACE):
        assert getattr(found, table.name).columns == table.names
        assert len(getattr(found, table.name)) > 0


def test_shares_of_a_link_are_all_of_it(overloaded: Results) -> None:
    links = overloaded.links
    parts = links["data_share"] + links["retry_share"] + links["echo_share"]
    assert parts.to_list() == pytest.approx(links["utilisation"].to_list())
    assert links["utilisation"].is_between(0.0, 1.0).all()
    assert links["busied"].sum() == overloaded.summary["sci"]["busied"] > 0


def test_a_full_bus_is_seen(overloaded: Results) -> None:
    sci = overloaded.summary["sci"]
    assert sci["bus_utilisation_max"] == pytest.approx(1.0, abs=0.01)
    assert overloaded.buses["utilisation"].to_list() == [sci["bus_utilisation_max"]]
    assert overloaded.summary["packets"]["refused"] > 0
    assert "lost packets" in overloaded.summary["end"]["message"]


def test_parquet_has_the_buses(overloaded: Results, tmp_path: Path) -> None:
    written = overloaded.to_parquet(tmp_path)
    names = ["links", "buses", "rings", "flows", "batches", "latency", "over_time", "trace"]
    assert [path.name for path in written] == [f"{name}.parquet" for name in names]
    assert pl.read_parquet(written[1]).equals(overloaded.buses)


def test_what_was_scrubbed_is_counted(overloaded: Results) -> None:
    check_conservation({**overloaded.native, "offered": overloaded.native["offered"] + 2, "scrubbed": 2})
    with pytest.raises(ConservationError, match="scrubbed"):
        check_conservation({**overloaded.native, "scrubbed": 2})


def test_notebook_shows_links_and_buses(overloaded: Results) -> None:
    shown = overloaded._repr_html_()
    assert "retries" in shown
    assert "buses" in shown
