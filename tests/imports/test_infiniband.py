"""InfiniBand subnets: switches, adapters, cables, rates and forwarding tables, right and wrong."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
from fabriloom import imports, simulate
from fabriloom.compile import compile
from fabriloom.reading import ReadError

from .common import brought

SUBNET = """#
# Topology file: generated on Tue Nov 24 10:00:00 2026
#
vendid=0x2c9
devid=0xc738
sysimgguid=0xa10
switchguid=0xa10(a10)
Switch\t36 "S-0000000000000a10"\t\t# "MF0;leaf one/U1" enhanced port 0 lid 1 lmc 0
[1]\t"H-0000000000000b00"[1](b01) \t\t# "n0 HCA-1" lid 3 4xEDR
[2]\t"H-0000000000000c00"[1](c01) \t\t# "n1 HCA-1" lid 5 4xEDR
[35]\t"S-0000000000000a20"[35]\t\t# "two" lid 2 4xHDR
[36]\t"S-0000000000000a20"[36]\t\t# "two" lid 2 4xHDR

switchguid=0xa20(a20)
Switch\t36 "S-0000000000000a20"\t\t# "two" enhanced port 0 lid 2 lmc 0
[35]\t"S-0000000000000a10"[35]\t\t# "MF0;leaf one/U1" lid 1 4xHDR
[36]\t"S-0000000000000a10"[36]\t\t# "MF0;leaf one/U1" lid 1 4xHDR
[1]\t"H-0000000000000d00"[1](d01) \t\t# "n2 HCA-1" lid 7 4xEDR

caguid=0xb00
Ca\t1 "H-0000000000000b00"\t\t# "n0 HCA-1"
[1](b01) \t"S-0000000000000a10"[1]\t\t# lid 3 lmc 1 "MF0;leaf one/U1" lid 1 4xEDR

caguid=0xc00
Ca\t1 "H-0000000000000c00"\t\t# "n1 HCA-1"
[1](c01) \t"S-0000000000000a10"[2]\t\t# lid 5 lmc 1 "MF0;leaf one/U1" lid 1 4xEDR

caguid=0xd00
Ca\t1 "H-0000000000000d00"\t\t# "n2 HCA-1"
[1](d01) \t"S-0000000000000a20"[1]\t\t# lid 7 lmc 0 "two" lid 2 4xEDR
"""
LFTS = """Unicast lids [0x0-0x7] of switch Lid 1 guid 0x0000000000000a10 ('MF0;leaf one/U1'):
  Lid  Out   Destination
       Port     Info
