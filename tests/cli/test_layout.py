"""Tables of text: the columns are those of a well-known library, but no number is cut off."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence

import pytest
from fabriloom.cli import show
from fabriloom.cli.layout import Column, folded, laid_out
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

WORDS = ("a", "µs", "12.5 ± 0.3", "verdict", "x" * 18, "日本語", "- ", "s(1,1)>s(2,1)", "two  blanks")


def by_rich(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[bool], width: int) -> str:
    """The same table by the library."""
    drawn = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name, right in zip(head, numbers, strict=True):
        how = "right" if right else "left"
        drawn.add_column(Text(name), justify=how, overflow="fold", no_wrap=right)
    for row in rows:
        drawn.add_row(*map(Text, row))
    out = io.StringIO()
    Console(width=width, file=out, highlight=False, markup=False, emoji=False).print(drawn)
    lines = [line.rstrip() for line in out.getvalue().removesuffix("\n").split("\n")]
    return "\n".join(line.removeprefix(" ") for line in lines) + "\n"


@pytest.mark.parametrize("seed", range(60))
def test_tables_are_those_of_the_library(
    seed: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = random.Random(seed)
    width = draw.choice([100, 140, 200])
    monkeypatch.setattr(show, "_width", lambda: width)
    columns = draw.randint(1, 4)

    def cell() -> str:
        return " ".join(draw.choice(WORDS) for _ in range(draw.choice([1, 1, 2, 8])))

    numbers = [draw.random() < 0.3 for _ in range(columns)]
    rows = [[draw.choice(WORDS) if right else cell() for right in numbers] for _ in range(4)]
    head, *rows = rows
    show.table(head, rows, numbers)
    assert capsys.readouterr().out == by_rich(head, rows, numbers, width)


def test_no_number_is_cut_off_where_a_table_is_too_wide() -> None:
    columns = [Column(["123456789"] * 2, 2, folds=False, right=True) for _ in range(4)]
    found = list(laid_out(columns, 3, 20))
    assert found == [[["123456789"] * 4]] * 2


def test_text_is_folded_between_words_and_only_long_words_within() -> None:
    assert folded("one two three", 8) == ["one two ", "three"]
    assert folded("abcdefghij k", 4) == ["abcd", "efgh", "ij k"]
    assert all(cell_len(part) <= 5 for part in folded("日本語テキスト", 5))
