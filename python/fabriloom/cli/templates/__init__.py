"""Commented scenarios as starting points, one file each."""

from __future__ import annotations

from importlib import resources

_ALSO = {"event-builder": "daq", "spacewire": "spacecraft", "clos": "cluster"}
"""Other words for them."""


def names() -> list[str]:
    """Return the names of the templates."""
    found = resources.files(__name__).iterdir()
    return sorted(one.name.removesuffix(".toml") for one in found if one.name.endswith(".toml"))


def known(word: str) -> str:
    """Return the name of a template that has another one as well."""
    return _ALSO.get(word, word)


def text(name: str) -> str:
    """Return the text of a template. Raises FileNotFoundError for an unknown name."""
    return resources.files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
