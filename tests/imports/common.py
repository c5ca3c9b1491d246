"""What these tests share: the scenario of what was imported, written to a folder and read from there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fabriloom import Scenario
from fabriloom.scenario import load


def brought(found: Any, folder: Path, overrides: Sequence[str] = ()) -> Scenario:
    for name, parts in found.files("net").items():
        (folder / name).write_text("".join(parts), encoding="utf-8")
    return load(folder / "scenario.toml", overrides)
