"""Curves, sweeps and saturation: the same for any number of jobs, resumed, ended by Ctrl-C.

Points of a curve are placed where it bends.
"""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import fabriloom
import pytest
from fabriloom import Scenario, ScenarioError, curve, saturate, simulate
from fabriloom.results import columns
from fabriloom.studies import curves, inspection, route_choices
from fabriloom.studies.curves import settings_of


def small(**sections: Any) -> Scenario:
    """A crossbar of eight terminals: fast to run, and its saturation is known."""
    base: dict[str, Any] = {
        "name": "Crossbar",
        "topology": {"kind": "crossbar", "terminals": 8},
        "traffic": {"pattern": "uniform", "length": "32 B", "load": 0.2},
        "run": {"duration": "1500 us", "warmup": "200 us", "precision": 0.0},
    }
    return Scenario.from_dict({**base, **sections})


def test_points_do_not_depend_on_jobs() -> None:
    loads = [0.1, 0.3, 0.5, 0.9]
    one, three = (curve(small(), loads, jobs=jobs) for jobs in (1, 3))
    assert one.summary == three.summary
    assert [point.settings["traffic.load"] for point in one.points] == loads


def test_table_has_the_defined_columns() -> None:
    found = curve(small(), [0.1, 0.4])
    assert found.table.columns == ["traffic.load", *columns.POINTS.names]
    assert found.table["accepted_mbytes_per_s"].is_sorted()


def test_sweep_is_cartesian_and_its_loads_can_be_replaced() -> None:
    sweep = {"traffic.load": [0.1, 0.2], "traffic.length": ["16 B", "64 B"]}
    scenario = small(sweep=sweep)
    assert len(settings_of(sweep)) == 4
    found = curve(scenario)
    assert [tuple(point.settings.values()) for point in found.points] == [
        (0.1, "16 B"),
        (0.1, "64 B"),
        (0.2, "16 B"),
        (0.2, "64 B"),
    ]
    other = curve(scenario, [0.3])
    assert {point.settings["traffic.load"] for point in other.points} == {0.3}
    assert len(other.points) == 2


def test_lists_and_words_of_one_setting_are_a_column_of_text(tmp_path: Path) -> None:
    study = curve(small(sweep={"traffic.senders": ["all", ["0..1"], [2]]}, run={"duration": "10 us"}))
    assert study.table["traffic.senders"].to_list() == ["all", '["0..1"]', "[2]"]
    study.to_csv(tmp_path)


def test_finished_points_are_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = curve(small(), [0.1, 0.2], out=tmp_path)
    kept = sorted((tmp_path / "points").iterdir())
    assert len(kept) == 2
    kept[0].write_text("{cut short", encoding="utf-8")
    ran: list[float] = []
    original = simulate.run

    def counted(scenario: Scenario, **options: Any) -> Any:
        ran.append(scenario.traffic.load or 0.0)
        return original(scenario, **options)

    monkeypatch.setattr(simulate, "run", counted)
    with pytest.warns(UserWarning, match=f"{kept[0].name}: .* cut short or changed; it is computed again"):
        again = curve(small(), [0.1, 0.2, 0.3], out=tmp_path)
    assert len(ran) == 2, "the broken point and the new one"
    assert again.summary["points"][:2] == first.summary["points"]
    ran.clear()
    curve(small(seed=2), [0.1], out=tmp_path)
    assert ran == [0.1], "another seed is another scenario"


def test_two_writers_of_a_point_write_equal_bytes(tmp_path: Path) -> None:
    """Also when they ask for it in other words; and every changed byte is noticed."""
    curve(small(), [0.1], out=tmp_path / "one")
    curve(small(sweep={"traffic.load": [0.1], "traffic.length": ["32 B"]}), out=tmp_path / "other")
    (one,), (other,) = ([*(tmp_path / name / "points").iterdir()] for name in ("one", "other"))
    text = one.read_bytes()
    assert (one.name, text) == (other.name, other.read_bytes())
    for at in random.Random(1).sample(range(len(text)), 20):
        one.write_bytes(text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :])
        with pytest.warns(UserWarning, match="computed again"):
            curve(small(), [0.1], out=tmp_path / "one")
        assert one.read_bytes() == text


