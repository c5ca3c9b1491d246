"""The resolved form: complete, canonical, and a scenario whose resolved form it is.

Sizes in flits mean the bytes that these carry. The reference pages say what the schema and the presets say.

``--set path=value``: typed as TOML, refused like the file itself, with a caret in the argument. A value of a
sweep or a variant that only a later check refuses is shown where it stands in the file.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import fabriloom
import networkx
import pytest
from expects import CASES, put, unpacked
from fabriloom import compare, curve
from fabriloom.compile import compile, silent
from fabriloom.scenario import Scenario, ScenarioError, json_schema, load
from fabriloom.scenario.reference import PAGES
from fabriloom.studies.comparison import Comparison
from fabriloom.technology import TechnologyError
from fabriloom.traffic import TrafficError

ROOT = Path(__file__).resolve().parent.parent
FOLDER = unpacked("valid")
VALID = sorted(path for path in FOLDER.iterdir() if path.stem.count(".") == 0 and path.suffix != ".csv")
EXAMPLES = sorted((ROOT.parent / "scenarios").glob("*.toml"))


@pytest.mark.parametrize("path", VALID, ids=lambda p: p.name)
def test_resolved_form(path: Path) -> None:
    resolved = load(path).resolve()
    expected = path.with_suffix(".resolved.json")
    text = json.dumps(resolved, indent=2, ensure_ascii=False) + "\n"
    if os.environ.get("FABRILOOM_EXPECT") == "write":
        expected.write_text(text, encoding="utf-8")
        put(expected, CASES / "valid")
    assert text == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", VALID + EXAMPLES, ids=lambda p: p.name)
def test_resolving_twice_changes_nothing(path: Path) -> None:
    scenario = load(path)
    once = scenario.resolve()
    again = Scenario.from_dict(once, scenario.base_dir)
    assert again.resolve() == once
    assert again.sha256 == scenario.sha256
    assert again.parameters("traffic") == scenario.parameters("traffic")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_what_is_resolved_is_the_same_network(path: Path) -> None:
    """A latency stood there beside its parts, and check, which makes a line of the same links, refused it."""
    scenario = load(path)
    again = Scenario.from_dict(scenario.resolve(), scenario.base_dir)
    assert silent.equal(compile(scenario).arrays, compile(again).arrays)


def test_a_default_is_what_one_writes() -> None:
    """A whole number was the default of a mean: it was resolved as another scenario, with a warning."""
    given = {"topology": {"kind": "crossbar", "terminals": 4}}
    shas = [
        Scenario.from_dict({**given, "traffic": {"arrivals": arrivals}}).sha256
        for arrivals in ("on-off", {"kind": "on-off", "burst_packets": 8, "on_load": 1})
    ]
    assert shas[0] == shas[1]


@pytest.mark.parametrize("more", [{}, {"fault": [{"terminal": 1, "at": "1 ms"}]}])
def test_a_program_has_a_second_with_or_without_faults(more: dict[str, Any]) -> None:
    program = {"kind": "all-to-all", "size": "1 kB"}
    given = {"topology": {"kind": "crossbar", "terminals": 4}, "program": program, **more}
    run = Scenario.from_dict(given).resolve()["run"]
    assert (run["duration"], run["warmup"], run["precision"]) == ("1 s", "0 ps", 0.0)


def test_one_scenario_in_three_formats() -> None:
    sums = {
        load(FOLDER / name).sha256 for name in ("formats-toml.toml", "formats-yaml.yaml", "formats-json.json")
    }
    assert len(sums) == 1


GRID: dict[str, Any] = {"topology": {"kind": "grid", "shape": [4, 4]}}


def sha(**sections: Any) -> str:
    return Scenario.from_dict(GRID | sections).sha256


def test_the_checksum_says_what_is_simulated() -> None:
    base = sha()
    assert sha(traffic={"load": 0.5}) == base, "a default written out"
    assert sha(technology={"link_rate": "0.1 Gbit/s"}) == base, "the same rate in another unit"
    assert sha(routing={"kind": "dimension-order"}) == base, "what auto means here"
    assert sha(traffic={"load": 0.4}) != base
    assert sha(seed=2) != base
    assert sha(technology={"preset": "ds-link-c104-32-32"}) != base


def test_the_checksum_covers_the_files_it_names(tmp_path: Path) -> None:
    pattern = {"kind": "descriptors", "path": "packets.csv"}
    file = tmp_path / "packets.csv"
    sums = []
    for length in (64, 32):
        file.write_text(f"source,target,length\n0,1,{length}\n")
        sums.append(Scenario.from_dict(GRID | {"traffic": {"pattern": pattern}}, tmp_path).sha256)
    assert sums[0] != sums[1]


def test_paths_are_relative_to_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "packets.csv").write_text("source,target,length\n0,1,64\n")
    pattern = {"kind": "descriptors", "path": "packets.csv"}
    scenario = Scenario.from_dict(GRID | {"traffic": {"pattern": pattern}}, tmp_path)
    assert scenario.parameters("traffic")["pattern"]["path"] == str(tmp_path / "packets.csv")


def test_points_of_a_sweep() -> None:
    sweep = {"traffic.load": [0.1, 0.2], "topology.links_per_edge": [1, 2, 4]}
    found = list(Scenario.from_dict(GRID | {"sweep": sweep}).points())
    assert [settings for settings, _ in found[:2]] == [
        {"traffic.load": 0.1, "topology.links_per_edge": 1},
        {"traffic.load": 0.1, "topology.links_per_edge": 2},
    ]
    assert len(found) == 6
    assert len({scenario.sha256 for _, scenario in found}) == 6
    for settings, scenario in found:
        assert scenario.traffic.load == settings["traffic.load"]
        assert not scenario.sweep
        assert "sweep" not in scenario.resolve()


def test_with_settings_leaves_the_original() -> None:
    scenario = Scenario.from_dict(GRID | {"traffic": {"load": 0.5, "pattern": "transpose"}})
    other = scenario.with_settings(
        {"traffic.arrivals": "backlog", "traffic.pattern.kind": "uniform", "seed": 7}
    )
    assert other.parameters("traffic")["arrivals"] == {"kind": "backlog"}
    assert "load" not in other.parameters("traffic")
    assert other.seed == 7
    assert scenario.parameters("traffic")["pattern"] == {"kind": "transpose"}


def test_json_schema_accepts_shorthands_and_tables() -> None:
    schema = json_schema()
    assert schema["$id"] == f"urn:fabriloom:scenario:{fabriloom.__version__}"
    text = json.dumps(schema)
    assert schema["additionalProperties"] is False
    for word in (
        "nearest-neighbour",
        "ds-link-c104-70",
        "up-star-down-star",
        "generalized-cube",
        "link_rate",
    ):
        assert f'"{word}"' in text


def test_another_seed_is_the_same_scenario_otherwise(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("0,1\n1,0\n", encoding="utf-8")
    data = {
        "topology": {"kind": "crossbar", "terminals": 2},
        "traffic": {"pattern": {"kind": "matrix", "path": "pairs.csv"}, "load": 0.5},
    }
    for base in (Scenario.from_dict({"topology": data["topology"]}), Scenario.from_dict(data, tmp_path)):
        first = base.sha256
        made = base.with_settings({"seed": 7})
        slow = Scenario.from_dict({**base.raw, "seed": 7}, tmp_path)
        assert made.resolved == slow.resolve() == made.resolve()
        assert list(made.resolved) == list(slow.resolve())
        assert made.sha256 == slow.sha256 != first == base.sha256
        assert made.raw == slow.raw
        assert base.seed == 1
    table.write_text("0,2\n1,0\n", encoding="utf-8")
    assert base.with_settings({"seed": 7}).sha256 != made.sha256
    with pytest.raises(ScenarioError, match="the setting seed=-1"):
        base.with_settings({"seed": -1})
    swept = Scenario.from_dict({**data, "sweep": {"seed": [1, 2]}}, tmp_path)
    assert swept.with_settings({"seed": 7}).seed == 7


MESH: dict[str, Any] = {
    "topology": {"kind": "grid", "shape": [2, 2]},
    "technology": {"preset": "generic", "flit": "16 B"},
}


@pytest.mark.parametrize(
    ("written", "bytes_"),
    [
        ("5 flits", "80 B"),
        ("1 flit", "16 B"),
        ({"kind": "uniform", "min": "1 flit", "max": "5 flits"}, {"min": "16 B", "max": "80 B"}),
        ({"kind": "table", "lengths": ["1 flit", "64 B"]}, {"lengths": ["16 B", "64 B"]}),
    ],
)
def test_lengths_of_packets(written: Any, bytes_: Any) -> None:
    found = Scenario.from_dict({**MESH, "traffic": {"length": written}}).resolved["traffic"]["length"]
    wanted = bytes_ if isinstance(bytes_, dict) else {"value": bytes_}
    assert {key: found[key] for key in wanted} == wanted


def test_the_flit_of_the_preset_and_of_the_sweep() -> None:
    scenario = Scenario.from_dict(
        {**MESH, "traffic": {"length": "2 flits"}, "sweep": {"technology.flit": ["4 B", "8 B"]}}
    )
    lengths = [one.resolved["traffic"]["length"]["value"] for _, one in scenario.points()]
    assert lengths == ["8 B", "16 B"]


def test_messages_of_programs() -> None:
    program = {"kind": "ping-pong", "size": "3 flits"}
    found = Scenario.from_dict({**MESH, "program": program}).resolved
    assert found["program"]["size"] == "48 B"


def test_times_of_a_run_in_cycles() -> None:
    """Of the preset's cycle of 1 ns, or of one that is given."""
    run = {"duration": "2000 cycles", "warmup": "1 cycle"}
    found = Scenario.from_dict({**MESH, "run": run}).resolved["run"]
    assert (found["duration"], found["warmup"]) == ("2 us", "1 ns")
    clocked = {**MESH, "technology": {"preset": "generic", "cycle": "500 MHz"}}
    assert Scenario.from_dict({**clocked, "run": run}).resolved["run"]["duration"] == "4 us"
    with pytest.raises(ScenarioError, match='unknown unit "cycles"'):
        Scenario.from_dict({**MESH, "technology": {"preset": "ds-link-c104"}, "run": run})


