"""Runs of programs: conservation over random ones, zero load by its parts, ends, tables and columns.

Requirements on messages of programs.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fabriloom import Results, load, run, simulate
from fabriloom.report import for_curve, for_run
from fabriloom.results import columns
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.studies import compare, curve
from fabriloom.studies.inspection import inspect, lines
from fabriloom.studies.saturation import saturate
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from .common import CLOS, CROSSBAR, READY, RING, operations, results, scenario

LINKS: list[dict[str, Any]] = [
    CROSSBAR,
    {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 2},
    CLOS,
    {"kind": "star", "arms": 8},
]
RINGS: list[dict[str, Any]] = [RING, {"kind": "sci-switch", "terminals_per_ring": 2}]


@pytest.fixture(scope="module")
def built() -> Results:
    return results(
        {"kind": "level-2", "block": "300 B", "events": 200, "rate": "10 kHz"},
        protocol={"preset": "virtual-link"},
        output={"messages": True},
    )


@st.composite
def random_programs(draw: st.DrawFn, terminals: int) -> dict[str, Any]:
    """Messages in some order, each appended to its sender's and its receiver's list, so no two can wait for
    each other; then repeats, waits and barriers around them.
    """
    lists: dict[int, list[str]] = {terminal: [] for terminal in range(terminals)}
    # Retries on rings let a message overtake: with tags each is waited for by its own, without by any.
    tagged = draw(st.booleans())
    for number in range(draw(st.integers(1, 12))):
        source = draw(st.integers(0, terminals - 1))
        target = (source + draw(st.integers(1, terminals - 1))) % terminals
        size = draw(st.sampled_from([1, 8, 16, 63, 64, 65, 257, 1000]))
        tag = f" tag {number}" if tagged else ""
        lists[source].append(f"send {target} {size} B{tag}")
        lists[target].append(f"receive {source}{tag}")
        if draw(st.booleans()):
            lists[source].append(draw(st.sampled_from(["wait 3 us", "flush", "mark 1"])))
    turns, together = draw(st.integers(1, 3)), draw(st.booleans())
    done = {
        terminal: [f"repeat {turns}", *(["barrier"] if together else []), *do, "end"]
        for terminal, do in lists.items()
        if do
    }
    return operations(**{f"t{terminal}": do for terminal, do in done.items()})


@st.composite
def random_protocols(draw: st.DrawFn, rings: bool) -> dict[str, Any]:
    """Windows, times and acknowledgements of any kind."""
    found: dict[str, Any] = {
        "packet": draw(st.sampled_from(["16 B", "64 B"])),
        "acknowledge": draw(st.sampled_from(["none", "packet", *(["response"] if rings else [])])),
    }
    for name in ("messages_at_once", "packets_per_channel", "packets_at_once", "channels_at_once"):
        found[name] = draw(st.sampled_from([0, 0, 1, 2]))
    for name in ("send_time", "receive_time", "packet_time", "bus_packet_time"):
        found[name] = draw(st.sampled_from(["0 ns", "700 ns"]))
    if found["acknowledge"] == "packet":
        found["receive_at_once"] = draw(st.sampled_from([0, 1, 2]))
    if found.get("receive_at_once"):
        # Packets that wait for a receiver would take the places that another receiver waits for: a deadlock.
        found["packets_at_once"] = 0
    return found


@settings(max_examples=40, phases=[Phase.explicit, Phase.generate])
@given(data=st.data())
def test_random_programs_conserve_messages(data: st.DataObject) -> None:
    """On fabrics of both kinds, whatever the protocol: all that is made arrives, and the run drains."""
    rings = data.draw(st.booleans())
    topology = data.draw(st.sampled_from(RINGS if rings else LINKS))
    program, protocol = data.draw(random_programs(8)), data.draw(random_protocols(rings))
    found = results(
        program, topology, protocol=protocol, output={"messages": True}, run={"duration": "100 ms"}
    )
    summary, messages = found.summary, found.summary["messages"]
    assert summary["end"]["reason"] == "drained", summary["end"]["message"]
    assert messages["made"] == messages["sent"] == messages["received"] == len(found.messages)
    assert messages["lost"] == messages["under_way"] == 0
    assert found.hosts["bytes_sent"].sum() == found.hosts["bytes_received"].sum()
    if rings:
        return
    # Messages of one channel arrive in the order in which they were made.
    for _, channel in found.messages.group_by("source", "target"):
        assert channel.sort("made_ns", "message")["received_ns"].is_sorted()


@st.composite
def random_building(draw: st.DrawFn) -> dict[str, Any]:
    """Event building of any kind among eight terminals, the last of which may be a supervisor."""
    sources = draw(st.integers(1, 4))
    found: dict[str, Any] = {
        "kind": draw(st.sampled_from(["level-2", "level-3", "pull-level-3", "barrel-shifter", "credit"])),
        "events": draw(st.integers(1, 15)),
        "sources": sources,
        "targets": list(range(sources, draw(st.integers(sources + 1, 7)))),
    }
    if found["kind"] == "level-2":
        found |= {"block": "200 B", "sources_per_block": draw(st.integers(1, sources))}
        found["blocks_per_event"] = draw(st.integers(1, 4))
        found["target_choice"] = draw(st.sampled_from(["random", "round-robin", "supervisor"]))
    else:
        found["fragment"] = draw(st.sampled_from(["1 B", "64 B", "300 B"]))
    if found["kind"] in ("level-3", "pull-level-3"):
        found["sources_per_event"] = draw(st.integers(1, sources))
        found["source_choice"] = draw(st.sampled_from(["random", "round-robin"]))
    if found["kind"] == "barrel-shifter":
        return found | {"slot": draw(st.sampled_from(["0 us", "5 us"]))}
    return found | draw(st.sampled_from([{}, {"rate": "50 kHz"}, {"rate": "50 kHz", "arrivals": "random"}]))


@settings(max_examples=40, phases=[Phase.explicit, Phase.generate])
@given(data=st.data())
def test_every_event_is_complete(data: st.DataObject) -> None:
    """However events are built, on fabrics of both kinds, whatever the protocol."""
    rings = data.draw(st.booleans())
    topology = data.draw(st.sampled_from(RINGS if rings else LINKS))
    program, protocol = data.draw(random_building()), data.draw(random_protocols(rings))
    summary = results(program, topology, protocol=protocol).summary
    assert summary["end"]["reason"] == "drained", summary["end"]["message"]
    assert summary["events"]["complete"] == summary["events"]["count"] == program["events"]
    assert summary["messages"]["made"] == summary["messages"]["received"]


def test_ping_pong_at_zero_load_is_the_sum_of_its_parts() -> None:
    """Half a round is the host at one end, the network, and the host at the other; nothing is hidden."""
    times = {"send_time": "2 us", "receive_time": "3 us", "packet_time": "1 us", "byte_time": "10 ns"}
    times |= {"bus_packet_time": "500 ns", "bus_byte_time": "5 ns"}
    found = results({"kind": "ping-pong", "size": "64 B", "rounds": 10}, protocol=times)
    at_ns = found.marks["at_ns"]
    half_ns = (at_ns[-1] - at_ns[0]) / 20
    bus_ns = 500 + 64 * 5
    host_ns = 2000 + 1000 + 64 * 10 + bus_ns + bus_ns + 3000
    assert half_ns == pytest.approx(host_ns + found.summary["latency_ns"]["mean"], abs=1)
    message_ns = found.summary["message_latency_ns"]
    assert message_ns["mean"] == pytest.approx(half_ns - 3000, abs=1), "received before the host has looked"
    assert message_ns["min"] == message_ns["max"]


def test_two_pairs_do_twice_as_much() -> None:
    one, two = (
        results({"kind": "ping-pong", "size": "1 kB", "pairs": pairs}, protocol={"preset": "virtual-link"})
        for pairs in (1, 2)
    )
    rate = [found.summary["messages"]["mbytes_per_s"] for found in (one, two)]
    assert rate[1] == pytest.approx(2 * rate[0], rel=1e-3)


def test_a_control_word_costs_three_messages() -> None:
    """The layer of the ATLAS components paper: data, control word, and the next address back."""
    program = {"kind": "fixed-pairs", "size": "1 kB", "rounds": 10, "sources": 1, "targets": 1}
    bare, layered = (results(program, protocol={"layer": layer}) for layer in ("none", "control-word"))
    assert bare.summary["messages"]["made"] == 10
    assert layered.summary["messages"]["made"] == 31, "ten of each, and the first address"
    assert layered.summary["end"]["reason"] == "drained"
    assert layered.summary["simulated_ns"] > bare.summary["simulated_ns"]


@pytest.mark.parametrize("ports", [1, 2])
@pytest.mark.parametrize("name", ["all-to-all", "out-farming", "level-2", "level-3", "ping-pong"])
def test_ready_programs_go_through_the_layer(name: str, ports: int) -> None:
    """Also where control words overtake data by another port."""
    topology = {**CROSSBAR, "replicate": ports}
    summary = results(READY[name], topology, protocol={"layer": "control-word"}).summary
    assert summary["end"]["reason"] == "drained", summary["end"]["message"]
    assert summary["events"]["complete"] == summary["events"]["count"]


def test_every_key_and_column_is_defined(built: Results) -> None:
    known = [*columns.SUMMARY.names, *columns.PROGRAM_SUMMARY.names]
    assert sorted(columns.flatten(built.summary)) == sorted(known)
    for table in (columns.EVENTS, columns.HOSTS, columns.MESSAGES, columns.MESSAGE_FLOWS):
        frame = getattr(built, table.name)
        assert frame.columns == table.names
        assert len(frame) > 0
    marks = results(READY["ping-pong"]).marks
    assert marks.columns == columns.MARKS.names
    assert len(marks) == 12


@pytest.mark.parametrize(
    ("topology", "warmup"), [(CROSSBAR, "100 us"), (RING, "8 us")], ids=["links", "ring"]
)
def test_messages_by_pair_are_those_of_the_table(topology: dict[str, Any], warmup: str) -> None:
    run = results(
        READY["level-3, some"], topology, run={"warmup": warmup}, output={"messages": True, "flows": True}
    )
    begin_ns = run.summary["warmup_ns"]
    counted = run.messages.filter(run.messages["received_ns"] >= begin_ns)
    latency = pl.col("latency_ns")
    by_pair = (
        counted.group_by("source", "target")
        .agg(pl.len(), pl.col("bytes").sum(), latency.mean().alias("mean"), latency.max())
        .sort("source", "target")
    )
    flows = run.message_flows.sort("source", "target")
    assert 0 < len(flows) < len(counted) < len(run.messages)
    assert flows["messages"].to_list() == by_pair["len"].to_list()
    assert flows["bytes"].to_list() == by_pair["bytes"].to_list()
    assert flows["latency_ns_max"].to_list() == by_pair["latency_ns"].to_list()
    assert flows["latency_ns_mean"].to_list() == pytest.approx(by_pair["mean"].to_list())


def test_no_messages_by_pair_without_flows() -> None:
    assert not len(results(READY["ping-pong"], output={"flows": False}).message_flows)


def test_tables_agree_with_the_summary(built: Results) -> None:
    events, summary = built.events, built.summary
    assert events["complete_ns"].null_count() == 0
    assert events["latency_ns"].mean() == pytest.approx(summary["events"]["latency_ns"]["mean"])
    assert events["latency_ns"].max() == summary["events"]["latency_ns"]["max"]
    assert (events["begun_ns"] >= events["due_ns"]).all()
    last = built.messages.group_by("event").agg(pl.col("received_ns").max()).sort("event")
    assert last["received_ns"].to_list() == events["complete_ns"].to_list()
    assert built.messages["latency_ns"].mean() == pytest.approx(summary["message_latency_ns"]["mean"])
    assert built.hosts["received_mbytes_per_s"].sum() == pytest.approx(summary["messages"]["mbytes_per_s"])
    assert built.hosts["blocked_share"][:4].mean() == pytest.approx(summary["hosts"]["blocked_share_mean"])


def test_more_than_can_be_built_is_told() -> None:
    """Beyond what the network can do, events are achieved at their own rate, and sources have to wait."""
    program = {"kind": "level-2", "block": "1 kB", "events": 300, "rate": "40 kHz"}
    summary = results(program, protocol={"preset": "virtual-link"}, run={"duration": "10 ms"}).summary
    events = summary["events"]
    assert events["achieved_per_s"] < 0.5 * events["attempted_per_s"]
    assert events["incomplete"] > 0
    assert summary["hosts"]["blocked_share_mean"] > 0.5
    assert events["latency_ns"]["max"] > 10 * events["latency_ns"]["min"]


def test_the_warm_up_is_left_out() -> None:
    program = {"kind": "level-3", "fragment": "200 B", "events": 400}
    found = results(program, protocol={"messages_at_once": 1}, run={"duration": "20 ms", "warmup": "5 ms"})
    after = found.events.filter(pl.col("complete_ns") >= 5e6)
    window_s = found.summary["measured_ns"] / 1e9
    assert found.summary["events"]["achieved_per_s"] == pytest.approx(len(after) / window_s, rel=0.01)
    assert found.summary["events"]["latency_ns"]["mean"] == pytest.approx(after["latency_ns"].mean())


def test_a_deadlock_names_who_waits_and_where(tmp_path: Path) -> None:
    file = tmp_path / "stuck.toml"
    tables = [
        f'[[program.terminals]]\nterminal = "t.{me}"\n'
        f'do = [\n  "receive t.{other}",\n  "send t.{other} 1 kB",\n]\n'
        for me, other in ((0, 1), (1, 0))
    ]
    text = '[topology]\nkind = "crossbar"\nterminals = 2\n\n[program]\nkind = "operations"\n\n'
    file.write_text(text + "\n".join(tables), encoding="utf-8")
    found = run(load(file))
    end = found.summary["end"]
    assert end["reason"] == "deadlocked"
    assert end["waiting"] == ["t.0: receive t.1 (line 11)", "t.1: receive t.0 (line 18)"]
    assert "t.0: receive t.1 (line 11); t.1: receive t.0 (line 18)" in end["message"]
    assert "What the programs wait for" in for_run(found)


def test_a_destination_that_is_no_terminal_is_a_mistake() -> None:
    program = operations(t0=["send t.1 8 B tag 77"], t1=["receive any", "send tagged 8 B"])
    with pytest.raises(ScenarioError, match=r'terminal "t\.1", "send tagged 8 B"'):
        results(program)


def test_reports_hold_what_matters(built: Results) -> None:
    html = for_run(built)
    for part in ("Latency of events and messages", "Event after event", "Terminals", "Slowest events"):
        assert part in html
    swept = scenario(
        {"kind": "level-2", "block": "300 B", "events": 50}, sweep={"program.rate": ["2 kHz", "5 kHz"]}
    )
    found = curve(swept, jobs=1)
    assert [point.summary["events"]["attempted_per_s"] for point in found.points] == [2000, 5000]
    own = [*columns.POINTS.names, *columns.PROGRAM_POINTS.names]
    assert sorted(found.table.columns) == sorted(["program.rate", *own])
    assert "Events achieved" in for_curve(found)


def test_loads_and_saturation_are_of_traffic() -> None:
    of_programs = scenario(READY["level-2"])
    with pytest.raises(ScenarioError, match="loads have no effect"):
        curve(of_programs, [0.1])
    with pytest.raises(ScenarioError, match="saturation is of traffic"):
        saturate(of_programs)
    assert len(compare({"one": of_programs, "other": scenario(READY["level-3"])}, jobs=1).points) == 2


def test_resolving_twice_changes_nothing() -> None:
    for name, program in READY.items():
        once = scenario(program, protocol={"preset": "virtual-link", "send_time": "2 us"})
        resolved = once.resolve()
        assert "traffic" not in resolved, name
        again = type(once).from_dict(resolved)
        assert again.resolve() == resolved
        assert again.sha256 == once.sha256


def test_check_tells_what_a_program_does() -> None:
    found = inspect(scenario({"kind": "level-3", "fragment": "200 B", "events": 50, "rate": "1 kHz"}))
    known = found["program"]
    assert {f"program.{name}" for name in known} == set(columns.PROGRAM_CHECK.names)
    assert known["messages"] == 200
    assert known["message_bytes"] == 40_000
    assert known["channels_most"] == 4
    told = dict(lines(found))["program"]
    assert told.startswith("8 terminals, 200 messages of 200 B on average, 50 events; a terminal sends to 4")
    pairs = {"kind": "fixed-pairs", "size": "8 B", "rounds": 0}
    endless = inspect(scenario(pairs, protocol={"messages_at_once": 1}))
    assert endless["program"]["messages"] is None
    assert endless["zero_load_latency_ns"]["length_bytes"] == 8


def test_answers_count_for_the_bound_of_a_program() -> None:
    """Requests of 8 B pull fragments of 1 kB: what these fill is the bound, and no run exceeds it."""
    pulled = scenario({"kind": "pull-level-3", "fragment": "1 kB", "events": 40})
    found = inspect(pulled)["channel_load"]
    assert found["busiest_link"] == "t.0>s"  # sources send as much as targets receive
    accepted = run(pulled).summary["accepted_mbytes_per_s"]
    assert 0.7 < accepted / found["accepted_mbytes_per_s_bound"] < 1


def test_a_host_is_compared_with_the_mean_time_of_the_packets() -> None:
    """Of 1000 B three packets take 6 flits of 64 B and one takes one: each takes a host 200 ns."""
    protocol = {"preset": "verbs-infiniband", "packet": "333 B", "packet_time": "200 ns"}
    pairs = scenario({"kind": "fixed-pairs", "size": "1000 B", "rounds": 300}, protocol=protocol)
    pairs = pairs.with_settings({"technology": {"preset": "infiniband-4x-hdr", "overhead": "26 B"}})
    found = inspect(pairs)
    assert found["link"]["limited_by"] == "host"
    assert found["link"]["payload_mbytes_per_s"] == pytest.approx(1000 / 0.8)
    accepted = run(pairs).summary["accepted_mbytes_per_s"]
    assert accepted == pytest.approx(found["channel_load"]["accepted_mbytes_per_s_bound"], rel=0.01)


def test_there_is_no_bound_where_only_the_run_tells_who_sends_what() -> None:
    given = {"kind": "credit", "fragment": "200 B", "events": 10, "sources": ["0..3"], "targets": ["4..6"]}
    beside = scenario({"kind": "level-3", "fragment": "200 B", "events": 10}, traffic={"load": 0.1})
    for one, why in ((scenario(given), "for whom some messages are"), (beside, "the traffic beside it")):
        found = inspect(one)
        assert found["channel_load"]["accepted_mbytes_per_s_bound"] is None
        assert why in dict(lines(found))["throughput"]


@pytest.mark.parametrize("topology", [CROSSBAR, RING], ids=["links", "ring"])
@pytest.mark.parametrize("name", ["credit", "pull-level-3, two", "all-to-all, together"])
def test_the_slow_twin_delivers_the_same(name: str, topology: dict[str, Any]) -> None:
    protocol = {"preset": "virtual-link", "packet": "64 B", "send_time": "1 us"}
    assert simulate.compare(scenario(READY[name], topology, protocol=protocol), 2_000_000_000).identical


def test_windows_that_wait_for_each_other_deadlock_by_name() -> None:
    """Receivers that take one message at a time, few places for packets: each holds what another needs."""
    program = {"kind": "level-2", "events": 40, "sources": 4, "targets": [4, 5, 6], "block": "200 B"}
    program |= {"sources_per_block": 2, "blocks_per_event": 4, "target_choice": "random"}
    protocol = {"packet": "16 B", "acknowledge": "packet", "receive_at_once": 1, "packets_at_once": 2}
    summary = results(program, protocol={**protocol, "messages_at_once": 2, "packet_time": "700 ns"}).summary
    assert summary["end"]["reason"] == "deadlocked"
    assert summary["end"]["waiting"]
    assert summary["events"]["incomplete"] > 0
    assert summary["messages"]["under_way"] > 0


@pytest.mark.parametrize("gap", ["send_gap_time", "receive_gap_time"])
def test_a_node_that_is_occupied_with_every_packet_limits_all_its_virtual_links(gap: str) -> None:
    """32 B in 20 us, with as many virtual links as there may be; without the gap the link is the limit."""

    def mbytes_per_s(virtual_links: int, **more: str) -> float:
        pairs = {"kind": "fixed-pairs", "size": "64 kB", "rounds": 0, "sources": [0], "targets": [1]}
        host = {"preset": "virtual-link", "packets_per_channel": virtual_links, "messages_at_once": 4, **more}
        found = run(
            scenario(pairs, protocol=host, run={"duration": "10 ms", "warmup": "1 ms", "precision": 0})
        )
        return float(found.summary["accepted_mbytes_per_s"])

    assert [mbytes_per_s(links, **{gap: "20 us"}) for links in (1, 2, 4)] == pytest.approx(
        [1.6] * 3, rel=0.01
    )
    assert mbytes_per_s(4) > 8


def test_a_rank_of_two_streams_computes_and_communicates_at_a_time() -> None:
    """A step is as long as the longer of the two; in one stream, as both."""
    path = Path(__file__).resolve().parents[2] / "scenarios" / "overlap.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    (computing, *others) = data["program"]["terminals"]
    _, mark, compute, *_ = computing["do"]

    def step_ns(lists: list[dict[str, Any]]) -> float:
        program = {"kind": "operations", "terminals": lists}
        found = run(Scenario.from_dict({**data, "program": program})).summary
        return float(found["rounds"]["ns_mean"])

    def one_stream(*before: str) -> list[dict[str, Any]]:
        do = [(one["terminal"], one["do"]) for one in others]
        return [{"terminal": rank, "do": [first, *before, *rest]} for rank, (first, *rest) in do]

    communication = step_ns(one_stream(mark))
    assert 2 * 256_000 * 8 / 100 < communication < 60_000
    assert step_ns(data["program"]["terminals"]) == 60_000
    assert step_ns(one_stream(mark, compute)) == pytest.approx(60_000 + communication)


def test_a_shaper_limits_each_channel_by_itself() -> None:
    """1 MB/s to each of two targets, whatever else a source sends: all it gets is a burst more."""

    def received(targets: list[int], **more: str) -> list[int]:
        pairs = {"kind": "out-farming", "size": "2 kB", "rounds": 0, "source": 0, "targets": targets}
        run_for = {"duration": "20 ms", "warmup": "0 ns", "precision": 0}
        host = {"packet": "100 B", "messages_at_once": 4, "shaper_rate": "1 MB/s", **more}
        found = run(scenario(pairs, protocol=host, run=run_for, output={"flows": True}))
        return found.hosts["bytes_received"].to_list()[1:3]

    assert received([1]) == pytest.approx([20_000, 0], abs=2_000)
    assert received([1, 2]) == pytest.approx([20_000, 20_000], abs=2_000)
    assert received([1], shaper_burst="10 kB")[0] == pytest.approx(30_000, abs=2_000)


@pytest.mark.parametrize(
    ("program", "count"),
    [
        ({"kind": "ping-pong", "pairs": 2}, 2 * 5),
        ({"kind": "out-farming"}, 7 * 5),
        ({"kind": "funnel-in"}, 5),
        ({"kind": "all-to-all"}, 8 * 5),
        ({"kind": "fixed-pairs", "sources": [0, 1], "targets": [1, 2]}, 2 * 5),
    ],
)
def test_ready_programs_tell_their_time_per_round(program: dict[str, Any], count: int) -> None:
    """Who waits for nobody begins all rounds at once: who receives says how long one is."""
    found = results({**program, "size": "64 B", "rounds": 5})
    rounds = found.summary["rounds"]
    assert rounds["count"] == count
    assert rounds["ns_min"] > 0
    assert 0.3 < rounds["ns_mean"] * 5 / found.summary["simulated_ns"] <= 1


SENDS = operations(
    t0=["send 1 100 B tag 1", "send 1 1 kB tag 2", "flush", "send 2 100 B"],
    t1=["receive 0 tag 1", "receive 0 tag 2"],
    t2=["receive any"],
)


def asked(program: dict[str, Any], *rows: dict[str, Any], **sections: Any) -> Any:
    return results(program, **{"protocol": {"requirements": list(rows)}, **sections})


@pytest.mark.parametrize("topology", [CROSSBAR, RING], ids=["links", "rings"])
def test_the_longest_of_those_that_are_chosen_counts(topology: dict[str, Any]) -> None:
    chosen = [{"source": 0, "tag": 1}, {"target": 1}, {"target": 2, "name": "last"}, {}]
    rows = [{**one, "within": "30 us"} for one in chosen]
    found = asked(SENDS, *rows, topology=topology, output={"messages": True})
    table, messages, name = found.requirements, found.messages, found.graph.terminal_names
    assert table["flow"].to_list() == [f"{name[0]}:any tag 1", f"any:{name[1]}", "last", "any:any"]
    assert table["packets"].to_list() == [1, 2, 1, 3]
    expected = [
        messages.filter(which)["latency_ns"].max()
        for which in (pl.col("tag") == 1, *(pl.col("target") == name[one] for one in (1, 2)), pl.lit(True))
    ]
    assert table["total_latency_ns_max"].to_list() == expected
    assert table["verdict"].to_list() == ["met" if one <= 30_000 else "missed" for one in expected]
    assert found.summary["requirements"]["count"] == 4


def test_a_message_that_never_arrives_is_late() -> None:
    program = operations(
        t0=["send 1 1 kB", "flush"],
        t1=["receive 2", "receive 0", "send 2 8 B"],
        t2=["receive 1", "send 1 8 B"],
    )
    requirement = {"source": 0, "within": "1 s"}
    found = results(program, protocol={"eager_limit": "100 B", "requirements": [requirement]})
    assert found.summary["end"]["reason"] == "deadlocked"
    row = found.requirements.row(0, named=True)
    assert (row["verdict"], row["lost_packets"], row["margin"]) == ("missed", 1, None)


def test_flows_and_messages_share_a_table() -> None:
    flows = [{"source": 3, "target": 4, "length": "64 B", "rate": "1 MB/s", "requirement": "1 ms"}]
    traffic = {"pattern": {"kind": "flows", "flows": flows}}
    found = asked(SENDS, {"tag": 2, "within": "1 ns"}, traffic=traffic)
    assert found.requirements["verdict"].to_list() == ["met", "missed"]