def test_a_point_of_another_program_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    curve(small(), [0.1], out=tmp_path)
    monkeypatch.setattr("fabriloom.studies.points.program", lambda: "another")
    curve(small(), [0.1], out=tmp_path)
    assert len([*(tmp_path / "points").iterdir()]) == 2


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    def interrupt(_: Any) -> None:
        raise KeyboardInterrupt

    found = curve(small(), [0.1, 0.2, 0.3, 0.4], jobs=1, out=tmp_path, on_point=interrupt)
    assert found.interrupted
    assert found.summary["interrupted"] is True
    assert 1 <= len(found.points) == len(list((tmp_path / "points").glob("*.json"))) < 4


def test_a_wrong_load_is_said_before_anything_runs() -> None:
    with pytest.raises(ScenarioError, match="load"):
        curve(small(), [0.1, 1.5])


@pytest.mark.parametrize("study", [curve, saturate])
def test_a_load_that_would_change_nothing_is_refused(study: Any) -> None:
    backlog = small(traffic={"pattern": "uniform", "length": "32 B", "arrivals": "backlog"})
    with pytest.raises(ScenarioError, match="no effect: arrivals of kind backlog"):
        study(backlog)


@pytest.mark.parametrize(
    ("program", "hint"),
    [
        ({"kind": "level-2", "block": "9 B"}, "program.rate"),
        ({"kind": "ping-pong", "size": "8 B"}, "technology.cable_length"),
    ],
)
def test_loads_of_a_program_are_answered_with_a_sweep_that_it_takes(program: Any, hint: str) -> None:
    scenario = {"topology": {"kind": "crossbar", "terminals": 4}, "program": program}
    with pytest.raises(ScenarioError, match=f'such as "{hint}"'):
        curve(Scenario.from_dict(scenario), [0.1])


def test_saturation_by_backlog_is_between_its_bounds() -> None:
    """An 8 x 8 crossbar carries about 0.62 of its links, more when packets are short beside the buffers."""
    found = saturate(small(), "backlog")
    link = inspection.inspect(small())["link"]["payload_mbytes_per_s"]
    assert found.accepted_mbytes_per_s is not None
    assert 0.5 < found.accepted_mbytes_per_s / (8 * link) < 0.85
    assert found.accepted_mbytes_per_s_ci95 is not None
    assert found.sustained_load is None
    keys = set(found.summary) - {"name", "scenario_sha256", "version", "seed", "points"}
    assert keys == set(columns.studies.SATURATION.names)


def test_saturation_by_peak_brackets_the_sustained_load() -> None:
    found = saturate(small(), "peak", resolution=0.05)
    assert found.sustained_load is not None
    assert found.refused_load is not None
    assert 0 < found.refused_load - found.sustained_load <= 0.05
    best = max(point.summary["accepted_mbytes_per_s"] for point in found.points)
    assert found.accepted_mbytes_per_s == best


def test_sources_that_wait_have_a_peak_and_no_sustained_load() -> None:
    traffic = {"pattern": "uniform", "length": "32 B", "load": 0.2, "arrivals": "wait"}
    found = saturate(small(traffic=traffic), "peak")
    assert found.sustained_load is None
    assert found.at_load is not None
    assert len(found.points) >= 11


def test_an_interruption_at_once_says_nothing_of_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither that 0 is sustained nor that 1 is not: no run has told so."""

    def interrupted(runs: list[Any], **_: Any) -> tuple[list[None], bool]:
        return [None] * len(runs), True

    monkeypatch.setattr("fabriloom.studies.saturation.run_points", interrupted)
    found = saturate(small(), "peak")
    assert (found.sustained_load, found.refused_load, found.interrupted) == (None, None, True)


def test_a_full_disk_does_not_end_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept only saves time; hours of runs are not lost because it cannot be kept."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    with pytest.warns(UserWarning, match="no longer kept here: no space left on device"):
        found = curve(small(), [0.1, 0.2], out=tmp_path)
    assert len(found.points) == 2
    assert list((tmp_path / "points").iterdir()) == []


def test_two_studies_may_keep_their_points_in_one_folder(tmp_path: Path) -> None:
    """The same point at the same time: neither takes away the other's half-written file."""
    script = (
        "import sys; from pathlib import Path; from fabriloom.output import Pieces\n"
        "pieces = Pieces.at(Path(sys.argv[1]))\n"
        "for n in range(300): pieces.put(f'{n}.json', 'x' * 20000)"
    )
    command = [sys.executable, "-W", "error", "-c", script, str(tmp_path)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(3)]
    said = [process.communicate()[1] for process in running]
    assert said == [b"", b"", b""]
    assert len(list(tmp_path.iterdir())) == 300


