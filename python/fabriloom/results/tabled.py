"""What every result of several runs can be written as."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import files

if TYPE_CHECKING:
    import polars as pl


class Tabled(ABC):
    """A result with a summary and tables, as files."""

    summary: Any
    """Everything in numbers, ready for JSON."""

    @abstractmethod
    def tables(self) -> dict[str, pl.DataFrame]:
        """The tables by the names of their files."""

    def to_json(self, path: str | Path | None = None) -> str:
        """The summary as JSON text, written to ``path`` too when one is given."""
        return files.to_json(self.summary, path)

    def to_parquet(self, folder: str | Path) -> list[Path]:
        """Write the tables as Parquet into ``folder``, which is made if needed; returns the files."""
        return files.write_plain(self.tables(), Path(folder), "parquet")

    def to_csv(self, folder: str | Path) -> list[Path]:
        """Write the tables as CSV into ``folder``, which is made if needed; returns the files."""
        return files.write_plain(self.tables(), Path(folder), "csv")
