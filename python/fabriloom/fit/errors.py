"""The error of this room."""

from __future__ import annotations


class FitError(ValueError):
    """What cannot be fitted or read; the text is the whole message."""
