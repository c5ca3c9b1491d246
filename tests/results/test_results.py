"""Results of real runs: every key defined, nothing lost, the same bytes again.

Results of networks of rings: the same tables and more, each key and column defined.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hist
import numpy as np
import polars as pl
import pytest
from fabriloom import Scenario, run
from fabriloom.results import ConservationError, Results, columns, reference
from fabriloom.results.shown import rows
from fabriloom.results.summary import check_conservation
from uhi.typing.plottable import PlottableHistogram

from .common import deadlock, results

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "results.md"


@pytest.fixture(scope="module")
def small() -> Results:
    return results()


def test_every_key_is_defined_and_every_defined_is_produced(small: Results) -> None:
    assert sorted(columns.flatten(small.summary)) == sorted(columns.SUMMARY.names)


@pytest.mark.parametrize(
    "table", [columns.LINKS, columns.FLOWS, columns.BATCHES, columns.CCDF, columns.TRACE]
)
def test_every_column_is_defined(small: Results, table: columns.column.Table) -> None:
    frame = small.ccdf() if table is columns.CCDF else getattr(small, table.name)
    assert frame.columns == table.names
    assert len(frame) > 0


def test_the_page_is_what_the_table_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference.markdown(), (
        "run: python -m fabriloom.results.reference docs/reference/results.md"
    )


def test_no_key_is_defined_twice() -> None:
    for table in columns.TABLES:
        assert len(set(table.names)) == len(table.names), table.name


def test_packets_are_conserved(small: Results) -> None:
    packets = small.summary["packets"]
    assert packets["offered"] == packets["delivered"] + packets["refused"] + packets["in_flight"]
    broken = {**small.native, "delivered": small.native["delivered"] - 1}
    with pytest.raises(ConservationError, match="not conserved"):
        check_conservation(broken)


def test_tables_agree_with_the_summary(small: Results) -> None:
    summary = small.summary
    measured = summary["packets"]["measured"]
    assert small.flows["packets"].sum() == measured
    assert small.flows["share"].sum() == pytest.approx(1.0)
    assert small.flows["mbytes_per_s"].sum() == pytest.approx(summary["accepted_mbytes_per_s"])
    assert small.ccdf()["packets"].sum() == measured
    assert small.ccdf()["share_longer"][-1] == 0.0
    into = small.links.filter(pl.col("target").str.starts_with("t("))
    assert into["packets"].sum() == pytest.approx(measured, abs=len(into))
    assert small.links["utilisation"].is_between(0.0, 1.0).all()
    weighted = (small.flows["latency_ns_mean"] * small.flows["packets"]).sum() / measured
    assert weighted == pytest.approx(summary["latency_ns"]["mean"])


def test_nothing_that_arrived_has_no_latency() -> None:
    """A retry or a pause can leave a batch without a packet; 0 would be the best latency of all."""
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": 2},
            "traffic": {"load": 0.002},
            "run": {"duration": "50 ms", "warmup": "0 us", "precision": 0.0},
        }
    )
    results = run(scenario)
    none, some = (results.batches.filter(known) for known in (pl.col("packets") == 0, pl.col("packets") > 0))
    assert len(none)
    assert len(some)
    for name in ("latency_ns_mean", "total_latency_ns_mean"):
        assert none[name].null_count() == len(none)
        assert some[name].null_count() == 0


def test_a_histogram_can_be_taken_over(small: Results) -> None:
    """By libraries that make one of their own of it, bins, counts and name."""
    ours, theirs = small.latency, hist.Hist(small.latency)
    assert np.array_equal(theirs.values(), ours.values())
    assert np.array_equal(theirs.axes[0].edges, ours.axes[0].edges)
    assert theirs.axes[0].label == "latency_ns"


def test_there_is_no_file_of_a_trace_that_was_not_kept(tmp_path: Path) -> None:
    topology = {"kind": "crossbar", "terminals": 4}
    scenario = {"topology": topology, "traffic": {"load": 0.1}, "run": {"duration": "100 us"}}
    with pytest.raises(ValueError, match=r"output\.trace = true"):
        run(Scenario.from_dict(scenario)).to_chrome_trace(tmp_path / "trace.json")
    assert not list(tmp_path.iterdir())


def test_latency_of_the_trace_is_the_latency_of_the_summary(small: Results) -> None:
    after = small.trace.filter(pl.col("delivered_ns") >= small.summary["warmup_ns"])
    latency = small.summary["latency_ns"]
    assert len(after) == small.summary["packets"]["measured"]
    assert after["latency_ns"].mean() == pytest.approx(latency["mean"])
    assert after["latency_ns"].min() == latency["min"]
    assert after["latency_ns"].max() == latency["max"]
    # The histogram keeps three figures.
    assert after["latency_ns"].quantile(0.99, "higher") == pytest.approx(latency["p99"], rel=5e-3)
    created = (after["delivered_ns"] - after["created_ns"]).mean()
    assert created == pytest.approx(small.summary["total_latency_ns"]["mean"])


def test_percentiles_rise(small: Results) -> None:
    for name in ("latency_ns", "total_latency_ns"):
        latency = small.summary[name]
        order = [latency[key] for key in ("min", "p50", "p90", "p99", "p99_9", "p99_99", "max")]
        assert order == sorted(order)
        assert latency["mean_ci95"] > 0
    assert small.summary["total_latency_ns"]["mean"] >= small.summary["latency_ns"]["mean"]


def test_a_repeated_run_differs_in_wall_time_only() -> None:
    def summary() -> dict[str, Any]:
        found = json.loads(results().to_json())
        assert found["engine"].pop("wall_s") > 0
        return found

    assert summary() == summary()


def test_another_seed_is_another_run(small: Results) -> None:
    other = results(seed=8).summary
    assert other["seed"] == 8
    assert other["scenario_sha256"] != small.summary["scenario_sha256"]
    assert other["latency_ns"]["mean"] != small.summary["latency_ns"]["mean"]


def test_histogram_speaks_the_common_protocol(small: Results) -> None:
    histogram = small.latency
    assert isinstance(histogram, PlottableHistogram)
    assert histogram.values().sum() == small.summary["packets"]["measured"]
    axis = histogram.axes[0]
    assert len(axis) == len(histogram.values())
    edges = [axis[index] for index in range(len(axis))]
    assert all(low < high for low, high in edges)
    assert edges[0][0] <= small.summary["latency_ns"]["min"]
    assert edges[-1][1] >= small.summary["latency_ns"]["max"]
    assert list(axis) == edges
    with pytest.raises(IndexError):
        axis[len(axis)]
    assert np.array_equal(histogram.variances(), histogram.counts())


def test_nothing_measured_gives_null_and_empty_tables() -> None:
    none = results(run={"duration": "1 us", "warmup": "0 us", "precision": 0.0})
    summary = json.loads(none.to_json())
    assert summary["packets"]["measured"] == 0
    assert summary["latency_ns"]["mean"] is None
    assert summary["latency_ns"]["p99"] is None
    assert len(none.flows) == 0
    assert len(none.ccdf()) == 0
    assert none.latency.values().sum() == 0
    assert sorted(columns.flatten(summary)) == sorted(columns.SUMMARY.names)


def test_a_deadlock_names_its_cycle() -> None:
    stuck = deadlock()
    end = stuck.summary["end"]
    assert end["reason"] == "deadlocked"
    assert len(end["cycle"]) >= 2
    assert set(end["cycle"]) <= set(stuck.graph.link_names)
    assert end["message"].count("waits for the one on") == len(end["cycle"])


def test_parquet_reads_back(small: Results, tmp_path: Path) -> None:
    written = small.to_parquet(tmp_path / "new" / "folder")
    names = ["links", "flows", "batches", "latency", "over_time", "trace"]
    assert [path.name for path in written] == [f"{name}.parquet" for name in names]
    assert pl.read_parquet(written[0]).equals(small.links)
    assert pl.read_parquet(written[3]).equals(small.ccdf())


def test_links_are_not_written_when_not_wanted(tmp_path: Path) -> None:
    written = results(output={"links": False, "flows": True}).to_parquet(tmp_path)
    names = ["flows", "batches", "latency", "over_time"]
    assert [path.name for path in written] == [f"{name}.parquet" for name in names]


def test_chrome_trace_pairs_every_begin_with_an_end(small: Results, tmp_path: Path) -> None:
    small.to_chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    spans = [event for event in events if event["ph"] in "be"]
    begins = sorted((e["id"], e["name"]) for e in spans if e["ph"] == "b")
    assert begins == sorted((e["id"], e["name"]) for e in spans if e["ph"] == "e")
    packets = {event["id"] for event in spans}
    assert len(packets) == len(small.trace)
    named = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert named == set(small.trace["source"])


def test_html_escapes_names() -> None:
    shown = results(name="<script>alert(1)</script>")._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown


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


def test_every_key_is_defined_and_every_defined_is_produced_of_ring_results(overloaded: Results) -> None:
    defined = [*columns.SUMMARY.names, *columns.RING_SUMMARY.names]
    assert sorted(columns.flatten(overloaded.summary)) == sorted(defined)
    assert overloaded.summary["engine"]["name"] == "rings"


@pytest.mark.parametrize("terminals", [3, None])
def test_every_column_is_defined_of_ring_results(overloaded: Results, terminals: int | None) -> None:
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
    for busied, late, said in ((1, 1, "1 packet, 1 transaction timed out"), (0, 0, "0 packets")):
        sci = {**overloaded.summary["sci"], "busied": busied, "timed_out": late}
        assert ("busied", said) in rows({**overloaded.summary, "sci": sci})


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


def test_what_links_send_is_counted_until_the_end() -> None:
    """Nothing happens while a packet goes on a long cable; it was counted up to the last look before."""
    flow = {"source": 0, "target": 1, "length": "1 kB", "count": 1, "phase": "100 ns", "period": "10 us"}
    found = run(
        Scenario.from_dict(
            {
                "topology": {"kind": "crossbar", "terminals": 2},
                "technology": {"preset": "infiniband-4x-edr", "cable_length": "100 m"},
                "traffic": {"pattern": {"kind": "flows", "flows": [flow]}},
                "run": {"duration": "150 ns", "warmup": "0 ns", "precision": 0},
            }
        )
    )
    assert found.links["characters"].to_list() == [11, 0, 0, 0]  # they start at 97.28 ns and every 5.12 ns


def test_a_link_is_not_blocked_longer_than_the_window_has_left() -> None:
    """A receiver stops for 5 ms, and the run ends after 100 us. The engine knows when the packet goes on."""
    flow = {"source": 0, "target": 1, "length": "1000 B", "period": "1 ms", "phase": "0 us"}
    found = run(
        Scenario.from_dict(
            {
                "topology": {"kind": "crossbar", "terminals": 3},
                "technology": {"preset": "spacewire-200"},
                "traffic": {"pattern": {"kind": "flows", "flows": [flow]}},
                "fault": [{"terminal": "t.1", "stuck": True, "at": "10 us", "repaired": "5 ms"}],
                "run": {"duration": "100 us", "warmup": "0 us", "precision": 0},
            }
        )
    )
    links = found.links
    assert (links["blocked_share"] + links["utilisation"]).max() <= 1
    assert links["blocked_ns"].to_list() == pytest.approx([1e5 * one for one in links["blocked_share"]])
    assert links["blocked_ns"].max() > 0
