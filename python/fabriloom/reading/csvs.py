"""Strict CSV: records with their line numbers, and errors that the standard reader does not report.

Spreadsheet programs write semicolons or tabs where the comma is the decimal sign, or commas and quotes around
such numbers. These files are read as well.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabriloom import units
from fabriloom.reading.errors import Place, ReadError
from fabriloom.reading.texts import line_of

# Columns by the words of a spreadsheet: ``Port from``, ``Speed (Mbps)``, ``Deadline [ms]``.
#
# A unit in brackets belongs to every number below it that has none of its own.

_IN_BRACKETS = re.compile(r"^(.*?)\s*[(\[]\s*([^()\[\]]+?)\s*[)\]]$")
_NUMBER = re.compile(r"^\s*\d+(?:[.,]\d+)?\s*$")
_BETWEEN = re.compile(r"[\s_-]+")
_UNITS = {
    **{f"{k}{b}": f"{k}bit/s" for k in ("k", "M", "G") for b in ("bps", "b/s", "bits/s", "bit/s")},
    **{one: one for one in ("ns", "us", "ms", "s", "mm", "cm", "m", "km")},
    **{one: one for one in ("B", "kB", "KiB", "MB", "kB/s", "MB/s", "GB/s")},
    **dict.fromkeys(("byte", "bytes", "octets"), "B"),
    **dict.fromkeys(("µs", "μs"), "us"),
    **dict.fromkeys(("sec", "seconds"), "s"),
    **dict.fromkeys(("metre", "metres", "meter", "meters"), "m"),
}  # fmt: skip


@dataclass(frozen=True)
class Heading:
    """The name of a column as we call it, and the unit of its numbers; empty: they have their own."""

    name: str
    unit: str = ""

    def with_unit(self, cell: str) -> str:
        """Return a cell with the unit of its column, if it is a number alone."""
        return f"{cell.strip()} {self.unit}" if self.unit and _NUMBER.match(cell) else cell


def headings(
    written: Sequence[str], words: Mapping[str, Sequence[str]], of_unit: Collection[str] = ()
) -> list[Heading]:
    """Return the columns of a header under our names; those without a meaning stay as they are written.

    ``words``: our names, each with its other words. ``of_unit``: names that are only found under another
    word if a unit is in brackets behind it.
    """
    plain = [name.strip().lower() for name in written]
    meant = {_plain(word): name for name, others in words.items() for word in (name, *others)}
    found: list[Heading] = []
    for name, word in zip(written, plain, strict=True):
        one = Heading(word) if word in words else _meant(name, meant, of_unit)
        taken = (
            one is not None
            and one.name != word
            and (one.name in plain or one.name in [heading.name for heading in found])
        )
        found.append(Heading(name.strip()) if one is None or taken else one)
    return found


def _meant(written: str, meant: Mapping[str, str], of_unit: Collection[str]) -> Heading | None:
    bracket = _IN_BRACKETS.match(written.strip())
    unit = _UNITS.get(bracket[2]) if bracket else None
    if bracket and unit is None:
        return None
    name = meant.get(_plain(bracket[1] if bracket else written))
    if name is None or (name in of_unit and unit is None):
        return None
    return Heading(name, unit or "")


def _plain(word: str) -> str:
    return _BETWEEN.sub("", word.strip().lower())


MOST_COLUMNS = 1 << 16
_HINT = "is a quote opened and not closed? Names that hold a quote or a comma go between quotes"


_SEPARATOR_LINE = re.compile(r'\A"?sep=([,;\t|])"?[,;\t| ]*(?:\r\n|\r|\n|\Z)', re.IGNORECASE)
"""A first line with which spreadsheet programs write, and choose, the separator."""
_FIRST_LINE = re.compile(r"^(?!#)[^\r\n]*\S[^\r\n]*", re.MULTILINE)
_QUOTED = re.compile(r'"[^"]*"')
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_CLEAR_POINT = re.compile(r"(?<![\d.,])(?:\d+\.(?:\d\d?|\d{4,})|0\.\d+|\d{4,}\.\d+)(?![\d.,])")
"""A number whose point separates no thousands."""
THOUSANDS = re.compile(r"(?:^|[^0-9])[1-9][0-9]{0,2},[0-9]{3}(?:[^0-9]|$)")
"""What can be a number above a thousand with a separator; for Polars too."""


def separator(text: str) -> str:
    """Return the separator of a CSV text: a comma, or the semicolon or tab of a spreadsheet program.

    A first line such as ``sep=;`` names it. Otherwise the first line that is neither blank nor a comment
    decides. A comma between digits can be a decimal sign.
    """
    if said := _SEPARATOR_LINE.match(text):
        return said[1]
    found = _FIRST_LINE.search(text)
    line = _QUOTED.sub("", found[0]) if found else ""
    if "," in _DECIMAL_COMMA.sub("", line):
        return ","
    return next((sign for sign in ";\t" if sign in line), ",")


def without_separator_line(text: str) -> str:
    """Return a CSV text without a first line that names the separator."""
    return _SEPARATOR_LINE.sub("", text, count=1)


@dataclass(frozen=True)
class Decimals:
    """How the numbers of a CSV text are written."""

    sign: str
    """The separator of columns."""
    marks: str
    """Marks that can separate thousands as well: 8.000 between decimal commas may be 8 or 8000."""

    @classmethod
    def of(cls, text: str) -> Decimals:
        """Return how the numbers of a text are written."""
        sign = separator(text)
        if sign == ",":
            return cls(sign, "")
        has_points = sign == "\t" or _CLEAR_POINT.search(text)
        return cls(sign, "," if has_points and not _DECIMAL_COMMA.search(text) else ".,")

    @property
    def unclear(self) -> str:
        """Return the pattern of a number that can be read in two ways, for Polars too; empty: none can."""
        return rf"^\s*[+-]?[1-9][0-9]{{0,2}}[{self.marks}][0-9]{{3}}(?:[^0-9.,]|$)" if self.marks else ""

    def with_point(self, cell: str) -> str:
        """Return a number such as "2,5 m" with a decimal point.

        Where the separator is a comma, the spreadsheet program has put such a cell between quotes. There
        1,500 can as well be a number with a thousands separator; it is not changed, so whatever reads it
        refuses it. Raises ReadError, without a place, for a number that can be read in two ways.
        """
        if self.marks and re.match(self.unclear, cell):
            raise unclear_number(cell)
        if cell.count(",") != 1 or "." in cell or (self.sign == "," and THOUSANDS.search(cell)):
            return cell
        return _DECIMAL_COMMA.sub(".", cell)


def unclear_number(cell: str) -> ReadError:
    """Return the error for a number such as "8.000 B" between decimal commas."""
    found = re.match(r"\s*([+-]?\d+)[.,](\d{3})(.*)", cell.strip(), re.DOTALL)
    whole, behind, unit = found.groups() if found else (cell, "", "")
    message = f'"{cell.strip()[:40]}" can be {whole} or {whole}{behind}'
    smaller = f"{whole},{behind.rstrip('0') or '0'}{unit}"
    return ReadError(message, f'write "{whole}{behind}{unit}", or "{smaller}" for the smaller one')


def records(
    text: str, file: str, comments: bool = True, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line number (from 1) and the cells of every record; a blank record has no cells.

    A first line that names the separator is no record.
    ``comments``: skip records that begin with ``#``. Raises :class:`ReadError` for text that is not CSV
    (``strict``: also for misplaced quotes) and for a cell of more than 131,072 characters.
    """
    sign = separator(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=strict)
    before = width = 0
    if _SEPARATOR_LINE.match(text):
        next(reader)
        before = 1
    try:
        for cells in reader:
            first, before = before + 1, reader.line_num
            if comments and cells and cells[0].startswith("#"):
                continue
            width = width or len(cells)
            if len(cells) == 1 < width:
                _refuse_other_sign(cells[0], width, sign, line_of(text, first, file))
            yield first, cells
    except csv.Error as error:
        place = line_of(text, before + 1, file)
        if "field limit" in str(error):
            message = f"a field of more than {csv.field_size_limit():,} characters"
            raise ReadError(message, _HINT, place) from None
        raise ReadError(f"not CSV, or cut short: {error}", _HINT, place) from None


