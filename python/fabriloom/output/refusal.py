"""The reason why an output folder is refused."""

from __future__ import annotations


class OutputError(Exception):
    """An output folder that cannot be used; the text is the reason, to be printed after the folder's name."""
