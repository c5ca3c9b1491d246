"""Routing tables as routers take them: ports and addresses of the file, the same in C, wrong numbers.

Routing tables as routers take them: what is exported is read, and what is said of wrong rows.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from commands import command
from fabriloom import load, routing, topology
from fabriloom.compile import compile
from fabriloom.routing import RoutingError, routers
from fabriloom.routing.own_table import own_table
from fabriloom.technology import technology
from fabriloom.topology import GraphError
from fabriloom.topology.port_addresses import check_limits

SHEET = """\
kind,source,target,source_port,target_port,address,rate,_note
terminal,camera,front,,3,64,100 Mbit/s,"left, upper"
terminal,memory,back,,1,,200 Mbit/s,
terminal,"radio, S-band",back,,2,70,,
cable,front,back,1,4,,,
cable,front,back,2,5,,,
"""


def graph(tmp_path: Path, text: str = SHEET) -> topology.Graph:
    path = tmp_path / "cables.csv"
    path.write_bytes(text.encode())
    found = topology.build("file", path=str(path))
    check_limits(found, technology("spacewire-200"))
    return found


def test_ports_and_addresses_are_those_of_the_file(tmp_path: Path) -> None:
    found = graph(tmp_path)
    table = routing.build(found, "up*/down*")
    front, back = routers.routers(found, table)
    assert [(entry.address, entry.terminal, entry.ports) for entry in front.entries] == [
        (32, "memory", (1, 2)),
        (64, "camera", (3,)),
        (70, "radio, S-band", (1, 2)),
    ]
    assert [entry.ports for entry in back.entries] == [(1,), (4, 5), (2,)]
    assert routers.path_bytes(found, table, 0, 1) == [1, 1]
    assert '"radio, S-band",1 2' in routers.as_csv([front])


def test_what_a_spreadsheet_writes_is_read(tmp_path: Path) -> None:
    """With a byte-order mark, line ends of Windows and every cell in quotes."""
    simple = SHEET.replace('"left, upper"', "left").replace('"radio, S-band"', "radio")
    cells = "\r\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in simple.splitlines())
    plain, written = graph(tmp_path, simple), graph(tmp_path, f"\ufeff{cells}\r\n")
    assert written.link_names == plain.link_names
    assert written.layout == plain.layout
    assert np.array_equal(written.attributes["source_port"], plain.attributes["source_port"], equal_nan=True)


@pytest.mark.parametrize("form", ["csv", "json", "graphml"])
def test_ports_and_addresses_come_back_from_every_format(tmp_path: Path, form: str) -> None:
    found = graph(tmp_path)
    topology.write(found, tmp_path / f"again.{form}")
    again = topology.build("file", path=str(tmp_path / f"again.{form}"))
    assert again.layout == found.layout
    for name in ("source_port", "target_port", "rate_bits_per_s"):
        assert np.array_equal(again.attributes[name], found.attributes[name], equal_nan=True)


STRAPPED = """\
kind,source,target,source_port,target_port,address
terminal,camera,a,,1,40
terminal,memory,a,,2,50
cable,camera,b,,1,140
cable,b,memory,2,,
cable,a,b,3,3,
"""
"""Two terminals with a nominal and a redundant port on one network."""


def _addresses(found: topology.Graph) -> list[dict[str, int]]:
    planes = [plane.graph for plane in found.planes]
    return [dict(zip(plane.terminal_names, routers.addresses(plane), strict=True)) for plane in planes]


def test_each_port_has_the_address_of_its_line(tmp_path: Path) -> None:
    """A terminal's own address is that of its first port; a port without one gets a free one."""
    expected = {"camera/0": 40, "camera/1": 140, "memory/0": 50, "memory/1": 32}
    assert _addresses(graph(tmp_path, STRAPPED)) == [expected]


def test_networks_that_share_only_terminals_have_the_same_addresses(tmp_path: Path) -> None:
    apart = "".join(line for line in STRAPPED.splitlines(True) if not line.startswith("cable,a,b"))
    nominal, redundant = _addresses(graph(tmp_path, apart.replace(",140", ",")))
    assert nominal == {"camera/0": 40, "memory/0": 50}
    assert redundant == {"camera/1": 40, "memory/1": 50}
    assert _addresses(graph(tmp_path, apart))[1] == {"camera/1": 140, "memory/1": 50}, (
        "unless a cable has one"
    )


@pytest.mark.parametrize("form", ["csv", "json", "graphml"])
def test_addresses_of_ports_come_back_from_every_format(tmp_path: Path, form: str) -> None:
    plane = graph(tmp_path, STRAPPED).planes[0].graph
    topology.write(plane, tmp_path / f"again.{form}")
    assert topology.build("file", path=str(tmp_path / f"again.{form}")).layout == plane.layout


