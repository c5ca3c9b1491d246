"""The guide shows every ready program, and its pictures are what the script draws."""

from __future__ import annotations

import importlib.util
import xml.etree.ElementTree as ET
from pathlib import Path
from types import ModuleType

import pytest
from fabriloom.programs.build import BUILDERS

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "images" / "programs"
GUIDE = ROOT / "docs" / "guides" / "programs.md"


def script() -> ModuleType:
    """The script beside the pictures."""
    spec = importlib.util.spec_from_file_location("draw_programs", PICTURES / "draw.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_ready_program_is_on_the_page() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    assert [kind for kind in BUILDERS if f"**{kind}**" not in text] == ["operations"]
    drawn = {path.stem for path in PICTURES.glob("*.svg")}
    assert drawn == set(script().PROGRAMS)
    assert [name for name in sorted(drawn) if f"images/programs/{name}.svg)" not in text] == []


@pytest.mark.parametrize("name", ["ping-pong", "credit"])
def test_a_picture_is_a_run_of_its_program(name: str) -> None:
    """An arrow for every message and a line for every terminal; well-formed, and not too large for a page."""
    module = script()
    settings = module.PROGRAMS[name]
    svg = module.picture(name, **settings)
    root = ET.fromstring(svg)
    arrows = root.findall("{http://www.w3.org/2000/svg}polygon")
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert len(arrows) >= 10
    assert [f"t.{number}" in texts for number in range(settings["terminals"])] == [True] * settings[
        "terminals"
    ]
    assert svg.count("\n") < 200
