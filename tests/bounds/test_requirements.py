"""Requirements of flows: what is guaranteed, wait at the source included, is never exceeded; verdicts.

Bounds by the periods of flows: by hand, never exceeded whatever the arbiter, priorities and time-codes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from fabriloom import simulate
from fabriloom.bounds import Bounds, bound
from fabriloom.cli.app import app
from fabriloom.report import for_run
from fabriloom.results import columns
from fabriloom.scenario import Scenario, ScenarioError
from typer.testing import CliRunner

Table = dict[str, Any]
SPACEWIRE: Table = {"preset": "spacewire-200", "flow_control": "ignored"}


def scenario(flows: list[Table], terminals: int = 4, **more: Any) -> Scenario:
    pattern = {"kind": "flows", "flows": flows, **more.pop("pattern", {})}
    return Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": terminals},
            "technology": SPACEWIRE,
            "traffic": {"pattern": pattern},
            "run": {"duration": "5 ms", "warmup": "0 ns", "precision": 0},
            **more,
        }
    )


def flow(source: int, target: int, period: str, **more: Any) -> Table:
    return {"source": source, "target": target, "length": "200 B", "period": period, **more}


def bounds_ns(found: Scenario) -> list[float | None]:
    return [one.bound_ns for one in bound(found).promises]


def test_a_packet_alone_waits_for_nobody_and_packets_made_at_once_for_each_other() -> None:
    """By hand: the service of the source's link is all that a packet alone takes, and the last of five made
    at once goes through after five of them."""
    alone, five = (scenario([flow(0, 3, "1 ms", packets=packets, requirement="1 ms")]) for packets in (1, 5))
    worst = bound(alone).worst
    service = worst.service[worst.network.out_link[0], 0]
    assert bound(alone).waited == [service]
    assert bound(five).waited == [5 * service]


def test_all_flows_of_a_source_wait_in_its_queue() -> None:
    """By hand: one packet of each, made at the same moment, goes first."""
    one = scenario([flow(0, 3, "1 ms", requirement="1 ms")])
    three = scenario([flow(0, 3, "1 ms", requirement="1 ms"), flow(0, 3, "2 ms"), flow(0, 3, "3 ms")])
    assert bounds_ns(three) == [3 * (bounds_ns(one)[0] or 0)]


@pytest.mark.parametrize(
    ("flows", "more", "why"),
    [
        ([{"source": 0, "target": 3, "length": "64 B", "rate": "1 Mbit/s"}], {}, "at random"),
        ([flow(0, 3, "10 us")], {}, "more slowly than its source creates them"),
        ([flow(0, 3, "10 us")], {"traffic": {"source_queue": 3}}, "refuses packets"),
        ([flow(0, 3, "10 us")], {"technology": {**SPACEWIRE, "arbiter": "fixed"}}, 'arbiter "fixed"'),
    ],
)
def test_where_nothing_is_guaranteed_the_reason_is_said(flows: list[Table], more: Table, why: str) -> None:
    flows = [{**one, "requirement": "1 ms"} for one in flows]
    found = scenario(flows, **{name: value for name, value in more.items() if name != "traffic"})
    if "traffic" in more:
        found = found.with_settings({f"traffic.{name}": value for name, value in more["traffic"].items()})
    row = simulate.run(found).requirements.row(0, named=True)
    assert row["bound_ns"] is None
    assert why in row["no_bound"]
    assert row["verdict"] in ("met", "missed")


def drawn(seed: int) -> Scenario:
    """Periodic flows of which many share a source, on a small network."""
    dice = np.random.default_rng(seed)
    kinds: list[Table] = [
        {"kind": "crossbar", "terminals": 5},
        {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 2},
    ]
    topology = kinds[seed % 2]
    terminals = 5 if seed % 2 == 0 else 8
    flows = []
    for _ in range(int(dice.integers(2, 10))):
        source, target = dice.choice(terminals, 2, replace=False).tolist()
        period_ns = int(dice.integers(200_000, 1_500_000))
        flows.append(
            {
                "source": source,
                "target": target,
                "length": f"{int(dice.integers(1, 600))} B",
                "period": f"{period_ns} ns",
                "jitter": f"{int(dice.integers(0, period_ns))} ns",
                "packets": int(dice.integers(1, 4)),
                "requirement": f"{int(dice.integers(5, 400))} us",
            }
        )
        if dice.random() < 0.3:
            flows[-1]["shaper_rate"] = f"{int(dice.integers(1_000, 60_000))} kbit/s"
    arbiter = ("fifo", "round-robin")[int(dice.integers(2))]
    return scenario(flows, topology=topology, technology={**SPACEWIRE, "arbiter": arbiter}, seed=seed)


@pytest.mark.seeds
def test_no_packet_takes_longer_than_is_guaranteed(seeds: Callable[[int], Iterator[int]]) -> None:
    compared = 0
    for seed in seeds(40):
        for row in simulate.run(drawn(seed)).requirements.iter_rows(named=True):
            if row["bound_ns"] is None or not row["packets"]:
                continue
            compared += 1
            assert row["total_latency_ns_max"] <= row["bound_ns"], f"seed {seed}: {row['flow']}"
            # One that waits at the end may be late, too; none is where the bound is short enough.
            late, missed = row["total_latency_ns_max"] > row["requirement_ns"], row["verdict"] == "missed"
            assert missed or not late
            assert not missed or row["bound_ns"] > row["requirement_ns"]
            assert (row["verdict"] == "guaranteed") == (row["bound_ns"] <= row["requirement_ns"])
    print(f"{compared} flows")
    assert compared > 40


def test_flows_of_the_same_two_terminals_are_told_apart() -> None:
    """What is kept of each flow is what the trace says of its packets."""
    flows = [
        flow(0, 3, "100 us", length="64 B", name="short", requirement="50 us"),
        flow(0, 3, "110 us", length="500 B", name="long", requirement="50 us"),
        flow(1, 3, "90 us", length="300 B"),
    ]
    results = simulate.run(scenario(flows, output={"trace": True}))
    total = pl.col("delivered_ns") - pl.col("created_ns")
    for name, length in (("short", 64), ("long", 500)):
        row = results.requirements.row(by_predicate=pl.col("flow") == name, named=True)
        mine = results.trace.filter(pl.col("length_bytes") == length)
        assert row["packets"] == len(mine)
        assert row["total_latency_ns_max"] == mine.select(total.max()).item()
    flows_table = results.flows.filter(pl.col("source") == "t.0")
    assert len(flows_table) == 1
    assert (results.flows["latency_ns_max"] <= results.flows["bound_ns"]).all()


def several() -> Scenario:
    flows = [
        flow(0, 3, "1 ms", name="commands", requirement="200 us"),
        flow(1, 3, "500 us", name="pictures", packets=20),
        flow(2, 3, "400 us", name="silent", phase="1 s", requirement="1 us"),
        flow(2, 1, "300 us", name="house", requirement="90 us"),
    ]
    pattern = {"requirements": [{"flow": "pictures", "within": "150 us"}]}
    return scenario(flows, pattern=pattern)


def test_each_verdict(tmp_path: Path) -> None:
    results = simulate.run(several())
    words = dict(zip(results.requirements["flow"], results.requirements["verdict"], strict=True))
    assert words == {
        "commands": "guaranteed",
        "pictures": "missed",
        "silent": "unknown",
        "house": "guaranteed",
    }
    found = dict(results.summary["requirements"])
    margins = [found.pop(name) for name in ("least_margin", "least_bound_margin")]
    assert found == {"count": 4, "guaranteed": 2, "met": 0, "missed": 1, "unknown": 1}
    assert margins == [None, results.requirements["bound_margin"].min()], "nothing was seen of silent"
    assert results.requirements.columns == columns.REQUIREMENTS.names
    flat = columns.flatten({"requirements": results.summary["requirements"]})
    assert sorted(flat) == sorted(columns.REQUIREMENT_SUMMARY.names)
    page = for_run(results)
    for words_on_page in (
        "Requirements in numbers",
        "Who delays silent in the worst case",
        "The path of silent in the worst case",
        "150 µs: MISSED",
    ):
        assert words_on_page in page
    results.to_parquet(tmp_path)
    assert len(pl.read_parquet(tmp_path / "requirements.parquet")) == 4


def test_the_links_of_the_worst_flow_have_numbers_and_no_others() -> None:
    """By the recursion what each adds in µs, by the periods how many packets can be in the way."""
    crowd = [flow(source, 3, "500 us", requirement="80 us") for source in range(3)]
    results = simulate.run(scenario([*crowd, flow(3, 1, "1 ms")]))
    assert results.blocking is not None
    numbers = dict(zip(results.graph.link_names, results.blocking.links, strict=True))
    assert {name for name, value in numbers.items() if value == value} == {"t.0>s", "s>t.3"}
    assert results.blocking.about == "packets that can be in the way"
    assert (numbers["t.0>s"], numbers["s>t.3"]) == (1, 3)


def test_a_packet_that_never_arrives_is_late() -> None:
    flows = [flow(0, 3, "100 us", requirement="1 ms"), flow(1, 3, "100 us")]
    fault = [{"link": "s>t.3", "at": "1 ms", "repaired": "1.5 ms"}]
    results = simulate.run(scenario(flows, fault=fault))
    assert results.summary["packets"]["lost"] > 0
    row = results.requirements.row(0, named=True)
    assert (row["verdict"], row["margin"]) == ("missed", None)
    assert "links fail" in row["no_bound"]


def test_a_packet_that_waits_too_long_is_late_before_it_arrives() -> None:
    """Both cables of a terminal are down: nothing is lost, and what waits there is later every moment."""
    flows = [
        flow(0, 3, "100 us", phase="50 us", requirement="1 ms"),
        flow(1, 3, "100 us", requirement="1 ms"),
    ]
    results = simulate.run(scenario(flows, fault=[{"cable": "t.0>s", "at": "2 ms"}]))
    late, beside = results.requirements.iter_rows(named=True)
    assert (late["verdict"], beside["verdict"]) == ("missed", "met")
    fast = simulate.run(scenario([flow(0, 3, "100 us", requirement="1 ms")], run={"duration": "5001 us"}))
    assert fast.requirements["verdict"].to_list() == ["guaranteed"], "under way, and not late"


def test_a_shaper_of_a_source_leaves_its_other_flows_without_a_bound() -> None:
    shaped = flow(0, 3, "100 us", shaper_rate="1 Mbit/s")
    found = bound(scenario([shaped, flow(0, 2, "1 ms"), flow(1, 2, "1 ms")]))
    assert [one if isinstance(one, str) else "" for one in found.waited] == [
        "in the worst case more is made than its shaper lets through",
        "in the worst case more is made than the shaper of another flow of its source lets through",
        "",
    ]


def test_the_command_says_why_a_bound_is_missing(tmp_path: Path) -> None:
    shaped = [flow(source, target, "100 us", shaper_rate="1 Mbit/s") for source, target in ((0, 3), (1, 3))]
    fixed = scenario([*shaped, flow(2, 3, "1 ms")], technology={**SPACEWIRE, "arbiter": "fixed"})
    (tmp_path / "net.json").write_text(json.dumps(fixed.resolve()))
    why = "in the worst case more is made than its shaper lets through."

    def told(*options: str) -> str:
        return CliRunner().invoke(app, ["bound", str(tmp_path / "net.json"), "--tries", "0", *options]).stdout

    assert f"No bound for t.0 -> t.3 and 1 more: {why}\n\nWhat the smaller bound of t.2 -> t.3" in told()
    asked = told("--flow", "t.1:t.3")
    assert asked.endswith(f"No bound for t.1 -> t.3 and 1 more: {why}\n")


def test_the_command_says_what_is_kept_and_its_exit_code_too(tmp_path: Path) -> None:
    file = tmp_path / "several.json"
    file.write_text(json.dumps(several().resolve()))
    runner = CliRunner()
    ran = runner.invoke(app, ["run", str(file), "--strict"])
    assert ran.exit_code == 1
    assert "Of 4 requirements 2 are guaranteed, 1 is missed, 1 cannot be told" in ran.stdout
    assert runner.invoke(app, ["run", str(file), "--seeds", "2", "--strict"]).exit_code == 1
    silent = ["--set", "traffic.pattern.flows.2.requirement=1 s", "--set", "traffic.pattern.requirements=[]"]
    assert runner.invoke(app, ["run", str(file), "--strict", *silent[:2]]).exit_code == 1
    bounded = runner.invoke(app, ["bound", str(file), "--tries", "0", "--strict"])
    assert bounded.exit_code == 1
    assert "2 of 4 are guaranteed" in bounded.stdout
    found = json.loads(runner.invoke(app, ["bound", str(file), "--tries", "0", "--json"]).stdout)
    assert [one["verdict"] for one in found["requirements"]].count("guaranteed") == 2


def test_the_command_explains_the_guarantee_with_the_least_margin(tmp_path: Path) -> None:
    """Its parts add up to the guarantee; flows go by their name as well."""
    lines = "name,source,target,length,period,requirement\n"
    lines += "slow,0,3,1 kB,1 ms,10 ms\nshort,1,3,16 B,1 ms,100 us\nfree,2,3,16 B,1 ms,\n"
    (tmp_path / "flows.csv").write_text(lines)
    text = '[topology]\nkind = "crossbar"\nterminals = 4\n[technology]\npreset = "spacewire-200"\n'
    (tmp_path / "net.toml").write_text(f'{text}[traffic.pattern]\nkind = "flows"\npath = "flows.csv"\n')

    def told(*options: str) -> str:
        found = CliRunner().invoke(app, ["bound", str(tmp_path / "net.toml"), "--tries", "0", *options])
        return found.output.partition("What the ")[2] or found.output

    assert told().startswith("guarantee of short, ")
    assert told("--flow", "slow").startswith("guarantee of slow, ")
    assert told("--flow", "t.2:t.3").startswith("smaller bound of t.2 -> t.3")
    assert told("--flow", "free") == told("--flow", "t.2:t.3")
    assert "there are slow, short, free, t.0:t.3" in told("--flow", "qqq")
    assert "did you mean t.0:t.3?" in told("--flow", "t.3:t.0")
    document = json.loads(told("--json"))
    guaranteed = next(one["bound_ns"] for one in document["requirements"] if one["flow"] == "short")
    parts = [line["ns"] for line in document["largest"]["lines"] if line["depth"] == 0]
    assert sum(parts) == pytest.approx(guaranteed)


def test_a_file_of_flows_has_names_and_requirements(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text(
        "name,source,target,length,period,requirement\ncommands,0,3,64 B,1 ms,100 us\n,1,3,64 B,1 ms,\n"
    )
    found = Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": 4},
            "technology": SPACEWIRE,
            "traffic": {"pattern": {"kind": "flows", "path": "flows.csv"}},
        },
        tmp_path,
    )
    (only,) = bound(found).promises
    assert (only.flow, only.requirement_ns) == ("commands", 100_000.0)


def test_a_packet_later_than_its_guarantee_is_said_to_be_a_fault() -> None:
    """One of the two numbers is wrong then, and neither may look like a result."""
    guarded = scenario([flow(0, 3, "1 ms", requirement="1 ms")])
    right, wrong = simulate.run(guarded), simulate.run(guarded)
    wrong.promises = [replace(one, bound_ns=10.0) for one in bound(guarded).promises]
    assert not any("fault of Fabriloom" in text for text in right.summary["warnings"])
    assert any("a packet of 1 flow took longer" in text for text in wrong.summary["warnings"])


def ticks(found: Bounds, row: int) -> float:
    total = found.periods.totals[row]
    assert isinstance(total, float)
    return total


def test_two_flows_to_one_terminal_wait_for_one_packet_of_each_other() -> None:
    """By hand: of each flow one packet, which costs its characters, the delays of the links that count, and
    those of its way.
    """
    found = bound(scenario([flow(0, 3, "1 ms"), flow(1, 3, "1 ms"), flow(2, 1, "1 ms")]))
    network, character = found.worst.network, 50_000 // found.compiled.tick_ps
    way = {
        source: [network.out_link[source], found.worst.hops[source][network.out_link[source]][0]]
        for source in (0, 1)
    }
    once = {source: [int(network.costs.once[link]) for link in links] for source, links in way.items()}
    own = 202 * character + 2 * sum(once[0])
    other = 202 * character + sum(once[1]) + once[1][1]
    assert ticks(found, 0) == own + other
    assert [share.packets for share in found.periods.shares[0]] == [1, 1]
    assert ticks(found, 2) == 202 * character + 2 * sum(once[0])


def test_a_shorter_period_lets_more_packets_be_in_the_way() -> None:
    shares = []
    for period in ("1 ms", "100 us", "30 us"):
        found = bound(scenario([flow(0, 3, "1 ms"), flow(1, 3, period)]))
        shares.append(sum(share.packets for share in found.periods.shares[0] if share.row == 1))
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]


def test_without_periods_or_with_too_much_there_is_none() -> None:
    random = bound(
        scenario([flow(0, 3, "1 ms"), {"source": 1, "target": 3, "length": "64 B", "rate": "1 Mbit/s"}])
    )
    assert random.periods.totals[0] == "a flow that can be in its way makes packets at random"
    full = bound(scenario([flow(0, 3, "12 us"), flow(1, 3, "12 us")]))
    assert full.periods.totals == ["the waits that its periods count grow without end"] * 2


@pytest.mark.parametrize(
    "more",
    [{"technology": {**SPACEWIRE, "arbiter": "fixed"}}, {"routing": {"high_priority": [1]}}],
    ids=["arbiter", "priorities"],
)
def test_what_the_recursion_leaves_open_has_a_bound_with_periods(more: Table) -> None:
    found = bound(scenario([flow(0, 3, "1 ms", requirement="1 ms"), flow(1, 3, "1 ms")], **more))
    assert "no bound without periods" in found.doubt
    assert found.table["bound_ns"].to_list() == [None, None]
    assert [one.bound_ns for one in found.promises] == [ticks(found, 0) * found.tick_ns]
    with pytest.raises(ScenarioError, match="without periods"):
        bound(scenario([{"source": 0, "target": 3, "length": "64 B", "rate": "1 Mbit/s"}], **more))


def test_a_shaper_makes_its_flow_wait_and_others_less() -> None:
    """By hand: three of eight packets have tokens at once, the others wait 40 us each."""
    many = {**flow(1, 3, "1 ms", requirement="1 s"), "length": "100 B", "packets": 8}
    shaped = {**many, "shaper_rate": "20 Mbit/s", "shaper_burst": "300 B"}
    plain, found = (bound(scenario([flow(0, 3, "1 ms"), one])) for one in (many, shaped))
    assert found.periods.tokens == {0: 0.0, 1: 200_000_000 / found.compiled.tick_ps}
    in_way = [
        next(share.packets for share in one.periods.shares[0] if share.row == 1) for one in (plain, found)
    ]
    assert in_way[0] == 8
    assert 3 <= in_way[1] <= 5
    assert ticks(found, 0) < ticks(plain, 0)
    (promise,) = found.promises
    lines = found.blocked(promise).lines
    assert ("waits for the tokens of its shaper", 200_000.0) in [(line.words, line.time_ns) for line in lines]
    assert sum(line.time_ns for line in lines if not line.depth) == pytest.approx(promise.bound_ns)


def test_a_shaper_bounds_what_random_packets_do_to_others() -> None:
    random = {"source": 1, "target": 3, "length": "64 B", "rate": "1 Mbit/s", "shaper_rate": "2 Mbit/s"}
    found = bound(scenario([flow(0, 3, "1 ms"), random, {**flow(2, 3, "10 us"), "shaper_rate": "1 Mbit/s"}]))
    assert ticks(found, 0) > 0
    assert found.periods.totals[1:] == [
        "in the worst case more is made than its shaper lets through",
        "in the worst case more is made than its shaper lets through",
    ]


def periodic(seed: int) -> Scenario:
    """Periodic flows, on networks with one way between two links and with several, and every arbiter."""
    dice = np.random.default_rng(seed)
    shapes: list[tuple[Table, int, Table]] = [
        ({"kind": "crossbar", "terminals": 6}, 6, {}),
        ({"kind": "grid", "shape": [3, 3], "terminals_per_switch": 1}, 9, {}),
        ({"kind": "grid", "shape": [2, 3], "terminals_per_switch": 2, "links_per_edge": 2}, 12, {}),
        ({"kind": "ring", "switches": 5, "terminals_per_switch": 1}, 5, {"kind": "up*/down*"}),
        ({"kind": "clos", "terminals": 16}, 16, {"adaptive": bool(dice.integers(2))}),
    ]
    topology, terminals, routing = shapes[seed % len(shapes)]
    if dice.random() < 0.4:
        routing = {**routing, "high_priority": dice.choice(terminals, 2, replace=False).tolist()}
    more: Table = {}
    if dice.random() < 0.3:
        more["time_code"] = [
            {"master": int(dice.integers(terminals)), "every": f"{int(dice.integers(5, 60))} us"}
        ]
    flows = [_flow(dice, terminals) for _ in range(int(dice.integers(2, 14)))]
    arbiter = ("fifo", "round-robin", "fixed", "random")[int(dice.integers(4))]
    technology = {**SPACEWIRE, "arbiter": arbiter}
    return scenario(flows, topology=topology, technology=technology, routing=routing, seed=seed, **more)


def _flow(dice: np.random.Generator, terminals: int) -> dict[str, Any]:
    source, target = dice.choice(terminals, 2, replace=False).tolist()
    period_ns = int(dice.integers(60_000, 900_000))
    shaped = {
        "shaper_rate": f"{int(dice.integers(2_000, 40_000))} kbit/s",
        "shaper_burst": f"{int(dice.integers(500, 1500))} B",
    }
    return {
        "source": source,
        "target": target,
        "length": f"{int(dice.integers(1, 500))} B",
        "period": f"{period_ns} ns",
        "jitter": f"{int(dice.integers(0, period_ns))} ns",
        "packets": int(dice.integers(1, 3)),
        "requirement": "1 s",
        **(shaped if dice.random() < 0.3 else {}),
    }


@pytest.mark.seeds
def test_no_packet_takes_longer_than_the_periods_say(seeds: Callable[[int], Iterator[int]]) -> None:
    compared = 0
    for seed in seeds(40):
        one = periodic(seed)
        try:
            found = bound(one)
        except ScenarioError:
            continue
        latest = simulate.run(one).requirements["total_latency_ns_max"].to_list()
        for promise, late in zip(found.promises, latest, strict=True):
            total = found.periods.totals[promise.row]
            if late is not None and isinstance(total, float):
                compared += 1
                assert late <= total * found.tick_ns, f"seed {seed}: {promise.flow}"
    assert compared > 100


def test_periods_that_do_not_suffice_are_not_asked_for_again() -> None:
    technology = {"preset": "spacefibre-2g5"}
    flows = [{"source": 0, "target": 3, "length": "1024 B", "period": "10 us"}]
    with pytest.raises(ScenarioError, match="always, and the waits that its periods count grow") as refused:
        bound(scenario(flows, technology=technology))
    assert "make packets less often or shorter" in str(refused.value)
