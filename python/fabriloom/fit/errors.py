"""The error of this room."""

from __future__ import annotations


class FitError(ValueError):
    """Data that cannot be read or fitted; the text is the whole message."""
