"""What is said of a paper's numbers: where they agree, and where not and why.

The paragraphs of a paper are ``remarks.md`` in its folder, in markdown without links. A line
``<!-- ID ID -->`` in front of a paragraph says which printed numbers it is about.
"""

from __future__ import annotations

import re
from importlib import resources

_ABOUT = re.compile(r"^<!-- (.*) -->\n", re.MULTILINE)


def text(paper: str) -> str:
    """The paragraphs of a paper, nothing when it has none."""
    return _ABOUT.sub("", _file(paper)).strip()


def explained(paper: str) -> set[str]:
    """Ids of the printed numbers that a paragraph is about."""
    return {name for names in _ABOUT.findall(_file(paper)) for name in names.split()}


def _file(paper: str) -> str:
    folder = resources.files("fabriloom.experiments").joinpath(paper.replace("-", "_"))
    file = folder.joinpath("remarks.md")
    return file.read_text(encoding="utf-8") if file.is_file() else ""