def test_addresses_of_cables_are_read_from_json(tmp_path: Path) -> None:
    nodes = '[{"id": "t", "kind": "terminal"}, {"id": "u", "kind": "terminal"}, {"id": "a"}]'
    links = '[{"source": "t", "target": "a", "address": 77}, {"source": "u", "target": "a"}]'
    (tmp_path / "g.json").write_text(f'{{"nodes": {nodes}, "links": {links}}}')
    assert _addresses(topology.build("file", path=str(tmp_path / "g.json"))) == [{"t": 77, "u": 32}]


def test_addresses_may_be_hexadecimal_in_cables_and_in_tables(tmp_path: Path) -> None:
    cables = STRAPPED.replace(",140", ",0x8C").replace(",40", ",0x28")
    assert _addresses(graph(tmp_path, cables)) == _addresses(graph(tmp_path, STRAPPED))
    text = exported()
    written = re.sub(r"^([^,]*),(\d+),", lambda row: f"{row[1]},0x{int(row[2]):X},", text, flags=re.MULTILINE)
    assert written != text
    assert routers.as_csv(read(tmp_path, written)) == text


def test_ports_that_are_not_given_are_the_free_ones_in_order() -> None:
    star = topology.build("crossbar", terminals=4)
    assert [port for port in routers.ports(star) if port] == [1, 2, 3, 4]
    assert routers.addresses(star) == [32, 33, 34, 35]


def test_c_arrays_hold_the_same_ports(tmp_path: Path) -> None:
    found = graph(tmp_path)
    tables = routers.routers(found, routing.build(found, "up*/down*"))
    text = routers.as_c(tables, "a */ comment")
    assert text.count("*/") == text.count("/*")
    blocks = re.findall(r"const uint32_t (\w+)\[256\] = \{(.*?)\};", text, re.DOTALL)
    assert [name for name, _ in blocks] == ["front", "back"]
    for (_, block), router in zip(blocks, tables, strict=True):
        masks = {int(a): int(mask, 16) for a, mask in re.findall(r"\[(\d+)\] = (0x[0-9a-f]+),", block)}
        assert masks == {entry.address: sum(1 << port for port in entry.ports) for entry in router.entries}


