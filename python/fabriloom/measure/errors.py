"""The error of this package."""

from __future__ import annotations


class MeasureError(RuntimeError):
    """A measurement that cannot be made, or is not valid; the text is the whole message."""