def test_a_name_is_not_taken_for_a_scenario() -> None:
    """What is easily tried first is answered in words, and not from the depths of a module."""
    wrong: Any = "my-network.toml"
    for ask in (fabriloom.run, curve, saturate, lambda name: fabriloom.compare({"one": name})):
        with pytest.raises(TypeError, match=r"takes a Scenario, not a str; make one by fabriloom\.load"):
            ask(wrong)
    graph: Any = fabriloom.topology.build("crossbar", terminals=4)
    with pytest.raises(TypeError, match=r"not a Graph; make one by fabriloom\.Scenario\.from_dict"):
        fabriloom.run(graph)


def test_studies_show_themselves_in_a_notebook() -> None:
    found = curve(small(), [0.1])
    assert repr(found) == "<Curve 'Crossbar': 1 point>"
    assert "<p>Crossbar: 1 point</p>" in found._repr_html_()
    full = saturate(small(), "backlog")
    assert repr(full).startswith("<Saturation 'Crossbar': ")
    assert repr(full).endswith(" by backlog>")
    assert "backlog</p>" in full._repr_html_()


def test_inspection_has_the_defined_keys() -> None:
    found = inspection.inspect(small())
    resolved = found.pop("resolved")
    assert resolved["topology"]["kind"] == "crossbar"
    keys = set(columns.flatten(found)) - {"name", "scenario_sha256", "warnings"}
    assert keys == set(columns.CHECK.names)


def test_zero_load_counts_the_copies_of_a_packet_for_several_terminals() -> None:
    """One copy passes one router more; the flow is one of two, and its value the mean of its copies."""
    ends = {"a": "t(0).1", "b": "t(0).2", "c": "t(1).0"}
    lonely = [
        {"source": "t(0).0", "target": end, "length": "64 B", "period": "1 ms"} for end in ends.values()
    ]
    base = {
        "topology": {"kind": "grid", "shape": [2], "terminals_per_switch": 3},
        "technology": {"preset": "spacewire-200"},
        "routing": {"kind": "up*/down*"},
    }

    def found(flows: list[dict[str, Any]], **routing: Any) -> dict[str, Any]:
        given = {
            "routing": {**base["routing"], **routing},
            "traffic": {"pattern": {"kind": "flows", "flows": flows}},
        }
        return inspection.inspect(Scenario.from_dict({**base, **given}))["zero_load_latency_ns"]

    alone = found(lonely)
    several = {"name": "all", "address": 90, "from": ["t(0).0"], "to": list(ends.values())}
    spread = found([{**lonely[0], "target": "all"}, lonely[0]], distribution=[several])
    assert (spread["min"], spread["max"]) == (alone["min"], alone["max"])
    assert spread["pairs"] == 2
    assert spread["mean"] == pytest.approx((alone["mean"] + alone["min"]) / 2)


def test_packets_for_several_terminals_limit_links_by_their_own_length() -> None:
    """Between two packets a router pauses for 351 ns, whoever they are for; alone they need no other flow."""
    several = {"name": "all", "address": 90, "from": ["t.0"], "to": ["t.1", "t.2"]}
    spread = {"source": "t.0", "target": "all", "length": "100 B", "rate": "19 MB/s"}
    short = {"source": "t.3", "target": "t.4", "length": "30 B", "rate": "1 MB/s"}
    for flows in ([spread], [spread, short], [spread, short, {**short, "source": "t.4", "target": "t.3"}]):
        pattern = {"kind": "flows", "flows": flows}
        scenario = Scenario.from_dict(
            {
                "topology": {"kind": "crossbar", "terminals": 5},
                "technology": {"preset": "spacewire-200", "flow_control": "ignored"},
                "routing": {"kind": "shortest-path", "distribution": [several]},
                "traffic": {"pattern": pattern},
                "run": {"duration": "1 ms"},
            }
        )
        over = inspection.inspect(scenario)["demanded"]["over"]
        possible = {one["what"]: one["possible_mbytes_per_s"] for one in over}
        # 101 characters of 50 ns.
        assert possible == {"t.0>s": pytest.approx(100 / 5.401, rel=1e-3)}
        carried = route_choices.look(scenario)["present"]["accepted_mbytes_per_s_bound"]
        if flows == [spread]:
            assert carried == pytest.approx(2 * possible["t.0>s"], rel=1e-3)
        assert simulate.run(scenario).over_time["of"].n_unique() == len(flows)


