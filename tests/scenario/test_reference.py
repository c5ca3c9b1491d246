"""The reference pages say what the schema and the presets say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from fabriloom.scenario import json_schema
from fabriloom.scenario.reference import PAGES

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"


@pytest.mark.parametrize("name", PAGES)
def test_page_is_current(name: str) -> None:
    written = (FOLDER / name).read_text(encoding="utf-8")
    assert written == PAGES[name](), "run: python -m fabriloom.scenario.reference docs/reference"


def test_defaults_have_the_unit_of_their_setting() -> None:
    """A pause of 1 ms was shown as 1 GB: inside, both are whole numbers."""
    definitions = json_schema()["$defs"]
    assert isinstance(definitions, dict)
    assert definitions["LogP"]["properties"]["pause"]["default"] == "1 ms"
    for name, model in definitions.items():
        for key, field in model.get("properties", {}).items():
            if "pattern" in field and "default" in field:
                assert re.match(field["pattern"], str(field["default"])), (name, key)


def test_reading_a_scenario_imports_nothing_heavy() -> None:
    """The command answers at once only if what it always needs is light. NumPy is needed for what families of
    networks take, which is read from the functions that build them."""
    heavy = {"polars", "networkx", "matplotlib"}
    code = f"import sys, fabriloom.scenario; print(*({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
