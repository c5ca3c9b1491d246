"""CSV and Parquet files: read as columns, every mistake with its line."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabriloom import units
from fabriloom.traffic.errors import Place, TrafficError
from fabriloom.traffic.kinds import Ints
from fabriloom.traffic.names import Terminals

if TYPE_CHECKING:
    from polars import DataFrame, Series

LARGEST_BYTES = 4 * 2**30


@dataclass(frozen=True)
class Table:
    """A file as columns. ``rows`` are the numbers of its rows as in the file, blank ones counted."""

    path: Path
    frame: DataFrame
    rows: Ints
    is_csv: bool
    header: bool = True

    def error(self, message: str, row: int, column: str | int | None = None, hint: str = "") -> TrafficError:
        """An error at a row (of ``frame``) and a column, pointing into the file."""
        number = int(self.rows[row])
        names = self.frame.columns
        index = names.index(column) if isinstance(column, str) and column in names else column
        if self.is_csv:
            place = _cell(self.path, number + self.header, index if isinstance(index, int) else None)
            return TrafficError(message, "pattern.path", hint, place)
        where = f"{self.path.name}, row {number + 1}" + (f', column "{column}"' if column else "")
        return TrafficError(f"{where}: {message}", "pattern.path", hint)

    def column(self, *names: str) -> tuple[str, Series] | None:
        """The first of several columns that the table has."""
        found = next((name for name in names if name in self.frame.columns), None)
        return (found, self.frame.get_column(found)) if found else None

    def need(self, *names: str) -> tuple[str, Series]:
        """The same; raises :class:`TrafficError` if there is none, with the nearest name that is there."""
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
        """Refuse columns that have no meaning."""
        sign = units.other_separator(",".join(self.frame.columns)) if self.is_csv else None
        if sign:
            message = f"the columns are separated by {sign}"
            raise TrafficError(
                message, "pattern.path", "save the file with commas", _cell(self.path, 0, None)
            )
        for name in self.frame.columns:
            if name not in known:
                near = units.nearest(name, list(known))
                hint = f'did you mean "{near}"?' if near else "known columns: " + ", ".join(known)
                place = _cell(self.path, 0, self.frame.columns.index(name)) if self.is_csv else None
                message = f'unknown column "{name[:60]}"'
                text = message if place else f"{self.path.name}: {message}"
                raise TrafficError(text, "pattern.path", hint, place)

    def filled(self, names: tuple[str, ...]) -> Table:
        """The same with nothing in these columns, which may be missing, as empty text."""
        import polars as pl

        empty = [pl.lit("").alias(name) for name in names if name not in self.frame.columns]
        there = [pl.col(name).cast(pl.String).fill_null("") for name in names if name in self.frame.columns]
        return replace(self, frame=self.frame.with_columns(there + empty))

    def terminals(self, name: str, terminals: Terminals) -> Ints:
        """A column of terminals by number or name, as numbers."""

        def convert(value: Any) -> int:
            number = terminals.find(value)
            if number is None:
                raise units.UnitError(terminals.message(value), terminals.hint(value))
            return number

        return self.convert(name, convert)

    def convert(self, name: str, convert: Any) -> Ints:
        """A column through a function from a value to a whole number, called once per different value."""
        import polars as pl

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
        return found.to_numpy()


def read(path: str, header: bool = True) -> Table:
    """Read a CSV (strings, comma separated) or a Parquet file. Raises :class:`TrafficError`."""
    file = Path(path)
    kind = file.suffix.lower()
    if kind not in (".csv", ".parquet"):
        message = f'"{file.name}" is neither .csv nor .parquet'
        raise TrafficError(message, "pattern.path", "save the table as CSV or Parquet")
    try:
        size = file.stat().st_size
        if size > LARGEST_BYTES:
            raise TrafficError(f"{file.name} is larger than 4 GiB", "pattern.path", "split the table")
        content = file.read_bytes()
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        hint = "paths are relative to the folder of the scenario"
        raise TrafficError(f"{file.name} cannot be read: {reason}", "pattern.path", hint) from None
    frame = _csv(file, content, header) if kind == ".csv" else _parquet(file, content)
    blank = _blank(frame)
    rows = np.flatnonzero(~blank)
    return Table(file, frame.filter(~blank) if blank.any() else frame, rows, kind == ".csv", header)


def _blank(frame: DataFrame) -> np.ndarray:
    """Per row: nothing in it at all."""
    import polars as pl

    if not frame.width or not frame.height:
        return np.zeros(frame.height, bool)
    return frame.select(pl.all_horizontal(pl.all().is_null())).to_series().to_numpy()


def _parquet(file: Path, content: bytes) -> DataFrame:
    import polars as pl

    try:
        with _quiet():
            return pl.read_parquet(io.BytesIO(content))
    except Exception as error:
        raise _unreadable(file, error, "Parquet") from None
    except BaseException as error:  # a panic of the reader is no Exception; Ctrl-C must pass
        if type(error).__name__ != "PanicException":
            raise
        raise _unreadable(file, error, "Parquet") from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what the reader's own panics print off the terminal; the error that follows says it better."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _unreadable(file: Path, error: BaseException, kind: str) -> TrafficError:
    lines = str(error).strip().splitlines() or ["unknown reason"]
    hint = "the file is damaged or incomplete; write it again"
    if "specification" in lines[0] or not isinstance(error, Exception):
        return TrafficError(f"{file.name} is not a whole {kind} file", "pattern.path", hint)
    reason = lines[0][:160].removeprefix("parquet: ")
    return TrafficError(f"{file.name} cannot be read as {kind}: {reason}", "pattern.path", hint)


def _csv(file: Path, content: bytes, header: bool) -> DataFrame:
    import polars as pl

    try:
        content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"{file.name}, line {line}: not UTF-8 text"
        raise TrafficError(message, "pattern.path", "save the file as UTF-8") from None
    try:
        frame = pl.read_csv(io.BytesIO(content), has_header=header, infer_schema=False, comment_prefix="#")
    except pl.exceptions.NoDataError:
        raise TrafficError(f"{file.name} is empty", "pattern.path", "write a line of column names") from None
    except Exception as error:
        raise _ragged(file, content, error) from None
    return frame.rename({name: name.strip() for name in frame.columns}) if header else frame


def _ragged(file: Path, content: bytes, error: Exception) -> TrafficError:
    """Which line has another number of fields than the first."""
    width = 0
    try:
        for line, fields in _lines(content):
            width = width or len(fields)
            if len(fields) > width:
                text = content.decode("utf-8-sig").split("\n")[line - 1].rstrip("\r")
                place = (str(file), line, 1, max(1, len(text)), text)
                hint = "put names that contain a comma into double quotes"
                message = f"{len(fields)} fields, but {width} columns"
                return TrafficError(message, "pattern.path", hint, place)
    except csv.Error:
        pass
    return _unreadable(file, error, "CSV")


def _lines(content: bytes) -> Any:
    """Line number and fields of every record, without comments."""
    reader = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    before = 0
    for fields in reader:
        first, before = before + 1, reader.line_num
        if not (fields and fields[0].startswith("#")):
            yield first, fields


def _cell(file: Path, record: int, column: int | None) -> Place:
    """Where a record (0 is the first line that is no comment) and a field of it stand."""
    content = file.read_bytes()
    lines = content.decode("utf-8-sig").split("\n")
    found = next((item for index, item in enumerate(_lines(content)) if index == record), None)
    if found is None:
        return str(file), 1, 1, 1, lines[0].rstrip("\r")
    line, fields = found
    text = lines[line - 1].rstrip("\r")
    start, length = 0, len(text)
    if column is not None and column < len(fields):
        for field in fields[:column]:
            start = text.find(field, start) + len(field)
            start = max(text.find(",", start) + 1, start)
        begin = text.find(fields[column], start)
        start, length = (begin, len(fields[column])) if begin >= 0 else (start, 1)
    return str(file), line, start + 1, max(1, length), text
