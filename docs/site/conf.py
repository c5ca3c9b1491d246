"""The site of the documentation: the pages as they are, with the index of ``docs/README.md`` beside them."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import fabriloom.page
import fabriloom_papers
from fabriloom_papers import page

project = "Fabriloom"
extensions = ["myst_parser"]
root_doc = "docs/README"
exclude_patterns = ["**/site"]
html_theme = "furo"
html_title = "Fabriloom"
html_copy_source = False
html_show_sphinx = False
myst_heading_anchors = 3
# Scenarios, sources and licences that pages point to are files of the repository, not pages of the site.
suppress_warnings = ["myst.xref_missing", "misc.highlighting_failure"]

_PART = re.compile(r"^(?=\*\*)", re.MULTILINE)
_TITLE = re.compile(r"\*\*\[?([^\]*]+)")
_PAGE = re.compile(r"\]\(((?:\.\./)?[\w./-]+)\.md\)")


def _toctrees(text: str) -> str:
    """The index again as lists of pages, one for each of its parts, which begin with a word in bold."""
    trees = []
    for part in _PART.split(text)[1:]:
        title = _TITLE.match(part)
        pages = list(dict.fromkeys(_PAGE.findall(part)))
        head = ["```{toctree}", ":hidden:", f":caption: {title[1] if title else ''}", ""]
        trees.append("\n".join([*head, *pages, "```"]))
    return "\n\n".join(trees)


def _add_toctrees(app: Any, name: str, source: list[str]) -> None:
    if name == root_doc:
        made = "```{toctree}\n:hidden:\n\nlessons\ngallery\nmessages\n```"
        source[0] += "\n\n" + _toctrees(source[0]) + "\n\n" + made


def _add_numbers(app: Any, name: str, source: list[str]) -> None:
    """The page of a paper has its numbers, and why they differ, at its end, where they can be searched."""
    folder, _, paper = name.rpartition("/")
    if folder == "docs/background" and paper in fabriloom_papers.names():
        source[0] += page.added(Path(app.srcdir) / "docs/generated", paper)


def _add_table(app: Any, name: str, source: list[str]) -> None:
    """A page with a table of its name beside it has that table in the site, where it can be searched."""
    path = Path(app.srcdir) / f"{name}.csv"
    if path.is_file():
        with path.open(encoding="utf-8", newline="") as file:
            rows = [[cell.replace("|", "\\|") for cell in row] for row in csv.reader(file)]
        lines = ["| " + " | ".join(row) + " |" for row in (rows[0], ["---"] * len(rows[0]), *rows[1:])]
        source[0] += "\n## The whole table\n\n" + "\n".join(lines) + "\n"


_ICON = re.compile(r'rel="icon" href="(data:[^"]+)"')


def _add_icon(app: Any, name: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """The pages have the icon of the laboratory."""
    found = _ICON.search((Path(fabriloom.page.__file__).parent / "static/index.html").read_text("utf-8"))
    context["favicon_url"] = found[1] if found else None


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("html-page-context", _add_icon)
    app.connect("source-read", _add_toctrees)
    app.connect("source-read", _add_numbers)
    app.connect("source-read", _add_table)
    app.add_css_file("site.css")


html_static_path = [str(Path(__file__).parent / "static")]
