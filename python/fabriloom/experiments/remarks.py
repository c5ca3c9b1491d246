"""Remarks on the numbers of a paper: where they agree, where not, and why.

A paper's ``remarks.md`` has them as paragraphs in markdown without links. A line ``<!-- ID ID -->`` in front
of a paragraph lists the printed numbers that it explains.
"""

from __future__ import annotations

import re
from importlib import resources

_ABOUT = re.compile(r"^<!-- (.*) -->\n", re.MULTILINE)


def text(paper: str) -> str:
    """Return the paragraphs of a paper; empty if it has none."""
    return _ABOUT.sub("", _file(paper)).strip()


def explained(paper: str) -> set[str]:
    """Return the ids of the printed numbers that paragraphs explain."""
    return {name for names in _ABOUT.findall(_file(paper)) for name in names.split()}


def _file(paper: str) -> str:
    folder = resources.files("fabriloom.experiments").joinpath(paper.replace("-", "_"))
    file = folder.joinpath("remarks.md")
    return file.read_text(encoding="utf-8") if file.is_file() else ""
