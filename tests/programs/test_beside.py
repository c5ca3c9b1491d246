"""Traffic beside programs: terminals that run a program and are sources as well.

Clocks that drift, and starts that differ.

Presets of hosts of today: queue pairs over InfiniBand and Ethernet, and TCP.

The guide shows every ready program, and its pictures are what the script draws.
"""

from __future__ import annotations

import importlib.util
import xml.etree.ElementTree as ET
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest
from fabriloom import Results, Scenario, run
from fabriloom.programs import Programs
from fabriloom.programs.build import BUILDERS
from fabriloom.programs.kinds import UNTIL, WAIT
from fabriloom.simulate import compare
from fabriloom.studies.inspection import inspect

from .common import CROSSBAR, READY, lists, operations, programs, results, scenario

FLOWS = [
    {"source": 0, "target": 1, "length": "1 kB", "rate": "40 Mbit/s", "requirement": "1 ms", "name": "up"},
    {"source": 4, "target": 5, "length": "64 B", "period": "20 us", "phase": "0 us", "name": "clock"},
]
TRAFFIC: dict[str, Any] = {"pattern": {"kind": "flows", "flows": FLOWS}, "arrivals": "constant"}


def beside(program: dict[str, Any], **sections: Any) -> Scenario:
    return scenario(program, **{"traffic": TRAFFIC, **sections})


@pytest.mark.parametrize("name", READY)
def test_the_twin_delivers_the_same(name: str) -> None:
    traffic = TRAFFIC if len(name) % 2 else {"load": 0.2, "length": "100 B"}
    more: dict[str, Any] = {"traffic": traffic, "protocol": {"preset": "virtual-link"}}
    found = compare(beside(READY[name], **more))
    assert found.identical
    assert found.packets > 20
    for choice in ("round-robin", "first-free", "nominal"):
        ports = {"topology": {**CROSSBAR, "replicate": 2}, "ports": {"choice": choice}}
        two = compare(beside(READY[name], **more, **ports))
        assert two.identical
        assert two.packets > 20


def test_both_are_measured_apart() -> None:
    alone = run(scenario(READY["ping-pong"])).summary
    results: Results = run(beside(READY["ping-pong"]))
    both = results.summary
    assert both["end"]["reason"] == "drained"
    assert both["messages"]["received"] == alone["messages"]["received"]
    assert both["packets"]["delivered"] == alone["packets"]["delivered"] + sum(
        results.completions["delivered"]
    )
    assert results.completions["flow"].to_list() == ["up", "clock"]
    assert results.requirements["flow"].to_list() == ["up"]
    assert both["requirements"]["met"] == 1


def test_a_program_waits_behind_the_packet_of_a_source() -> None:
    """The link is busy with 64 B from 0; the message of the program is made at 1 us and follows it."""
    program = operations(t4=["wait 1 us", "send t.5 64 B"], t5=["receive t.4"])
    output = {"trace": True}
    clock = {"pattern": {"kind": "flows", "flows": FLOWS[1:]}}
    first, second = (
        run(beside(program, traffic=clock, output=output)).trace.sort("started_ns").rows(named=True)
    )
    assert (first["created_ns"], second["created_ns"]) == (0, 1000)
    twice = {"pattern": {"kind": "flows", "flows": [{**FLOWS[1], "packets": 2}]}}
    wait = operations(t4=["wait 1 us"])
    alone = run(beside(wait, traffic=twice, output=output)).trace.sort("started_ns").rows(named=True)
    assert second["started_ns"] == alone[1]["started_ns"] > 6000


def test_they_take_turns() -> None:
    """Both have ten packets at once: a terminal's link carries them one after the other from each."""
    flow = {**FLOWS[1], "packets": 10, "period": "10 ms", "phase": "0 us"}
    program = operations(t4=["send t.6 640 B"], t6=["receive t.4"])
    sections = {"protocol": {"preset": "raw", "packet": "64 B"}, "output": {"trace": True}}
    found = run(beside(program, traffic={"pattern": {"kind": "flows", "flows": [flow]}}, **sections))
    order = found.trace.sort("started_ns")["target"].to_list()
    assert order[:8] == ["t.6", "t.5"] * 4


