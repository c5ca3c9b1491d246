"""The reference pages say what the schema and the presets say."""

from __future__ import annotations

from pathlib import Path

import pytest
from fabriloom.scenario.reference import PAGES

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"


@pytest.mark.parametrize("name", PAGES)
def test_page_is_current(name: str) -> None:
    written = (FOLDER / name).read_text(encoding="utf-8")
    assert written == PAGES[name](), "run: python -m fabriloom.scenario.reference docs/reference"
