"""The reference page of requirements is that of the schema.

Every wrong file of ``tests/cases/design`` gives exactly the message that stands at its head.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from expects import assert_told, names_in, unpack
from fabriloom.design import design, load
from fabriloom.design.reference import page
from fabriloom.scenario import ScenarioError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "requirements.md"


def test_the_page_is_current() -> None:
    if os.environ.get("FABRILOOM_EXPECT") == "write":
        PAGE.write_text(page(), encoding="utf-8")
    assert page() == PAGE.read_text(encoding="utf-8")


FOLDER = Path(__file__).resolve().parent.parent / "cases" / "design"


def message_of(file: Path) -> str:
    """What a user reads who gives this file to the command."""
    with pytest.raises(ScenarioError) as caught:
        design(load(file), finalists=1)
    return f"{caught.value}\n"


@pytest.mark.parametrize("name", names_in(FOLDER))
def test_message(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(unpack(FOLDER, tmp_path))
    assert_told(Path(name), message_of, FOLDER)