def test_they_take_turns_at_each_of_two_ports() -> None:
    """By its first port a terminal sends both, in turn; by the second traffic of another class, alone."""
    flows = [{**FLOWS[1], "target": to, "packets": 6, "period": "10 ms", "name": str(to)} for to in (5, 7)]
    program = operations(t4=["send t.6 384 B"], t6=["receive t.4"])
    classes = [{"to": [7], "ports": ["p1"]}, {"to": [5, 6], "ports": ["p0"]}]
    found = run(
        beside(
            program,
            topology={**CROSSBAR, "replicate": 2},
            routing={"traffic_class": classes},
            traffic={"pattern": {"kind": "flows", "flows": flows}},
            protocol={"preset": "raw", "packet": "64 B"},
            output={"trace": True},
        )
    )
    sent = found.trace.sort("started_ns")
    first = sent.filter(sent["target"] != "t.7")
    assert first["target"].to_list() == ["t.6", "t.5"] * 6
    second = sent.filter(sent["target"] == "t.7")
    assert second["started_ns"].to_list() == first["started_ns"].to_list()[:6]


def test_they_take_turns_on_a_ring() -> None:
    """With one transaction at a time a port begins to be free for one packet after the other."""
    flow = {"source": 0, "target": 1, "length": "64 B", "packets": 10, "period": "10 ms", "phase": "0 us"}
    program = operations(t0=["send t2 640 B"], t2=["receive t0"])
    sections = {"protocol": {"preset": "raw", "packet": "64 B"}, "output": {"trace": True}}
    found = run(
        beside(
            program,
            topology={"kind": "sci-ring", "terminals": 4},
            technology={"preset": "sci-1000", "transactions": 1},
            traffic={"pattern": {"kind": "flows", "flows": [flow]}},
            **sections,
        )
    )
    sent = found.trace.sort("started_ns")
    assert sent["target"].to_list()[:20] == ["t2", "t1"] * 10


@pytest.mark.parametrize("preset", ["sci-1000", "rpr-10g", "fddi"])
def test_responses_are_under_way_beside_traffic_on_a_ring(preset: str) -> None:
    """A program that waits for the response of its only packet does not wait for ever."""
    flow = {"source": 3, "target": 1, "length": "64 B", "period": "20 us", "phase": "0 us"}
    program = operations(t0=["repeat 3", "send t2 64 B", "flush", "end"], t2=["receive t0"] * 3)
    sections = {
        "topology": {"kind": "sci-ring", "terminals": 4},
        "technology": {"preset": preset},
        "traffic": {"pattern": {"kind": "flows", "flows": [flow]}},
        "protocol": {"preset": "raw", "packet": "64 B", "transaction": "nwrite", "acknowledge": "response"},
    }
    found = run(beside(program, **sections))
    assert (found.end_reason, found.summary["messages"]["received"]) == ("drained", 3)


def test_packets_of_a_source_on_a_ring_do_not_use_the_bus_of_the_host() -> None:
    """A bus of 10 us a packet delays messages alone."""
    flow = {"source": 3, "target": 2, "length": "64 B", "packets": 1, "period": "10 ms", "phase": "0 us"}
    program = operations(t0=["send t2 64 B"], t2=["receive t0"])
    found = run(
        beside(
            program,
            topology={"kind": "sci-ring", "terminals": 4},
            traffic={"pattern": {"kind": "flows", "flows": [flow]}},
            protocol={"preset": "raw", "packet": "64 B", "bus_packet_time": "10 us"},
            output={"trace": True},
        )
    )
    took = found.trace.with_columns(took=pl.col("delivered_ns") - pl.col("created_ns"))
    by_source = dict(took.select("source", "took").iter_rows())
    assert by_source["t0"] > 20_000
    assert by_source["t3"] < 2_000


def test_the_traffic_ends_with_the_programs() -> None:
    program = operations(t4=["wait 90 us"])
    found = run(beside(program, traffic={"pattern": {"kind": "flows", "flows": FLOWS[1:]}}))
    assert found.completions["created"].to_list() == [5]
    assert found.end_reason == "drained"


def test_programs_that_wait_for_ever_are_found_beside_endless_traffic() -> None:
    program = operations(t0=["receive t.1", "send t.1 8 B"], t1=["receive t.0", "send t.0 8 B"])
    found = run(beside(program))
    assert found.end_reason == "deadlocked"
    assert len(found.summary["end"]["waiting"]) == 2


def test_resolving_keeps_both() -> None:
    once = beside(READY["ping-pong"])
    again = Scenario.from_dict(once.resolve())
    assert again.sha256 == once.sha256
    assert again.has_traffic
    assert not scenario(READY["ping-pong"]).has_traffic


