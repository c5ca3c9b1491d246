"""Routing tables as routers take them: ports and addresses of the file, the same in C, wrong numbers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from fabriloom import routing, topology
from fabriloom.cli.app import app
from fabriloom.routing import RoutingError, routers
from fabriloom.topology import GraphError
from typer.testing import CliRunner

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
    return topology.build("file", path=str(path))


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
    "address 31": ("64", "31", r"line 2: address is '31'; it goes from 32 to 254: lower ones are ports"),
    "address 255": ("64", "255", "it goes from 32 to 254"),
    "address twice": ("64", "70", r'the logical address 70 is that of "camera" already \(line 2\)'),
    "port twice": ("back,2,5", "back,1,5", 'port 1 of "front" has a cable already'),
    "port twice at the far end": ("back,2,5", "back,2,4", 'port 4 of "back" has a cable already'),
    "port 0": (
        "back,2,5",
        "back,0,5",
        "source_port is '0'; it goes from 1 to 31, 0 is the configuration port",
    ),
    "port 32": ("back,2,5", "back,2,32", "target_port is '32'; it goes from 1 to 31"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_numbers_are_refused_with_their_line(tmp_path: Path, name: str) -> None:
    before, after, message = WRONG[name]
    with pytest.raises(GraphError, match=message):
        graph(tmp_path, SHEET.replace(before, after))


def test_a_switch_with_more_links_than_ports_has_no_table() -> None:
    large = topology.build("crossbar", terminals=32)
    with pytest.raises(RoutingError, match="more links than the 31 ports"):
        routers.ports(large)


def test_the_command_writes_all_files(tmp_path: Path) -> None:
    onboard = Path(__file__).resolve().parents[2] / "scenarios" / "spacewire-onboard.toml"
    runner = CliRunner()
    printed = runner.invoke(app, ["export", str(onboard)])
    assert printed.stdout.splitlines()[:2] == [
        "router,logical_address,terminal,ports",
        "router-front,32,camera-wide,1",
    ]
    assert runner.invoke(app, ["export", str(onboard), "--out", str(tmp_path / "out")]).exit_code == 0
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert {"routing.csv", "routing.c", "paths.csv", "network.csv", "network.graphml"} <= names
    assert "star-tracker,processor,4 2" in (tmp_path / "out" / "paths.csv").read_text()
