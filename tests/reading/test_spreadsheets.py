"""CSV files as spreadsheet programs write them: commas, semicolons, tabs, decimal commas, blank rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from expects import unpacked
from fabriloom import Scenario, ScenarioError, check, load, reading
from fabriloom.compile import compile

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
SPREADSHEET = SCENARIOS / "spacewire-spreadsheet.toml"
SAVED = unpacked("spreadsheets")
"""The sheets of one spreadsheet as its program saved them, by what was chosen in its dialogue."""


@pytest.mark.parametrize(
    ("line", "sign"),
    [
        ("source,target,rate", ","),
        ("source;target;rate", ";"),
        ("source\ttarget", "\t"),
        ("0;1,5;2", ";"),
        ("0,1,2", ","),
        ("0,5", ","),
        ('"a;b",c', ","),
        ("source", ","),
        ("# a; remark\n\nsource,target", ","),
        ("sep=;\nsource;target", ";"),
        ('"sep=;"\r\nsource,a;target', ";"),
        ("SEP=\t\nsource\ttarget,a", "\t"),
        ("sep=|\nsource|target", "|"),
        ("sep=;;;\nsource;target", ";"),
        ("separate,target", ","),
    ],
)
def test_the_first_line_decides_what_separates_columns(line: str, sign: str) -> None:
    assert reading.separator(f"{line}\n1;2;3,4\n") == sign


def test_a_decimal_comma_is_read_and_nothing_else_is_changed() -> None:
    cells = {"2,5 m": "2.5 m", "-0,25": "-0.25", "1.500,5": "1.500,5", "1,2,3": "1,2,3", "s(1, 2)": "s(1, 2)"}
    for text in ("a,b", "a;b", "a\tb"):
        assert {cell: reading.Decimals.of(text).with_point(cell) for cell in cells} == cells
    numbers = ("0,125 m", "1234,5", "1,5000")
    for text in ("a,b", "a;b\n1,5;2"):
        points = [reading.Decimals.of(text).with_point(cell) for cell in numbers]
        assert points == ["0.125 m", "1234.5", "1.5000"]
    assert reading.Decimals.of("a,b").with_point("1,500 m") == "1,500 m"


@pytest.mark.parametrize(
    ("text", "cell", "clear"),
    [
        ("a;b\n1;2", "8.000 B", False),
        ("a;b\n1;2", "8,000 B", False),
        ("a;b\n2,5;2", "8.000", False),
        ("a\tb\n2,5\t2", "8.000", False),
        ("a\tb\n2\t2", "8.000", True),
        ("a;b\n2.5;2", "8.000", True),
        ("a;b\n2,5;2", "0,125", True),
        ("a;b\n2,5;2", "12345,678", True),
        ("a,b\n2.5,2", "8.000", True),
    ],
)
def test_a_number_that_can_be_read_in_two_ways_is_refused(text: str, cell: str, clear: bool) -> None:
    decimals = reading.Decimals.of(text)
    if clear:
        assert float(decimals.with_point(cell).split()[0]) > 0
        return
    with pytest.raises(reading.ReadError, match="can be 8 or 8000"):
        decimals.with_point(cell)


@pytest.mark.parametrize("kind", ["cables", "flows", "weights"])
def test_utf_16_of_a_spreadsheet_is_read(kind: str) -> None:
    content = (SAVED / f"semicolons-{kind}.csv").read_text(encoding="utf-8")
    assert reading.text_of(content.encode("utf-16"), "x.csv") == content


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"PK\x03\x04\x14\x00", "a spreadsheet or another packed file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "an old spreadsheet"),
        (b"PAR1\x15", "a Parquet file"),
        (b"a\0,\0b\0", "NUL bytes"),
        (b"\xff\xfea", "not whole text in UTF-16"),
    ],
)
def test_a_file_that_is_no_text_says_what_it_is(content: bytes, what: str) -> None:
    with pytest.raises(reading.ReadError, match=what) as caught:
        reading.text_of(content, "x.csv")
    assert caught.value.place is None


def test_another_separator_than_in_the_first_line() -> None:
    with pytest.raises(reading.ReadError, match="has commas between its columns, this one has semicolons"):
        list(reading.records("a,b,c\n1;2;3\n", "x.csv"))
    assert len(list(reading.records("a,b\nx;y,2\n", "x.csv"))) == 2


def network(folder: Path) -> dict[str, list[Any]]:
    """The arrays of the example with the tables in a folder."""
    (folder / SPREADSHEET.name).write_bytes(SPREADSHEET.read_bytes())
    arrays = compile(load(folder / SPREADSHEET.name)).arrays
    return {name: list(getattr(column, "flat", [column])) for name, column in arrays.items()}


@pytest.mark.parametrize("form", ["semicolons", "tabs", "points", "quoted", "marked", "said"])
def test_tables_are_the_same_however_they_are_saved(form: str, tmp_path: Path) -> None:
    """``marked``: as other programs do it, with a byte-order mark, other line ends and blank rows. ``said``:
    with a first line that names the separator.
    """
    for name in ("cables", "flows"):
        path = SAVED / f"{'semicolons' if form in ('marked', 'said') else form}-{name}.csv"
        text = path.read_bytes()
        if form == "marked":
            text = b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n") + b";;;\r\n;;;\r\n"
        if form == "said":
            text = b"\xef\xbb\xbfsep=;\r\n" + text.replace(b"\n", b"\r\n")
        (tmp_path / f"spacewire-spreadsheet-{name}.csv").write_bytes(text)
    (tmp_path / "here").mkdir()
    for file in SCENARIOS.glob("spacewire-spreadsheet-*.csv"):
        (tmp_path / "here" / file.name).write_bytes(file.read_bytes())
    assert network(tmp_path) == network(tmp_path / "here")


@pytest.mark.parametrize("form", ["commas", "semicolons"])
def test_numbers_of_a_matrix_have_decimal_commas(form: str, tmp_path: Path) -> None:
    (tmp_path / "plain.csv").write_text("source,target,weight\n0,1,2.5\n1,0,1234.5\n", encoding="utf-8")
    found = []
    for path in (SAVED / f"{form}-weights.csv", tmp_path / "plain.csv"):
        pattern = {"kind": "matrix", "path": str(path), "rows": "proportional"}
        asked = {"topology": {"kind": "crossbar", "terminals": 2}, "traffic": {"pattern": pattern}}
        arrays = compile(Scenario.from_dict(asked)).arrays
        found.append({name: str(column) for name, column in arrays.items()})
    assert found[0] == found[1]


def test_a_wrong_value_is_pointed_at_in_its_cell(tmp_path: Path) -> None:
    for file in SCENARIOS.glob("spacewire-spreadsheet*"):
        (tmp_path / file.name).write_bytes(file.read_bytes().replace(b"12,5 ms", b"12,5 sm"))
    with pytest.raises(ScenarioError) as refused:
        compile(load(tmp_path / SPREADSHEET.name))
    place = refused.value.place
    assert place is not None
    assert (place.line, place.column) == (3, len('pictures,Camera,Memory,4 kB,"') + 1)


@pytest.mark.parametrize(
    ("table", "before", "after"), [("cables", "100 Mbit/s", "100 Mbps/s"), ("flows", "12,5 ms", "12,5 sm")]
)
def test_lines_and_cells_are_counted_with_a_line_that_names_the_separator(
    table: str, before: str, after: str, tmp_path: Path
) -> None:
    for file in SCENARIOS.glob("spacewire-spreadsheet*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    text = (SAVED / f"semicolons-{table}.csv").read_text(encoding="utf-8")
    assert before in text
    wrong = "sep=;\n" + text.replace(before, after, 1)
    (tmp_path / f"spacewire-spreadsheet-{table}.csv").write_text(wrong, encoding="utf-8")
    with pytest.raises(ScenarioError) as refused:
        compile(load(tmp_path / SPREADSHEET.name))
    place = refused.value.place
    assert place is not None
    lines = wrong.split("\n")
    at = next(number for number, text in enumerate(lines, 1) if after in text)
    assert (place.line, place.column, place.length) == (at, lines[at - 1].index(after) + 1, len(after))


def test_a_thousand_or_a_decimal_comma_is_asked_back(tmp_path: Path) -> None:
    for file in SCENARIOS.glob("spacewire-spreadsheet*"):
        (tmp_path / file.name).write_bytes(file.read_bytes().replace(b"12,5 ms", b"1,250 ms"))
    with pytest.raises(ScenarioError, match=r'write "1\.250 ms", or "1250 ms" without'):
        compile(load(tmp_path / SPREADSHEET.name))


def test_a_decimal_comma_elsewhere_is_explained() -> None:
    with pytest.raises(ScenarioError, match='"2,5 us" has a comma') as refused:
        load(SPREADSHEET, ["technology.turn_around=2,5 us"])
    assert '"2.5 us", or "25 us" without a decimal point' in str(refused.value)
    with pytest.raises(ScenarioError, match=r'write "1000\.5 us"'):
        load(SPREADSHEET, ["technology.turn_around=1.000,5 us"])


def test_a_sheet_of_units_and_a_sheet_of_their_packets_are_read_as_they_are(tmp_path: Path) -> None:
    """The headings of a mission: units, their router ports, hexadecimal addresses and deadlines."""
    (tmp_path / "units.csv").write_text(
        "Type;Unit;Router;Router port;Link speed [Mbit/s];Logical address;Harness length [m]\n"
        "Instrument;Imager;RTR;1;200;0x28;2,5\n"
        "Memory;MMU;RTR;7;200;0x30;1,0\n",
        encoding="utf-8",
    )
    (tmp_path / "packets.csv").write_text(
        "Instrument;Destination;Packet length [bytes];Mean rate [Mbit/s];Deadline [ms]\n"
        "Imager;MMU;4096;48,5;10\n",
        encoding="utf-8",
    )
    scenario = {
        "topology": {"kind": "file", "path": str(tmp_path / "units.csv")},
        "technology": {"preset": "spacewire-200"},
        "traffic": {"pattern": {"kind": "flows", "path": str(tmp_path / "packets.csv")}},
    }
    compiled = compile(Scenario.from_dict(scenario))
    graph = compiled.graph
    assert (graph.switch_names, graph.terminal_names) == (["RTR"], ["Imager", "MMU"])
    assert graph.layout["addresses"] == {0: 40, 1: 48}
    assert compiled.arrays["flow_length"].tolist() == [4096]
    assert check(Scenario.from_dict(scenario))["demanded"]["offered_mbytes_per_s"] == pytest.approx(48.5 / 8)
