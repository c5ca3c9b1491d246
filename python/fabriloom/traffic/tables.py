"""Read CSV and Parquet files as columns; errors point to the line."""

from __future__ import annotations

import io
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fabriloom import reading, units
from fabriloom.process.libraries import pl
from fabriloom.reading import ReadError
from fabriloom.reading.parquet import parquet
from fabriloom.traffic.kinds import Ints, Place, TrafficError
from fabriloom.traffic.names import Terminals

LARGEST_BYTES = 4 * 2**30
_REMARKS = ("comment", "description")
_WORDS = ("source", "target", "from", "to", "destination", "name")
"""Columns without numbers; in all others a comma can be the decimal sign."""


@dataclass(frozen=True)
class Table:
    """A file as columns. ``rows``: row numbers in the file, counting blank rows."""

    path: Path
    frame: pl.DataFrame
    rows: Ints
    is_csv: bool
    header: bool = True
    written: tuple[str, ...] = ()
    """The columns as the file has them, where capitals tell Mbit from MB."""

    def error(self, message: str, row: int, column: str | int | None = None, hint: str = "") -> TrafficError:
        """Return an error at a row (of ``frame``) and a column, with its place in the file."""
        number = int(self.rows[row])
        names = self.frame.columns
        index = names.index(column) if isinstance(column, str) and column in names else column
        if self.is_csv:
            place = _cell(self.path, number + self.header, index if isinstance(index, int) else None)
            return TrafficError(message, "pattern.path", hint, place)
        where = f"{self.path.name}, row {number + 1}" + (f', column "{column}"' if column else "")
        return TrafficError(f"{where}: {message}", "pattern.path", hint)

    def column(self, *names: str) -> tuple[str, pl.Series] | None:
        """Return the first of these columns that the table has."""
        found = next((name for name in names if name in self.frame.columns), None)
        return (found, self.frame.get_column(found)) if found else None

    def need(self, *names: str) -> tuple[str, pl.Series]:
        """Return the first of these columns. Raises :class:`TrafficError` with the nearest name."""
        found = self.column(*names)
        if found:
            return found
        near = units.nearest(names[0], self.frame.columns)
        there = ", ".join(f'"{name[:40]}"' for name in self.frame.columns[:8])
        hint = f'rename "{near}" to "{names[0]}"' if near else f"the columns are {there}"
        message = f'the column "{names[0]}" is missing'
        place = _cell(self.path, 0, None) if self.is_csv else None
        raise TrafficError(message if place else f"{self.path.name}: {message}", "pattern.path", hint, place)

    def only(self, known: tuple[str, ...]) -> None:
        """Refuse columns that have no meaning, except remarks and those that begin with an underscore."""
        for name in self.frame.columns:
            if name not in known and not name.startswith("_") and name not in _REMARKS:
                near = units.nearest(name, list(known))
                hint = f'did you mean "{near}"?' if near else "known columns: " + ", ".join(known)
                raise self.column_error(f'unknown column "{name[:60]}"', name, hint)

    def called(self, words: Mapping[str, Sequence[str]]) -> Table:
        """Return the table with the columns of ``words`` under our names, units of headings in cells."""
        names = self.frame.columns
        written = [now if now in words else then for now, then in zip(names, self.written, strict=True)]
        found = dict(zip(names, reading.headings(written, words), strict=True))
        with_units = [
            pl.col(name).map_elements(one.with_unit, return_dtype=pl.String)
            for name, one in found.items()
            if one.unit and self.frame.get_column(name).dtype == pl.String
        ]
        frame = self.frame.with_columns(with_units).rename(
            {name: one.name if one.name in words else name for name, one in found.items()}
        )
        return replace(self, frame=frame)

    def column_error(self, message: str, name: str, hint: str) -> TrafficError:
        """Return an error at the name of a column."""
        place = _cell(self.path, 0, self.frame.columns.index(name)) if self.is_csv else None
        text = message if place else f"{self.path.name}: {message}"
        return TrafficError(text, "pattern.path", hint, place)

    def filled(self, names: tuple[str, ...]) -> Table:
        """Return the table with empty cells of these columns, which may be missing, as empty text."""
        empty = [pl.lit("").alias(name) for name in names if name not in self.frame.columns]
        there = [pl.col(name).cast(pl.String).fill_null("") for name in names if name in self.frame.columns]
        return replace(self, frame=self.frame.with_columns(there + empty))

    def terminals(self, name: str, terminals: Terminals) -> Ints:
        """Return a column of terminals, given by number or name, as numbers."""

        def convert(value: Any) -> int:
            number = terminals.find(value)
            if number is None:
                raise units.UnitError(terminals.message(value), terminals.hint(value))
            return number

        return self.convert(name, convert)

    def ranges(self, name: str, terminals: Terminals) -> list[Ints]:
        """Return a column of terminals or ranges of them, as the numbers of each row."""
        known: list[Ints] = []

        def convert(value: Any) -> int:
            numbers = terminals.reach(value)
            if numbers is None:
                raise units.UnitError(terminals.message(value), terminals.hint(value))
            known.append(np.array(numbers, np.int64))
            return len(known) - 1

        return [known[index] for index in self.convert(name, convert).tolist()]

    def convert(self, name: str, convert: Any) -> Ints:
        """Convert a column to whole numbers; ``convert`` is called once per distinct value."""
        series = self.frame.get_column(name)
        if series.null_count():
            row = int(np.flatnonzero(series.is_null().to_numpy())[0])
            raise self.error(f'nothing in the column "{name}"', row, name, "fill it in")
        if not (series.dtype == pl.String or series.dtype.is_integer()):
            what = str(series.dtype).lower()
            message = f'{self.path.name}: the column "{name}" holds {what}, not whole numbers or strings'
            raise TrafficError(message, "pattern.path", "write it as integers or as strings")
        different = series.unique(maintain_order=True)
        numbers = np.empty(len(different), np.int64)
        for index, value in enumerate(different.to_list()):
            try:
                numbers[index] = convert(value)
            except units.UnitError as error:
                row = int((series == value).arg_max() or 0)
                raise self.error(error.message, row, name, error.hint) from None
        found = series.replace_strict(different, pl.Series(numbers), return_dtype=pl.Int64)
        return found.to_numpy().astype(np.int64, copy=False)  # of no rows it would be another type


