"""Networks and flows of HPCC, htsim and SimGrid, run as scenarios.

Networks of BookSim and of the HPCC simulator, and the command that reads all kinds.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from fabriloom import imports, run
from fabriloom.reading import ReadError
from fabriloom.results import Results
from fabriloom.studies.inspection import inspect, lines

from .common import brought

FLOWS = "3\n0 4 3 100 65536 2\n\n1 4 3 100 1000 2.000001\n4 0 3 100 2500 1.5\n"
HPCC = "5 2 4\n2 3\n0 2 100Gbps 0.001ms 0\n1 2 100Gbps 0.001ms 0\n2 3 400Gbps 500ns 0.01\n4 3 25Gbps 1us 0\n"
TREE = """\
Nodes 16
Tiers 3
Podsize 4
# leaf switches
Tier 0
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 4
Downlink_Latency_ns 500
Tier 1
Downlink_speed_Gbps 100
Bundle 2
Radix_Down 4
Radix_Up 1
Downlink_Latency_ns 600
Tier 2
Downlink_speed_Gbps 200
Radix_Down 4
Downlink_Latency_ns 1000
"""
MATRIX = """\
Nodes 16
Connections 3
0->13 id 1 start 0 size 1000
1->13 id 2 start 1000000 size 65536

5->2 start 0 size 10 prio 3
"""
TRIGGERED = """\
Nodes 16
Connections 6
Triggers 3
0->1 id 1 start 0 size 65536 send_done_trigger 1
1->2 id 2 trigger 1 size 65536 recv_done_trigger 2
2->3 id 4 trigger 2 size 1000 send_done_trigger 3
5->2 id 3 start 2000000 size 65536 recv_done_trigger 2
2->7 id 5 trigger 3 size 1000 send_done_trigger 3
2->8 id 6 trigger 3 size 500
trigger id 2 barrier count 2
trigger id 3 multishot
trigger id 1 oneshot
"""
ROUND = "".join(f"{a}->{1 - a} trigger {a} size 9 send_done_trigger {1 - a}\n" for a in (0, 1)) + (
    "trigger id 0 oneshot\ntrigger id 1 oneshot\n"
)
PLATFORM = """\
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="all" routing="Floyd">
<host id="a" speed="1Gf"/><host id="b" speed="1Gf"><prop id="x" value="1"/></host>
<router id="r"/>
<link id="la" bandwidth="1.25E8Bps" latency="50us"/><link id="lb" bandwidth="100Mbps" latency="0.001"/>
<route src="a" dst="r"><link_ctn id="la"/></route>
<route src="r" dst="b"><link_ctn id="lb"/></route>
<route src="a" dst="b"><link_ctn id="la"/><link_ctn id="lb"/></route>
</zone></platform>
"""
_TYPE = '<nodeType id="{}"><model value="{}"/><routing value="XYZ"/><clockDelay value="{}"/></nodeType>'
_NODE = '<node id="{}"><xPos value="{}"/><yPos value="{}"/><zPos value="0"/><nodeType value="{}"/></node>'
_PORT = '<port><node value="{}"/><bufferDepth value="4"/><vcCount value="2"/></port>'


def _chip() -> str:
    """A square of ratatoskr: routers 0 and 1 below 2 and 3, whose clock is slower, each with an element."""
    types = [("0", "RouterVC", 1), ("1", "RouterVC", 2), ("2", "ProcessingElement", 1)]
    nodes = [(node, node % 2, node // 2 % 2, 2 if node > 3 else node // 2) for node in range(8)]
    pairs = [(0, 4), (1, 5), (2, 6), (3, 7), (0, 1), (2, 3), (0, 2), (1, 3)]
    rows = ["<network-on-chip><nodeTypes>", "", *(_TYPE.format(*one) for one in types), "</nodeTypes><nodes>"]
    rows += [_NODE.format(*one) for one in nodes] + ["</nodes><connections>"]
    rows += [f"<con><ports>{_PORT.format(a)}{_PORT.format(b)}</ports></con>" for a, b in pairs]
    return "\n".join([*rows, "</connections></network-on-chip>", ""])


CHIP = _chip()
PHASES = """\
<configuration>
<noc><flitsPerPacket value="8"/></noc>
<application><benchmark>synthetic</benchmark><synthetic>
<phase name="warmup"><distribution value="uniform"/><start min="10" max="10"/></phase>