def test_links_are_filled_by_short_ends_of_short_packets() -> None:
    """Replies of 269 B behind commands of 16 B: the router of the replies takes 270 characters and 300 ns."""
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": 2},
            "technology": {"preset": "spacewire-200", "flow_control": "ignored"},
            "program": {"kind": "rmap", "command": "read", "data": "256 B"},
        }
    )
    bound = inspection.inspect(scenario)["channel_load"]["accepted_mbytes_per_s_bound"]
    assert bound == pytest.approx((15 + 268) / (270 * 0.05 + 0.3), rel=2e-4)


def test_zero_load_latency_is_that_of_a_lonely_packet() -> None:
    """A crossbar has one way: first character, decoding, then the packet streams through."""
    scenario = small(
        traffic={"pattern": "uniform", "length": "32 B", "load": 0.001}, run={"duration": "20 ms"}
    )
    latency = inspection.inspect(scenario)["zero_load_latency_ns"]
    assert latency["min"] == latency["max"] == latency["mean"]
    assert latency["pairs"] == 8 * 7
    assert simulate.run(scenario).summary["latency_ns"]["min"] == latency["min"]


def test_lonely_packets_go_by_the_tables_before_a_fault() -> None:
    """A ring whose cable fails later has longer ways then, and a switch that fails takes terminals along."""
    ring: dict[str, Any] = {
        "topology": {"kind": "ring", "switches": 6},
        "technology": {"preset": "infiniband-4x-edr"},
        "routing": {"kind": "up*/down*"},
        "traffic": {"length": "64 B", "load": 0.1},
    }
    usual = inspection.inspect(Scenario.from_dict(ring))["zero_load_latency_ns"]
    for what in ({"cable": "s(0)>s(1)"}, {"switch": "s(3)"}):
        again = {**ring["routing"], "after_fault": {"delay": "20 us"}}
        faulty = Scenario.from_dict({**ring, "routing": again, "fault": [{**what, "at": "50 us"}]})
        assert inspection.inspect(faulty)["zero_load_latency_ns"] == usual


def test_lonely_packets_find_whole_credits() -> None:
    """A packet of one credit does not wait for the rest of a credit that a shorter one before it has used."""
    scenario = small(
        technology={"preset": "generic", "credit_quantum_flits": 8},
        traffic={"pattern": "uniform", "length": "64 B", "load": 0.001},
    )
    latency = inspection.inspect(scenario)["zero_load_latency_ns"]
    # One router, two links, and seven flits behind the first.
    assert latency["min"] == latency["max"] == 1 + 2 + 7


def test_lonely_packets_never_meet() -> None:
    """On a grid the latency depends on the distance only, whatever pair is looked at."""
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "grid", "shape": [4], "terminals_per_switch": 2},
            "traffic": {"pattern": "uniform", "length": "300 B", "load": 0.5},
        }
    )
    latency = inspection.inspect(scenario)["zero_load_latency_ns"]
    steps = [0, 1, 2, 3]
    pairs = [8 * 1, 2 * 3 * 4, 2 * 2 * 4, 2 * 1 * 4]
    step = (latency["max"] - latency["min"]) / 3
    mean = sum(count * (latency["min"] + step * far) for far, count in zip(steps, pairs, strict=True)) / sum(
        pairs
    )
    assert latency["mean"] == pytest.approx(mean)


@pytest.mark.parametrize("universal", [True, False])
def test_long_packets_that_go_round_a_ring_do_not_block_one_another(universal: bool) -> None:
    """Each is alone, so all arrive, although such packets can deadlock."""
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "ring", "switches": 6},
            "routing": {"universal": universal},
            "traffic": {"length": "4 kB", "load": 0.5},
        }
    )
    found = inspection.inspect(scenario)
    assert found["zero_load_latency_ns"]["pairs"] == 6 * 5
    assert found["deadlock"]["free"] is (not universal)


