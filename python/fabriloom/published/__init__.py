"""What the papers print, as data with provenance: one file per paper.

Read by experiments, reports and tests only; no model may import it.
"""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any

Number = dict[str, Any]
"""One printed number: ``id``, ``where``, ``quantity``, ``unit``, ``value``, ``text`` and ``remark``."""


def papers() -> list[str]:
    """Names of the papers whose numbers are here, such as ``macrame``."""
    files = resources.files(__name__).iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def load(name: str) -> dict[str, Any]:
    """The file of one paper: ``paper`` (about the source), ``figures`` and ``numbers``. Raises KeyError."""
    if name not in papers():
        raise KeyError(f"no published numbers of {name!r}; there are: {', '.join(papers())}")
    return tomllib.loads(resources.files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def numbers(name: str) -> dict[str, Number]:
    """The printed numbers of one paper, by id. Raises KeyError."""
    return {number["id"]: number for number in load(name)["numbers"]}
