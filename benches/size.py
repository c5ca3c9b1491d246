"""Writes the size of the house into CONTRIBUTING: ``python benches/size.py``, of the files that git knows."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

from common import Rows, put

ROOT = Path(__file__).resolve().parent.parent
ROOMS = {
    "crates/engine": "the engine",
    "crates": "twin, routes, the border to Python",
    "papers": "`papers`",
    "python/fabriloom/page": "the laboratory",
    "python": "the other rooms of the package",
    "tests": "tests, with `validation`",
    "validation": "tests, with `validation`",
    "benches": "`benches`",
    "scenarios": "`scenarios`",
    "docs/guides": "guides, with the tutorial",
    "docs/tutorial": "guides, with the tutorial",
    "docs/reference": "reference",
    "docs/background": "background",
    "docs": "the other pages",
    "": "the root",
}
"""Each folder's room; the first that fits counts."""
PROGRAM = {".rs", ".py", ".js", ".j2", ".html", ".css"}
WORD = re.compile(r"\S*\w\S*")


def sizes() -> Rows:
    """Files, lines of program that are not empty, and words of prose, by room."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    counts: dict[str, Counter[str]] = {room: Counter() for room in ROOMS.values()}
    for name in listed.splitlines():
        path = ROOT / name
        if not path.is_file() or path.is_symlink() or "vendor" in path.parts:
            continue
        room = counts[next(room for folder, room in ROOMS.items() if name.startswith(folder))]
        room["files"] += 1
        if path.suffix in PROGRAM:
            room["lines"] += sum(1 for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
        elif path.suffix == ".md":
            room["words"] += len(WORD.findall(path.read_text(encoding="utf-8")))
    counts["all"] = sum(counts.values(), Counter())
    kinds = ("files", "lines", "words")
    rows: Rows = [["room", "files", "lines of program", "words of prose"]]
    return rows + [[room, *(f"{one[kind]:,}" for kind in kinds)] for room, one in counts.items()]


if __name__ == "__main__":
    put(ROOT / "CONTRIBUTING.md", "size", [sizes()])
