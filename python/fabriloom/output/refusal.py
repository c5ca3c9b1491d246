"""Why something is not written."""

from __future__ import annotations


class OutputError(Exception):
    """An output folder that is not taken; the text is the whole reason, to be put behind its name."""
