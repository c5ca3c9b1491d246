"""The page of messages, written again by ``FABRILOOM_EXPECT=write pytest tests/scenario``.

It is made of the wrong files under ``tests/cases/invalid`` and what they are told, which the tests compare.
"""

from __future__ import annotations

import re
from pathlib import Path

from expects import expected
from fabriloom import Scenario

from .test_invalid import CASES

FOLDER = Path(__file__).resolve().parent.parent / "cases" / "invalid"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "errors.md"
_SECTION = re.compile(r"^\[+([a-z_]+)")
_HEAD = """# Messages about wrong scenarios

This page is written by the tests of `tests/scenario`; do not edit it.

What is wrong with a scenario is said once, before anything runs: the file with line and column, what is
wrong, the line with a mark under the place, and what to do. The exit code is 2. Below is an example of every
kind of message, by the section that it is about; each is a file that the tests run. Exit codes, mistakes in
the arguments, are on the page of [the command](cli.md).
"""


def _section(message: str) -> str:
    """The section of the file that a message points into, from the file itself."""
    found = re.match(r"([\w.-]+):(\d+):\d+: ", message)
    if found is None:
        return "whole files"
    file = FOLDER / found[1]
    if file.suffix != ".toml":
        return "other formats"
    section = "the top of the file"
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines()[: int(found[2])]:
        if match := _SECTION.match(line):
            section = f"[{match[1]}]" if match[1] in Scenario.model_fields else "the top of the file"
    return section


def page() -> str:
    """The page."""
    groups: dict[str, list[str]] = {}
    for name in CASES:
        message = expected(FOLDER / name).rstrip("\n")
        groups.setdefault(_section(message), []).append(message)
    parts = [_HEAD]
    for section in sorted(groups, key=lambda name: (not name.startswith("["), name)):
        parts.append(f"\n## {section}\n")
        parts += [f"\n```text\n{message}\n```\n" for message in groups[section]]
    return "".join(parts)
