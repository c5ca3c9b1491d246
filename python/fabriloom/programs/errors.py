"""The error of this room."""

from __future__ import annotations

from fabriloom.traffic import TrafficError


class ProgramError(TrafficError):
    """A program that cannot be run.

    ``parameter`` is the dotted setting of ``[program]`` at fault, ``span`` where in its text: first
    character, from 0, and length.
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