<phase name="run"><distribution value="hotspot"/><start min="100" max="100"/>
<duration min="9000" max="90000"/><injectionRate value="0.002"/>
<hotspot value="2"/></phase></synthetic></application></configuration>
"""
WIDE = PHASES.replace("<noc>", '<noc><bitWidth value="{}"/>')
ONE = "".join(row for row in CHIP.splitlines(True) if not any(f'"{node}"><xPos' in row for node in (5, 6, 7)))
ONE = "".join(
    row for row in ONE.splitlines(True) if not any(f'node value="{node}"' in row for node in (5, 6, 7))
)
CLUSTER = '<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-11" speed="1Gf" \
bw="125MBps" lat="5us"{}/></platform>'
TORUS = ' topology="TORUS" topo_parameters="3,2,2"'
FLY = ' topology="DRAGONFLY" topo_parameters="2,2;1,1;3,4;2"'
FAT = ' topology="FAT_TREE" topo_parameters="2;4,3;1,2;1,2"'


def read(folder: Path, kind: str, *texts: str) -> imports.Imported:
    files = [folder / f"{number}.txt" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    found = imports.read(kind, *files)
    assert isinstance(found, imports.Imported)
    return found


def ran(found: imports.Imported, folder: Path) -> Results:
    return run(brought(found, folder))


def test_flows_of_hpcc_run(tmp_path: Path) -> None:
    found = read(tmp_path, "hpcc", FLOWS, HPCC)
    assert ("flows", "3") in found.summary()
    done = ran(found, tmp_path).completions
    assert done is not None
    rows = {row["flow"]: row for row in done.iter_rows(named=True)}
    assert rows["1"]["created"] == 66
    assert rows["1"]["delivered"] == 66
    assert rows["3"]["first_created_ns"] == 2_000_001_000
    # 2500 B of a host at 25 Gbit/s: three frames of 834 + 38 B on its cable, then over links of 400 and 100.
    # Each switch stores a frame (without its preamble and gap it would be less); cables take 1 + 0.5 + 1 us.
    wire = 872 * 8
    expected = 3 * wire / 25 + wire / 400 + wire / 100 + 2500
    assert rows["4"]["completion_ns"] == pytest.approx(expected, abs=5)


def test_links_of_accelerators_have_longer_flits(tmp_path: Path) -> None:
    found = read(tmp_path, "hpcc", HPCC.replace("25Gbps", "7200Gbps"))
    scenario = brought(found, tmp_path)
    assert run(scenario).summary["offered_mbytes_per_s"] > 0
    assert scenario.resolved["technology"]["flit"] == "64 B"


def test_a_flow_of_two_gigabytes(tmp_path: Path) -> None:
    """Twenty of them at 100 Gbit/s take more than the second for which short flows run."""
    found = read(tmp_path, "hpcc", FLOWS.replace("65536", "2000000000"), HPCC)
    assert found.flows[0].bytes == 2_000_000_000
    rows = "".join(f"0 1 3 {100 + row} 2000000000 2.0\n" for row in range(20))
    many = brought(read(tmp_path, "hpcc", f"20\n{rows}", HPCC), tmp_path)
    assert many.run.duration_ps > (2 + 20 * 0.166) * 1e12


def test_a_topology_of_simai(tmp_path: Path) -> None:
    plain, simai = (
        read(tmp_path, "hpcc", HPCC.replace("5 2 4", head)) for head in ("5 2 4", "5 3 1 1 4 A100")
    )
    assert simai.files("net") == plain.files("net")


def test_hosts_on_several_switches(tmp_path: Path) -> None:
    """Two servers of two GPUs: each on the switch of its server and on one of two others."""
    links = "0 4 2400Gbps 25ns 0\n1 4 2400Gbps 25ns 0\n2 5 2400Gbps 25ns 0\n3 5 2400Gbps 25ns 0\n"
    links += "".join(f"{one} 100Gbps 500ns 0\n" for one in ("0 6", "1 7", "2 6", "3 7", "6 7"))
    found = read(tmp_path, "hpcc", f"8 2 2 2 9 A100\n4 5 6 7\n{links}")
    assert found.summary()[:3] == [("switches", "4"), ("terminals", "4"), ("cables", "9")]
    results = ran(found, tmp_path)
    assert results.summary["packets"]["delivered"] > 0
    used = dict(zip(results.links["link"], results.links["utilisation"], strict=True))
    assert used["h0>s4"] > 0
    assert used["h0>s6"] > 0


def test_lines_beyond_a_count_are_left_out(tmp_path: Path) -> None:
    found = read(tmp_path, "hpcc", FLOWS.replace("3", "1", 1), HPCC + "0 4 1Gbps 0.001ms 0\n")
    assert [flow.name for flow in found.flows] == ["1"]
    assert found.summary()[2] == ("cables", "4")
    remarks = "\n".join(found.remarks)
    assert "4 links are announced; the 1 lines behind them are left out" in remarks
    assert "1 flows are announced; the 2 lines behind them are left out" in remarks


def test_starts_of_htsim_in_microseconds_and_flows_without_an_end(tmp_path: Path) -> None:
    text = MATRIX.replace("start 1000000 size 65536", "start 1.500000 size 0")
    found = read(tmp_path, "htsim", TREE, text)
    assert [flow.start_ps for flow in found.flows] == [0, 1_500_000, 0]
    done = ran(found, tmp_path).completions
    assert done is not None
    (endless,) = (row for row in done.iter_rows(named=True) if row["flow"] == "2")
    # A millisecond of frames of 1000 B at 100 Gbit/s, which a frame's own 38 B slow down.
    assert endless["delivered"] == pytest.approx(1e6 / (1038 * 8 / 100), abs=60)


def test_connections_of_htsim_that_wait(tmp_path: Path) -> None:
    """One starts as another has arrived, one as two have, and the rest one after the other."""
    found = read(tmp_path, "htsim", TREE, TRIGGERED)
    scenario = brought(found, tmp_path)
    needs = [line for line in found.program.splitlines() if "requires" in line]
    assert needs == [f"l{a} requires l{b}" for a, b in ((2, 1), (2, 1), (2, 3), (4, 2), (5, 4), (1, 2))]
    assert found.program.count("calc 2000 cpu 1") == 1
    done = run(scenario)
    assert done.summary["end"]["reason"] == "drained"
    assert done.summary["messages"]["received"] == 6
    assert "in the order of the file" in found.remarks[-1]
    assert scenario.run.duration_ps == 101 * 10**12  # one starts after 2 us


def test_many_connections_of_htsim_that_wait_for_many(tmp_path: Path) -> None:
    """Each has a line of the program, not each pair; the clock of a node holds up no other."""
    first = "0->1 start 0 size 1000 send_done_trigger 1\n" * 30
    then = "0->2 trigger 1 size 1000\n" * 29 + "1->3 trigger 1 size 2147483647\n"
    late = "0->3 start 9000000000 size 10\n"
    found = read(tmp_path, "htsim", TREE, first + then + late + "trigger id 1 barrier count 30\n")
    assert found.program.count("requires") == 30 + 29 + 30 + 1
    assert ran(found, tmp_path).summary["messages"]["received"] == 61


def test_a_tree_of_htsim(tmp_path: Path) -> None:
    found = read(tmp_path, "htsim", TREE, MATRIX)
    names = found.graph.switch_names
    assert [sum(name.startswith(kind) for name in names) for kind in ("tor", "agg", "core")] == [8, 8, 2]
    links = found.graph.link_names
    assert sum(name.startswith("tor3>") for name in links) == 6
    assert {name for name in links if name.startswith("agg5>core")} == {"agg5>core1"}
    rate = dict(zip(links, found.graph.attributes["rate_bits_per_s"].tolist(), strict=True))
    assert (rate["tor0>agg0#1"], rate["core0>agg0"]) == (1e11, 2e11)
    done = ran(found, tmp_path).completions
    assert done is not None
    assert done["delivered"].sum() == 1 + 66 + 1
    # One frame of 1038 B over four links of 100 and two of 200 Gbit/s, and the cables of all six.
    (first,) = (row for row in done.iter_rows(named=True) if row["flow"] == "1")
    expected = 1038 * 8 * (4 / 100 + 2 / 200) + 2 * (500 + 600 + 1000)
    assert first["completion_ns"] == pytest.approx(expected, abs=5)


def test_switches_of_htsim_take_their_latency(tmp_path: Path) -> None:
    """Five of them to another pod; of tiers that differ all take the longest."""
    for tiers, remarks in (("300", 1), ("300 200 100", 2)):
        head, *parts = TREE.split("Downlink_speed_Gbps")
        each = zip((tiers.split() * 3)[:3], parts, strict=True)
        tree = head + "".join(f"Switch_Latency_ns {ns}\nDownlink_speed_Gbps{part}" for ns, part in each)
        (tmp_path / tiers).mkdir()
        plain = read(tmp_path / tiers, "htsim", TREE, MATRIX)
        found = read(tmp_path / tiers, "htsim", tree, MATRIX)
        assert len(found.remarks) - len(plain.remarks) == remarks - 1
        taken = [first_ns(one, tmp_path / tiers) for one in (plain, found)]
        assert taken[1] - taken[0] == pytest.approx(5 * 300, abs=1)


def first_ns(found: imports.Imported, folder: Path) -> float:
    done = ran(found, folder).completions
    assert done is not None
    return float(done.filter(done["flow"] == "1")["completion_ns"][0])


def test_flows_fill_their_links_with_frames(tmp_path: Path) -> None:
    """Of equal frames of up to 1038 B, or one of 84, a link carries all that are made meanwhile."""
    cables = "".join(f"{host} 4 100Gbps 1us 0\n" for host in range(4))
    flows = "2\n0 1 3 100 65536 0\n2 3 3 100 10 0.001\n"
    found = inspect(brought(read(tmp_path, "hpcc", f"5 1 4\n4\n{cables}", flows), tmp_path))
    assert found["demanded"]["busiest_share"] == pytest.approx(1, abs=1e-3)
    assert found["demanded"]["over"] == []
    assert "MB/s while all flows send; " in dict(lines(found))["demanded"]


def test_a_link_of_several_pairs(tmp_path: Path) -> None:
    shared = PLATFORM.replace('"lb"/></', '"la"/></', 1)
    found = read(tmp_path, "simgrid", shared)
    links = {"a>la#in", "la#out>a", "r>la#in", "la#out>r", "b>la#in", "la#out>b", "la#in>la#out"}
    assert set(found.graph.link_names) == links
    delay = dict(zip(found.graph.link_names, found.graph.attributes["delay_ps"].tolist(), strict=True))
    assert (delay["la#in>la#out"], delay["a>la#in"]) == (5e7, 0)
    assert ran(found, tmp_path).summary["packets"]["delivered"] > 0
    wide = read(tmp_path, "simgrid", shared.replace('id="la"', 'id="la" sharing_policy="FATPIPE"', 1))
    assert set(wide.graph.link_names) == {"a>r:la", "r>a:la", "r>b:la", "b>r:la"}


def test_a_dragonfly_of_simgrid(tmp_path: Path) -> None:
    found = read(tmp_path, "simgrid", CLUSTER.format(FLY))
    names = found.graph.link_names
    rate = dict(zip(names, found.graph.attributes["rate_bits_per_s"].tolist(), strict=True))
    # A triangle in each of two groups, and router 1 of the first group to router 0 of the second.
    between = {name: value for name, value in rate.items() if name.count("#") == 2}
    inside = {f"c#{a}>c#{b}": 4e9 for a in range(6) for b in range(6) if a != b and a // 3 == b // 3}
    assert between == inside | {"c#1>c#3": 2e9, "c#3>c#1": 2e9}
    assert rate["n3>c#1"] == 1e9
    two = read(tmp_path, "simgrid", CLUSTER.format(FLY.replace("2,2;1,1;3,4", "1,1;3,5;2,4")))
    links = {name for name in two.graph.link_names if name.startswith("c#0>c")}
    assert links == {"c#0>c#1", "c#0>c#2", "c#0>c#4"}
    counts = ran(found, tmp_path).summary["packets"]
    assert counts["delivered"] > 0


def test_a_platform_of_simgrid(tmp_path: Path) -> None:
    found = read(tmp_path, "simgrid", PLATFORM)
    assert found.graph.link_names == ["a>r:la", "r>a:la", "r>b:lb", "b>r:lb"]
    assert found.graph.attributes["rate_bits_per_s"].tolist() == [1e9, 1e9, 1e8, 1e8]
    assert found.graph.attributes["delay_ps"].tolist() == [5e7, 5e7, 1e9, 1e9]
    assert found.remarks[0].endswith("left out: <prop> (1)")
    assert "routes of several links (1): cables in a row" in found.remarks[1]
    for written, rate in {"1.25e8": 1e9, "1KiBps": 8192, "2Mibps": 2 * 2**20}.items():
        other = read(tmp_path, "simgrid", PLATFORM.replace("1.25E8Bps", written))
        assert other.graph.attributes["rate_bits_per_s"][0] == rate


STAR = """<platform version="4.1"><zone id="z" routing="Full">
<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf"/>
<link id="x" bandwidth="1Gbps" latency="1us"/><link id="y" bandwidth="1Gbps" latency="2us"/>
<link id="z" bandwidth="1Gbps" latency="3us"/><link id="w" bandwidth="1Gbps" latency="4us"/>
<route src="a" dst="b"><link_ctn id="x"/><link_ctn id="w"/><link_ctn id="y"/></route>
<route src="c" dst="b"><link_ctn id="z"/><link_ctn id="y"/></route>
<route src="a" dst="c"><link_ctn id="x"/><link_ctn id="w"/><link_ctn id="z"/></route>
</zone></platform>"""
"""Three hosts; where w, y and z meet, and x and w, no route ends."""


def test_routes_of_several_links_are_cables_in_a_row(tmp_path: Path) -> None:
    found = read(tmp_path, "simgrid", STAR)
    ends = {frozenset(name.split(":")[0].split(">")) for name in found.graph.link_names}
    meet, near = (
        next(one - {"b"} for one in ends if "b" in one),
        next(one - {"a"} for one in ends if "a" in one),
    )
    assert ends == {near | {"a"}, near | meet, meet | {"b"}, meet | {"c"}}
    assert found.summary()[:3] == [("switches", "2"), ("terminals", "3"), ("cables", "4")]
    assert ran(found, tmp_path).summary["packets"]["delivered"] > 0


def test_odd_rates_beside_long_delays_have_a_tick(tmp_path: Path) -> None:
    """As in the examples of SimGrid: bytes of no whole picosecond, and milliseconds on the way."""
    odd = STAR.replace('"1Gbps" latency="1us"', '"41.279125MBps" latency="6.932556ms"')
    results = ran(read(tmp_path, "simgrid", odd), tmp_path)
    assert results.summary["packets"]["delivered"] > 0
    assert any("characters change by up to 0.0" in one for one in results.warnings)


def test_a_host_on_the_way_has_a_switch(tmp_path: Path) -> None:
    """Packets from a to c pass b, whose own cable carries as much as its two others."""
    line = STAR.replace('<link_ctn id="w"/>', "").replace(
        'src="c" dst="b"><link_ctn id="z"/>', 'src="c" dst="b">'
    )
    line = line.replace(
        'src="a" dst="b"><link_ctn id="x"/><link_ctn id="y"/>', 'src="a" dst="b"><link_ctn id="x"/>'
    )
    line = line.replace('id="x"/><link_ctn id="z"', 'id="x"/><link_ctn id="y"')
    found = read(tmp_path, "simgrid", line)
    rate = dict(zip(found.graph.link_names, found.graph.attributes["rate_bits_per_s"].tolist(), strict=True))
    assert {name for name in rate if name.endswith(("b", ":x", ":y"))} == {
        "a>b#:x",
        "b#>a:x",
        "c>b#:y",
        "b#>c:y",
        "b#>b",
    }
    assert rate["b#>b"] == 2e9
    assert ran(found, tmp_path).summary["packets"]["delivered"] > 0


def test_routes_that_contradict_are_left_out(tmp_path: Path) -> None:
    """Where x alone joins a and b, it cannot be followed by y on the way from c to b."""
    wrong = PLATFORM.replace('src="a" dst="b"><link_ctn id="la"/>', 'src="b" dst="r"><link_ctn id="la"/>')
    found = read(tmp_path, "simgrid", wrong)
    assert "left out: routes of several links (1)" in found.remarks[1]


def test_a_router_that_no_route_names_is_left_out(tmp_path: Path) -> None:
    found = read(
        tmp_path, "simgrid", PLATFORM.replace('<router id="r"/>', '<router id="r"/><router id="q"/>')
    )
    assert found.graph.switch_names == ["r"]
    assert "left out: routers that no route names (1)" in found.remarks[1]


@pytest.mark.parametrize(
    ("more", "switches", "cables"),
    [("", 1, 12), (' bb_bw="1GBps" bb_lat="1us"', 2, 25), (TORUS, 12, 12 + 36), (FAT, 5, 12 + 3 * 2 * 2)],
)
def test_a_cluster_of_simgrid(more: str, switches: int, cables: int, tmp_path: Path) -> None:
    found = read(tmp_path, "simgrid", CLUSTER.format(more))
    assert found.summary()[:3] == [("switches", f"{switches}"), ("terminals", "12"), ("cables", f"{cables}")]
    assert brought(found, tmp_path).name == "net"


ZONES = """<platform version="4.1"><zone id="all" routing="Full">
<zone id="one" routing="Cluster"><router id="r"/><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
<link id="a_UP" bandwidth="1Gbps" latency="1us"/><link id="a_DOWN" bandwidth="2Gbps" latency="2us"/>
<host_link id="a" up="a_UP" down="a_DOWN"/>
<link id="b" bandwidth="1Gbps" latency="4us" sharing_policy="SPLITDUPLEX"/>
<host_link id="b" up="b_UP" down="b_DOWN"/>
<backbone id="bone" bandwidth="10Gbps" latency="100us"/></zone>
<zone id="two" routing="Cluster"><router id="q"/>
<cabinet id="x" prefix="n" suffix=".x" speed="1Gf" bw="1Gbps" lat="8us" radical="1-2"/></zone>
<link id="far" bandwidth="10Gbps" latency="1000us"/>
<zoneRoute src="one" dst="two" gw_src="r" gw_dst="q"><link_ctn id="far"/></zoneRoute>
</zone></platform>"""


def _zero_load_us(found: imports.Imported, folder: Path) -> tuple[float, float]:
    """Delays of one byte: what it takes beside them is less than 3 us."""
    told = inspect(brought(found, folder).with_settings({"traffic": {"length": "1 B"}}))
    assert told["deadlock"]["free"]
    return tuple(told["zero_load_latency_ns"][which] / 1000 for which in ("min", "max"))


def test_zones_of_simgrid_that_are_clusters(tmp_path: Path) -> None:
    """From host to host over the backbone; to the other zone over it, too, and back."""
    found = read(tmp_path, "simgrid", ZONES)
    names = found.graph.link_names
    rate = dict(zip(names, found.graph.attributes["rate_bits_per_s"].tolist(), strict=True))
    assert (rate["a>one#in"], rate["one#out>a"], rate["r>one#out"], rate["n1.x>q"]) == (1e9, 2e9, 1e10, 1e9)
    assert found.summary()[:3] == [("switches", "4"), ("terminals", "4"), ("cables", "10")]
    near, far = 8 + 8, 4 + 100 + 1000 + 8
    assert _zero_load_us(found, tmp_path) == (pytest.approx(near, abs=3), pytest.approx(far, abs=5))
    assert any("both directions share (1)" in remark for remark in found.remarks)


def test_what_leaves_a_cluster_of_simgrid_crosses_its_backbone(tmp_path: Path) -> None:
    cluster = '<cluster id="{0}" prefix="{0}" suffix="" radical="0-1" speed="1Gf" bw="1Gbps" lat="1us" {1}/>'
    bone = 'bb_bw="10Gbps" bb_lat="100us"'
    route = '<link id="far" bandwidth="10Gbps" latency="1000us"/><zoneRoute src="c" dst="d" \
gw_src="cc_router" gw_dst="dd_router"><link_ctn id="far"/></zoneRoute>'
    text = cluster.format("c", bone) + cluster.format("d", bone) + route
    found = read(tmp_path, "simgrid", f'<platform><zone id="z" routing="Full">{text}</zone></platform>')
    far = 1 + 100 + 1000 + 100 + 1
    assert _zero_load_us(found, tmp_path) == (pytest.approx(102, abs=3), pytest.approx(far, abs=5))


def test_what_a_host_of_a_cluster_of_simgrid_sends_at_most(tmp_path: Path) -> None:
    """By all links of a torus, or as much as its limiter lets pass."""
    limit = ' limiter_link="50MBps"'
    for more, most in (
        (TORUS, 6e9),
        (TORUS + limit, 4e8),
        (FAT + limit, 4e8),
        (FLY + limit, 4e8),
        (limit, 4e8),
    ):
        found = read(tmp_path, "simgrid", CLUSTER.format(more))
        graph = found.graph
        out = graph.attributes["rate_bits_per_s"][graph.terminal_out_links]
        assert set(out.tolist()) == {most}, more
        assert graph.attributes["rate_bits_per_s"].max() >= 1e9 or more == limit


def test_a_network_of_ratatoskr(tmp_path: Path) -> None:
    found = read(tmp_path, "ratatoskr", CHIP)
    assert found.summary()[:3] == [("switches", "4"), ("terminals", "4"), ("cables", "8")]
    graph = found.graph
    rates = dict(zip(graph.link_names, graph.attributes["rate_bits_per_s"].tolist(), strict=True))
    assert (rates["r0>n4"], rates["n4>r0"], rates["r3>r2"]) == (64e9, 64e9, 32e9)  # a flit in 1 ns, in 2 ns
    ways = {(switch, end): links for switch, end, links in found.routes}
    assert (ways["r0", "n7"], ways["r1", "n7"], ways["r3", "n7"]) == (["r0>r1"], ["r1>r3"], ["r3>n7"])
    assert brought(found, tmp_path).resolved["technology"]["lanes"] == 2
    uneven = read(tmp_path, "ratatoskr", CHIP.replace('bufferDepth value="4"', 'bufferDepth value="8"', 1))
    assert "bufferDepth is not the same everywhere; taken: 4, as most have" in uneven.remarks[0]


def test_routing_of_ratatoskr(tmp_path: Path) -> None:
    """With the second row as a layer above, HeteroXYZ goes down first, and XYZ last."""
    stack = CHIP.replace("yPos", "up").replace("zPos", "yPos").replace("up", "zPos")
    ways = {name: _ways(tmp_path, stack.replace("XYZ", name)) for name in ("XYZ", "HeteroXYZ")}
    assert (ways["XYZ"]["r3", "n4"], ways["HeteroXYZ"]["r3", "n4"]) == (["r3>r2"], ["r3>r1"])
    assert ways["XYZ"]["r0", "n7"] == ways["HeteroXYZ"]["r0", "n7"] == ["r0>r1"]
    for other, message in (
        (CHIP.replace('"XYZ"', '"RandomXYZ"'), "RandomXYZ has no counterpart"),
        (CHIP.replace('"XYZ"', '"ZXYZ"', 1), "ZXYZ beside others has no counterpart"),
        (CHIP.replace(CHIP.splitlines()[19], ""), "does not lead from r1 to n4"),
    ):
        found = read(tmp_path, "ratatoskr", other)
        assert (found.routes, message in found.remarks[0]) == ([], True)


def _ways(folder: Path, text: str) -> dict[tuple[str, str], list[str]]:
    return {(switch, end): list(links) for switch, end, links in read(folder, "ratatoskr", text).routes}


def test_traffic_of_ratatoskr(tmp_path: Path) -> None:
    found = read(tmp_path, "ratatoskr", CHIP, PHASES)
    arrived = run(brought(found, tmp_path, ["run.precision=0"])).summary
    assert "clocks" in found.remarks[0]
    assert "of 2 phases, the last one is taken" in found.remarks[1]
    assert "drawn once per element" in found.remarks[2]
    # Three of four elements send 8 flits of 8 B in 500 cycles of the slower clock, to the other one.
    assert arrived["accepted_mbytes_per_s"] == pytest.approx(3 * 64, rel=0.03)
    other = read(tmp_path, "ratatoskr", CHIP, PHASES.replace("synthetic</b", "task</b"))
    assert "only synthetic traffic has a counterpart" in other.remarks[1]
    uniform = read(tmp_path, "ratatoskr", CHIP, PHASES.replace('"hotspot"', '"uniform"'))
    assert 'pattern = "uniform"' in "".join(uniform.files("chip")["scenario.toml"])


@pytest.mark.parametrize("pattern", ["hotspot", "uniform"])
def test_elements_of_ratatoskr_start_at_random(pattern: str, tmp_path: Path) -> None:
    found = read(tmp_path, "ratatoskr", CHIP, PHASES.replace('"hotspot"', f'"{pattern}"'))
    trace = run(brought(found, tmp_path, ["run.precision=0", "output.trace=true"])).trace
    starts = trace.sort("created_ns").unique("source", keep="first")["created_ns"]
    assert len({int(start) for start in starts}) == len(starts) > 2


def test_flits_of_ratatoskr(tmp_path: Path) -> None:
    """A flit takes a clock, whatever its width."""
    found = read(tmp_path, "ratatoskr", CHIP, WIDE.format(32))
    assert not any("bitWidth" in remark for remark in found.remarks)
    scenario = brought(found, tmp_path, ["run.precision=0"])
    assert scenario.resolved["technology"]["flit"] == "4 B"
    assert run(scenario).summary["accepted_mbytes_per_s"] == pytest.approx(3 * 32, rel=0.03)
    assert any("no <bitWidth>" in remark for remark in read(tmp_path, "ratatoskr", CHIP, PHASES).remarks)


def test_two_cables_of_ratatoskr(tmp_path: Path) -> None:
    """Packets take the last one; zeros before an id do not count, and what is not read is passed over."""
    second = f"<con><ports>{_PORT.format('01')}{_PORT.format('00')}</ports></con>"
    notes = "<notes><con/><note>x</note></notes>" * 3
    text = CHIP.replace("</connections>", f"{second}{notes}</connections>")
    found = read(tmp_path, "ratatoskr", text.replace('node id="0"', 'node id="00"'))
    assert {"r0>r1", "r1>r0", "r0>r1#1", "r1>r0#1"} <= set(found.graph.link_names)
    ways = {(switch, end): links for switch, end, links in found.routes}
    assert (ways["r0", "n5"], ways["r1", "n4"], ways["r0", "n4"]) == (["r0>r1#1"], ["r1>r0#1"], ["r0>n4"])
    assert brought(found, tmp_path).name == "net"


def test_elements_of_ratatoskr_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("fabriloom.imports.ratatoskr")
    monkeypatch.setattr(module, "_MOST_ELEMENTS", 50)
    with pytest.raises(ReadError, match="more than 50 elements"):
        read(tmp_path, "ratatoskr", CHIP)


@pytest.mark.parametrize(
    ("kind", "texts", "message", "line"),
    [
        ("hpcc", (HPCC, FLOWS.replace("3\n", "4\n", 1)), "4 flows are announced, 3 follow", 1),
        ("hpcc", (HPCC, FLOWS.replace("1 4", "2 4")), "node 2 is no host", 4),
        ("hpcc", (HPCC, FLOWS.replace("65536", "0")), "at least a byte", 2),
        ("htsim", (TREE, MATRIX.replace("0 size 10 ", "5e3 size 10 ")), '"5e3" is no whole number', 6),
        ("hpcc", (HPCC, FLOWS.replace("1.5", "1s")), '"1s" is no start', 5),
        ("hpcc", (HPCC.replace("25Gbps", "72000Gbps"),), "at most 51200 Gbit/s, not 72 Tbit/s", 6),
        ("hpcc", (HPCC.replace("25Gbps", "9" * 400 + "Gbps"),), "the rate of a link is at most", 6),
        ("simgrid", (PLATFORM.replace("1.25E8", "1E999"),), "the rate of a link is at most", 7),
        ("hpcc", (HPCC.replace("500ns", "2000ms"),), "from 0 ps to 1 s, not 2 s", 5),
        ("htsim", (MATRIX,), "0 topologies and 1 files of connections", None),
        ("htsim", (TREE.replace("Radix_Up 4", "Radix_Up 3"),), "3 is no multiple of 2", 8),
        ("htsim", (TREE.replace("Radix_Down 4\nDown", "Radix_Down 8\nDown"),), "the tier below makes it", 18),
        ("htsim", (TREE.replace("Bundle", "Bundel"),), '"Bundel" is not expected here', 12),
        ("htsim", (TREE, MATRIX.replace("13", "16")), "there is no node 16", 3),
        ("htsim", (TREE, MATRIX.replace("start 0 size 10 ", "trigger 1 size 10 ")), "no trigger 1", 6),
        ("htsim", (TREE, TRIGGERED.replace("2->3", "9->3")), "node 9 sends when 1->2 has ended", 6),
        ("htsim", (TREE, TRIGGERED.replace("count 2", "count 3")), "waits for 3 connections, and 2", 10),
        ("htsim", (TREE, TRIGGERED.replace("id 3 multi", "id 2 multi")), "a second trigger 2", 11),
        ("htsim", (TREE, TRIGGERED.replace("multishot", "shot")), "a trigger has an id and a kind", 11),
        ("htsim", (TREE, TRIGGERED.replace("Triggers 3", "Triggers 4")), "4 triggers are announced", 3),
        ("htsim", (TREE, TRIGGERED.replace("2000000 size 65536", "2000000 size 0")), "without an end", 7),
        ("htsim", (TREE, TRIGGERED.replace("size 500", "start 0 size 500")), "a start and a trigger", 9),
        ("htsim", (TREE, TRIGGERED.replace("size 500", "size 5000000000")), "5,000,000,000 B, beside", 9),
        ("htsim", (TREE, TRIGGERED.replace("size 500", "size 2147483648")), "2,147,483,648 B, beside", 9),
        ("htsim", (TREE, TRIGGERED.replace("start 0", "trigger 1")), "waits for its own end", 4),
        ("htsim", (TREE, ROUND), "waits for its own end, by way of line 2", 1),
        ("htsim", (TREE, TRIGGERED.replace("1->2", "0->2").replace("2->3", "0->3")), "which 2 knows", 6),
        ("htsim", (TREE, MATRIX.replace("id 2", "id 1")), "a second connection 1 (line 3)", 4),
        ("htsim", (TREE, MATRIX.replace("id 2", "id 3")), "a second connection 3 (line 4)", 6),
        ("htsim", (TREE, "Failures 1\n" + MATRIX), '"Failures" is not read', 1),
        ("htsim", (TREE, MATRIX.replace("Connections 3", "Connections 4")), "4 connections are announced", 2),
        ("simgrid", (PLATFORM.replace("1.25E8Bps", "125MB"),), '"125MB" is no rate', 6),
        ("simgrid", (PLATFORM.replace('dst="r"', 'dst="q"'),), 'there is no host or router "q"', 7),
        ("simgrid", (PLATFORM[:200],), "not XML, or cut short", 4),
        ("simgrid", (CLUSTER.format(TORUS.replace("3,2", "4,2")),), "a torus of 12 hosts", 1),
        ("simgrid", (CLUSTER.format(' topology="TREE"'),), "topology TREE are not read", 1),
        ("simgrid", (CLUSTER.format(FLY.replace(";1,1;", ";1;")),), "each with its number of links", 1),
        ("simgrid", (CLUSTER.format(FLY.replace("2,2", "3,2")),), "12 hosts; this dragonfly has 18", 1),
        ("simgrid", (CLUSTER.format(FLY.replace("2,2;1,1;3,4", "6,2;1,1;1,4")),), "1 routers of a group", 1),
        ("simgrid", (ZONES.replace('host_link id="a"', 'host_link id="c"'),), 'there is no host "c"', 4),
        ("simgrid", (ZONES.replace('up="b_UP"', 'up="c_UP"'),), 'there is no link "c_UP"', 6),
        ("simgrid", (ZONES.replace('radical="1-2"', 'radical="x"'),), '"x" is no range', 9),
        ("simgrid", ('<!DOCTYPE a [<!ENTITY b "c">]><a/>',), "inside a document type", 1),
        ("ratatoskr", ('<!DOCTYPE a [<!ENTITY b "c">]><a/>',), "inside a document type", 1),
        ("ratatoskr", (CHIP[:400],), "not XML, or cut short", 7),
        ("ratatoskr", ("<a>" * 30,), "more than 20 elements in each other", 1),
        ("ratatoskr", ("<noc/>",), "<noc> is no network and no configuration", 1),
        ("ratatoskr", (PHASES,), "no file is a network", None),
        ("ratatoskr", (CHIP, CHIP), "2 files are networks", None),
        ("ratatoskr", (CHIP.replace('Type value="0"', 'Type value="9"', 1),), 'no node type "9"', 7),
        ("ratatoskr", (CHIP.replace("RouterVC", "Bus", 1),), 'the model "Bus" is not read', 3),
        ("ratatoskr", (CHIP.replace('Delay value="1"', 'Delay value="-"', 1),), '"-" is no number', 3),
        ("ratatoskr", (CHIP.replace('node id="5"', 'node id="4"'),), "a second node 4", 12),
        ("ratatoskr", (CHIP.replace('node value="4"', 'node value="44"'),), 'there is no node "44"', 16),
        ("ratatoskr", (CHIP.replace('Count value="2"', 'Count value="0"', 1),), '"0" is no whole', 16),
        ("ratatoskr", (CHIP.replace('node value="5"', 'node value="4"'),), "a second connection of n4", 17),
        ("ratatoskr", (CHIP, PHASES, PHASES), "2 files are configurations", None),
        ("ratatoskr", (CHIP, WIDE.format(12)), "12 bits is no whole number of bytes", 2),
        ("ratatoskr", (CHIP, WIDE.format(0)), '"0" is no whole number from 8', 2),
        ("ratatoskr", (ONE,), "1 terminal; a network needs two", 1),
        ("ratatoskr", (CHIP.replace("<yPos", "<y"),), "<node> without value of <yPos>", 7),
        ("ratatoskr", (CHIP, PHASES.replace('"hotspot"', '"tornado"')), '"tornado" sends nothing', 6),
        ("ratatoskr", (CHIP, PHASES.replace('spot value="2"', 'spot value="4"')), "element 4 of 4", 8),
        ("ratatoskr", (CHIP, PHASES.replace('max="90000"', 'max="90"')), "ends before it starts", 6),
    ],
)  # fmt: skip
def test_wrong_files_are_pointed_at(
    kind: str, texts: tuple[str, ...], message: str, line: int | None, tmp_path: Path
) -> None:
    with pytest.raises(ReadError) as caught:
        read(tmp_path, kind, *texts)
    assert message in caught.value.message
    assert (caught.value.place and caught.value.place[1]) == line


ANYNET = "router 0 node 0 node 1 5 router 1 4\nrouter 1 node 2 router 0 3 router 2\nrouter 2 node 3\n"


def others_read(kind: str, text: str, folder: Path) -> imports.Imported:
    (folder / "net.txt").write_text(text)
    return imports.read(kind, folder / "net.txt")


def test_a_network_of_booksim(tmp_path: Path) -> None:
    graph = others_read("anynet", ANYNET, tmp_path).graph
    assert graph.switch_names == ["r0", "r1", "r2"]
    assert graph.terminal_names == ["n0", "n1", "n2", "n3"]
    delays = dict(zip(graph.link_names, graph.attributes["delay_ps"].tolist(), strict=True))
    assert (delays["r0>r1"], delays["r1>r0"], delays["n1>r0"]) == (3000, 2000, 4000)
    assert delays["r2>r1"] != delays["r2>r1"]  # not given


def test_a_topology_of_hpcc(tmp_path: Path) -> None:
    found = others_read("hpcc", HPCC, tmp_path)
    assert found.graph.switch_names == ["s2", "s3"]
    assert found.graph.attributes["rate_bits_per_s"].tolist() == [1e11] * 4 + [4e11] * 2 + [2.5e10] * 2
    assert found.graph.attributes["delay_ps"].tolist() == [1e6] * 4 + [5e5] * 2 + [1e6] * 2
    assert "lose" in found.remarks[0]
    assert brought(found, tmp_path).name == "net"


def test_packets_of_a_flit_simulator(tmp_path: Path) -> None:
    text = "# of a simulator\ncycle source destination flits\n7 0 2 4\n\n3,1,2,1 # short\n3 0 1 2\n"
    (tmp_path / "net.txt").write_text(text)
    found = imports.packets([tmp_path / "net.txt"])
    assert found.summary() == [("packets", "3"), ("terminals", "3"), ("last cycle", "7")]
    results = run(brought(found, tmp_path).with_settings({"output.trace": True}))
    trace = results.trace.sort("created_ns", "source")
    assert trace["created_ns"].to_list() == [3, 3, 7]
    assert trace["source"].to_list() == ["t.0", "t.1", "t.0"]
    assert trace["length_bytes"].to_list() == [16, 8, 32]
    # Long packets of the first cycle, all to one terminal.
    (tmp_path / "net.txt").write_text("".join(f"0 {source} 0 300\n" for source in range(1, 4)))
    listed = imports.packets([tmp_path / "net.txt"])
    assert run(brought(listed, tmp_path)).summary["packets"]["delivered"] == 3


@pytest.mark.parametrize(
    "text",
    [
        "source;destination;flits;cycle\n1;2;5;30\n",
        "Id,Src,Dst,Size,Cycle\n7,1,2,5,30\n",
        "# src dst size time\n1 2 5 30\n",
        "when,src,dst,flits\n30,1,2,5\n",
        "# from a simulator at work\n30 1 2 5\n",
        "# time;dst;src;size\n30;2;1;5\n",
        "# packets from BookSim: source and destination at cycle, flits\n30 1 2 5\n",
        "src dst size time\n# cycle source destination flits\n1 2 5 30\n",
        "cycle,from,node,bytes\n30,1,2,40\n",
        "# size_bytes dst src cycle\n40 2 1 30\n",
    ],
)
def test_columns_of_packets_stand_where_they_are_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "net.txt").write_text(text)
    rows = "".join(imports.packets([tmp_path / "net.txt"]).files("net")["packets.csv"])
    assert rows == "cycle,source,target,length\n30,1,2,40\n"


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("0 1 2\n", "3 values, where 4 are meant", 1),
        ("src dst cycle kind\n1 2 3 8\n", 'these columns have no "flits"', 1),
        ("id src dst cycle flits\n1 2 3 8\n", "4 values, where 5 are meant", 2),
        ("# id src dst cycle flits\n1 2 3\n", "3 values, where 4 are meant", 2),
        ("# x\n0 1 2 1\n0 1 2 0\n", "at least one flit", 3),
        ("0 1 2 1\n1.5 1 2 1\n", '"1.5" is no cycle', 2),
        ("0 1 n2 1\n", '"n2" is no destination', 1),
        ("# nothing\n", "no packets", None),
    ],
)
def test_a_wrong_list_of_packets_is_pointed_at(
    text: str, message: str, line: int | None, tmp_path: Path
) -> None:
    (tmp_path / "net.txt").write_text(text)
    with pytest.raises(ReadError) as caught:
        imports.packets([tmp_path / "net.txt"])
    assert message in caught.value.message
    assert (caught.value.place and caught.value.place[1]) == line


@pytest.mark.parametrize(
    ("kind", "text", "message", "line"),
    [
        ("anynet", "router 0 node\n", "node without its number", 1),
        ("anynet", "router 0 nod 0\n", '"nod" where router or node is meant', 1),
        ("anynet", ANYNET + "router 3 node 4 node 5\n", "falls into 2 parts", 4),
        ("anynet", ANYNET + "node 3 router 1\n", "node 3 is joined already (line 3)", 4),
        ("anynet", "router 0 router 0\n", "joined to itself", 1),
        ("anynet", "node 0 router 0\nNode 1 Router 0 4\n", "begins with a node has no latency", 2),
        ("anynet", "router 0 node 0 0\n", '"0" is no whole number from 1', 1),
        ("hpcc", HPCC.replace("5 2 4", "5 2 5"), "5 links are announced, 4 follow", 1),
        ("hpcc", HPCC.replace("100Gbps", "100Gb/s", 1), '"100Gb/s" is no rate', 3),
        ("hpcc", HPCC.replace("4 3 25", "9 3 25"), '"9" is no whole number from 0 to 4', 6),
        ("hpcc", HPCC.replace("500ns", "500"), '"500" is no delay', 5),
    ],
)
def test_a_wrong_network_is_pointed_at(kind: str, text: str, message: str, line: int, tmp_path: Path) -> None:
    with pytest.raises(ReadError) as caught:
        others_read(kind, text, tmp_path)
    assert message in caught.value.message
    assert caught.value.place is not None
    assert caught.value.place[1] == line


APART = """<platform version="4.1"><zone id="z" routing="Full">
<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf"/><host id="d" speed="1Gf"/>
<link id="x" bandwidth="1Gbps" latency="1us"/><link id="y" bandwidth="1Gbps" latency="1us"/>
<route src="a" dst="b"><link_ctn id="x"/></route><route src="a" dst="c"><link_ctn id="x"/></route>
<route src="a" dst="d"><link_ctn id="x"/><link_ctn id="y"/></route></zone></platform>"""


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (APART, "routes of several links are left out (1): "),
        ('<platform version="4.1"><actor host="a" function="f"/></platform>', "of this deployment"),
    ],
)
def test_a_platform_without_its_network_says_what_is_missing(text: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError) as caught:
        others_read("simgrid", text, tmp_path)
    assert hint in caught.value.hint


def test_an_unknown_kind(tmp_path: Path) -> None:
    with pytest.raises(ReadError) as caught:
        imports.read("ibnetdiscovr", tmp_path / "x")
    assert caught.value.hint == "did you mean ibnetdiscover?"
