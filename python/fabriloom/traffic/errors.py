"""The error of this package."""

from __future__ import annotations

Place = tuple[str, int, int, int, str]
"""File, line, column, length (line and column from 1) and the text of the line."""


class TrafficError(ValueError):
    """Traffic that cannot be built.

    ``parameter``: the dotted setting of ``[traffic]`` at fault. ``hint``: what to do. ``place``: the place in
    a traffic file.
    """

    def __init__(
        self, message: str, parameter: str | None = None, hint: str = "", place: Place | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.parameter = parameter
        self.hint = hint
        self.place = place