SHIFTER = READY["barrel-shifter"]


def clocked(**clocks: object) -> Programs:
    return programs({**SHIFTER, "clocks": clocks})


def test_exact_clocks_change_nothing() -> None:
    assert lists(clocked(start="0 s", drift_ppm=0)) == lists(programs(SHIFTER))


def test_every_time_is_by_the_clock_of_its_terminal() -> None:
    exact, drifting = programs(SHIFTER), clocked(drift_ppm=100)
    timed = (exact.kind == UNTIL) & (exact.amount > 0)
    ratio = exact.amount[timed] / drifting.amount[timed]
    for terminal in range(4):
        own = ratio[exact.terminal[timed] == terminal]
        # Whole nanoseconds of at least 30 us.
        assert own.max() - own.min() < 5e-5
        assert abs(own.mean() - 1) <= 1e-4
    assert len({round(one, 5) for one in ratio.tolist()}) > 4


def test_programs_start_at_different_times() -> None:
    late = clocked(start="20 us")
    first = [one[0] for one in lists(late) if one]
    assert all(one.startswith("until ") for one in first)
    assert len(set(first)) == len(first) == CROSSBAR["terminals"]
    again = lists(clocked(start="20 us"))
    assert again == lists(late)


def test_waits_have_no_start() -> None:
    program = {
        **operations(t0=["wait 1 ms", "send t.1 8 B"], t1=["receive t.0"]),
        "clocks": {"drift_ppm": 1000},
    }
    found = programs(program)
    (wait,) = found.amount[found.kind == WAIT].tolist()
    assert wait != 10**9
    assert wait == pytest.approx(10**9, rel=1.001e-3)


def test_a_shift_that_drifts_collides() -> None:
    """Senders in step never meet; starts apart by several slots make them."""
    settings = {"kind": "barrel-shifter", "fragment": "2 kB", "events": 200, "slot": "200 us"}
    steady = results(settings).summary["message_latency_ns"]["max"]
    apart = results({**settings, "clocks": {"start": "2 ms"}}).summary["message_latency_ns"]["max"]
    assert apart > 1.5 * steady


STREAM: dict[str, Any] = {
    "kind": "fixed-pairs",
    "size": "64 kB",
    "rounds": 20,
    "sources": [0],
    "targets": [1],
}
PING: dict[str, Any] = {"kind": "ping-pong", "size": "8 B", "rounds": 20}
EDR: dict[str, Any] = {"preset": "infiniband-4x-edr"}


def on(preset: str, program: dict[str, Any]) -> Results:
    return run(scenario(program, technology=EDR, protocol={"preset": preset}))


@pytest.mark.parametrize("preset", ["verbs-infiniband", "verbs-roce", "mpi-infiniband"])
def test_verbs_fill_the_link(preset: str) -> None:
    found = scenario(STREAM, technology=EDR, protocol={"preset": preset}).resolve()
    assert found["protocol"]["packet"] == "2048 B"  # the MTU of the technology
    assert on(preset, STREAM).summary["messages"]["mbytes_per_s"] > 11_000


def test_verbs_answer_in_a_microsecond() -> None:
    half = on("verbs-infiniband", PING).summary["rounds"]["ns_mean"] / 2
    assert 500 < half < 1500


def test_tcp_is_bound_by_its_copies_and_calls() -> None:
    assert 2_500 < on("tcp", STREAM).summary["messages"]["mbytes_per_s"] < 4_000
    assert 10_000 < on("tcp", PING).summary["rounds"]["ns_mean"] / 2 < 13_000


@pytest.mark.parametrize("kind", ["fixed-pairs", "all-to-all"])
def test_the_host_of_long_packets_is_the_bound(kind: str) -> None:
    """A copy takes 250 ps a byte, so each of the senders offers 4000 MB/s whatever its link carries."""
    ends = {"sources": [0, 1], "targets": [2, 3]} if kind == "fixed-pairs" else {}
    program = {"kind": kind, "size": "100 kB", "rounds": 20, **ends}
    tcp = {"preset": "tcp", "packets_per_channel": 0}
    given = scenario(program, technology={"preset": "ethernet-100g"}, protocol=tcp)
    found = inspect(given)
    senders = 2 if ends else run(given).graph.terminals
    assert (found["link"]["limited_by"], found["link"]["payload_mbytes_per_s"]) == (
        "host",
        pytest.approx(4000),
    )
    bound = found["channel_load"]["accepted_mbytes_per_s_bound"]
    assert bound == pytest.approx(senders * 4000)
    assert run(given).summary["messages"]["mbytes_per_s"] == pytest.approx(bound, rel=0.1)


