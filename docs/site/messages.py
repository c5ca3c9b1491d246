"""Writes the page of messages: every wrong scenario that the tests run, and its message.

``PYTHONPATH=tests python docs/site/messages.py tests/cases/invalid OUT`` writes ``OUT/messages.md``.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from expects import expected, unpack
from fabriloom import Scenario

_SECTION = re.compile(r"^\[+([a-z_]+)")
_HEAD = """# Messages about wrong scenarios

What is wrong with a scenario is said once, before anything runs: the file with line and column, what is
wrong, the line with a mark under the place, and what to do. The exit code is 2. Below is an example of every
kind of message, by the section that it is about. Exit codes and mistakes in the arguments are on the page of
[the command](reference/cli.md).
"""


def _section(folder: Path, message: str) -> str:
    """The section of the file that a message points into, from the file itself."""
    found = re.match(r"([\w.-]+):(\d+):\d+: ", message)
    if found is None:
        return "whole files"
    file = folder / found[1]
    if file.suffix != ".toml":
        return "other formats"
    section = "the top of the file"
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines()[: int(found[2])]:
        if match := _SECTION.match(line):
            section = f"[{match[1]}]" if match[1] in Scenario.model_fields else "the top of the file"
    return section


def main(folder: Path, out: Path) -> None:
    """Write the page."""
    groups: dict[str, list[str]] = {}
    for file in sorted(folder.iterdir()):
        if message := expected(file).rstrip("\n"):
            groups.setdefault(_section(folder, message), []).append(message)
    parts = [_HEAD]
    for section in sorted(groups, key=lambda name: (not name.startswith("["), name)):
        parts.append(f"\n## {section}\n")
        parts += [f"\n```text\n{message}\n```\n" for message in dict.fromkeys(groups[section])]
    (out / "messages.md").write_text("".join(parts), encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as files:
        main(unpack(Path(sys.argv[1]), Path(files)), Path(sys.argv[2]))
