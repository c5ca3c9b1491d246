"""The error of this room."""

from __future__ import annotations


class MeasureError(RuntimeError):
    """A measurement that cannot be made or is none; the text is the whole message."""
