"""Which port: by traffic class, and of programs by message, so that all of it is there.

What goes by which plane, and that no packet waits behind one of another class.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fabriloom
import numpy as np
import pytest
from fabriloom import Scenario, bound, load
from fabriloom.compile import LinkRoutes, compile
from fabriloom.compile.several import parallel, port_pairs
from fabriloom.scenario import ScenarioError
from fabriloom.simulate import compare
from fabriloom.studies.inspection import inspect

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "planes-by-class.toml"
CHOICES = ("round-robin", "destination", "shortest-queue", "first-free", "nominal")
CONTROL: list[dict[str, Any]] = [{"from": [0], "ports": ["p1"]}, {"to": [0], "ports": [1]}]
BOTH = {"routing": {"traffic_class": CONTROL}}


def scenario(choice: str = "round-robin", planes: int = 2, **more: Any) -> Scenario:
    """A switch of four terminals, several times; t.0 controls the others."""
    data: dict[str, Any] = {
        "topology": {"kind": "crossbar", "terminals": 4, "replicate": planes},
        "ports": {"choice": choice},
        "traffic": {"load": 0.3, "length": "32 B"},
        "run": {"duration": "200 us", "warmup": "0 s"},
        "output": {"trace": True},
    }
    if "program" in more:
        del data["traffic"]
    return Scenario.from_dict(data | BOTH | more)


def carried(results: fabriloom.Results, plane: str, terminal: str) -> int:
    """The packets that a terminal sent by a plane."""
    links = results.links
    return int(links.filter(links["link"] == f"{plane}/{terminal}>s")["packets"].sum())


LOADS: list[dict[str, Any]] = [
    {"load": 0.5},
    {"load": 0.9, "source_queue": 2},
    {"arrivals": "backlog"},
    {"pattern": {"kind": "matrix", "rows": "equal", "path": "matrix.csv"}, "load": 0.3},
    {"pattern": {"kind": "descriptors", "path": "list.csv"}},
]


@pytest.mark.parametrize("choice", CHOICES)
def test_packets_of_a_class_leave_by_its_ports(choice: str, tmp_path: Path) -> None:
    (tmp_path / "matrix.csv").write_text("0,1,2,3\n1,0,1,1\n1,2,0,1\n3,1,1,0\n")
    (tmp_path / "list.csv").write_text(
        "source,target,length,wait\n0,1,8 B,0 ns\n1,0,8 B,1 us\n1,2,64 B,0 ns\n2,3,64 B,2 us\n3,0,8 B,0 ns\n"
    )
    for traffic in LOADS:
        data = scenario(choice, 3).resolve() | {"traffic": {"length": "32 B"} | traffic}
        given = Scenario.from_dict(data, base_dir=tmp_path)
        found = compare(given, 60_000_000)
        assert found.identical, traffic
        results = fabriloom.run(given)
        trace = results.trace
        assert carried(results, "p0", "t.0") == carried(results, "p2", "t.0") == 0
        control = (trace["source"] == "t.0") | (trace["target"] == "t.0")
        assert results.planes["packets"][1] >= control.sum() > 30, traffic


def test_no_packet_waits_behind_one_of_a_class_with_other_ports() -> None:
    """One port leads to each target, so that the queue of all of them would hold up the short packets."""
    flows = [
        {"source": 1, "target": 2, "rate": "75 Mbit/s", "length": "4 kB"},
        {"source": 1, "target": 0, "rate": "1 Mbit/s", "length": "8 B"},
    ]
    classes = [{"from": [1], "to": [0], "ports": [1]}, {"to": [2], "ports": [0]}]
    pattern = {"pattern": {"kind": "flows", "flows": flows}}
    for choice in CHOICES:
        given = scenario(
            choice, traffic=pattern, routing={"traffic_class": classes}, run={"duration": "20 ms"}
        )
        trace = fabriloom.run(given).trace
        short = trace.filter(trace["target"] == "t.0")
        waited = (short["started_ns"] - short["created_ns"]).to_numpy()
        assert len(short) > 100
        assert waited.max() < 5_000
    assert compare(given, 5_000_000_000).identical


def test_each_class_goes_round_its_own_ports() -> None:
    """Where classes take turns, a rule that counted both together would use every second port of one."""
    flows = [
        {"source": 1, "target": 2, "period": "20 us", "phase": "0 us", "length": "8 B"},
        {"source": 1, "target": 3, "period": "20 us", "phase": "10 us", "length": "8 B"},
    ]
    classes = [{"to": [2], "ports": [2, 0]}, {"to": [3], "ports": [3, 1, 0]}]
    given = scenario(
        "round-robin",
        4,
        traffic={"pattern": {"kind": "flows", "flows": flows}},
        routing={"traffic_class": classes},
        run={"duration": "1201 us", "warmup": "0 s"},
    )
    results = fabriloom.run(given)
    counts = [carried(results, f"p{plane}", "t.1") for plane in range(4)]
    assert counts == pytest.approx([30 + 20, 20, 30, 20], abs=2)


def test_the_first_port_of_a_class_is_nominal_and_the_others_in_reserve() -> None:
    classes = [{"from": [1], "ports": ["p2", "p0"]}]
    fails = {"terminal": "p2/t.1", "at": "100 us"}
    traffic = {"load": 0.8, "length": "32 B"}
    given = scenario("nominal", 3, routing={"traffic_class": classes}, fault=[fails], traffic=traffic)
    assert compare(given, 200_000_000).identical
    results = fabriloom.run(given)
    assert carried(results, "p1", "t.1") == 0
    assert min(carried(results, plane, "t.1") for plane in ("p0", "p2")) > 10
    assert carried(results, "p0", "t.2") > 0


@pytest.mark.parametrize("per", ["message", "packet"])
@pytest.mark.parametrize("choice", ["round-robin", "first-free"])
def test_messages_of_a_class_leave_by_its_ports(per: str, choice: str) -> None:
    do = ["repeat 20", "send t.2 640 B", "send t.0 32 B", "send t.2 640 B", "wait 5 us", "end"]
    own = [{"terminal": "t.1", "do": do}]
    given = scenario(
        choice,
        3,
        ports={"choice": choice, "per": per},
        technology={"preset": "t9000-c104"},
        protocol={"preset": "virtual-link"},
        program={"kind": "operations", "terminals": own},
        routing={"traffic_class": [CONTROL[1], {"to": [2], "ports": ["p0", 2]}]},
        run={"duration": "10 ms", "warmup": "0 s"},
        output={},
    )
    assert compare(given, 3_000_000_000).identical
    results = fabriloom.run(given)
    assert results.summary["messages"]["received"] == 60
    assert carried(results, "p1", "t.1") == 20
    data = [carried(results, plane, "t.1") for plane in ("p0", "p2")]
    assert sum(data) == 40 * 20
    assert min(data) > 200


def test_a_packet_has_a_bound_where_its_class_has_one_port() -> None:
    flows = [
        {"source": 0, "target": 1, "rate": "1 Mbit/s", "length": "8 B"},
        {"source": 2, "target": 1, "rate": "50 Mbit/s", "length": "4 kB"},
    ]
    pattern = {"traffic": {"pattern": {"kind": "flows", "flows": flows}}, "run": {"duration": "1 ms"}}
    one = [{"from": [0], "ports": [1]}, {"from": [2], "ports": [0]}]
    found = bound(scenario(**pattern, routing={"traffic_class": one}))
    both = bound(scenario("nominal", **pattern, routing={"traffic_class": [{"from": [0, 2], "ports": [1]}]}))
    control, mixed = (each.worst.delay(each.flow("t.0", "t.1")) for each in (found, both))
    assert mixed > 10 * control
    with pytest.raises(ScenarioError, match="packets of one flow go by several ports"):
        bound(scenario(**pattern, routing={"traffic_class": one[:1]}))


def test_what_is_said_before_a_run_goes_by_classes() -> None:
    found = inspect(
        scenario("nominal", traffic={"load": 0.1, "pattern": {"kind": "map", "map": [1, 0, 3, 2]}})
    )
    busiest = [plane["busiest_link"] for plane in found["planes"]]
    assert [name.split("/")[0] for name in busiest] == ["p0", "p1"]
    assert {"t.0", "t.1"} & {busiest[1].split(">")[0].split("/")[1], busiest[1].split(">")[1]}
    routes = compile(scenario("round-robin", 3)).routes
    assert isinstance(routes, LinkRoutes)
    assert parallel(routes, "round-robin").tolist() == [1, 3, 3, 3]
    assert parallel(routes, "nominal").tolist() == [1, 2, 2, 2]
    pair, port, to = port_pairs(routes, "round-robin", np.array([0, 1]), np.array([1, 2]))
    assert pair.tolist() == [0, 1, 1, 1]
    assert port.tolist() == [1, 3, 4, 5]
    assert to.tolist() == [4, 6, 7, 8]


def test_the_scenario_keeps_commands_off_the_plane_of_data() -> None:
    apart = fabriloom.run(load(SCENARIO))
    mixed = fabriloom.run(load(SCENARIO, ["ports.choice=round-robin"]))

    def longest(results: fabriloom.Results) -> float:
        flows = results.flows
        return float(flows.filter(flows["source"] == "t.0")["latency_ns_max"].max())

    assert 50 * longest(apart) < longest(mixed)


def test_tables_are_replaced_beside_ports_by_class() -> None:
    routing = {"traffic_class": CONTROL, "after_fault": {"delay": "5 us"}}
    topology = {"kind": "ring", "switches": 4, "replicate": 2}
    fault = [{"cable": "p0/s(0)>s(1)", "at": "50 us"}]
    given = scenario("round-robin", topology=topology, routing=routing, fault=fault)
    assert compare(given, 150_000_000).identical


def program_scenario(
    program: dict[str, Any], planes: int = 4, choice: str | None = None, per: str = "message", **protocol: Any
) -> Scenario:
    data: dict[str, Any] = {
        "topology": {"kind": "clos", "terminals": 8, "terminals_per_switch": 4, "centre_switches": 2},
        "technology": {"preset": "t9000-c104"},
        "protocol": {"preset": "virtual-link", **protocol},
        "program": program,
        "run": {"duration": "40 ms", "warmup": "0 s"},
        "output": {"messages": True},
    }
    data["topology"] |= {"links_per_pair": 1, "replicate": planes}
    if choice is not None:
        data["ports"] = {"choice": choice, "per": per}
    return Scenario.from_dict(data)


def operations(**programs: list[str]) -> dict[str, Any]:
    """Programs by terminal, of which ``a`` and ``b`` stand for two on different switches."""
    names = {"a": "t(0).0", "b": "t(1).0"}
    rows = [{"terminal": names[name], "do": do} for name, do in programs.items()]
    return {"kind": "operations", "terminals": rows}


STREAM = operations(a=["repeat 400", "send t(1).0 320 B", "end"], b=["repeat 400", "receive t(0).0", "end"])


def rate(found: Any) -> float:
    """Messages received per millisecond until the last one."""
    last = found.messages["received_ns"].max()
    return len(found.messages) / last * 1e6


def test_virtual_links_on_four_links_carry_four_times_as_much() -> None:
    one = fabriloom.run(program_scenario(STREAM, 1, messages_at_once=1))
    for choice in ("first-free", "round-robin", "shortest-queue"):
        four = fabriloom.run(program_scenario(STREAM, 4, choice, messages_at_once=4))
        assert rate(four) == pytest.approx(4 * rate(one), rel=0.02), choice
        assert (four.planes["packets"] == four.planes["packets"][0]).all()
    for choice in ("destination", "nominal"):
        found = fabriloom.run(program_scenario(STREAM, 4, choice, messages_at_once=4))
        assert rate(found) < 1.1 * rate(one), choice
        assert (found.planes["packets"] > 0).sum() == 1


def test_a_message_is_there_when_all_its_packets_are() -> None:
    """Ten packets of 32 B and their acknowledgements, all in the plane of their message."""
    found = fabriloom.run(program_scenario(STREAM, 4, "round-robin", messages_at_once=4))
    assert found.summary["messages"]["received"] == 400
    assert found.planes["packets"].to_list() == [400 // 4 * 10 * 2] * 4
    assert found.summary["messages"]["overtaken"] == 0


ONE_AT_A_TIME = operations(
    a=["repeat 20", "send t(1).0 3200 B", "flush", "end"], b=["repeat 20", "receive t(0).0", "end"]
)


def test_one_message_uses_four_links_if_each_packet_gets_one() -> None:
    one = fabriloom.run(program_scenario(ONE_AT_A_TIME, 1))
    whole = fabriloom.run(program_scenario(ONE_AT_A_TIME, 4, "round-robin"))
    assert rate(whole) == pytest.approx(rate(one), rel=0.01)
    for choice in ("first-free", "round-robin", "shortest-queue"):
        spread = fabriloom.run(program_scenario(ONE_AT_A_TIME, 4, choice, "packet"))
        assert rate(spread) == pytest.approx(4 * rate(one), rel=0.03), choice
        # 100 packets and as many acknowledgements of each message.
        assert spread.planes["packets"].to_list() == [20 * 25 * 2] * 4
        assert spread.summary["messages"]["overtaken"] == 0


def test_packets_of_a_message_that_overtake_are_counted(tmp_path: Path) -> None:
    """The second network has links of half the rate: what goes there comes late."""
    pair = {"kind": "crossbar", "terminals": 2}
    planes = [{"name": "fast", "network": pair}, {"name": "slow", "network": pair, "link_rate": "50 Mbit/s"}]
    program = {"kind": "operations", "terminals": [{"terminal": "t0", "do": ["send t1 100 kB"]}]}
    found = {}
    for choice in ("round-robin", "first-free"):
        data = {
            "topology": {"kind": "planes", "planes": planes},
            "technology": {"preset": "ds-link-c104"},
            "ports": {"choice": choice, "per": "packet"},
            "protocol": {"preset": "raw", "packet": "1000 B"},
            "program": program,
            "run": {"duration": "40 ms", "warmup": "0 s"},
            "output": {"messages": True},
        }
        found[choice] = fabriloom.run(Scenario.from_dict(data))
    turns, free = found["round-robin"], found["first-free"]
    assert turns.planes["packets"].to_list() == [50, 50]
    late = turns.summary["packets"]["overtaken"]
    assert late > 20
    assert any(f"{late} packets" in one for one in turns.summary["warnings"])
    # Of 100 packets the slow network gets a third, and the message is there as early as can be.
    assert free.planes["packets"].to_list() == pytest.approx([67, 33], abs=1)
    times = [one.messages["received_ns"][0] for one in (turns, free)]
    assert times[1] == pytest.approx(times[0] * 2 / 3, rel=0.03)


def test_what_overtakes_is_counted_and_said() -> None:
    program = operations(
        a=["repeat 20", "send t(1).0 3200 B", "send t(1).0 32 B", "end"],
        b=["repeat 40", "receive any", "end"],
    )
    found = fabriloom.run(program_scenario(program, 2, "round-robin", messages_at_once=4))
    received = found.messages["received_ns"].to_list()
    late = sum(time > min(received[at:]) for at, time in enumerate(received))
    assert found.summary["messages"]["overtaken"] == late > 0
    assert any(f"{late} messages" in warning for warning in found.summary["warnings"])
    kept = fabriloom.run(program_scenario(program, 2, "destination", messages_at_once=4))
    assert kept.summary["messages"]["overtaken"] == 0
    assert "overtaken" not in kept.summary["packets"]


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("per", ["message", "packet"])
def test_events_over_two_rails_are_complete(choice: str, per: str) -> None:
    program = {"kind": "level-3", "events": 40, "fragment": "500 B", "sources": 4, "targets": [4, 5, 6, 7]}
    given = program_scenario(program, 2, choice, per, messages_at_once=2, receive_at_once=3, send_time="1 us")
    found = compare(given, 400_000_000_000)
    assert found.identical
    results = fabriloom.run(given)
    assert results.summary["events"]["complete"] == 40
    assert results.summary["messages"]["received"] == 160


def on_two_switches(tmp_path: Path, cables: str, programs: dict[str, list[str]]) -> Scenario:
    """Terminals with these cables to the switches ``s`` and ``r``, which nothing else joins."""
    rows = ["kind,source,target", "switch,s,", "switch,r,", *(f"terminal,{name}," for name in programs)]
    rows += [f"cable,{ends.replace('-', ',')}" for ends in cables.split()]
    (tmp_path / "own.csv").write_text("\n".join(rows) + "\n")
    terminals = [{"terminal": name, "do": do} for name, do in programs.items()]
    data = {
        "topology": {"kind": "file", "path": "own.csv"},
        "program": {"kind": "operations", "terminals": terminals},
        "run": {"duration": "20 ms", "warmup": "0 s"},
        "output": {"messages": True},
    }
    return Scenario.from_dict(data, base_dir=tmp_path)


def test_a_message_goes_where_its_target_is(tmp_path: Path) -> None:
    """A memory on the second network gets its message while the first network is full."""
    programs = {"x": ["send y 64 kB tag 1", "send z 32 B tag 2"], "y": ["receive x"], "z": ["receive x"]}
    table = fabriloom.run(on_two_switches(tmp_path, "x-s y-s x-r z-r", programs)).messages
    assert table.sort("received_ns")["tag"].to_list() == [2, 1]


def test_a_target_that_a_message_names_can_be_out_of_reach(tmp_path: Path) -> None:
    """Before the run nobody knows it: ``x`` tells ``y`` the number of a terminal that ``y`` cannot reach."""
    programs = {"x": ["send y 8 B tag 2"], "y": ["receive any", "send tagged 8 B"], "z": ["receive any"]}
    given = on_two_switches(tmp_path, "x-s y-s x-r z-r", programs)
    with pytest.raises(fabriloom.ScenarioError) as caught:
        fabriloom.run(given)
    assert '"y" sends to "z"' in str(caught.value)


def test_programs_end_before_a_failure_that_nobody_awaits() -> None:
    """Messages that waited for a free port had waited for the failure of a port, too."""
    data = {
        "topology": {"kind": "crossbar", "terminals": 4, "replicate": 2},
        "ports": {"choice": "first-free"},
        "program": {"kind": "fixed-pairs", "size": "640 B", "rounds": 5},
    }
    usual, fails = (
        fabriloom.run(Scenario.from_dict({**data, "fault": fault}))
        for fault in ([], [{"link": "p0/t.0>s", "at": "10 ms"}])
    )
    assert fails.end_reason == usual.end_reason == "drained"
    assert fails.summary["messages"] == usual.summary["messages"]
