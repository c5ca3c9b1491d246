"""Every wrong file under ``tests/cases/design`` gives exactly the message that stands beside it.

``FABRILOOM_EXPECT=write pytest tests/design`` writes the messages anew; then read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fabriloom.design import design, load
from fabriloom.scenario import ScenarioError

FOLDER = Path(__file__).resolve().parent.parent / "cases" / "design"
CASES = sorted(path.name for path in FOLDER.glob("*.toml"))


@pytest.mark.parametrize("name", CASES)
def test_message(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    with pytest.raises(ScenarioError) as caught:
        design(load(name), finalists=1)
    message, expected = f"{caught.value}\n", Path(name).with_suffix(".expected")
    if os.environ.get("FABRILOOM_EXPECT") == "write":
        expected.write_text(message, encoding="utf-8")
    assert message == expected.read_text(encoding="utf-8")
    assert len(message.splitlines()) <= 24
