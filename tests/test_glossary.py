"""The glossary lists the types of the engine: the public ones, and those that files of ``switched`` share."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ROOT / "crates" / "engine" / "src"
TYPE = re.compile(r"^\s*pub(\(super\))? (?:struct|enum|trait|type) (\w+)", re.MULTILINE)
LISTED = re.compile(r"`(\w+)::(\w+)`")


def written() -> set[tuple[str, str]]:
    """Folder and name of every type that the glossary has to list."""
    found = set()
    for path in ENGINE.rglob("*.rs"):
        folder = path.relative_to(ENGINE).parts[0]
        for shared, name in TYPE.findall(path.read_text()):
            if not shared or folder == "switched":
                found.add((folder, name))
    return found - {("kernel", "Time"), ("switched", "Number")}


def listed() -> set[tuple[str, str]]:
    """Folder and name of every type in the glossary's last section."""
    section = (ROOT / "GLOSSARY.md").read_text().split("## Types of the engine")[1]
    return set(LISTED.findall(section))


def test_every_type_of_the_engine_is_listed() -> None:
    """With its folder; and none that is gone."""
    assert len(written()) > 50
    assert listed() == written()
