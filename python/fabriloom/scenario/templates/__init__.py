"""Commented scenarios to start from, one file each."""

from __future__ import annotations

from importlib import resources


def names() -> list[str]:
    """What they are called."""
    found = resources.files(__name__).iterdir()
    return sorted(one.name.removesuffix(".toml") for one in found if one.name.endswith(".toml"))


def text(name: str) -> str:
    """One of them. Raises FileNotFoundError for an unknown name."""
    return resources.files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
