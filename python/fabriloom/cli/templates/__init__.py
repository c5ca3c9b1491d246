"""Commented scenarios as starting points, one file each."""

from __future__ import annotations

from importlib import resources


def names() -> list[str]:
    """Return the names of the templates."""
    found = resources.files(__name__).iterdir()
    return sorted(one.name.removesuffix(".toml") for one in found if one.name.endswith(".toml"))


def text(name: str) -> str:
    """Return the text of a template. Raises FileNotFoundError for an unknown name."""
    return resources.files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