def test_the_zero_load_latency_of_flows_is_that_of_their_packets() -> None:
    flows = [
        {"source": 0, "target": 1, "length": "20 B", "period": "1 ms", "phase": "0 ns"},
        {"source": 3, "target": 2, "length": "400 B", "period": "1 ms", "phase": "300 us"},
        {"source": 3, "target": 0, "length": "90 B", "period": "1 ms", "phase": "600 us"},
    ]
    scenario = small(
        traffic={"pattern": {"kind": "flows", "flows": flows}}, run={"duration": "1 ms", "warmup": "0 ns"}
    )
    found = inspection.inspect(scenario)
    latency, ran = found["zero_load_latency_ns"], simulate.run(scenario).flows["latency_ns_mean"]
    assert (latency["pairs"], latency["length_bytes"]) == (3, 400)
    # In the run flow control of other flows shares the wires.
    asked = [latency[name] for name in ("min", "mean", "max")]
    assert asked == pytest.approx([ran.min(), ran.mean(), ran.max()], rel=5e-3)
    assert "over 3 flows, packets of up to 400 B" in dict(inspection.lines(found))["zero-load latency"]


def test_channel_load_bound_of_a_line() -> None:
    """Two switches of four terminals: 4 x 4 / 7 packets cross the one cable for each packet of a source."""
    scenario = Scenario.from_dict(
        {"topology": {"kind": "grid", "shape": [2], "terminals_per_switch": 4}, "traffic": {"load": 0.1}}
    )
    found = inspection.inspect(scenario)["channel_load"]
    assert found["load"] == pytest.approx(16 / 7)
    assert found["load_bound"] == pytest.approx(7 / 16)


def test_a_load_is_of_the_rate_that_links_have(tmp_path: Path) -> None:
    """Of four links two have a quarter of the preset's rate and two a half; the faster send twice as much.

    At load 1 the last two send 1, the first two 1/2: to each of these go 1/6 and two thirds of 1, 5/6.
    """
    cables = tmp_path / "cables.csv"
    rates = {"a": 25, "b": 25, "c": 50, "d": 50}
    rows = [f"terminal,{name},s,{rate} Gbit/s" for name, rate in rates.items()]
    cables.write_text("\n".join(["kind,source,target,rate", *rows, ""]))
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "file", "path": str(cables)},
            "technology": {"preset": "ethernet-100g", "switching": "store-and-forward"},
            "traffic": {"load": 0.1},
        }
    )
    found = inspection.inspect(scenario)
    whole = 12500 * 1500 / 1538
    assert found["link"]["payload_mbytes_per_s"] == pytest.approx(whole / 2)
    assert not found["link"]["alike"]
    load = found["channel_load"]
    assert (load["load"], load["load_bound"]) == (pytest.approx(5 / 3), pytest.approx(3 / 5))
    assert load["accepted_mbytes_per_s_bound"] == pytest.approx(3 / 5 * whole * 1.5)
    assert inspection.load_bound(scenario) == pytest.approx(3 / 5)


@pytest.mark.parametrize(("choice", "share"), [("first", 0.625), ("drawn", 0.25)])
def test_a_slow_cable_beside_a_fast_one_adds_its_rate(tmp_path: Path, choice: str, share: float) -> None:
    """Two terminals on each side of cables of 200 and 50 Mbit/s: of 250 each has 125, or 50 if it draws."""
    lines = [
        "terminal,a,s,",
        "terminal,b,s,",
        "terminal,c,z,",
        "terminal,d,z,",
        "cable,s,z,",
        "cable,s,z,50 Mbit/s",
    ]
    cables = tmp_path / "cables.csv"
    cables.write_text("\n".join(["kind,source,target,rate", *lines, ""]))
    traffic = {"pattern": {"kind": "shift", "by": 2}, "length": "256 B"}
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "file", "path": str(cables)},
            "technology": {"preset": "spacewire-200", "group_choice": choice},
            "traffic": {**traffic, "arrivals": "backlog"},
            "run": {"duration": "10 ms"},
        }
    )
    found = inspection.inspect(scenario, 20)
    link = found["link"]["payload_mbytes_per_s"]
    assert found["bisection"]["mbytes_per_s"] == pytest.approx(2.5 * link)
    assert found["effective_bisection"]["least_flow"] == pytest.approx(share)
    accepted = fabriloom.run(scenario).summary["accepted_mbytes_per_s"]
    assert accepted <= 1.05 * 4 * share * link
    assert accepted > 0.7 * 4 * share * link
    open_loop = scenario.with_settings({"traffic": {**traffic, "load": 0.1}})
    assert inspection.load_bound(open_loop) == pytest.approx(share, rel=0.01)
    rated = scenario.with_settings({"traffic": {**traffic, "rate": "8 MB/s"}})
    (told,) = [text for name, text in inspection.lines(inspection.inspect(rated)) if name == "too much for"][
        :1
    ]
    assert told.startswith("s>z#1 by ")
    assert ("if ways are shared evenly" in told) == (choice == "first")


