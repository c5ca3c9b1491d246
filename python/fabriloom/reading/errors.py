"""The error of this room, and what the errors of rooms that build something have in common."""

from __future__ import annotations

Place = tuple[str, int, int, int, str]
"""File, line, column, length (line and column from 1, in characters) and the text of the line."""


class UserError(ValueError):
    """A mistake that the user can correct; the text is the whole message."""


class DescriptionError(UserError):
    """Something that parameters or a file describe and that cannot be built; each room has its own."""

    def __init__(self, message: str, parameter: str | None = None, cell: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        """What is wrong; without the place, if that is known apart."""
        self.parameter = parameter
        """The setting at fault, if there is one."""
        self.cell = cell
        """The column at fault, if it is a line of a table."""
        self.hint = ""
        """What to do, if a file cannot be read."""
        self.place: Place | None = None
        """Where, if a file cannot be read."""


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
