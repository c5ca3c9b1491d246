"""Printed numbers are entered twice: in ``published/*.toml``, and again, read anew, in its ``check/``."""

from __future__ import annotations

import csv
import math
from importlib import resources
from typing import Any

import pytest
from fabriloom import published


def second_entry(paper: str) -> dict[str, dict[str, str]]:
    """The check file of a paper, by id: ``value``, ``unit`` and the ``words`` that hold the number."""
    file = resources.files("fabriloom.published").joinpath("check", f"{paper}.csv")
    lines = file.read_text(encoding="utf-8").splitlines()
    return {line["id"]: line for line in csv.DictReader(lines)}


@pytest.mark.parametrize("paper", published.papers())
def test_both_entries_agree(paper: str) -> None:
    first, second = published.numbers(paper), second_entry(paper)
    differ = [
        f"{key}: {first[key]['value']} {first[key]['unit']} from “{first[key]['text']}”, but "
        f"{line['value']} {line['unit']} from “{line['words']}”"
        for key, line in second.items()
        if key in first
        and (float(line["value"]) != float(first[key]["value"]) or line["unit"] != first[key]["unit"])
    ]
    assert not differ, "\n".join(differ)


@pytest.mark.parametrize("paper", published.papers())
def test_every_number_is_entered_twice(paper: str) -> None:
    """Numbers that are not printed but follow from printed ones have no words to be read again."""
    printed = {key for key, number in published.numbers(paper).items() if not number.get("derived")}
    assert set(second_entry(paper)) == printed


@pytest.mark.parametrize("paper", published.papers())
def test_ids_can_stand_in_the_id_of_a_row(paper: str) -> None:
    """A row's id is paper, number and variant with dots between."""
    numbers = published.load(paper)["numbers"]
    assert len({number["id"] for number in numbers}) == len(numbers)
    assert not [number["id"] for number in numbers if "." in number["id"]]


@pytest.mark.parametrize("paper", published.papers())
def test_every_number_says_where_it_is_printed(paper: str) -> None:
    for key, number in published.numbers(paper).items():
        assert number["where"], key
        assert number.get("text") or (number.get("derived") and number.get("remark")), key


ATLAS = published.numbers("atlas-sci")
TABLES = {table["id"]: table for table in published.load("atlas-sci")["tables"]}


def printed(table: str, row: str) -> list[float]:
    """The cells of a row that are there."""
    return [float(value) for value in TABLES[table]["rows"][row] if not math.isnan(value)]


def test_a_cell_is_a_number() -> None:
    assert ATLAS["table-1/64/4-streams/8-byte"] == {
        "id": "table-1/64/4-streams/8-byte",
        "where": "table 1",
        "quantity": "bandwidth, LX and D310, no write-gathering, no write-combining, "
        "64 B, 4 streams, 8 byte stores",
        "unit": "MB/s",
        "value": 50,
        "text": "64: 4.7 14 7.6 27 7.9 50 7.9 63",
        "row": "64",
        "column": "4-streams/8-byte",
    }
    assert ATLAS["table-15/total/GI"]["value"] == 148


def test_a_cell_that_is_not_printed_is_no_number() -> None:
    assert "table-2/16/8-streams/4-byte" in ATLAS
    assert "table-2/16/8-streams/8-byte" not in ATLAS
    assert "table-15/from-E/GI" not in ATLAS
    cells = sum(len(printed(name, row)) for name, table in TABLES.items() for row in table["rows"])
    assert len(ATLAS) == cells + sum("row" not in number for number in ATLAS.values()) == 904


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_what_is_told_of_cells_is_told_of_cells_that_are_there(table: dict[str, Any]) -> None:
    for key in {**table.get("damaged", {}), **table.get("remarks", {})}:
        row, _, column = key.partition("/")
        assert row in table["rows"]
        assert column in ("", *table["columns"])


def test_damage_is_told_of_a_cell_or_of_its_whole_row() -> None:
    damaged = [key for key, number in ATLAS.items() if "damaged" in number]
    assert len(damaged) == 23
    assert "table-6/4096/1-stream/8-byte" in damaged
    assert len([key for key in damaged if key.startswith("table-5/1024/")]) == 8
    assert "remark" in ATLAS["table-9/16/400-MHz/4-byte"]
    assert "remark" not in ATLAS["table-9/16/300-MHz/4-byte"]


@pytest.mark.parametrize("table", ["table-15", "table-16"])
def test_the_loads_of_a_port_add_up_as_printed(table: str) -> None:
    *parts, total = TABLES[table]["rows"].values()
    for column in zip(total, *parts, strict=True):
        assert column[0] == sum(part for part in column[1:] if not math.isnan(part))


def test_the_rows_that_the_damage_copied() -> None:
    """Which is how it is known to be damage."""
    for row in ("1024", "4096"):
        assert printed("table-5", row) == printed("table-6", row)
        assert row in TABLES["table-5"]["damaged"]


def test_direct_connections_are_printed_in_two_tables() -> None:
    for row in TABLES["table-10"]["rows"]:
        assert ATLAS[f"table-13/{row}/direct"]["value"] == ATLAS[f"table-10/{row}/450-MHz/8-byte"]["value"]