def read(path: str, header: bool = True) -> Table:
    """Read a CSV file, as strings, or a Parquet file. Raises :class:`TrafficError`."""
    file = Path(path)
    kind = file.suffix.lower()
    if kind not in (".csv", ".parquet"):
        message = f'"{file.name}" is neither .csv nor .parquet'
        raise TrafficError(message, "pattern.path", "save the table as CSV or Parquet")
    try:
        content = reading.content(file, LARGEST_BYTES, "4 GiB", "split the table")
        frame = parquet(file, len(content)) if kind == ".parquet" else _csv(file, content, header)
    except ReadError as error:
        raise _refused(file, error) from None
    written = tuple(frame.columns)
    if kind == ".csv" and header:
        frame.columns = [name.strip().lower() for name in written]
    frame = _usual_names(frame)
    blank = _blank(frame)
    rows = np.flatnonzero(~blank)
    frame = frame.filter(~blank) if blank.any() else frame
    return Table(file, frame, rows, kind == ".csv", header, written)


def _usual_names(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the table with ``source`` and ``target`` where it has other words for them."""
    meant = {"from": "source", "destination": "target", "to": "target"}
    found = {
        word: name for word, name in meant.items() if word in frame.columns and name not in frame.columns
    }
    return frame.rename(found) if len(set(found.values())) == len(found) else frame


def first_line(path: str) -> list[str] | None:
    """Return the cells of the first line of a CSV file in lower case; None for a Parquet file."""
    file = Path(path)
    if file.suffix.lower() != ".csv":
        return None
    try:
        text = reading.text_of(reading.content(file, LARGEST_BYTES, "4 GiB", "split the table"), str(file))
        _, cells = next(reading.records(text, str(file)), (1, []))
    except ReadError as error:
        raise _refused(file, error) from None
    return [cell.strip().lower() for cell in cells]


def _refused(file: Path, error: ReadError) -> TrafficError:
    message = error.message if error.place else f"{file.name}: {error.message}"
    return TrafficError(message, "pattern.path", error.hint, error.place)


def _blank(frame: pl.DataFrame) -> np.ndarray:
    """Return, per row, whether it is blank."""
    if not frame.width or not frame.height:
        return np.zeros(frame.height, bool)
    return frame.select(pl.all_horizontal(pl.all().is_null())).to_series().to_numpy()


def _csv(file: Path, content: bytes, header: bool) -> pl.DataFrame:
    """Read all cells as strings. Raises :class:`ReadError`."""
    text = reading.text_of(content, str(file))
    decimals = reading.Decimals.of(text)
    found = reading.records(text, str(file))
    line, first = next(found, (1, []))
    next(found, None)  # refused if its columns are separated otherwise
    if header:
        reading.check_header(line, first, text, str(file))
    if len(first) * content.count(b"\n") > 4 * len(content):
        # Lines that are cut short are filled up with nothing, which would take gigabytes.
        message = f"{len(first):,} columns, but the lines that follow are shorter"
        raise ReadError(message, "write a value for each column", reading.line_of(text, line, str(file)))
    plain = reading.without_separator_line(text)
    body = content if len(plain) == len(text) and not content.startswith(reading.UTF_16) else plain.encode()
    try:
        frame = pl.read_csv(
            io.BytesIO(body),
            has_header=header,
            infer_schema=False,
            comment_prefix="#",
            separator=decimals.sign,
        )
    except pl.exceptions.NoDataError:
        raise ReadError("the file is empty", "write a line of column names") from None
    except Exception as error:
        _ragged(file, text)
        reason = (str(error).strip().splitlines() or ["unknown reason"])[0]
        raise ReadError(f"not CSV: {reason[:160]}", "write it again, with commas between") from None
    names = {name.strip().lower() for name in frame.columns}
    if header and len(names) < frame.width:  # a carriage return by itself ends a line for one reader only
        message = "two columns have the same name"
        raise ReadError(message, "write one line of names", reading.line_of(text, 1, str(file)))
    return _with_points(frame, decimals, file, text)


def _with_points(frame: pl.DataFrame, decimals: reading.Decimals, file: Path, text: str) -> pl.DataFrame:
    """Return the table with decimal points instead of commas, as :class:`reading.Decimals` writes numbers."""
    names = [name for name in frame.columns if name.strip().lower() not in _WORDS]
    sign = decimals.sign
    if decimals.marks:
        _refuse_unclear(frame, names, decimals, file, text)
    numbers = [pl.col(name) for name in names]
    one = [
        cell.str.count_matches(",", literal=True).eq(1) & ~cell.str.contains(".", literal=True)
        for cell in numbers
    ]
    if sign == ",":
        one = [
            is_one & ~cell.str.contains(reading.THOUSANDS.pattern)
            for cell, is_one in zip(numbers, one, strict=True)
        ]
    return frame.with_columns(
        pl.when(is_one).then(cell.str.replace(r"(\d),(\d)", "${1}.${2}")).otherwise(cell).name.keep()
        for cell, is_one in zip(numbers, one, strict=True)
    )


def _refuse_unclear(
    frame: pl.DataFrame, names: list[str], decimals: reading.Decimals, file: Path, text: str
) -> None:
    """Raise ReadError for the first number that can be read in two ways."""
    for name in names:
        unclear = frame.get_column(name).str.contains(decimals.unclear).fill_null(False)
        if not unclear.any():
            continue
        value = frame.get_column(name)[int(unclear.arg_max() or 0)]
        error = reading.unclear_number(value)
        for line, cells in reading.records(text, str(file)):
            if value in cells:
                error.place = reading.cell_place(text, str(file), line, cells, cells.index(value))
                break
        raise error


def _ragged(file: Path, text: str) -> None:
    """Raise ReadError for a line with more fields than the first, or an unclosed quote."""
    width = 0
    for line, cells in reading.records(text, str(file)):
        width = width or len(cells)
        if len(cells) > width:
            message = f"{len(cells)} fields, but {width} columns"
            hint = "put names and numbers that contain a comma into double quotes"
            raise ReadError(message, hint, reading.line_of(text, line, str(file)))
    for _ in reading.records(text, str(file), strict=True):
        pass


def _cell(file: Path, record: int, column: int | None) -> Place:
    """Return the place of a record (0: the first line that is not a comment) and of a field in it."""
    text = reading.text_of(file.read_bytes(), str(file))
    try:
        found = next(itertools.islice(reading.records(text, str(file)), record, None), None)
    except ReadError as error:
        return error.place or reading.line_of(text, 1, str(file))
    if found is None:
        return reading.line_of(text, 1, str(file))
    return reading.cell_place(text, str(file), *found, column)
