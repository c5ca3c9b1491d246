"""What a run says of every moment: Little's law, the ways of packets, links that work while there is work.

Every table about packets, counted again from the packet trace of random scenarios.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from math import ceil
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from fabriloom import Results, Scenario, report, run
from fabriloom.compile import Compiled, compile
from fabriloom.compile import compile as compiled_from
from fabriloom.report import plot
from fabriloom.report.page import plus_minus
from fabriloom.routing import RoutingError
from fabriloom.scenario import ScenarioError
from fabriloom.studies.kinds import inspection_of
from fabriloom.studies.zero_load import zero_load_latency
from fabriloom.technology import TechnologyError
from fabriloom.topology import GraphError

from . import drawing, laws

Seeds = Callable[[int], Iterator[int]]
pytestmark = pytest.mark.seeds
HOPS = 1 << 20
NEVER = 1 << 48
CODE = 32
"""The kind of a step of a time-code or broadcast, which passes between the characters of packets."""


def column(results: Results, name: str) -> np.ndarray:
    return np.asarray(results.native[name], np.int64)


def test_a_shorter_run_is_the_beginning_and_shows_who_is_under_way(seeds: Seeds) -> None:
    """Little's law at every moment: those under way are those that were made and have not arrived.

    How often a run looks for a deadlock, at which it ends, depends on how long it is.
    """
    moments = 0
    for one in laws.drawn(seeds(40), laws.ALL):
        whole = laws.ran(one.written, one.duration_ps)
        made, arrived = (column(whole, f"trace_{name}_ticks") for name in ("created", "delivered"))
        for share in (0.3, 0.7):
            try:
                part = laws.ran(one.written, int(one.duration_ps * share))
            except ScenarioError:
                continue  # the first broadcast comes later
            end = min(int(run.native["end_time_ticks"]) for run in (part, whole))
            found, seen_there = (laws.deliveries_ps(run, end * run.tick_ps) for run in (whole, part))
            assert np.array_equal(seen_there, found), one.written
            if "program" in one.written or end < part.native["end_time_ticks"]:
                continue  # a packet is made with its message, and counted when it is sent
            moments += 1
            seen = int(((made <= end) & (arrived > end)).sum())
            late = whole.native["in_flight"] + whole.native["lost"] + whole.native["scrubbed"]
            assert seen <= part.native["in_flight"] <= seen + late, one.written
    assert moments > 20


def test_packets_under_way_are_their_rate_times_their_time(seeds: Seeds) -> None:
    """Little's law in the mean: the integral of the count, step by step, beside what the tables say."""
    packets = 0
    for one in laws.drawn(seeds(40), laws.ALL):
        if "program" in one.written:
            continue
        limits = {"duration": f"{one.duration_ps} ps", "warmup": "0 ns", "precision": 0, "drain": True}
        output = {"trace": True, "flows": True}
        results = laws.run(Scenario.from_dict({**one.written, "run": limits, "output": output}))
        if results.end_reason != "drained" or results.native["lost"]:
            continue
        summary, count = results.summary, results.native["delivered"]
        made, arrived = (column(results, f"trace_{name}_ticks") for name in ("created", "delivered"))
        times, steps = np.concatenate([made, arrived]), np.repeat([1, -1], count)
        order = np.argsort(times, kind="stable")
        under_way_ns = (
            float((np.cumsum(steps[order])[:-1] * np.diff(times[order])).sum()) * results.tick_ps / 1e3
        )
        total = summary["packets"]["delivered"] * (summary["total_latency_ns"]["mean"] or 0)
        assert under_way_ns == pytest.approx(total, rel=1e-9), one.written
        flows = results.flows
        per_flow = float((flows["packets"] * flows["latency_ns_mean"]).sum())
        assert per_flow == pytest.approx(count * (summary["latency_ns"]["mean"] or 0), rel=1e-9), one.written
        packets += count
    assert packets > 500


def test_a_replay_shows_the_run(seeds: Seeds) -> None:
    """Keeping the ways of packets changes nothing, and they tell the same."""
    packets = 0
    for one in laws.drawn(seeds(40), laws.ALL):
        plain, kept = (laws.ran(one.written, one.duration_ps, hops) for hops in (0, HOPS))
        if plain.end_reason == kept.end_reason == "deadlocked":
            until = laws.comparable_ps(plain, kept)
            usual, found = (laws.deliveries_ps(results, until) for results in (plain, kept))
            assert np.array_equal(usual, found), one.written
            continue
        ends = [{**results.summary, "engine": None} for results in (plain, kept)]
        assert ends[0] == ends[1], one.written
        assert plain.links.equals(kept.links), one.written
        assert plain.flows.equals(kept.flows), one.written
        assert kept.native["hops_dropped"] == 0
        if kept.graph.rings is not None or kept.native["lost"]:
            continue
        end = column(kept, "hop_end_ticks")  # of some packets it is known before it comes
        packet = column(kept, "hop_kind") != CODE
        known = (end >= 0) & packet
        gone = known & (end <= kept.native["end_time_ticks"])
        told, sent = (
            np.bincount(column(kept, "hop_link")[of], minlength=kept.graph.links) for of in (known, gone)
        )
        counted = column(kept, "link_packets")
        assert ((sent <= counted) & (counted <= told)).all(), one.written
        into = packet & np.isin(column(kept, "hop_link"), np.asarray(kept.graph.terminal_in_links))
        names = ("source", "target", "created_ticks", "started_ticks")
        hops = [column(kept, f"hop_{name}")[into] for name in names]
        hops[:2] = (laws.owners(kept.graph)[ports] for ports in hops[:2])
        last = {tuple(row) for row in np.stack(hops, 1).tolist()}
        told = {tuple(row) for row in np.stack([column(kept, f"trace_{name}") for name in names], 1).tolist()}
        assert told <= last, one.written
        packets += len(told)
    assert packets > 500


