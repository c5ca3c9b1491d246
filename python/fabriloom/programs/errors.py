"""The errors of this package."""

from __future__ import annotations

from fabriloom.traffic import TrafficError


class ProgramError(TrafficError):
    """A program that cannot be run.

    ``parameter`` is the dotted setting of ``[program]`` that is wrong, ``span`` the place in its text: first
    character, counted from 0, and length.
    """

    def __init__(
        self,
        message: str,
        parameter: str | None = None,
        hint: str = "",
        span: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(message, parameter, hint)
        self.span = span