def _refuse_other_sign(line: str, width: int, sign: str, place: Place) -> None:
    """Raise ReadError for a line whose columns are not separated as those of the first line."""
    words = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
    for other, word in words.items():
        if other != sign and line.count(other) >= width - 1:
            message = f"the first line has {words[sign]} between its columns, this one has {word}"
            raise ReadError(message, "write the same between the columns of all lines", place)


def check_header(line: int, names: Sequence[str], text: str, file: str) -> None:
    """Check that the columns of the first record have distinct names. Raises :class:`ReadError`."""
    whole = line_of(text, line, file)
    if len(names) > MOST_COLUMNS:
        message = f"{len(names):,} columns; at most {MOST_COLUMNS:,} are read"
        raise ReadError(message, "split the table", whole)
    if len(names) == 1 and "|" in names[0]:
        raise ReadError("the columns are separated by bars", "save the file with commas or semicolons", whole)
    seen: set[str] = set()
    for column, name in enumerate(names):
        word = name.strip().lower()
        if (not word and len(names) > 1) or word in seen:
            place = cell_place(text, file, line, names, column)
            if not word:
                raise ReadError(f"column {column + 1} has no name", "name it, or leave the column out", place)
            raise ReadError(f'two columns are named "{word[:60]}"', "leave one of them out", place)
        seen.add(word)