WRONG = {
    "port of a terminal": (
        "front,,3",
        "front,3,",
        'line 2: source_port is a port of "camera", but that is a',
    ),
    "port at the terminal's end": (
        "cable,front,back,1",
        "cable,back,camera,7,8,,,\ncable,front,back,1",
        'target_port is a port of "camera", .* the port of "back" is source_port',
    ),
    "hexadecimal port": ("2,5,,", "2,0x5,,", "target_port is '0x5'; numbers are decimal: write 5"),
    "address between routers": ("2,5,,", "2,5,80,", "a logical address is of a terminal, and neither end is"),
    "address 31": (
        "64",
        "31",
        r"line 2: address is '31'; in spacewire-200 it goes from 32 to 254: lower ones are ports",
    ),
    "address 255": ("64", "255", "goes from 32 to 254"),
    "address twice": ("64", "70", r'the logical address 70 is that of "camera" already \(line 2\)'),
    "port twice": ("back,2,5", "back,1,5", 'port 1 of "front" has a cable already'),
    "port twice at the far end": ("back,2,5", "back,2,4", 'port 4 of "back" has a cable already'),
    "port 0": (
        "back,2,5",
        "back,0,5",
        "source_port is '0'; in spacewire-200 it goes from 1 to 31, 0 is the configuration port",
    ),
    "port 32": ("back,2,5", "back,2,32", "target_port is '32'; in spacewire-200 it goes from 1 to 31"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_numbers_are_refused_with_their_line(tmp_path: Path, name: str) -> None:
    before, after, message = WRONG[name]
    with pytest.raises(GraphError, match=message):
        graph(tmp_path, SHEET.replace(before, after))


STRAPPED_WRONG = {
    "address of two ports": (",140", ",40", 'line 4: the logical address 40 is that of "camera/0" already'),
    "address of another": (",140", ",50", r'the logical address 50 is that of ".*/." already'),
    "two addresses of a port": (
        "terminal,camera,a,,1,40",
        "terminal,camera,,,,40",
        '"camera" has the logical',
    ),
}


@pytest.mark.parametrize("name", STRAPPED_WRONG)
def test_wrong_addresses_of_ports_are_refused(tmp_path: Path, name: str) -> None:
    before, after, message = STRAPPED_WRONG[name]
    with pytest.raises(GraphError, match=message):
        graph(tmp_path, STRAPPED.replace(before, after))


def test_a_switch_with_more_links_than_ports_has_no_table() -> None:
    large = topology.build("crossbar", terminals=32)
    with pytest.raises(RoutingError, match="more links than the 31 ports"):
        routers.ports(large, technology("spacewire-200").last_port)


def test_the_command_writes_the_addresses_of_ports(tmp_path: Path) -> None:
    graph(tmp_path, STRAPPED)
    text = '[topology]\nkind = "file"\npath = "cables.csv"\n[technology]\npreset = "spacewire-200"\n'
    (tmp_path / "net.toml").write_text(f'{text}[ports]\nchoice = "nominal"\n')
    printed = command("export", tmp_path / "net.toml")
    assert "a,140,camera/1,3" in printed.stdout.splitlines()


def test_the_command_writes_all_files(tmp_path: Path) -> None:
    onboard = Path(__file__).resolve().parents[2] / "scenarios" / "spacewire-onboard.toml"
    printed = command("export", onboard)
    assert printed.stdout.splitlines()[:2] == [
        "router,logical_address,terminal,ports",
        "router-front,32,camera-wide,1",
    ]
    assert command("export", onboard, "--out", tmp_path / "out").exit_code == 0
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert {"routing.csv", "routing.c", "paths.csv", "network.csv", "network.graphml"} <= names
    assert "star-tracker,processor,4 2" in (tmp_path / "out" / "paths.csv").read_text()


SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
ONBOARD = compile(load(SCENARIOS / "spacewire-onboard.toml"))


def exported() -> str:
    """The tables of the routers on board."""
    return routers.as_csv(routers.routers(ONBOARD.graph, ONBOARD.routes.table))


def read(folder: Path, text: str, adaptive: bool = True) -> list[routers.Router]:
    path = folder / "routing.csv"
    path.write_text(text, encoding="utf-8")
    return routers.routers(ONBOARD.graph, own_table(ONBOARD.graph, path, adaptive))


def test_what_is_exported_is_read(tmp_path: Path) -> None:
    text = exported()
    assert routers.as_csv(read(tmp_path, text)) == text
    semicolons = text.replace(",", ";")
    assert routers.as_csv(read(tmp_path, semicolons)) == text
    short = "\n".join(",".join(line.split(",")[:2] + line.split(",")[3:]) for line in text.splitlines())
    assert routers.as_csv(read(tmp_path, short)) == text, "names of terminals are not needed"


def test_a_run_with_the_exported_tables_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "routing.csv"
    path.write_text(exported(), encoding="utf-8")
    routing = (
        f"routing={{kind='table', path='{path}', adaptive={str(ONBOARD.scenario.routing.adaptive).lower()}}}"
    )
    again = compile(load(SCENARIOS / "spacewire-onboard.toml", [routing]))
    graph, table, own = ONBOARD.graph, ONBOARD.routes.table, again.routes.table
    for switch in range(graph.switches):
        for terminal in range(graph.terminals):
            groups = [
                one.group(int(one.route[switch, one.terminal_class[terminal]]) >> 1) for one in (table, own)
            ]
            assert np.array_equal(*groups)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("nowhere,32,1", 'there is no router "nowhere"'),
        ("{router},31,1", "no terminal has the logical address 31"),
        ("{router},200,1", "no terminal has the logical address 200; there are "),
        ("{router},{address},0", "{router} has no cable at port 0; it has 1, 2"),
        ("{router},{address},31", "{router} has no cable at port 31; it has 1"),
        ("{router},{address},", "no port is given"),
        ("{router},0x1F,1", "no terminal has the logical address 31"),
        ("{router},{address},0x12", "write the ports of a mask, separated by spaces: 1 4"),
        ("{router},{address},0x0", '"0x0" is no port of {router}: write numbers'),
        ("{router},{address},1", "this destination was given in line 2 already"),
    ],
)
def test_wrong_rows_are_refused(row: str, words: str, tmp_path: Path) -> None:
    lines = exported().splitlines()
    router, address, _, ports = lines[1].split(",")
    known = {"router": router, "address": address}
    first = f"{router},{address},{ports}"
    text = "\n".join(["router,logical_address,ports", first, row.format(**known)])
    with pytest.raises(RoutingError) as refused:
        read(tmp_path, text)
    assert str(refused.value).startswith("line 3: ")
    assert words.format(**known) in str(refused.value)


def read_c(folder: Path, text: str) -> list[routers.Router]:
    (folder / "routing.c").write_text(text, encoding="utf-8")
    return routers.routers(ONBOARD.graph, own_table(ONBOARD.graph, folder / "routing.c"))


def masks(found: list[routers.Router]) -> dict[str, dict[int, int]]:
    return {
        one.name: {way.address: sum(1 << port for port in way.ports) for way in one.entries} for one in found
    }


def test_exported_arrays_in_c_are_read(tmp_path: Path) -> None:
    before = routers.routers(ONBOARD.graph, ONBOARD.routes.table)
    text = routers.as_c(before, "of a test")
    assert masks(read_c(tmp_path, text)) == masks(before)