def test_less_flow_control_leaves_more_than_the_time_between_packets_takes() -> None:
    """Packets of 512 B one way only, of 12.8 MB/s, beside small ones that set the mean length."""
    flows = [("t(0).0", "t(1).0", "32 B", "4 us"), ("t(0).1", "t(1).1", "512 B", "40 us")]
    keys = ("source", "target", "length", "period")
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "grid", "shape": [2], "terminals_per_switch": 2, "links_per_edge": 2},
            "technology": {"preset": "spacewire-200"},
            "traffic": {
                "pattern": {"kind": "flows", "flows": [dict(zip(keys, row, strict=True)) for row in flows]}
            },
            "run": {"duration": "40 ms"},
        }
    )
    full = inspection.inspect(scenario)["demanded"]
    assert full["full_first"] == "t(0).1>s(0)"
    run = fabriloom.run(scenario.with_settings({"traffic.scale": 2.0}))
    accepted = run.flows.row(1, named=True)["mbytes_per_s"]
    assert 0.999 < accepted / 12.8 / full["scale_bound"] < 1.001


def test_packets_of_a_slow_link_wait_for_no_faster_output(tmp_path: Path) -> None:
    """Small packets leave the switch sooner than the next ones arrive, so all of the slow wire is used."""
    rows = (
        "kind,source,target,rate",
        "switch,s,,",
        "terminal,a,s,100 Mbit/s",
        "terminal,b,s,",
        "terminal,c,s,",
    )
    (tmp_path / "slow.csv").write_text("\n".join(rows), encoding="utf-8")
    sends = {"arrivals": "backlog", "length": "16 B", "senders": ["a"], "pattern": {"kind": "uniform"}}
    written = {
        "topology": {"kind": "file", "path": "slow.csv"},
        "technology": {"preset": "spacewire-200"},
        "traffic": sends,
        "run": {"duration": "10 ms", "warmup": "1 ms", "precision": 0},
    }
    scenario = Scenario.from_dict(written, tmp_path)
    most = inspection.inspect(scenario)["channel_load"]["accepted_mbytes_per_s_bound"]
    assert fabriloom.run(scenario).summary["accepted_mbytes_per_s"] == pytest.approx(most, rel=1e-3)


def test_a_host_does_not_hurry_on_faster_links(tmp_path: Path) -> None:
    """A copy of 250 ps a byte makes 4000 MB/s for a link of 25 or of 100 Gbit/s, if that carries them."""
    cables = tmp_path / "cables.csv"
    cables.write_text("kind,source,target,rate\nterminal,a,s,25 Gbit/s\nterminal,b,s,100 Gbit/s\n")
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "file", "path": str(cables)},
            "technology": {"preset": "ethernet-400g", "switching": "store-and-forward"},
            "protocol": {"preset": "tcp"},
            "program": {"kind": "all-to-all", "size": "100 kB"},
        }
    )
    found = inspection.inspect(scenario)
    assert found["link"]["payload_mbytes_per_s"] == pytest.approx(4000)
    size = found["link"]["mean_packet_bytes"]
    assert found["channel_load"]["accepted_mbytes_per_s_bound"] == pytest.approx(
        2 * 3125 * size / (size + 38)
    )


def told_bound(**sections: Any) -> str:
    return dict(inspection.lines(inspection.inspect(small(**sections))))["throughput"]


def test_a_bound_says_of_what_it_holds(tmp_path: Path) -> None:
    """Two sources of one target fill its link at half load; the third goes on, and in all more is taken."""
    weights = tmp_path / "weights.csv"
    weights.write_text("source,target,weight\n0,1,1\n2,1,1\n3,4,1\n", encoding="utf-8")
    traffic = {"pattern": {"kind": "matrix", "path": str(weights)}, "length": "32 B", "load": 1.0}
    average = {"preset": "ds-link-c104", "flow_control": "average"}
    told = told_bound(traffic=traffic, technology=average)
    assert "MB/s in these proportions, at load 0.5: " in told
    scenario = small(traffic=traffic, technology=average)
    bound = inspection.inspect(scenario)["channel_load"]["accepted_mbytes_per_s_bound"]
    assert simulate.run(scenario).summary["accepted_mbytes_per_s"] > 1.2 * bound
    assert "proportions" not in told_bound(), "the links of the terminals are full first: there is no more"


