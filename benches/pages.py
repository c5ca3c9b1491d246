"""Tables on pages of the documentation, each between two marks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

Rows = list[list[Any]]


def put(page: Path, mark: str, tables: list[Rows]) -> None:
    """Write tables between ``<!-- mark -->`` and the next ``<!-- end -->`` of a page."""
    text = page.read_text(encoding="utf-8")
    marks = re.compile(rf"(<!-- {re.escape(mark)} -->\n).*?(<!-- end -->)", re.DOTALL)
    assert marks.search(text), f"{page} has no mark {mark}"
    body = "\n\n".join(_table(rows) for rows in tables)
    page.write_text(marks.sub(lambda m: f"{m[1]}\n{body}\n\n{m[2]}", text), encoding="utf-8")


def _table(rows: Rows) -> str:
    head, *rest = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join([head, "|" + "---|" * len(rows[0]), *rest])
