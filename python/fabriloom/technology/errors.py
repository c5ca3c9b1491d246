"""The error of an impossible technology."""

from __future__ import annotations

from fabriloom.reading.errors import UserError


class TechnologyError(UserError):
    """An impossible technology. ``parameter``: the setting at fault; ``hint``: what to do.

    ``beside``: a setting that contradicts it, at fault if that one is the preset's.
    """

    def __init__(
        self, message: str, parameter: str | None = None, hint: str = "", beside: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.parameter = parameter
        self.hint = hint
        self.beside = beside
