"""Every table about packets, counted again from the packet trace of random scenarios."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from math import ceil
from random import Random
from typing import Any

import polars as pl
import pytest
from fabriloom import Results, Scenario, report, run
from fabriloom.compile import compile as compiled_from
from fabriloom.report import plot
from fabriloom.report.page import plus_minus
from fabriloom.routing import RoutingError
from fabriloom.scenario import ScenarioError
from fabriloom.technology import TechnologyError
from fabriloom.topology import GraphError

from . import drawing

Seeds = Callable[[int], Iterator[int]]
RESOLUTION = 0.02
"""Percentiles are those of a histogram."""


def with_flows(written: drawing.Table, terminals: int, time_ns: int) -> drawing.Table:
    """Some flows instead, most with a requirement; of terminals with several ports where there can be."""
    dice = Random(repr(written))
    pairs = {(dice.randrange(terminals), dice.randrange(terminals)) for _ in range(8)}
    flows: list[drawing.Table] = [
        {
            "source": source,
            "target": target,
            "length": f"{dice.randint(1, 300)} B",
            "period": f"{time_ns // dice.randint(5, 50)} ns",
            **({"requirement": f"{time_ns // 20} ns"} if dice.random() < 0.8 else {}),
        }
        for source, target in sorted(pairs)
        if source != target
    ]
    found = {**written, "traffic": {"pattern": {"kind": "flows", "flows": flows}}}
    if dice.random() < 0.6 and "transaction" not in written["traffic"]:
        choice = dice.choice(["round-robin", "destination", "shortest-queue", "first-free", "nominal"])
        found |= {"topology": {**written["topology"], "replicate": 2}, "ports": {"choice": choice}}
    return found


def results_of(written: drawing.Table) -> Results | None:
    """A run with all its packets, if the scenario is a legal one."""
    if "traffic" not in written:
        return None
    dice = Random(repr(written))
    try:
        compiled = compiled_from(Scenario.from_dict(written))
        time_ns = drawing.duration_ps(compiled, dice) // 1000
        window = {
            "duration": f"{time_ns} ns",
            "warmup": f"{dice.choice([0, time_ns // 3])} ns",
            "precision": 0,
        }
        whole: drawing.Table = {**written, "run": window, "output": {"trace": True, "flows": True}}
        if written["seed"] % 2:
            whole = with_flows(whole, compiled.graph.terminals, time_ns)
        scenario = Scenario.from_dict(whole)
        compiled_from(scenario)
    except (ScenarioError, GraphError, RoutingError, TechnologyError):
        return None
    return run(scenario)


def same_spread(told: dict[str, Any], times: pl.Series) -> None:
    """Least, mean and greatest, and the percentiles."""
    values = sorted(times.to_list())
    assert told["min"] == pytest.approx(values[0])
    assert told["max"] == pytest.approx(values[-1])
    assert told["mean"] == pytest.approx(sum(values) / len(values))
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        assert told[name] == pytest.approx(values[ceil(share * len(values)) - 1], rel=RESOLUTION)


def same_summary(results: Results, packets: pl.DataFrame) -> None:
    told, bytes_in_all = results.summary, int(packets["length_bytes"].sum())
    assert told["packets"]["delivered"] == results.trace.height
    assert told["packets"]["measured"] == packets.height
    assert told["accepted_mbytes_per_s"] == pytest.approx(bytes_in_all * 1e3 / told["measured_ns"])
    same_spread(told["latency_ns"], packets["latency"])
    same_spread(told["total_latency_ns"], packets["total"])


def same_tables(results: Results, packets: pl.DataFrame) -> None:
    pairs = packets.group_by("source", "target").agg(
        pl.len().cast(pl.Int64).alias("packets"),
        pl.col("length_bytes").sum().cast(pl.Int64).alias("bytes"),
        pl.col("latency").mean().alias("mean"),
        pl.col("latency").max().alias("longest"),
        pl.col("total").max().alias("total"),
    )
    by_pair = {(a, b): rest for a, b, *rest in pairs.rows()}
    columns = ("source", "target", "packets", "bytes", "latency_ns_mean", "latency_ns_max")
    flows = {(a, b): rest for a, b, *rest in results.flows.select(columns).rows()}
    assert flows.keys() == by_pair.keys()
    for pair, (*counts, mean, longest) in flows.items():
        assert counts == by_pair[pair][:2]
        assert (mean, longest) == pytest.approx(by_pair[pair][2:4])
    columns = ("source", "target", "packets", "total_latency_ns_max")
    for source, target, count, longest in results.requirements.select(columns).rows():
        seen = by_pair.get((source, target), (0, 0, 0, 0, None))
        assert (count, longest) == (seen[0], pytest.approx(seen[4]))
    for table in (results.ccdf(), results.planes):
        assert not table.height or table["packets"].sum() == packets.height
    for table in (results.batches, results.over_time):  # whole batches only
        if table.height:
            in_batches = packets.filter(pl.col("delivered_ns") < table["end_ns"].max())
            assert table["packets"].sum() == in_batches.height


def rows_of(page: str, title: str, names: int) -> dict[tuple[str, ...], list[float]]:
    """The rows of the table of a report below a title: names, and the numbers by which it sorts."""
    found: dict[tuple[str, ...], list[float]] = {}
    [table] = re.findall(rf"<h2>{title}</h2>.*?(<table>.*?</table>)", page, re.DOTALL)
    for row in re.findall(r"<tr><td.*?</tr>", table, re.DOTALL):
        cells = re.findall(r"<td.*?>(.*?)</td>", row)
        numbers = [float(number) for number in re.findall(r'data-sort="(.*?)"', row)]
        found[tuple(html.unescape(cell) for cell in cells[:names])] = numbers
    return found


def same_report(results: Results) -> None:
    page = report.for_run(results)
    for title, names, table in (
        ("Links", ["link"], results.links),
        ("Flows", ["source", "target"], results.flows),
    ):
        shown = rows_of(page, title, len(names))
        assert len(shown) == min(table.height, 20)
        for row in table.iter_rows(named=True):
            assert set(shown.get(tuple(row[name] for name in names), ())) <= set(row.values())
    charts = {chart.title: chart for chart in plot.charts_in(page)}
    if "Through the run" in charts:
        drawn = [point[1] for point in charts["Through the run"].series[0].points]
        assert drawn == results.batches["accepted_mbytes_per_s"].to_list()
    for line in charts["The tail of the latency"].series if "The tail of the latency" in charts else ():
        spread = results.summary["latency_ns" if line.name == "network latency" else "total_latency_ns"]
        assert line.points[-1][0] == pytest.approx(spread["max"] / 1e3)
    accepted = plus_minus(*(results.summary[f"accepted_mbytes_per_s{end}"] for end in ("", "_ci95")))
    assert f"{accepted} MB/s" in re.sub(r"<[^>]*>", "", page)


@pytest.mark.seeds
@pytest.mark.parametrize(
    "draw", [drawing.links, drawing.lanes, drawing.rings], ids=["links", "lanes", "rings"]
)
def test_tables_say_what_the_trace_says(draw: Callable[[int], drawing.Table], seeds: Seeds) -> None:
    seen = count = 0
    for count, seed in enumerate(seeds(40), 1):  # noqa: B007
        results = results_of(draw(seed))
        if results is None:
            continue
        since = results.summary["warmup_ns"]
        packets = results.trace.filter(pl.col("delivered_ns") >= since).with_columns(
            (pl.col("delivered_ns") - pl.col("started_ns")).alias("latency"),
            (pl.col("delivered_ns") - pl.col("created_ns")).alias("total"),
        )
        if packets.height:
            seen += 1
            same_summary(results, packets)
            same_tables(results, packets)
            same_report(results)
    assert seen > 0.3 * count
