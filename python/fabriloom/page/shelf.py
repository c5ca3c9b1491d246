"""The scenarios that the page offers: links to ``scenarios/`` in the repository, installed as files."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from .limits import Refusal

FOLDER = Path(__file__).resolve().parent / "scenarios"


@cache
def entries() -> list[dict[str, Any]]:
    text = resources.files("fabriloom.page").joinpath("shelf.toml").read_text(encoding="utf-8")
    return list(tomllib.loads(text)["entry"])


def listed() -> list[dict[str, Any]]:
    """Return name, group, title, what to look for, and what to compare, of every entry."""
    return [
        {
            "name": entry["file"],
            "group": entry["group"],
            "title": entry["title"],
            "look": entry.get("look")
            or tomllib.loads((FOLDER / entry["file"]).read_text(encoding="utf-8")).get("description", ""),
            "beside": entry["beside"],
        }
        for entry in entries()
    ]


OWN = "own:"
"""Prefix of the names of the user's scenarios, before their number."""


def own(files: Sequence[Path]) -> list[dict[str, Any]]:
    """Return the scenarios given on the command line, as entries."""
    return [
        {"name": f"{OWN}{at}", "group": "Your files", "title": path.name, "look": "", "beside": {}}
        for at, path in enumerate(files)
    ]


def placed(
    spec: Mapping[str, Any], files: Sequence[Path], keep: Callable[[Mapping[str, str]], Path]
) -> dict[str, Any]:
    """Return a chosen scenario with its place on this machine. Raises Refusal.

    This is ``path`` for a user's scenario, or ``folder`` with the files that were sent with it. A request
    cannot name either.
    """
    found = dict(spec)
    name = str(found.get("shelf", ""))
    if name.startswith(OWN):
        number = name.removeprefix(OWN)
        if not number.isdecimal() or int(number) >= len(files):
            raise Refusal("This file is not open any more: name it again with `fabriloom page FILE`.")
        found["path"] = str(files[int(number)])
    if found.get("files"):
        found["folder"] = str(keep(found["files"]))
    found.pop("files", None)
    return found


def path_of(name: str) -> Path:
    """Return the file of an entry. Raises Refusal for any other name."""
    if name not in {entry["file"] for entry in entries()}:
        raise Refusal(f"There is no scenario {name!r} on the shelf.")
    return FOLDER / name
