"""The error of this room."""

from __future__ import annotations

Place = tuple[str, int, int, int, str]
"""File, line, column, length (line and column from 1, in characters) and the text of the line."""


class ReadError(ValueError):
    """A file that cannot be used: what is wrong, what to do, and the place, if it is known."""

    def __init__(self, message: str, hint: str = "", place: Place | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.place = place

    @property
    def where(self) -> str:
        """Return ``line 3, column 5``, or an empty string if the error concerns the whole file."""
        return f"line {self.place[1]}, column {self.place[2]}" if self.place else ""