def named_rows(
    text: str,
    file: str,
    columns: Sequence[str],
    optional: Sequence[str] = (),
    words: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line number (from 1) and the cells by column of every record below the header.

    Blank records are skipped. ``columns``: the columns that are allowed; those not in ``optional`` are
    required. ``words``: other words for some. Raises :class:`ReadError`.
    """
    found = records(text, file, comments=False)
    first, header = next(found, (1, []))
    check_header(first, header, text, file)
    meant = headings(header, {**dict.fromkeys(columns, ()), **(words or {})})
    names = [one.name if one.name in columns else one.name.lower() for one in meant]
    known = f"columns are {', '.join(columns)}"
    for place, name in enumerate(names):
        if name not in columns:
            near = units.nearest(name, [column for column in columns if column not in names])
            hint = f'did you mean "{near}"? {known}' if near else known
            where = cell_place(text, file, first, header, place)
            raise ReadError(f'unknown column "{name[:60]}"', hint, where)
    for name in columns:
        if name not in names and name not in optional:
            raise ReadError(f'the column "{name}" is missing', known, line_of(text, first, file))
    for line, cells in found:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) > len(names) or any(name not in optional for name in names[len(cells) :]):
            message = f"{len(cells)} values for {len(names)} columns"
            hint = "put names and numbers that contain a comma into double quotes"
            raise ReadError(message, hint, line_of(text, line, file))
        given = {name: cell.strip() for name, cell in zip(names, cells, strict=False)}
        yield line, dict.fromkeys(columns, "") | given


def cell_place(text: str, file: str, line: int, cells: Sequence[str], column: int | None) -> Place:
    """Return the place of a cell of the record that begins in a line; without ``column``, of the line."""
    whole = line_of(text, line, file)
    if column is None or column >= len(cells):
        return whole
    shown, start, sign = whole[4], 0, separator(text)
    for cell in cells[:column]:
        start = max(shown.find(cell, start), start) + len(cell)
        start = max(shown.find(sign, start) + 1, start)
    begin = shown.find(cells[column], start)
    start, length = (begin, len(cells[column])) if begin >= 0 else (min(start, len(shown)), 1)
    return file, line, start + 1, max(1, length), shown


def named_place(text: str, file: str, line: int, column: str) -> Place:
    """Return the place of the cell of a record in a named column; of its line if there is no such column."""
    cells = names = list[str]()
    try:
        for first, found in records(text, file):
            names = names or [name.strip().lower() for name in found]
            if first == line:
                cells = found
                break
    except ReadError:
        return line_of(text, line, file)
    place = names.index(column.lower()) if column.lower() in names else None
    return cell_place(text, file, line, cells, place)