def test_channel_load_bound_of_a_hot_spot_in_a_large_network() -> None:
    """4095 terminals send a tenth, and one of the rest, to one: all that it does not take counts as well."""
    pattern = {"kind": "hot-spot", "target": 0, "share": 0.1}
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "grid", "shape": [8, 8], "terminals_per_switch": 64},
            "technology": {"preset": "ds-link-c104", "flow_control": "average"},
            "traffic": {"load": 0.1, "pattern": pattern},
        }
    )
    found = inspection.inspect(scenario)
    bound, link = found["channel_load"], found["link"]["payload_mbytes_per_s"]
    assert bound["busiest_link"] == "s(0,0)>t(0,0).0"
    assert bound["load"] == pytest.approx(4095 * 0.1 + 0.9)
    assert bound["accepted_mbytes_per_s_bound"] == pytest.approx(4096 / bound["load"] * link)
    assert found["network"]["mean_links_on_the_way"] < 10
    assert found["network"]["choices_max"] == 1


def bounded(topology: Any, pattern: Any, length: str) -> tuple[float, float]:
    """What is accepted of a backlog, and the bound, in MB/s."""
    scenario = Scenario.from_dict(
        {
            "topology": topology,
            "traffic": {"pattern": pattern, "arrivals": "backlog", "length": length},
            "run": {"duration": "3 ms", "warmup": "1 ms", "precision": 0.0},
        }
    )
    bound = inspection.inspect(scenario)["channel_load"]["accepted_mbytes_per_s_bound"]
    return simulate.run(scenario).summary["accepted_mbytes_per_s"], bound


@pytest.mark.parametrize("length", ["16 B", "500 B"])
def test_no_network_carries_more_than_its_flow_control_leaves(length: str) -> None:
    """Cables that are busy both ways, one way, and some of both."""
    size = int(length.split()[0])
    line = {"kind": "crossbar", "terminals": 4}
    for topology, pattern in (
        (line, {"kind": "permutation", "map": [1, 0, 3, 2]}),
        (line, {"kind": "permutation", "map": [1, 2, 3, 0]}),
        ({"kind": "grid", "shape": [2, 2], "terminals_per_switch": 1}, {"kind": "shift", "by": 1}),
        ({"kind": "grid", "shape": [4], "terminals_per_switch": 1}, {"kind": "shift", "by": 1}),
        ({"kind": "torus", "shape": [3, 3]}, "transpose"),
    ):
        accepted, bound = bounded(topology, pattern, length)
        # A packet is counted whole at its end: one more for each of at most nine senders in 2 ms.
        assert bound * 0.95 < accepted <= bound + 9 * size / 2000


def test_a_cable_that_is_idle_one_way_pays_no_flow_control() -> None:
    """Full at 10 bits a character, not at half a bit more; the bound knows of it."""
    one_way = {"kind": "hot-spot", "target": 1, "share": 1.0}
    _, bound = bounded({"kind": "crossbar", "terminals": 2}, one_way, "500 B")
    assert bound == pytest.approx(2 * 500 / 52.755)


@pytest.mark.parametrize(("senders", "length"), [(1, "64 B"), (2, "5 B")])
def test_a_path_that_is_idle_one_way_is_tried_one_way(senders: int, length: str) -> None:
    """Beside data the wire is full, and so hides the time that the router takes between two packets."""
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": senders + 1},
            "technology": {"preset": "spacewire-200", "link_rate": "100 Mbit/s"},
            "traffic": {
                "pattern": {"kind": "hot-spot", "target": senders, "share": 1.0},
                "senders": list(range(senders)),
                "arrivals": "backlog",
                "length": length,
            },
            "run": {"duration": "20 ms"},
        }
    )
    bound = inspection.inspect(scenario)["channel_load"]["accepted_mbytes_per_s_bound"]
    assert 0.99 < simulate.run(scenario).summary["accepted_mbytes_per_s"] / bound <= 1.001


