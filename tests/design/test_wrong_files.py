"""Every wrong file of ``tests/cases/design`` gives exactly the message that stands at its head."""

from __future__ import annotations

from pathlib import Path

import pytest
from expects import assert_told, names_in, unpack
from fabriloom.design import design, load
from fabriloom.scenario import ScenarioError

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
