"""Output formats that all studies share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from ..process.libraries import pl
from . import files


class Tabled(ABC):
    """A result with a summary and tables, which can be written to files."""

    summary: Any
    """All numbers, ready for JSON."""

    @abstractmethod
    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables by file name."""

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the summary as JSON text, and write it to ``path`` if given. Raises OSError."""
        return files.to_json(self.summary, path)

    def to_parquet(self, folder: str | Path) -> list[Path]:
        """Write the tables as Parquet into ``folder``, which is created if needed; returns the files."""
        return files.write_plain(self.tables(), Path(folder), "parquet")

    def to_csv(self, folder: str | Path) -> list[Path]:
        """Write the tables as CSV into ``folder``, which is created if needed; returns the files."""
        return files.write_plain(self.tables(), Path(folder), "csv")