def test_a_check_of_many_terminals_on_rings_is_quick() -> None:
    """16,384 terminals are 268 million pairs: they cannot be listed."""
    torus = {"kind": "sci-torus", "shape": [16, 16], "terminals_per_switch": 64}
    found = inspection.inspect(Scenario.from_dict({"topology": torus, "traffic": {"load": 0.01}}))
    # From a row or a column over two buses, from elsewhere over three, on the own ringlet over none.
    buses = 64 * (30 * 2 + 225 * 3) / 16383
    assert found["network"]["mean_buses_on_the_way"] == pytest.approx(buses)


def test_one_switch_is_one() -> None:
    assert dict(inspection.lines(inspection.inspect(small())))["network"] == "crossbar: 8 terminals, 1 switch"


def knee(load: float) -> tuple[float, float]:
    """Accepted and latency of a network that is full at 0.62."""
    return min(load, 0.62), 1 / (1 - min(load, 0.62) / 0.63)


def test_splits_surround_the_knee() -> None:
    loads = list(curves.FIRST)
    while len(loads) < 20:
        accepted, late = zip(*(knee(load) for load in loads), strict=True)
        full = [None if load > 0.62 else time for load, time in zip(loads, late, strict=True)]
        parts = curves.splits(curves.places(loads, accepted, full), 4)
        assert parts
        loads = sorted([*loads, *(curves.middle(*loads[at : at + 2]) for at in parts)])
    assert sum(0.5 < load < 0.72 for load in loads) >= len(loads) / 2
    assert min(after - before for before, after in pairwise(loads)) > 0.9 / 512


def test_a_straight_line_is_split_evenly() -> None:
    found = curves.places([0.1, 0.4, 0.7, 1.0], [0.1, 0.4, 0.7, 1.0], [5.0] * 4)
    assert sorted(curves.splits(found, 9)) == [0, 1, 2]


def test_nothing_arrives() -> None:
    found = curves.places([0.5, 1.0], [0.0, 0.0], [None, None])
    assert curves.splits(found, 4) == [0]


def test_points_are_the_same_for_any_number_of_jobs() -> None:
    seen: list[tuple[int, int]] = []
    one = curve(small(), points=9, progress=lambda done: seen.append((done.finished, done.runs)))
    loads = [point.settings["traffic.load"] for point in one.points]
    assert loads == sorted(set(loads))
    assert {*curves.FIRST} < {*loads}
    assert (len(loads), one.runs, one.interrupted, seen[-1]) == (9, 9, False, (9, 9))
    assert curve(small(), points=9, jobs=3).summary == one.summary


def test_every_line_of_a_sweep_has_its_own_points() -> None:
    scenario = small(sweep={"traffic.load": [0.2, 1.0], "traffic.length": ["16 B", "64 B"]})
    found = curve(scenario, points=6)
    assert len(found.points) == found.runs == 12
    by_length = [(point.settings["traffic.length"], point.settings["traffic.load"]) for point in found.points]
    assert by_length == sorted(by_length)


def test_rates_are_raised_by_their_scale() -> None:
    flows = [{"source": 0, "target": 1, "rate": "4 MB/s"}, {"source": 2, "target": 1, "rate": "4 MB/s"}]
    text = {"pattern": {"kind": "flows", "flows": flows}}
    scenario = Scenario.from_dict({**small().raw, "traffic": text})
    found = curve(scenario, [0.5, 2.0], points=6)
    assert [point.settings["traffic.scale"] for point in found.points][:: len(found.points) - 1] == [0.5, 2.0]


@pytest.mark.parametrize("preset", ["ds-link-c104", "spw-10x"])
def test_the_latency_of_a_packet_alone_on_long_cables_is_that_of_a_run(preset: str) -> None:
    """Credit limits the packet there, and none before it has begun a quantum."""
    flows = [{"source": 1, "target": 0, "length": "1500 B", "count": 1, "phase": "10 us"}]
    given = Scenario.from_dict(
        {
            "topology": {"kind": "star", "arms": 3},
            "technology": {"preset": preset, "cable_length": "1 km"},
            "traffic": {"pattern": {"kind": "flows", "flows": flows}},
            "run": {"duration": "1 ms", "warmup": "0 ns"},
        }
    )
    found = inspection.inspect(given)["zero_load_latency_ns"]["mean"]
    assert found == simulate.run(given).summary["latency_ns"]["mean"]