def test_arrays_in_c_as_people_write_them(tmp_path: Path) -> None:
    """Without places, as an array of arrays, with path addresses, shifts, octals and comments."""
    expected = masks(routers.routers(ONBOARD.graph, ONBOARD.routes.table))
    lists = [
        [ways.get(address, 1 << address if address in (1, 2) else 0) for address in range(256)]
        for ways in expected.values()
    ]
    rows = ", // next\n".join("  { " + ", ".join(map(oct, one)).replace("0o", "0") + ", }" for one in lists)
    text = (
        f"#define ROUTERS \\\n  2\nextern int x;\nstatic const uint8_t lut[ROUTERS] [256]={{/* {{ */{rows}}};"
    )
    assert masks(read_c(tmp_path, text)) == expected
    shifted = "".join(
        f"uint32_t {name}[] = {{"
        + ", ".join(f"[0x{a:X} ... {a}] = (1U << {m.bit_length() - 1}) | {m:#b}" for a, m in ways.items())
        + "};"
        for name, ways in zip(routers.identifiers([*expected]), expected.values(), strict=True)
    )
    assert masks(read_c(tmp_path, shifted)) == expected


FRONT = "router_front[256] = {\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("int other[] = {\n0};", 'line 1: there is no router "other"; arrays have the names router_front, '),
        ("\nextern int router_front[256];", "line 1: there is no array with elements"),
        (FRONT + "[32] = 0x2,\n[33] = 1 };", "line 3: router-front has no cable at port 0; it has 1, 2"),
        (FRONT + "[200] = 2 };", "line 2: no terminal has the logical address 200; there are 32"),
        (FRONT + "[5] = 2 };", "line 2: no terminal has the logical address 5"),
        (FRONT + "[32] = 0x2,\n32: 0x2 };", 'line 3: "32: 0x2" is no mask of ports; that of 1 and 2 is 0x06'),
        (FRONT + "[32] = 0x2,\n[32] = 0x2 };", "line 3: this destination was given in line 2 already"),
        (FRONT + "[FRONT] = 0x2 };", 'line 2: "FRONT" is no place of an element'),
        (FRONT + "[32] = 09 };", '"09" is no mask'),
        (FRONT + "{0} };", '"{" is no mask'),
        (FRONT + "0,,0 };", '"" is no mask'),
        (FRONT + "[32] = 0x2; /* }", "line 2: these elements have no end, or are no numbers"),
        (FRONT + "[33 ... 32] = 0x2 };", "line 2: [33 ... 32] are no elements with numbers"),
        (FRONT + "[0 ... 0xFFFFFFFF] = 0x2 };", "line 2: [0 ... 0xFFFFFFFF] are no elements"),
        ("a[2][9] = {0, 0};", "a is no array of arrays, one for each of 3 routers"),
        ("a[4][9] = {{0}, {0}, {0}, {0}};", "a is no array of arrays, one for each of 3 routers"),
        ("a[2][9] = {{0} {0}};", "a comma or the end of the array is missing"),
    ],
)
def test_wrong_arrays_in_c_are_refused(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(RoutingError) as refused:
        read_c(tmp_path, text)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("head", "cell", "words"),
    [
        ("terminal", "somebody", "not of somebody"),
        ("priority", "high", "routing.high_priority"),
        ("take", "all", "[[routing.distribution]]"),
    ],
)
def test_other_columns_mean_what_they_say(head: str, cell: str, words: str, tmp_path: Path) -> None:
    router, address, _, ports = exported().splitlines()[1].split(",")
    text = f"router,logical_address,ports,{head}\n{router},{address},{ports},{cell}\n"
    with pytest.raises(RoutingError) as refused:
        read(tmp_path, text)
    assert words in str(refused.value)


def test_an_address_that_runs_in_a_loop_is_shown_at_its_rows(tmp_path: Path) -> None:
    """Two routers that send an address to each other."""
    graph = ONBOARD.graph
    port, lines = routers.ports(graph), exported().splitlines()
    between = next(
        link
        for link in range(graph.links)
        if graph.link_source[link] < graph.switches and graph.link_target[link] < graph.switches
    )
    back = int(graph.link_reverse[between])
    ends = {int(graph.link_source[link]): port[link] for link in (between, back)}
    address = lines[1].split(",")[1]
    changed = []
    for line in lines:
        cells = line.split(",")
        at = graph.switch_names.index(cells[0]) if cells[0] in graph.switch_names else -1
        changed.append(",".join([*cells[:3], str(ends[at])]) if at in ends and cells[1] == address else line)
    with pytest.raises(RoutingError, match=r"line \d+: packets for .* run in a loop"):
        read(tmp_path, "\n".join(changed))