def test_a_graph_of_networkx_is_no_table() -> None:
    graph = networkx.cycle_graph(4)
    with pytest.raises(ScenarioError, match=r"write fabriloom\.topology\.from_networkx\(graph"):
        Scenario.from_dict({"topology": graph})


def test_links_without_flits() -> None:
    scenario = {**MESH, "technology": {"preset": "ds-link-c104"}, "traffic": {"length": "5 flits"}}
    with pytest.raises(ScenarioError, match='unknown unit "flits" in "5 flits"'):
        Scenario.from_dict(scenario)


REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"


@pytest.mark.parametrize("name", PAGES)
def test_page_is_current(name: str) -> None:
    written = (REFERENCE / name).read_text(encoding="utf-8")
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


def test_a_load_that_flows_ignore_is_refused() -> None:
    flows = {"kind": "flows", "flows": [{"source": 0, "target": 1, "rate": "1 MB/s", "length": "64 B"}]}
    scenario = Scenario.from_dict(
        {"topology": {"kind": "crossbar", "terminals": 4}, "traffic": {"pattern": flows}}
    )
    with pytest.raises(ScenarioError, match="load has no effect: the flows say when packets are sent"):
        scenario.with_settings({"traffic.load": 0.2})
    with pytest.raises(ScenarioError, match="load has no effect"):
        scenario.with_settings({"traffic.load": 0.2, "run.duration": "1 ms"})


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


def at_one_load(scenario: Scenario) -> Comparison:
    return compare(scenario, [0.1])


def test_a_value_of_a_variant(tmp_path: Path) -> None:
    said = refusal(tmp_path, '[variants.odd]\n"topology.terminals" = 71\n', at_one_load).splitlines()
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
