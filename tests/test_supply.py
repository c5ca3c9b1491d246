"""The table of dependencies is current, and the list for machines is the same each time."""

from __future__ import annotations

import json
import runpy
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SUPPLY = runpy.run_path(str(ROOT / "docs" / "site" / "supply.py"))


@pytest.mark.skipif(shutil.which("cargo") is None, reason="crates are listed by cargo")
def test_the_table_of_dependencies_is_current(tmp_path: Path) -> None:
    table = ROOT / "docs" / "reference" / "dependencies.csv"
    parts = [*SUPPLY["of_python"](), *SUPPLY["of_rust"]()]
    before = table.read_text(encoding="utf-8")
    assert SUPPLY["table"](parts, before) == before, f"python docs/site/supply.py {table}"
    assert ",unknown," not in before
    found = SUPPLY["bill"](parts)
    assert json.dumps(found) == json.dumps(SUPPLY["bill"](parts[::-1]))
    names = {one["name"] for one in found["components"]}
    assert {"numpy", "pydantic", "pyo3"} <= names
    assert not {"pytest", "proptest"} & names
