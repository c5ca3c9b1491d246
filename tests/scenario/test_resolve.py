"""The resolved form: complete, canonical, and a scenario whose resolved form it is.

Sizes in flits mean the bytes that these carry. The reference pages say what the schema and the presets say.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import fabriloom
import networkx
import pytest
from expects import CASES, put, unpacked
from fabriloom.compile import compile, silent
from fabriloom.scenario import Scenario, ScenarioError, json_schema, load
from fabriloom.scenario.reference import PAGES

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
