"""SpaceWire cables in networks of SpaceFibre: the same links as in a network of their own."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from fabriloom import Scenario, bounds, run, topology
from fabriloom.compile import compile
from fabriloom.simulate import compare
from fabriloom.studies.inspection import inspect, inspection_of
from fabriloom.studies.zero_load import zero_load_latency

WORD_CHARACTERS_NS = 3 * 50
"""The characters of a word behind the first one, at 200 Mbit/s."""
LENGTHS = (1, 2, 3, 4, 16, 61, 62, 64, 65, 250)
CABLES = "kind,source,target,technology,rate,length\n"
ONE_ROUTER = f"{CABLES}switch,r,,,,\n"


def described(folder: Path, lines: str, preset: str, traffic: dict[str, Any], **more: Any) -> Scenario:
    """A scenario of a graph file."""
    path = folder / f"{len(list(folder.iterdir()))}.csv"
    path.write_text(lines)
    technology = {"preset": preset, **more.pop("technology", {})}
    given = {"duration": "1 ms", "warmup": "100 us", "precision": 0} | more.pop("run", {})
    topology = {"kind": "file", "path": str(path)}
    return Scenario.from_dict(
        {"topology": topology, "technology": technology, "traffic": traffic, "run": given, **more}
    )


def sends(length: int, **arrivals: Any) -> dict[str, Any]:
    """Terminal 0 sends to terminal 1: all it can, or as said."""
    pattern = {"kind": "hot-spot", "target": 1, "share": 1.0}
    return {"pattern": pattern, "senders": [0], "arrivals": "backlog", "length": f"{length} B", **arrivals}


def pair(first: str, second: str) -> str:
    """A router with two terminals."""
    return f"{ONE_ROUTER}terminal,a,r,{first}\nterminal,b,r,{second}\n"


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("ends", [("spacewire-200,,", ",,"), (",,", "spacewire-200,,")])
def test_a_cable_carries_as_much_as_alone(tmp_path: Path, length: int, ends: tuple[str, str]) -> None:
    scenario = described(tmp_path, pair(*ends), "spacefibre-2g5", sends(length))
    bits = 10 * (1 + length) + 4  # logical address, bytes, end of packet; nothing comes the other way
    full = length / (bits * 0.005)
    packets = run(scenario).summary["packets"]["measured"]
    assert packets * length / 900 == pytest.approx(full, abs=length / 900)
    most = inspect(compile(scenario))["channel_load"]["accepted_mbytes_per_s_bound"]
    assert most == pytest.approx(full, rel=1e-9)


@pytest.mark.parametrize("length", LENGTHS)
def test_a_packet_is_later_by_the_rest_of_a_word(tmp_path: Path, length: int) -> None:
    """A router of SpaceFibre decodes words; otherwise the two routers have the same delays here."""
    router = {"decode_latency": "64 ns", "forward_latency": "128 ns", "crossbar": "fast", "handover": "16 ns"}
    light = sends(length, arrivals="constant", load=0.02)
    alone = described(tmp_path, pair(",,", ",,"), "spacewire-200", light, technology=router)
    ends = pair("spacewire-200,,", "spacewire-200,,")
    beside = described(tmp_path, ends, "spacefibre-2g5", light)
    found = [zero_load_latency(inspection_of(compile(one)), length)["max"] for one in (alone, beside)]
    later = min(WORD_CHARACTERS_NS, (1 + length) * 50)  # a word may end with its packet
    assert found[1] - found[0] == pytest.approx(later)
    assert run(beside).summary["latency_ns"]["max"] == pytest.approx(found[1])


def mission(camera: str, console: str) -> str:
    """Two routers; the cables of two terminals may be of SpaceWire."""
    return (
        f"{CABLES}switch,r1,,,,\nswitch,r2,,,,\ncable,r1,r2,,,\nterminal,camera,r1,{camera}\n"
        f"terminal,radar,r1,,,\nterminal,memory,r2,,,\nterminal,console,r2,{console}\n"
    )


SPACEWIRE = mission("spacewire-200,,", 'spacewire-200,100 Mbit/s,"7 m"')


def flows(*rows: str) -> dict[str, Any]:
    """Flows ``from to length rate``."""
    names = ("source", "target", "length", "rate")
    found = [dict(zip(names, row.split("|"), strict=True)) for row in rows]
    return {"pattern": {"kind": "flows", "flows": found}, "arrivals": "poisson"}


RADAR = ("radar|memory|1000 B|150 MB/s", "memory|radar|64 B|10 MB/s")


def test_cables_of_spacefibre_are_as_without(tmp_path: Path) -> None:
    same = []
    for lines in (SPACEWIRE, mission(",,", ",,")):
        scenario = described(tmp_path, lines, "spacefibre-2g5", flows(*RADAR), output={"trace": True})
        same.append(run(scenario).trace)
    assert len(same[0]) > 100
    assert same[0].equals(same[1])


@pytest.mark.parametrize("lanes", [{}, {"lanes": [[0], [1]]}])
def test_mixed_traffic_stays_within_check_and_bound(tmp_path: Path, lanes: dict[str, Any]) -> None:
    rows = ("camera|memory|61 B|6 MB/s", "camera|radar|5 B|1 MB/s", "radar|console|200 B|6 MB/s")
    own = [
        {"from": [name], "lanes": lanes["lanes"][at]} for at, name in enumerate(("camera", "radar")) if lanes
    ]
    technology = {"lanes": 3, "lane_reserved": [0.4, 0.3, 0.3]}
    scenario = described(
        tmp_path,
        SPACEWIRE,
        "spacefibre-2g5",
        flows(*RADAR, *rows),
        technology=technology,
        **({"routing": {"traffic_class": own}} if lanes else {}),
    )
    assert compare(scenario).identical
    found = run(scenario)
    busy = dict(found.links.select("link", "utilisation").iter_rows())
    # 62 + 2 characters, 61 + 2 with a share of flow control for what comes back, and so on.
    camera = 6 / 61 * (62 * 10 + 4) + 1 / 5 * (6 * 10 + 4)
    assert busy["camera>r1"] == pytest.approx(camera * 0.005, rel=0.1)
    assert set(found.lanes["link"]) == {"r1>r2", "r2>r1", "r1>radar", "r2>memory"}


def test_bounds_hold(tmp_path: Path) -> None:
    """With one lane, in which packets wait for each other by turns alone."""
    rows = ("camera|memory|61 B|4 MB/s", "radar|console|200 B|3 MB/s", "radar|memory|1000 B|100 MB/s")
    technology = {
        "lanes": 1,
        "lane_reserved": [],
        "lane_arbiter": "round-robin",
        "lane_credit_limit_flits": 0,
    }
    scenario = described(tmp_path, SPACEWIRE, "spacefibre-2g5", flows(*rows), technology=technology)
    found = bounds.bound(scenario, tries=2)
    assert all(found.most(flow) is not None for flow in range(3))
    assert all(late <= found.worst.delay(flow) for flow, late in found.tried.items() if late is not None)


def test_a_fault_of_a_cable_has_the_times_of_its_technology(tmp_path: Path) -> None:
    """SpaceWire restarts after 19.2 us of silence, and then at 10 Mbit/s; SpaceFibre after 1000 cycles."""
    traffic, down = flows(*RADAR, "camera|memory|61 B|6 MB/s"), []
    for cable in ("camera>r1", "radar>r1"):
        fault = [{"cable": cable, "at": "200 us", "repaired": "201 us"}]
        found = run(described(tmp_path, SPACEWIRE, "spacefibre-2g5", traffic, fault=fault)).links
        down.append(dict(found.select("link", "down_ns").iter_rows())[cable])
    assert 19_200 < down[0] - 1_000 < 30_000
    assert 15_900 < down[1] - 1_000 < 16_100


@pytest.mark.parametrize("length", [5, 100])
def test_packets_of_other_lengths_fill_cables_by_their_bytes(tmp_path: Path, length: int) -> None:
    """Short packets of one terminal beside long ones of another: what is full first, and when.

    The share of flow control is that of packets of the mean length: half a per cent.
    """
    rows = (f"camera|memory|{length} B|2 MB/s", "radar|memory|1000 B|10 MB/s")
    scenario = described(tmp_path, SPACEWIRE, "spacefibre-2g5", flows(*rows))
    found = inspect(compile(scenario))
    most = length / ((10 * (1 + length) + 4) * 0.005)  # MB/s of the camera
    assert found["channel_load"]["busiest_link"] == "camera>r1"
    assert found["channel_load"]["accepted_mbytes_per_s_bound"] == pytest.approx(most * 12 / 2, rel=0.005)
    assert found["demanded"]["busiest_share"] == pytest.approx(2 / most, rel=0.005)


def test_classes_share_a_cable_of_one_lane(tmp_path: Path) -> None:
    """Packets of two lanes wait in one group for the cable, and none goes first always."""
    classes = [{"from": ["camera"], "lanes": [0, 1]}, {"from": ["radar", "memory"], "lanes": [2, 3]}]
    rows = ("camera|console|200 B|9 MB/s", "radar|console|200 B|9 MB/s")
    lines = mission(",,", "spacewire-200,100 Mbit/s,")
    scenario = described(tmp_path, lines, "spacefibre-2g5", flows(*rows), routing={"traffic_class": classes})
    compiled = compile(scenario)
    lanes = compiled.arrays["group_links"]
    assert len(set(lanes.tolist())) == len(lanes)
    by = dict(run(scenario).flows.select("source", "mbytes_per_s").iter_rows())
    assert by["camera"] == pytest.approx(by["radar"], rel=0.1)


def test_broadcasts_do_not_go_to_spacewire(tmp_path: Path) -> None:
    message = {"source": "memory", "channel": 1, "every": "20 us"}
    camera = "camera|memory|61 B|6 MB/s"
    scenario = described(tmp_path, SPACEWIRE, "spacefibre-2g5", flows(*RADAR, camera), broadcast=[message])
    assert compare(scenario).identical
    found = run(scenario)
    assert set(found.codes["terminal"]) == {"radar"}
    assert found.codes["taken"].to_list() == [45]
    spared = dict(found.links.select("link", "packets").iter_rows())
    assert spared["r1>camera"] == 0


def test_graph_files_keep_the_technology_of_cables(tmp_path: Path) -> None:
    (tmp_path / "net.csv").write_text(SPACEWIRE)
    graph = topology.build("file", path=str(tmp_path / "net.csv"))
    for form in ("csv", "json", "graphml"):
        topology.write(graph, tmp_path / f"again.{form}")
        assert topology.build("file", path=str(tmp_path / f"again.{form}")) == graph


def drawn(dice: Random) -> str:
    """A chain of routers with terminals, of which some have SpaceWire cables."""
    count, lines = dice.randint(1, 3), [CABLES.strip()]
    lines += [f"switch,r{at},,,," for at in range(count)]
    lines += [f"cable,r{at},r{at + 1},,," for at in range(count - 1)]
    for router in range(count):
        for terminal in range(dice.randint(1, 3) + (count == 1)):
            rate, length = dice.choice(["", "100 Mbit/s", "33 Mbit/s"]), dice.choice(["", "10 m", "100 m"])
            own = f"spacewire-200,{rate},{length}" if dice.random() < 0.6 else ",,"
            lines.append(f"terminal,t{router}.{terminal},r{router},{own}")
    return "\n".join([*lines, "terminal,sender,r0,,,", ""])


@pytest.mark.seeds
def test_the_engine_agrees_with_its_twin(tmp_path: Path, seeds: Any) -> None:
    for seed in seeds(6):
        dice = Random(seed)
        lanes, low = dice.randint(1, 4), dice.randint(1, 300)
        technology: dict[str, Any] = {"lanes": lanes, "lane_reserved": [1 / lanes] * lanes}
        technology["physical_lanes"] = dice.choice([1, 1, 2])
        length = {"kind": "uniform", "min": f"{low} B", "max": f"{low + dice.randint(0, 90)} B"}
        traffic = {"pattern": "uniform", "arrivals": dice.choice(["poisson", "backlog"]), "length": length}
        traffic |= {} if traffic["arrivals"] == "backlog" else {"load": round(dice.uniform(0.1, 1), 2)}
        given: dict[str, Any] = {"seed": seed, "technology": technology}
        if dice.random() < 0.4:
            given["broadcast"] = [{"source": "sender", "channel": 3, "every": "7 us"}]
        if dice.random() < 0.4:
            given["fault"] = [{"cable": "t0.0>r0", "at": "100 us", "repaired": "130 us"}]
        scenario = described(
            tmp_path,
            drawn(dice),
            "spacefibre-2g5",
            traffic,
            run={"duration": "300 us", "warmup": "0 ns"},
            **given,
        )
        found = compare(scenario)
        assert found.identical, f"seed {seed}"
        assert found.packets > 0, f"seed {seed}"
