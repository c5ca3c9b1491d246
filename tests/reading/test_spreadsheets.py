"""CSV files as spreadsheet programs write them: semicolons, decimal commas, a byte-order mark, blank rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from fabriloom import ScenarioError, load, reading
from fabriloom.compile import compile

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
SPREADSHEET = SCENARIOS / "spacewire-spreadsheet.toml"


def plain(text: str) -> str:
    """The same file with commas and decimal points."""
    assert '"' not in text
    rows = [[reading.decimal(cell) for cell in line.split(";")] for line in text.splitlines()]
    return "".join(f"{','.join(row)}\n" for row in rows if any(row))


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
    ],
)
def test_the_first_line_decides_what_separates_columns(line: str, sign: str) -> None:
    assert reading.separator(f"{line}\n1;2;3,4\n") == sign


def test_a_decimal_comma_is_read_and_nothing_else_is_changed() -> None:
    cells = {"2,5 m": "2.5 m", "-0,25": "-0.25", "1.500,5": "1.500,5", "1,2,3": "1,2,3", "s(1, 2)": "s(1, 2)"}
    assert {cell: reading.decimal(cell) for cell in cells} == cells


def test_a_spreadsheet_gives_the_same_network_as_plain_files(tmp_path: Path) -> None:
    for name in ("cables", "flows"):
        file = SCENARIOS / f"spacewire-spreadsheet-{name}.csv"
        assert file.read_bytes().startswith(b"\xef\xbb\xbf")
        assert b"\r\n" in file.read_bytes()
        text = file.read_text(encoding="utf-8-sig").replace('"2 channels; one used"', "two channels")
        (tmp_path / file.name).write_text(plain(text), encoding="utf-8")
    (tmp_path / "plain.toml").write_text(SPREADSHEET.read_text(encoding="utf-8"), encoding="utf-8")
    arrays, others = compile(load(SPREADSHEET)).arrays, compile(load(tmp_path / "plain.toml")).arrays
    assert set(arrays) == set(others)
    for name, column in arrays.items():
        assert list(getattr(column, "flat", [column])) == list(getattr(others[name], "flat", [others[name]]))


def test_a_wrong_value_is_pointed_at_in_its_cell(tmp_path: Path) -> None:
    for file in SCENARIOS.glob("spacewire-spreadsheet*"):
        (tmp_path / file.name).write_bytes(file.read_bytes().replace(b"12,5 ms", b"12,5 sm"))
    with pytest.raises(ScenarioError) as refused:
        compile(load(tmp_path / SPREADSHEET.name))
    place = refused.value.place
    assert place is not None
    assert (place.line, place.column) == (3, len("pictures;Camera;Memory;4 kB;") + 1)


def test_a_decimal_comma_elsewhere_is_explained() -> None:
    with pytest.raises(ScenarioError, match='"2,5 us" has a comma') as refused:
        load(SPREADSHEET, ["technology.turn_around=2,5 us"])
    assert '"2.5 us", or "25 us" without a decimal point' in str(refused.value)
