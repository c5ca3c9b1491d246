"""The scenarios that the page offers: in the repository links into ``scenarios/``, installed files."""

from __future__ import annotations

import tomllib
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


def _description(path: Path) -> str:
    return str(tomllib.loads(path.read_text(encoding="utf-8")).get("description", ""))


def path_of(name: str) -> Path:
    """The file of an entry. Raises Refusal for anything that is not on the shelf."""
    if name not in {entry["file"] for entry in entries()}:
        raise Refusal(f"There is no scenario {name!r} on the shelf.")
    return FOLDER / name
