"""What tests of study folders share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A scenario file with the text ``SMALL`` of the test's module."""
    path = tmp_path / "small.toml"
    path.write_text(request.module.SMALL, encoding="utf-8")
    return path
