"""``--set path=value``: typed as TOML, refused like the file itself, with a caret in the argument.

A value of a sweep or a variant that only a later check refuses is shown where it stands in the file.
"""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from fabriloom import compare, curve
from fabriloom.scenario import Scenario, ScenarioError, load
from fabriloom.technology import TechnologyError
from fabriloom.traffic import TrafficError

TEXT = """\
[topology]
kind = "grid"
shape = [8, 8]

[traffic]
pattern = "uniform"
length = "64 B"
load = 0.5
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("grid.toml").write_text(TEXT)
    return "grid.toml"


def test_one_override_need_not_be_a_list(tmp_path: Path) -> None:
    """A text is many letters, none of which is a setting."""
    path = tmp_path / "small.json"
    path.write_text('{"topology": {"kind": "crossbar", "terminals": 4}, "traffic": {"load": 0.1}}')
    assert load(path, "traffic.load=0.5").traffic.load == 0.5


def test_values_are_toml_or_else_strings(file: str) -> None:
    overrides = [
        "traffic.load=0.25",
        "topology.shape=[4, 4]",
        "topology.shape.1=5",
        "traffic.length=1 kB",
        'name="A name"',
        "description=two words = one",
        "routing.adaptive=false",
        "traffic.pattern.kind=transpose",
        "technology.header=1 B",
        "technology.header=3 B",
    ]
    scenario = load(file, overrides)
    assert scenario.traffic.load == 0.25
    assert scenario.parameters("topology")["shape"] == [4, 5]
    assert scenario.parameters("traffic")["length"] == {"kind": "fixed", "value_bytes": 1000}
    assert (scenario.name, scenario.description) == ("A name", "two words = one")
    assert scenario.routing.adaptive is False
    assert scenario.traffic.pattern.kind == "transpose"
    assert scenario.technology.overrides() == {"header_bytes": 3}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "traffic.lod=0.5",
            '--set traffic.lod=0.5: unknown key "lod" in [traffic]\n'
            ' |\n | traffic.lod=0.5\n |         ^^^\n = did you mean "load"?',
        ),
        (
            "traffic.load=2",
            "--set traffic.load=2: traffic.load is 2, it must be at most 1\n"
            " |\n | traffic.load=2\n |              ^\n"
            " = 1 is the most that the link of a terminal can carry (100 %); write a fraction such as 0.5",
        ),
        (
            "topology.shape.2=3",
            "--set topology.shape.2=3: topology.shape is a list of 2, count from 0\n"
            " |\n | topology.shape.2=3\n |                ^\n = see `fabriloom schema` for the settings",
        ),
        (
            "traffic.load.x=3",
            "--set traffic.load.x=3: traffic.load is a single value\n"
            " |\n | traffic.load.x=3\n |              ^\n = see `fabriloom schema` for the settings",
        ),
        (
            "traffic.load",
            '--set "traffic.load" is not a setting\n  write path=value, such as traffic.load=0.5',
        ),
    ],
)
def test_refused(file: str, override: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(file, [override])
    assert str(caught.value) == message


def test_mistake_of_the_file_is_still_in_the_file(file: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(file, ["topology.kind=ring"])
    assert str(caught.value).startswith('grid.toml:1:1: [topology] of kind "ring" lacks "switches"')


def test_errors_of_other_rooms_point_into_the_file(file: str) -> None:
    scenario = load(file, ["technology.input_buffer=4 B"])
    error = TechnologyError("too small", "input_buffer", "enlarge it")
    assert str(scenario.located(error, "technology")).splitlines() == [
        "--set technology.input_buffer=4 B: too small",
        " |",
        " | technology.input_buffer=4 B",
        " |                         ^^^",
        " = enlarge it",
    ]
    assert str(scenario.located(TrafficError("odd", "length.value"), "traffic")).startswith(
        "grid.toml:7:10: odd"
    )
    assert str(scenario.located(ValueError("odd"), "routing")) == "grid.toml: odd"
    elsewhere = TrafficError("no such terminal", "pattern.path", place=("a.csv", 3, 5, 2, "0,1,64"))
    assert str(scenario.located(elsewhere, "traffic")).startswith(
        "a.csv:3:5: no such terminal\n  |\n3 | 0,1,64"
    )


def test_errors_travel_between_processes(file: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(file, ["traffic.load=2"])
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_scenario_from_python_names_the_path() -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_dict({"topology": {"kind": "grid", "shape": (4, 4)}, "traffic": {"load": 3}})
    assert caught.value.path == ("traffic", "load")
    assert str(caught.value).startswith("traffic.load is 3")


def test_wide_and_tabbed_lines_keep_their_caret(tmp_path: Path) -> None:
    wide = tmp_path / "wide.toml"
    wide.write_text(
        f'description = "ä"\n[topology]\n\tshape = [{", ".join(["1"] * 500)}, 0]\nkind = "grid"\n'
    )
    with pytest.raises(ScenarioError) as caught:
        load(wide)
    lines = str(caught.value).splitlines()
    assert all(len(line) < 200 for line in lines[1:])
    assert "at most 20 entries" in lines[0] or "at least 1" in lines[0]


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