def with_room(one: laws.Drawn) -> dict[str, Any] | None:
    """Its network with long packets and room for all of them ahead; None where other things hold a link."""
    technology = one.written["technology"]
    held = ("watchdog", "watchdog_cycles", "credit_limit", "lane_slots")
    fits = technology.get("lanes", 1) == 1 and technology.get("switching") != "store-and-forward"
    fits &= (
        technology.get("input_queues") != "per-output"
    )  # another queue may have the way through the crossbar
    # A broadcast message of several flits has its link for itself as long.
    others = "program" in one.written or "broadcast" in one.written
    if not fits or others or any(technology.get(name) for name in held):
        return None
    room = {"input_buffer_flits": 100_000} if "flit" in technology else {"input_buffer": "100000 B"}
    long = {"length": {"kind": "fixed", "value": "2000 B"}}
    return {
        **one.written,
        "technology": {**technology, **room},
        "traffic": {**one.written["traffic"], **long},
        "routing": {**one.written["routing"], "adaptive": False},
    }


def ways_of(results: Results) -> dict[tuple[int, ...], list[tuple[int, int, int]]]:
    """The links of each packet in order, with begin and end, which may be never."""
    names = ("source", "started_ticks", "begin_ticks", "end_ticks", "link")
    kept: dict[tuple[int, ...], list[tuple[int, int, int]]] = defaultdict(list)
    rows = np.stack([column(results, f"hop_{name}") for name in names], 1)
    rows = rows[column(results, "hop_kind") != CODE]
    for source, started, begin, end, link in sorted(rows.tolist()):
        kept[source, started].append((begin, end if end >= 0 else NEVER, link))
    return kept


def idle_ticks(results: Results) -> Iterator[int]:
    """For how long each packet stood before a free link, with nobody before it in its own buffer.

    It can go on when its head is there, the packet before it on the link has gone, and the one before it in
    the buffer, too.
    """
    ways = ways_of(results)
    on_link: dict[int, list[tuple[int, tuple[int, ...], int]]] = defaultdict(list)
    for packet, way in ways.items():
        for step, (begin, _, link) in enumerate(way):
            on_link[link].append((begin, packet, step))
    before: dict[tuple[tuple[int, ...], int], tuple[tuple[int, ...], int] | None] = {}
    for steps in on_link.values():
        steps.sort()
        last = None
        for _, packet, step in steps:
            before[packet, step], last = last, (packet, step)
    for packet, way in ways.items():
        for step in range(1, len(way)):
            ready = [way[step - 1][0]]
            if (other := before[packet, step]) is not None:
                ready.append(ways[other[0]][other[1]][1])
            if (other := before[packet, step - 1]) is not None and other[1] + 1 < len(ways[other[0]]):
                ready.append(ways[other[0]][other[1] + 1][1])
            yield way[step][0] - max(ready)


def test_no_link_is_idle_while_a_packet_waits_that_has_room_ahead(seeds: Seeds) -> None:
    """Within the time that the head of a single packet takes to pass the network, and packets are longer."""
    packets = 0
    for one in laws.drawn(seeds(60)):
        written = with_room(one)
        if written is None:
            continue
        short = {**written["traffic"], "length": {"kind": "fixed", "value": "1 B"}}
        try:
            tried = compile(Scenario.from_dict({**written, "traffic": short}))
            head_ns = zero_load_latency(inspection_of(tried))["max"]
            results = laws.ran(written, 4 * one.duration_ps, HOPS)
        except laws.REFUSED:
            continue
        idle_ns = np.array([0, *idle_ticks(results)]) * results.tick_ps / 1e3
        assert idle_ns.max() <= head_ns, (idle_ns.max(), head_ns, written)
        packets += len(idle_ns)
    assert packets > 500


RESOLUTION = 0.02
"""Percentiles are those of a histogram."""


def with_flows(written: drawing.Table, compiled: Compiled, time_ns: int) -> drawing.Table:
    """Some flows instead, most with a requirement; of terminals with several ports where there can be."""
    dice, terminals = Random(repr(written)), compiled.graph.terminals
    legal = compiled.technology.legal_payloads_bytes
    pairs = {(dice.randrange(terminals), dice.randrange(terminals)) for _ in range(8)}
    flows: list[drawing.Table] = [
        {
            "source": source,
            "target": target,
            "length": f"{dice.choice(legal) if legal else dice.randint(1, 300)} B",
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
            whole = with_flows(whole, compiled, time_ns)
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
    # Beside programs a pair has packets of messages, too, of which a flow requires nothing.
    asked = results.requirements if "messages" not in results.summary else results.requirements.clear()
    for source, target, count, longest in asked.select(columns).rows():
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
    if "messages" not in results.summary:  # of programs the page says what messages carry
        accepted = plus_minus(*(results.summary[f"accepted_mbytes_per_s{end}"] for end in ("", "_ci95")))
        assert f"{accepted} MB/s" in re.sub(r"<[^>]*>", "", page)


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
