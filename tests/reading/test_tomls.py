"""TOML that is written: any text can be read again."""

from __future__ import annotations

import tomllib

from fabriloom.imports.packets import Packets
from fabriloom.reading import toml_text


def test_any_text_survives() -> None:
    data = {
        "name": 'a "b" \\ \x7f\x00\n\u2028 é',
        "x y": {"z.w": [1, 2.5, True, {"a": "b"}], "n": 10**12},
        "": 0,
    }
    assert tomllib.loads(toml_text(data)) == data


def test_a_scenario_that_is_imported_keeps_any_name() -> None:
    name = "a \x7f file"
    text = Packets(rows="", packets=1, terminals=2, last=3).files(name)["scenario.toml"]
    assert tomllib.loads(text)["name"] == name
