"""The scenarios that the page offers: in the repository links into ``scenarios/``, installed files."""

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
    """The entries of ``shelf.toml``."""
    text = resources.files("fabriloom.page").joinpath("shelf.toml").read_text(encoding="utf-8")
    return list(tomllib.loads(text)["entry"])


def listed() -> list[dict[str, Any]]:
    """Name, group, title, what to look for and what to put beside it, of every entry."""
    return [
        {
            "name": entry["file"],
            "group": entry["group"],
            "title": entry["title"],
            "look": entry.get("look") or _description(FOLDER / entry["file"]),
            "beside": entry["beside"],
        }
        for entry in entries()
    ]


OWN = "own:"
"""The names of the user's scenarios begin with this, and end with their number."""


def own(files: Sequence[Path]) -> list[dict[str, Any]]:
    """The scenarios that the command was given, as entries."""
    return [
        {"name": f"{OWN}{at}", "group": "Your files", "title": path.name, "look": "", "beside": {}}
        for at, path in enumerate(files)
    ]


def placed(
    spec: Mapping[str, Any], files: Sequence[Path], keep: Callable[[Mapping[str, str]], Path]
) -> dict[str, Any]:
    """A chosen scenario with its place in this machine: ``path`` of one of the user's, or the ``folder`` in
    which the files are kept that came with it. A request cannot name either. Raises Refusal.
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


def _description(path: Path) -> str:
    return str(tomllib.loads(path.read_text(encoding="utf-8")).get("description", ""))


def path_of(name: str) -> Path:
    """The file of an entry. Raises Refusal for anything that is not on the shelf."""
    if name not in {entry["file"] for entry in entries()}:
        raise Refusal(f"There is no scenario {name!r} on the shelf.")
    return FOLDER / name