@pytest.mark.parametrize(("streams", "most"), [(1, 320), (2, 640)])
def test_the_calls_of_a_host_are_the_bound(streams: int, most: float) -> None:
    """A call of 200 ns for each 64 B, by every stream; a third terminal sends longer messages."""
    lists = [{"terminal": 0, "stream": one, "do": ["send 1 64 B"] * 200} for one in range(streams)]
    lists += [{"terminal": 1, "stream": one, "do": ["receive any"] * 200} for one in range(streams)]
    lists += [{"terminal": 2, "do": ["send 3 640 B"] * 20}, {"terminal": 3, "do": ["receive any"] * 20}]
    given = scenario(
        {"kind": "operations", "terminals": lists}, technology=EDR, protocol={"preset": "verbs-infiniband"}
    )
    found = inspect(given)
    assert found["link"]["limited_by"] == "host"
    bound = found["channel_load"]
    assert bound["busiest_link"].startswith("t.0>")
    assert bound["accepted_mbytes_per_s_bound"] == pytest.approx(most * (1 + 1 / streams))
    accepted = run(given).summary["messages"]["mbytes_per_s"]
    assert accepted <= bound["accepted_mbytes_per_s_bound"]


def test_a_host_calls_while_it_copies() -> None:
    """Twenty calls of 5 us and twenty copies of 25 us pass beside each other, on several streams too."""
    program = {"kind": "fixed-pairs", "size": "100 kB", "rounds": 20, "sources": [0], "targets": [1]}
    found = on("tcp", program)
    copied = 20 * 25_000 / found.hosts["ended_ns"].max()
    assert 0.9 < copied < 1
    assert found.summary["limit"] == found.summary["limit"] | {"what": "host", "share": pytest.approx(copied)}
    streams = [{"terminal": 0, "stream": one, "do": ["send 1 8 B"] * 20} for one in range(4)]
    program = {"kind": "operations", "terminals": [*streams, {"terminal": 1, "do": ["receive any"] * 80}]}
    found = on("tcp", program)
    assert found.summary["limit"]["name"] == "t.1"
    assert found.summary["limit"]["share"] == pytest.approx(80 * 5000 / found.hosts["ended_ns"].max())


ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "images" / "programs"
GUIDE = ROOT / "docs" / "guides" / "programs.md"


def script() -> ModuleType:
    """The script beside the pictures."""
    spec = importlib.util.spec_from_file_location("draw_programs", PICTURES / "draw.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_ready_program_is_on_the_page() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    assert [kind for kind in BUILDERS if f"**{kind}**" not in text] == ["operations"]
    drawn = {path.stem for path in PICTURES.glob("*.svg")}
    assert drawn == set(script().PROGRAMS)
    text += (GUIDE.parent / "own-programs.md").read_text(encoding="utf-8")
    assert [name for name in sorted(drawn) if f"images/programs/{name}.svg)" not in text] == []


@pytest.mark.parametrize("name", ["ping-pong", "credit"])
def test_a_picture_is_a_run_of_its_program(name: str) -> None:
    """An arrow for every message and a line for every terminal; well-formed, and not too large for a page."""
    module = script()
    settings = module.PROGRAMS[name]
    svg = module.picture(name, **settings)
    root = ET.fromstring(svg)
    arrows = root.findall("{http://www.w3.org/2000/svg}polygon")
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert len(arrows) >= 10
    assert [f"t.{number}" in texts for number in range(settings["terminals"])] == [True] * settings[
        "terminals"
    ]
    assert svg.count("\n") < 200


def test_sources_that_stopped_before_the_programs_make_nothing_more() -> None:
    data = {
        "topology": {"kind": "crossbar", "terminals": 4},
        "technology": {"preset": "generic"},
        "program": {"kind": "funnel-in", "size": "64 B", "rounds": 1000},
        "traffic": {"length": "256 B", "load": 0.2, "arrivals": "constant"},
        "run": {"duration": "1 us", "drain": True},
    }
    packets = run(Scenario.from_dict(data)).summary["packets"]
    assert packets["offered"] == packets["delivered"]
    assert packets["in_flight"] == 0
