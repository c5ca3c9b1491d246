"""Printed numbers are entered twice: in ``published/*.toml``, and again, read anew, in its ``check/``."""

from __future__ import annotations

import csv
from importlib import resources

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
