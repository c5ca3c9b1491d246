"""Writes the gallery: every scenario with its picture, a sentence and the command.

``python docs/site/gallery.py SCENARIOS OUT`` writes ``OUT/gallery.md`` and the pictures beside it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from fabriloom import load
from fabriloom.compile import graph_of
from fabriloom.report.drawing import fabric_svg

_COMMAND = re.compile(r"fabriloom (?:run|curve|compare|saturate|check|bound) scenarios/\S+[^\n#]*")


def _comment(text: str) -> str:
    """The comment at the beginning of a scenario, as one paragraph per blank comment line."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# ").rstrip())
    return "\n".join(lines)


def _entry(path: Path, out: Path) -> str:
    text = path.read_text(encoding="utf-8")
    scenario, said = load(path), _comment(text)
    sentence = re.sub(r": fabriloom .*", ".", " ".join(said.split("\n\n")[0].split()))
    found = _COMMAND.search(said)
    command = re.split(r" {2,}", found[0])[0] if found else f"fabriloom run scenarios/{path.name}"
    picture = f"{path.stem}.svg"
    (out / "gallery" / picture).write_text(fabric_svg(graph_of(scenario)), encoding="utf-8")
    title = scenario.name or path.stem
    return f"## {title}\n\n{sentence}\n\n![{title}](gallery/{picture})\n\n```sh\n{command}\n```\n"


def main(scenarios: Path, out: Path) -> None:
    """Write the page and its pictures."""
    (out / "gallery").mkdir(parents=True, exist_ok=True)
    entries = [_entry(path, out) for path in sorted(scenarios.glob("*.toml"))]
    about = "Every scenario of the repository: its network, what it is about, and a command that runs it."
    head = f"# Gallery\n\n{about}\n"
    (out / "gallery.md").write_text("\n".join([head, *entries]), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
