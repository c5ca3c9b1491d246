"""Columns of text: each as wide as its longest line, or folded where all together are too wide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len, chop_cells

_TAB = 8
_WORD = re.compile(r"\s*\S+\s*")


class Column(NamedTuple):
    """The cells of a column, from the top."""

    cells: Sequence[str]
    padding: int
    """Blanks beside a cell that count as its width."""
    folds: bool = True
    right: bool = False
    """Whether the cells are flush right."""

    @property
    def longest(self) -> int:
        """The width of the longest line, with padding."""
        lines = (cell_len(line) for cell in self.cells for line in cell.splitlines())
        return max(lines, default=0) + self.padding or 1

    @property
    def least(self) -> int:
        """The width of the longest word, with padding; that of the longest line, if lines are not folded."""
        words = (cell_len(word) for cell in self.cells for word in cell.split())
        return max(words, default=0) + self.padding if self.folds else self.longest

    def lines(self, cell: str, width: int) -> list[str]:
        """Return the lines of a cell, each of this width without padding."""
        found = cell.expandtabs(_TAB).split("\n")
        if self.folds:
            found = [part for line in found for part in folded(line, width)]
        texts = [line.rstrip() for line in found]
        blanks = [" " * (width - cell_len(text)) for text in texts]
        return [b + text if self.right else text + b for text, b in zip(texts, blanks, strict=True)]


def laid_out(
    columns: Sequence[Column], between: int, width: int, head: bool = False
) -> Iterator[list[list[str]]]:
    """Yield the rows; a row is a list of lines, a line its cells, each as wide as its column.

    What does not fit into ``width`` is folded. If that does not suffice, lines are longer: a line that the
    terminal breaks is a lesser evil than a number that is cut off. ``between``: blanks in a line besides the
    columns with their padding. ``head``: the first row has names of columns, which stand at the bottom of it.
    """
    most = max(width - between, sum(column.least for column in columns))
    own = [found - column.padding for found, column in zip(_widths(columns, most), columns, strict=True)]
    for place, cells in enumerate(zip(*(column.cells for column in columns), strict=True)):
        parts = [column.lines(cell, width) for column, cell, width in zip(columns, cells, own, strict=True)]
        height = max(len(lines) for lines in parts)
        for lines, width in zip(parts, own, strict=True):
            empty = [" " * width] * (height - len(lines))
            lines[:] = empty + lines if head and place == 0 else lines + empty
        yield [list(line) for line in zip(*parts, strict=True)]


def folded(line: str, width: int) -> list[str]:
    """Return a line in parts of at most this width, divided between words, or within one that is longer."""
    starts, used = [0], 0
    for word in _WORD.finditer(line):
        start, text = word.start(), word[0]
        length = cell_len(text.rstrip())
        if length <= width - used:
            used += cell_len(text)
        elif length > width:
            for part in chop_cells(text, width):
                starts.append(start)
                start, used = start + len(part), cell_len(part)
        else:
            starts.append(start)
            used = cell_len(text)
    starts = sorted(set(starts))
    return [line[start:end] for start, end in zip(starts, [*starts[1:], len(line)], strict=True)]


def _widths(columns: Sequence[Column], most: int) -> list[int]:
    """Return the widths of the columns with padding.

    If their sum is above ``most``, the widest of those that fold are reduced to the next one, and so on.
    """
    widths = [column.longest for column in columns]
    folding = [place for place, column in enumerate(columns) if column.folds]
    while folding and (excess := sum(widths) - most) > 0:
        widest, second, *_ = *sorted({widths[place] for place in folding}, reverse=True), 0
        among = [place for place in folding if widths[place] == widest]
        for left, place in zip(range(len(among), 0, -1), among, strict=True):
            taken = min(widest - second, round(excess / left))
            widths[place] -= taken
            excess -= taken
    return widths
