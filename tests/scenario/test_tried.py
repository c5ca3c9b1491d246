"""A value of a sweep or a variant that only a later check refuses is shown where it stands in the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from fabriloom import ScenarioError, compare, curve, load

FIRST = 'topology = { kind = "clos", terminals = 64 }\ntechnology = { preset = "generic" }\n'


def refusal(folder: Path, text: str, study: object) -> str:
    file = folder / "tried.toml"
    file.write_text(FIRST + text)
    with pytest.raises(ScenarioError) as caught:
        study(load(file))  # type: ignore[operator]
    return str(caught.value).replace(f"{folder}/", "")


def test_a_value_of_a_sweep(tmp_path: Path) -> None:
    said = refusal(tmp_path, '[sweep]\n"topology.terminals" = [64, 71]\n', curve).splitlines()
    assert said[0].startswith("tried.toml:4:29: terminals is 71, ")
    assert said[2:] == ['4 | "topology.terminals" = [64, 71]', "  |                             ^^"]


def test_a_value_of_a_variant(tmp_path: Path) -> None:
    said = refusal(tmp_path, '[variants.odd]\n"topology.terminals" = 71\n', compare).splitlines()
    assert said[0].startswith("tried.toml:4:24: terminals is 71, ")


def test_values_that_are_wrong_together_are_all_named(tmp_path: Path) -> None:
    sweep = '"technology.input_buffer_flits" = [4, 8]\n"technology.credit_quantum_flits" = [2, 6]\n'
    said = refusal(tmp_path, f"[sweep]\n{sweep}", curve)
    assert "smaller than one credit of 6" in said
    assert said.startswith("tried.toml:4:36: ")
    assert said.endswith("; tried with technology.credit_quantum_flits = 6")


def test_a_value_of_the_command_line_is_of_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "tried.toml"
    file.write_text(FIRST + '[sweep]\n"topology.terminals" = [64, 80]\n')
    with pytest.raises(ScenarioError, match=r'^--set sweep=\{"topology.terminals"=\[71\]\}: terminals is 71'):
        curve(load(file, ['sweep={"topology.terminals"=[71]}']))