0x0001 000 : (Switch portguid 0xa10: 'MF0;leaf one/U1')
0x0003 001 : (Channel Adapter portguid 0xb01: 'n0 HCA-1')
0x0004 001 : (Channel Adapter portguid 0xb01: 'n0 HCA-1')
0x0005 002 : (Channel Adapter portguid 0xc01: 'n1 HCA-1')
0x0007 036 : (Channel Adapter portguid 0xd01: 'n2 HCA-1')
5 valid lids dumped
Unicast lids [0x0-0x7] of switch Lid 2 guid 0x0000000000000a20 ('two'):
0x0003 035 # Channel Adapter portguid 0xb01: 'n0 HCA-1'
0x0005 036 # Channel Adapter portguid 0xc01: 'n1 HCA-1'
0x0007 001 # Channel Adapter portguid 0xd01: 'n2 HCA-1'
3 lids dumped
"""
FDBS = """osm_ucast_mgr_dump_ucast_routes: Switch 0x0000000000000a10
LID    : Port : Hops : Optimal
0x0003 : 001  : 00   : yes
0x0005 : 002  : 00   : yes
0x0007 : 036  : 01   : yes
0x0009 : UNREACHABLE
osm_ucast_mgr_dump_ucast_routes: Switch 0x0000000000000a20
LID    : Port : Hops : Optimal
0x0003 : 035  : 01   : yes
0x0005 : 036  : 01   : yes
0x0007 : 001  : 00   : yes
"""


def read(folder: Path, subnet: str = SUBNET, tables: str = LFTS) -> imports.Imported:
    (folder / "ibnetdiscover.out").write_text(subnet)
    (folder / "lfts.out").write_text(tables)
    return imports.read("ibnetdiscover", folder / "lfts.out", folder / "ibnetdiscover.out")


@pytest.mark.parametrize("tables", [LFTS, FDBS])
def test_a_subnet_with_its_tables(tables: str, tmp_path: Path) -> None:
    found = read(tmp_path, tables=tables)
    graph = found.graph
    assert graph.switch_names == ["leaf one", "two"]
    assert graph.terminal_names == ["n0 HCA-1", "n1 HCA-1", "n2 HCA-1"]
    assert (graph.links, graph.link_names[0]) == (10, "leaf_one:1>n0_HCA-1:1")
    rates = dict(zip(graph.link_names, graph.attributes["rate_bits_per_s"].tolist(), strict=True))
    assert rates["two:36>leaf_one:36"] == 2e11
    assert rates["two:1>n2_HCA-1:1"] == 1e11
    assert found.routes == [
        ("leaf one", "n2 HCA-1", ["leaf_one:36>two:36"]),
        ("two", "n0 HCA-1", ["two:35>leaf_one:35"]),
        ("two", "n1 HCA-1", ["two:36>leaf_one:36"]),
    ]
    compiled = compile(brought(found, tmp_path))
    assert compiled.cycle is None
    assert compiled.graph.link_names == graph.link_names


def test_a_name_may_hold_quotes_lids_and_rates(tmp_path: Path) -> None:
    found = read(tmp_path, SUBNET.replace('"two"', '"spine "2" lid 9 1xSDR"'))
    assert found.graph.switch_names == ["leaf one", 'spine "2" lid 9 1xSDR']
    assert sorted(set(found.graph.attributes["rate_bits_per_s"])) == [1e11, 2e11]


LISTED = """\
CA     3  1 0x0000000000000b01 4x EDR - SW     1  1 0x0000000000000a10 ( 'n0 HCA-1' - 'MF0;leaf one/U1' )
CA     5  1 0x0000000000000c01 4x EDR - SW     1  2 0x0000000000000a10 ( 'n1 HCA-1' - 'MF0;leaf one/U1' )
CA     7  1 0x0000000000000d01 4x EDR - SW     2  1 0x0000000000000a20 ( 'n2 HCA-1' - 'two' )
SW     1  1 0x0000000000000a10 4x EDR - CA     3  1 0x0000000000000b01 ( 'MF0;leaf one/U1' - 'n0 HCA-1' )
SW     1  2 0x0000000000000a10 4x EDR - CA     5  1 0x0000000000000c01 ( 'MF0;leaf one/U1' - 'n1 HCA-1' )
SW     1  3 0x0000000000000a10 4x SDR                                    'MF0;leaf one/U1'
SW     1 35 0x0000000000000a10 4x HDR - SW     2 35 0x0000000000000a20 ( 'MF0;leaf one/U1' - 'two' )
SW     1 36 0x0000000000000a10 4x HDR - SW     2 36 0x0000000000000a20 ( 'MF0;leaf one/U1' - 'two' )
SW     2  1 0x0000000000000a20 4x EDR - CA     7  1 0x0000000000000d01 ( 'two' - 'n2 HCA-1' )
SW     2 35 0x0000000000000a20 4x HDR - SW     1 35 0x0000000000000a10 ( 'two' - 'MF0;leaf one/U1' )
SW     2 36 0x0000000000000a20 4x HDR - SW     1 36 0x0000000000000a10 ( 'two' - 'MF0;leaf one/U1' )
"""
"""The same subnet as ``ibnetdiscover -p`` prints it."""


def test_a_list_of_ports_is_the_same_subnet(tmp_path: Path) -> None:
    blocks, listed = read(tmp_path, tables=FDBS), read(tmp_path, LISTED, FDBS)
    rates = [
        dict(zip(one.graph.link_names, one.graph.attributes["rate_bits_per_s"].tolist(), strict=True))
        for one in (blocks, listed)
    ]
    assert rates[0] == rates[1]
    assert sorted(blocks.graph.terminal_names) == sorted(listed.graph.terminal_names)
    assert sorted(blocks.routes) == sorted(listed.routes)
    for text, message, line in (
        (LISTED.replace("SW     1 36 0x", "SW     1 35 0x", 1), "port 35 has a cable already", 8),
        (LISTED.replace("CA     5", "CA     3", 1), "the LID 3 is given twice", 2),
        (LISTED[: LISTED.index("\nSW     2  1") + 1], '"0000000000000a20" has no line of its own', 3),
    ):
        with pytest.raises(ReadError, match=message) as caught:
            read(tmp_path, text)
        assert caught.value.place is not None
        assert caught.value.place[1] == line


def test_each_table_may_have_a_file(tmp_path: Path) -> None:
    second = LFTS.index("Unicast lids", 1)
    (tmp_path / "one.out").write_text(LFTS[:second])
    (tmp_path / "two.out").write_text(LFTS[second:])
    (tmp_path / "net.out").write_text(SUBNET)
    names = [tmp_path / name for name in ("one.out", "net.out", "two.out")]
    found = imports.read("ibnetdiscover", *names)
    assert isinstance(found, imports.Imported)
    assert found.routes == read(tmp_path).routes
    again = LFTS[second:].replace("guid 0x0000000000000a20", "guid 0x0000000000000a10")
    (tmp_path / "two.out").write_text(again)
    with pytest.raises(ReadError, match=r"LID 3 is there already .* \(line 5 of .*one\.out\)"):
        imports.read("ibnetdiscover", *names)
    with pytest.raises(ReadError, match='"two" has no table; it is to lead to LID 3, "n0 HCA-1"'):
        imports.read("ibnetdiscover", *names[:2])


def test_an_adapter_without_a_lid_has_no_route(tmp_path: Path) -> None:
    subnet = SUBNET.replace("# lid 7 lmc 0", "# lid 0 lmc 0")
    with pytest.raises(ReadError, match='"n2 HCA-1" has no LID: no table leads to it'):
        read(tmp_path, subnet)
    (tmp_path / "net.out").write_text(subnet)
    assert imports.read("ibnetdiscover", tmp_path / "net.out").summary()[1] == ("terminals", "3")


def test_groups_and_entries_of_no_port_are_passed_over(tmp_path: Path) -> None:
    """As ``ibnetdiscover -g`` and ``dump_lfts -a`` print them."""
    before = "\nChassis 1 (guid 0xa1f)\n\n# Spine Nodes\n# Line Nodes\nvendid"
    grouped = SUBNET.replace("vendid", before, 1).replace("[35]\t", "[35][ext 17]\t")
    grouped = grouped.replace("\ncaguid=0xd00", "\nNon-Chassis Nodes\n\ncaguid=0xd00")
    tables = LFTS.replace("0x0007 001 #", f"0x0005 255 : (path #{1} - illegal port)\n0x0007 001 #")
    tables = tables.replace("0x0001 000 :", "0x0003 255 : (illegal port)\n0x0001 000 :")
    plain, found = read(tmp_path), read(tmp_path, grouped, tables)
    assert (found.graph.link_names, found.routes) == (plain.graph.link_names, plain.routes)
    assert plain.remarks == found.remarks == ()


@pytest.mark.parametrize(
    ("described", "names"),
    [
        (("MF0;leaf1:MSB7800/U1", "MF0;leaf2:MQM8700/U1"), ["leaf1", "leaf2"]),
        (("MF0;core:CS7500/L01/U1", "MF0;core:CS7500/S01/U1"), ["core/L01", "core/S01"]),
        (("MF0;twin:SB7800/U1", "MF0;twin:SB7700/U1"), ["MF0;twin:SB7800/U1", "MF0;twin:SB7700/U1"]),
        (("SwitchIB Mellanox Technologies", "leaf2"), ["SwitchIB Mellanox Technologies", "leaf2"]),
    ],
)
def test_switches_have_the_short_names_of_their_hosts(
    described: tuple[str, str], names: list[str], tmp_path: Path
) -> None:
    one, two = described
    text = SUBNET.replace("MF0;leaf one/U1", one).replace('"two"', f'"{two}"')
    assert read(tmp_path, text).graph.switch_names == names


def test_what_a_subnet_leaves_open_is_said(tmp_path: Path) -> None:
    subnet = SUBNET.replace("4xHDR", "4x???").replace("n2 HCA-1", "Mellanox Technologies Aggregation Node")
    unknown, inside = read(tmp_path, subnet).remarks
    assert unknown == "4 of 10 ports have no width and rate: infiniband-4x-edr gives theirs"
    assert inside.startswith("aggregation nodes within switches are terminals, too (1): ")


@pytest.mark.parametrize("word", ["Ca", "Hca", "HCA"])
def test_adapters_as_older_programs_and_ibsim_call_them(word: str, tmp_path: Path) -> None:
    subnet = SUBNET.replace("\nCa\t", f"\n{word}\t")
    if word == "HCA":
        with pytest.raises(ReadError, match='"HCA'):
            read(tmp_path, subnet)
    else:
        assert read(tmp_path, subnet).summary()[:2] == [("switches", "2"), ("terminals", "3")]


@pytest.mark.parametrize(
    ("change", "message", "line", "part"),
    [
        (("lid 7 lmc 0", "lid 6 lmc 0"), "the LID 6 is given twice (also in line 26)", 30, "lid 6"),
        (('[2]\t"H-0000000000000c00"', '[1]\t"H-0000000000000c00"'), "port 1 has a cable already", 10, "[1]"),
        (
            ('"S-0000000000000a20"[36]\t\t# "two"', '"S-0000000000000a20"[7]\t\t# "two"'),
            "has no cable",
            12,
            "S-",
        ),
        (("4xHDR", "4xHRD"), "4xHRD is no width and rate", 11, "4xHRD"),
        (("vendid", "vendor"), "is no line of ibnetdiscover", 4, "vendor"),
        (('Ca\t1 "H-0000000000000d00"', 'Ca\t1 "H-0000000000000e00"'), "has no block of its own", 18, "H-"),
    ],
)
def test_a_wrong_subnet_is_pointed_at(
    change: tuple[str, str], message: str, line: int, part: str, tmp_path: Path
) -> None:
    with pytest.raises(ReadError) as caught:
        read(tmp_path, SUBNET.replace(*change, 1))
    assert message in caught.value.message
    assert caught.value.place is not None
    _, number, column, _, text = caught.value.place
    assert number == line
    assert text[column - 1 :].startswith(part)


def test_a_subnet_in_two_parts(tmp_path: Path) -> None:
    lines = [line for line in SUBNET.splitlines() if "[35]" not in line and "[36]" not in line]
    with pytest.raises(ReadError, match='falls into 2 parts: "two" and 1 more are joined') as caught:
        read(tmp_path, "\n".join(lines))
    assert caught.value.place is not None
    assert '"two"' in caught.value.place[4]


@pytest.mark.parametrize(
    ("change", "message", "line"),
    [
        (("0x0007 001 #", "0x0007 035 #"), "LID 7) loop: leaf one > two > leaf one", 13),
        (("0x0007 001 #", "# no entry"), 'packets for LID 7 come to "two", which has no entry for it', 8),
        (("0x0005 036 #", "# no entry"), '"two" has no entry for LID 5, "n1 HCA-1"', 10),
        (("0x0007 001 #", "0x0007 009 #"), 'port 9 of "two" has no cable', 13),
        (("0x0003 035 #", "0x0005 035 #"), "LID 5 is there already for this switch (line 11)", 12),
        (("0x0005 002 :", "0x0005 001 :"), 'LID 5 belongs to "n1 HCA-1", this leads to "n0 HCA-1"', 7),
        (("guid 0x0000000000000a20", "guid 0x0000000000000a30"), "there is no switch 0x0000000000000a30", 10),
        (("3 lids dumped", "three lids"), "is no line of a forwarding table", 14),
    ],
)
def test_wrong_tables_are_pointed_at(
    change: tuple[str, str], message: str, line: int, tmp_path: Path
) -> None:
    with pytest.raises(ReadError) as caught:
        read(tmp_path, tables=LFTS.replace(*change, 1))
    assert message in caught.value.message
    assert caught.value.place is not None
    assert caught.value.place[1] == line


def record(source: int, target: int, level: int) -> str:
    """As ``saquery PathRecord`` prints one, without some items."""
    items = {"service_id": "0x0000000000000000", "sgid": "fe80::b01", "dlid": target, "slid": source}
    items |= {"pkey": "0xFFFF", "sl": f"0x{level:X}", "resv2": "0x000000000000"}
    return "PathRecord dump:\n" + "".join(f"\t\t{name:.<24}{value}\n" for name, value in items.items())


RECORDS = "".join(record(*one) for one in ((3, 5, 0), (3, 7, 1), (5, 7, 0), (7, 3, 5), (7, 4, 9), (1, 3, 2)))


def with_records(folder: Path, records: str, tables: bool = True) -> imports.Imported:
    (folder / "paths.out").write_text(records)
    files = {"ibnetdiscover.out": SUBNET, "paths.out": records, **({"lfts.out": LFTS} if tables else {})}
    for name, text in files.items():
        (folder / name).write_text(text)
    return imports.read("ibnetdiscover", *(folder / name for name in files))


def test_path_records_give_service_levels(tmp_path: Path) -> None:
    """Records of switches and of further LIDs of a port say nothing of terminals."""
    found = with_records(tmp_path, RECORDS)
    assert found.levels == [("n0 HCA-1", "n2 HCA-1", 1), ("n2 HCA-1", "n0 HCA-1", 5)]
    assert (
        "service levels 0 to 5 are taken as the lanes of these numbers; 2 pairs have no record"
        in found.remarks[-1]
    )
    compiled = compile(brought(found, tmp_path))
    assert compiled.routes.technology.lanes == 6
    assert compiled.arrays["class_between"].reshape(3, 3).tolist() == [[0, 0, 1], [0, 0, 0], [5, 0, 0]]
    assert compiled.cycle is None


def test_hosts_have_the_ports_of_their_adapters(tmp_path: Path) -> None:
    """In tables and levels, too: of one adapter with two ports, and of two adapters."""
    second = '[3]\t"H-0000000000000c00"[2](c02) \t\t# "n1 HCA-1" lid 9 4xEDR\n[35]'
    subnet = SUBNET.replace("[35]", second, 1).replace("n2 HCA-1", "n0 mlx5_1")
    subnet = subnet.replace(
        "\ncaguid=0xd00", '[2](c02) \t"S-0000000000000a10"[3]\t\t# lid 9 lmc 0\n\ncaguid=0xd00'
    )
    tables = LFTS.replace("0x0007", "0x0009 003 # n1\n0x0007", 1).replace(
        "0x0007 001", "0x0009 036 # n1\n0x0007 001"
    )
    files = {"net.out": subnet, "lfts.out": tables, "records.out": record(3, 9, 2) + record(5, 7, 1)}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = imports.read("ibnetdiscover", *(tmp_path / name for name in files), by_host=True)
    assert isinstance(found, imports.Imported)
    assert found.graph.terminal_names == ["n0", "n1"]
    assert found.graph.port_names == ["n0/0", "n0/1", "n1/0", "n1/1"]
    assert found.levels == [("n0/0", "n1/1", 2), ("n1/0", "n0/1", 1)]
    assert found.remarks[-1].endswith("10 pairs have no record, and level 0")
    brief = {"run": {"duration": "20 us", "precision": 0}}
    compiled = compile(brought(found, tmp_path).with_settings(brief))
    assert compiled.graph.link_names == found.graph.link_names
    assert compiled.deadlock.free
    assert simulate.compare(compiled, 10**7).identical
    with pytest.raises(ReadError, match="are those of ibnetdiscover, not of hpcc"):
        imports.read("hpcc", tmp_path / "net.out", by_host=True)


@pytest.mark.parametrize(
    ("records", "message", "line"),
    [
        (RECORDS + record(7, 3, 4), 'another level from "n2 HCA-1" to "n0 HCA-1" than an earlier one', 56),
        (RECORDS.replace("\t\tsl" + "." * 22 + "0x1\n", ""), "the record before has no sl", 16),
        (RECORDS.replace("\t\tpkey", "\t\tp key"), "is no line of a path record", 6),
        (RECORDS.replace("0x5", "0x10"), "the record before has level 16", 33),
    ],
)
def test_wrong_path_records_are_pointed_at(records: str, message: str, line: int, tmp_path: Path) -> None:
    with pytest.raises(ReadError) as caught:
        with_records(tmp_path, records)
    assert message in caught.value.message
    assert caught.value.place is not None
    assert caught.value.place[1] == line


def lanes(*tables: str) -> str:
    """As ``smpquery sl2vl`` prints them."""
    head = "# SL2VL table: Lid 1\n#" + " " * 17 + "SL: | 0| 1| 2| 3| 4| 5| 6| 7| 8| 9|10|11|12|13|14|15|\n"
    return head + "".join(f"ports: in {at:2}, out  1: |{table}\n" for at, table in enumerate(tables))


PAIRS = " 0| 0| 1| 1| 2| 2| 3| 3|" + "15|" * 8


def test_levels_have_the_lanes_of_their_table(tmp_path: Path) -> None:
    (tmp_path / "lanes.out").write_text(lanes(PAIRS, PAIRS))
    (tmp_path / "records.out").write_text(RECORDS)
    read(tmp_path)
    names = ("ibnetdiscover.out", "lfts.out", "records.out", "lanes.out")
    found = imports.read("ibnetdiscover", *(tmp_path / name for name in names))
    assert isinstance(found, imports.Imported)
    assert found.levels == [("n2 HCA-1", "n0 HCA-1", 2)]
    assert "service levels are taken as lanes 0 to 2, by their table; 2 pairs" in found.remarks[-1]
    for text, message in (
        (
            lanes(PAIRS, PAIRS.replace("3| 3|", "3| 2|")),
            'no lanes are given for packets through "leaf one" from port 1 to port 2',
        ),
        (lanes(PAIRS.replace(" 0| 0|", " 1| 1|")), "level 0 has lane 1"),
        (lanes(PAIRS.replace(" 2| 2|", "15|15|")), "level 5, whose lane 15 is not for data"),
        (lanes(PAIRS) + "ports:\n", '"ports:" is no line of a table of lanes'),
    ):
        (tmp_path / "lanes.out").write_text(text)
        with pytest.raises(ReadError, match=message):
            imports.read("ibnetdiscover", *(tmp_path / name for name in names))
    with pytest.raises(ReadError, match="lanes of service levels need path records"):
        imports.read("ibnetdiscover", *(tmp_path / name for name in names if name != "records.out"))


def by_ports(change: tuple[int, int, int, str] | None = None) -> str:
    """Lanes of two switches: level 1 has lane 1 on cables between them, level 5 lane 2 out of the second."""
    found = []
    for lid, ports in ((1, (1, 2, 35, 36)), (2, (1, 35, 36))):
        found.append(f"# SL2VL table: Lid {lid}")
        for into, out in product(ports, repeat=2):
            rows = [0] * 16
            if out > 2:
                rows[1], rows[5] = 1, 3 - lid
            own = "".join(f"{lane:2}|" for lane in rows)
            given = change[3] if change and change[:3] == (lid, into, out) else own
            found += [f"ports: in {into:2}, out {out:2}: |{given}"] * bool(given)
    return "\n".join(found) + "\n"


def test_levels_have_lanes_by_the_ports_that_packets_pass(tmp_path: Path) -> None:
    files = {"ibnetdiscover.out": SUBNET, "lfts.out": LFTS, "records.out": RECORDS, "lanes.out": by_ports()}

    def found(**changed: str) -> imports.Imported:
        for name, text in {**files, **{f"{name}.out": text for name, text in changed.items()}}.items():
            (tmp_path / name).write_text(text)
        one = imports.read("ibnetdiscover", *(tmp_path / name for name in files))
        assert isinstance(one, imports.Imported)
        return one

    whole = found()
    assert whole.levels == [("n0 HCA-1", "n2 HCA-1", 1), ("n2 HCA-1", "n0 HCA-1", 5)]
    assert set(map(str, whole.routes)) >= {
        "('leaf one', 'n2 HCA-1', ['leaf_one:36>two:36/1'], 1)",
        "('leaf one', 'n2 HCA-1', ['leaf_one:36>two:36/0'], 0)",
        "('two', 'n0 HCA-1', ['two:35>leaf_one:35/1'], 5)",
        "('leaf one', 'n0 HCA-1', ['leaf_one:1>n0_HCA-1:1/0'], 5)",
    }
    assert whole.remarks[-1].startswith(
        "service levels have lanes 0 to 1, by the ports that packets pass; 2 pairs"
    )
    compiled = compile(brought(whole, tmp_path))
    assert compiled.deadlock.free
    assert simulate.compare(compiled, 10**7).identical
    assert found(records=record(7, 3, 0)).routes[0] == ("leaf one", "n1 HCA-1", ["leaf_one:2>n1_HCA-1:1/0"])
    for change, message in (
        ((1, 2, 36, " 1|" * 16), 'level 0 for "n2 HCA-1" leave "leaf one" on lane 0 or 1'),
        ((1, 1, 36, ""), 'no lanes are given for packets through "leaf one" from port 1 to port 36'),
        ((2, 1, 35, "15|" * 16), 'level 5 from port 1 to port 35 of "two" have lane 15'),
    ):
        with pytest.raises(ReadError, match=message):
            found(lanes=by_ports(change), records=record(7, 3, 5))
    with pytest.raises(ReadError, match="LIDs of rails are not told apart"):
        rails(tmp_path, lanes=by_ports())


def test_path_records_without_tables(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="path records need forwarding tables"):
        with_records(tmp_path, RECORDS, tables=False)


def other_rail(text: str) -> str:
    """The same subnet with GUIDs of its own, other adapters of the same hosts, and the same LIDs."""
    found = re.sub(r"(?<=[x(:-])(0*)([a-d]\d\d)\b", lambda one: f"{one[1][1:]}1{one[2]}", text)
    return found.replace("HCA-1", "HCA-2")


RAILS = {
    "rail0.txt": SUBNET,
    "rail1.txt": other_rail(SUBNET),
    "lfts.txt": LFTS + other_rail(LFTS).replace("0x0003 035", "0x0003 036"),
    "paths.txt": record(3, 7, 1) + record(7, 3, 2) + other_rail(record(3, 7, 3)),
}


def rails(folder: Path, **changed: str) -> imports.Imported:
    for name, text in {**RAILS, **{f"{name}.txt": text for name, text in changed.items()}}.items():
        (folder / name).write_text(text)
    names = dict.fromkeys([*RAILS, *(f"{name}.txt" for name in changed)])
    found = imports.read("ibnetdiscover", *(folder / name for name in names), by_host=True)
    assert isinstance(found, imports.Imported)
    return found


def test_hosts_join_rails_that_are_subnets(tmp_path: Path) -> None:
    """LIDs and names of switches repeat; each rail has its tables and levels, and packets take both."""
    found = rails(tmp_path)
    graph = found.graph
    assert graph.switch_names == ["rail0.leaf one", "rail0.two", "rail1.leaf one", "rail1.two"]
    assert graph.port_names == ["n0/0", "n0/1", "n1/0", "n1/1", "n2/0", "n2/1"]
    assert [plane.graph.terminal_names for plane in graph.planes] == [
        ["n0/0", "n1/0", "n2/0"],
        ["n0/1", "n1/1", "n2/1"],
    ]
    assert found.routes[1] == ("rail0.two", "n0/0", ["rail0.two:35>rail0.leaf_one:35"])
    assert found.routes[4] == ("rail1.two", "n0/1", ["rail1.two:36>rail1.leaf_one:36"])
    assert found.levels == [("n0/0", "n2/0", 1), ("n2/0", "n0/0", 2), ("n0/1", "n2/1", 3)]
    assert found.remarks == (
        "service levels 0 to 3 are taken as the lanes of these numbers; 9 pairs have no record, and level 0",
    )
    brief = {"run": {"duration": "20 us", "precision": 0}}
    scenario = brought(found, tmp_path).with_settings(brief)
    compiled = compile(scenario)
    assert compiled.graph.link_names == graph.link_names
    assert compiled.deadlock.free
    assert simulate.compare(compiled, 10**7).identical
    (tmp_path / "later.csv").write_text((tmp_path / "routes.csv").read_text().replace("36", "35"))
    later = {"routing.after_fault": {"delay": "1 us", "kind": "table", "path": "later.csv"}}
    fault = {"fault": [{"cable": "rail1.two:36>rail1.leaf_one:36", "at": "5 us"}]}
    compiled = compile(scenario.with_settings({**later, **fault, "technology.input_queues": "fifo"}))
    assert compiled.deadlock.tables == 2
    assert simulate.compare(compiled, 10**7).identical


def test_an_adapter_may_have_a_port_in_each_rail(tmp_path: Path) -> None:
    """Also with its block before those of the switches; and a rail may be a list of ports."""
    second = (
        RAILS["rail1.txt"]
        .replace("H-0000000000001b00", "H-0000000000000b00")
        .replace("[1](1b01)", "[2](1b01)")
    )
    second = second.replace('"H-0000000000000b00"[1]', '"H-0000000000000b00"[2]')
    head, adapters = second.split("\ncaguid=0x1b00")
    found = rails(tmp_path, rail1=f"caguid=0x1b00{adapters}\n{head}")
    assert [plane.graph.terminal_names[0] for plane in found.graph.planes] == ["n0/0", "n0/1"]
    assert "rail1.leaf_one:1>n0_1:2" in found.graph.link_names
    listed = rails(tmp_path, rail1=other_rail(LISTED))
    assert sorted(listed.routes) == sorted(rails(tmp_path).routes)
    assert sorted(listed.levels) == sorted(rails(tmp_path).levels)


def test_hosts_of_one_rail_are_named(tmp_path: Path) -> None:
    assert rails(tmp_path, rail1=RAILS["rail1.txt"].replace("n2 HCA-2", "n3 HCA-2")).remarks[0] == (
        '2 of 4 hosts are not in every rail: "n2" is in rail0.txt alone, "n3" is in rail1.txt alone'
    )


@pytest.mark.parametrize(
    ("change", "message", "line"),
    [
        (
            ("S-0000000000001a20", "S-0000000000000a20"),
            '"S-0000000000000a20" is in another rail, too (line 15 of rail0.txt)',
            15,
        ),
        (
            ("H-0000000000001d00", "H-0000000000000d00"),
            "port 1 has a cable already (line 30 of rail0.txt)",
            30,
        ),
        (("# lid 7", "# lid 5"), "the LID 5 is given twice (also in line 26 of rail1.txt)", 30),
        (
            ('"S-0000000000001a20"[36]', '"S-0000000000000a20"[36]'),
            "port 36 at the other end leads elsewhere (line 17 of rail0.txt)",
            12,
        ),
        ((RAILS["rail1.txt"], "#"), "there is no switch and no adapter with a cable in this file", 1),
    ],
)
def test_wrong_rails_are_pointed_at(change: tuple[str, str], message: str, line: int, tmp_path: Path) -> None:
    with pytest.raises(ReadError) as caught:
        rails(tmp_path, rail1=RAILS["rail1.txt"].replace(*change))
    assert message in caught.value.message
    assert caught.value.place is not None
    assert caught.value.place[:2] == (str(tmp_path / "rail1.txt"), line)


def test_files_of_rails_are_told_apart(tmp_path: Path) -> None:
    for changed, message in (
        (
            {"rail1": RAILS["rail1.txt"].replace("HCA-2", "second HCA")},
            '2 parts: "rail0.leaf one" and 4 more are',
        ),
        ({"lfts": LFTS}, '"rail1.leaf one" has no table; it is to lead to LID 7, "n2/1"'),
        (
            {"lfts": RAILS["lfts.txt"].replace("0000001a20", "0000002a20")},
            "no switch 0x0000000000002a20 in rail0.txt, rail1.txt",
        ),
        ({"paths": RAILS["paths.txt"].replace("sgid", "xgid")}, "the record before has no sgid"),
    ):
        with pytest.raises(ReadError, match=message):
            rails(tmp_path, **changed)
    assert rails(tmp_path, paths=record(3, 7, 4).replace("::b01", "::b09")).levels == []
    with pytest.raises(ReadError, match="2 files of ibnetdiscover among 3"):
        imports.read("ibnetdiscover", *(tmp_path / name for name in list(RAILS)[:3]))
