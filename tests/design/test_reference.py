"""The reference page of requirements is that of the schema."""

from __future__ import annotations

import os
from pathlib import Path

from fabriloom.design.reference import page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "requirements.md"


def test_the_page_is_current() -> None:
    if os.environ.get("FABRILOOM_EXPECT") == "write":
        PAGE.write_text(page(), encoding="utf-8")
    assert page() == PAGE.read_text(encoding="utf-8")
