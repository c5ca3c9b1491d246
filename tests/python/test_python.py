"""The Python interface: its page, what shows itself, and what is said about mistakes.

Graphs made in Python as the topology of a scenario, and names as the reference writes them.
"""

from __future__ import annotations

import dataclasses
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import fabriloom
import networkx
import numpy as np
import polars as pl
import pytest
from fabriloom import Scenario, ScenarioError, topology

from .python_page import PAGE, page

SMALL: dict[str, Any] = {
    "name": "small",
    "topology": {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 1},
    "run": {"duration": "50 us", "precision": 0.0},
}


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return Scenario.from_dict(SMALL)


def test_the_page_is_up_to_date() -> None:
    if os.environ.get("FABRILOOM_EXPECT") == "write":
        PAGE.write_text(page(), encoding="utf-8")
    assert page() == PAGE.read_text(encoding="utf-8")


def test_everything_public_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in fabriloom.__all__ if name not in text and name != "__version__"] == []


def test_they_show_themselves_in_a_line(scenario: Scenario) -> None:
    assert repr(scenario) == str(scenario)
    assert repr(scenario) == "<Scenario 'small': grid [2, 2], ds-link-c104, uniform traffic>"
    graph = topology.build("grid", shape=[2, 2])
    assert repr(graph) == "<Graph grid: 4 switches, 4 terminals, 16 links>"


def test_pickled_scenarios_are_the_same_from_another_folder(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "small.toml").write_text('topology = { kind = "file", path = "graph.csv" }\n')
    topology.write(topology.build("grid", shape=[2, 2]), tmp_path / "graph.csv")
    monkeypatch.chdir(tmp_path)
    variants = {"variants": {"long": {"traffic.length": "128 B"}}}
    given = [fabriloom.load("small.toml"), Scenario.from_dict({"topology": GRAPHS["rings"]()})]
    given += [scenario.with_settings(one) for one in ({"seed": 3}, {"traffic.load": 0.2}, variants)]
    before, pickled = [(one.sha256, one.source) for one in given], pickle.dumps(given)
    monkeypatch.chdir("/")
    assert [(one.sha256, one.source) for one in pickle.loads(pickled)] == before


def test_compare_takes_a_list_names_or_variants(scenario: Scenario) -> None:
    longer = scenario.with_settings({"name": "longer", "traffic.length": "128 B"})
    assert list(fabriloom.compare([scenario, longer, scenario], [0.2]).parts) == [
        "small",
        "longer",
        "small (2)",
    ]
    varied = Scenario.from_dict({**SMALL, "variants": {"long": {"traffic.length": "128 B"}}})
    assert list(fabriloom.compare(varied, [0.2]).parts) == ["small", "long"]


@pytest.mark.parametrize("nothing", [{}, [], ()])
def test_nothing_to_compare_is_said(nothing: Any) -> None:
    with pytest.raises(ValueError, match="nothing to compare"):
        fabriloom.compare(nothing)


@pytest.mark.parametrize("wrong", ["a.toml", ["a.toml"], {"a": "a.toml"}])
def test_names_of_files_are_no_scenarios(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"fabriloom\.load"):
        fabriloom.compare(wrong)


WRONG: list[tuple[str, str, Any]] = [
    ("curve", "points is 3; give a whole number from 4 to 500", {"points": 3}),
    ("curve", "points is nan; give a whole number from 4", {"points": np.nan}),
    ("curve", "points is 2; give a whole number from 3", {"loads": [0.1, 0.2, 0.3], "points": 2}),
    ("curve", r"loads is \[0.1\]; give two or more", {"loads": [0.1], "points": 5}),
    ("curve", r"loads is 0.2; give a list of numbers, such as \[0.1, 0.3\]", {"loads": 0.2}),
    ("curve", "loads is '0.2'; give a list", {"loads": "0.2"}),
    ("curve", r"loads is \[None\]; give a list", {"loads": [None]}),
    ("compare", r"loads is \[\]; give a list", {"loads": []}),
    ("saturate", "resolution is 0; give a number from 0.001 to 1", {"resolution": 0}),
    ("saturate", "resolution is nan; give a number", {"resolution": np.nan}),
    ("saturate", "definition is 'foo'; give one of: backlog, peak", {"definition": "foo"}),
    ("study", "budget_s is -1; give a number from 0", {"budget_s": -1}),
    ("study", "budget_s is None; give a number", {"budget_s": None}),
    *(
        (name, "jobs is .*; give a whole number from 1 to 1,024", {"jobs": jobs})
        for name in ("curve", "compare", "repeat", "saturate", "study")
        for jobs in (0, None, 2.5, True)
    ),
    ("repeat", "seeds is 2.5; give a whole number from 2 to 1,000", {"seeds": 2.5}),
    *(("repeat", "seeds is .*; give a whole number", {"seeds": seeds}) for seeds in (1, 0, -3, 1001)),
    ("run", "hops is -1; give a whole number from 0", {"hops": -1}),
    ("run", "hops_since_ps is nan; give a whole number", {"hops_since_ps": np.nan}),
    ("bound", "tries is 1.5; give a whole number from 0", {"tries": 1.5}),
]


@pytest.mark.parametrize(("name", "message", "given"), WRONG)
def test_a_wrong_argument_is_said_with_what_to_give(
    scenario: Scenario, name: str, message: str, given: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        getattr(fabriloom, name)(scenario, **given)


def test_wrong_words_are_said_with_those_to_choose_from(scenario: Scenario) -> None:
    with pytest.raises(ValueError, match="of is 'foo'; give one of: latency, total"):
        fabriloom.run(scenario).thinned_tail("foo")
    for section in ("foo", "seed", "program"):
        with pytest.raises(ValueError, match=f"^section is '{section}'; give one of: topology, technology, "):
            scenario.parameters(section)


def test_numbers_may_be_those_of_an_array(scenario: Scenario) -> None:
    found = fabriloom.compare([scenario, scenario.with_settings({"name": "other"})], iter([0.1]))
    assert len(found.points) == 2
    assert len(fabriloom.curve(scenario, np.array([0.1]), jobs=np.int64(1)).points) == 1
    assert len(fabriloom.repeat(scenario, np.int64(2)).points) == 2


@pytest.mark.parametrize(
    "settings", [{"traffic.load": 2}, {"traffic.lod": 0.2}, {"topology.shape": "x"}, {"": 1}, {"seed": None}]
)
def test_settings_from_python_do_not_speak_of_the_command(
    scenario: Scenario, settings: dict[str, Any]
) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario.with_settings(settings)
    assert "--set" not in str(caught.value)
    assert "the setting" in str(caught.value)


def test_arrays_and_series_are_lists(scenario: Scenario) -> None:
    for loads in (np.linspace(0.1, 0.3, 3), pl.Series([0.1, 0.2, 0.3])):
        changed = scenario.with_settings({"sweep": {"traffic.load": loads}, "seed": np.int64(3)})
        assert [round(load, 6) for load in changed.sweep["traffic.load"]] == [0.1, 0.2, 0.3]
        assert changed.seed == 3
    assert Scenario.from_dict({**scenario.raw, "topology": {"kind": "grid", "shape": np.array([2, 3])}})


def test_pictures_for_notebooks(scenario: Scenario, tmp_path: Path) -> None:
    results = fabriloom.run(scenario)
    for what in (scenario, results, results.graph):
        assert fabriloom.draw(what)._repr_svg_().startswith("<svg")
    shown = fabriloom.charts(results)
    assert shown
    assert shown._repr_html_().count("<svg") == len(shown)
    shown[0].save(tmp_path / "chart.svg")
    assert "<svg" in (tmp_path / "chart.svg").read_text(encoding="utf-8")
    curve = fabriloom.curve(scenario, [0.1, 0.2])
    assert fabriloom.draw(curve)._repr_svg_() == fabriloom.draw(scenario)._repr_svg_()
    assert curve._repr_html_().count("<svg") == len(fabriloom.charts(curve)) > 1
    crossbar = {"topology": {"kind": "crossbar", "terminals": 8}, "run": {"duration": "1 ms"}}
    found = fabriloom.saturate(Scenario.from_dict(crossbar), resolution=0.2)
    assert found._repr_html_().count("<svg") == len(fabriloom.charts(found)) > 1
    assert found._repr_html_().count("<figcaption>") == len(fabriloom.charts(found))
    compared = fabriloom.compare([scenario, scenario.with_settings({"name": "other", "seed": 2})], [0.1, 0.2])
    titles = [picture.title for picture in fabriloom.charts(compared)]
    assert titles[:2] == ["Latency against throughput", "Throughput against load"]
    repeated = fabriloom.repeat(scenario, 3)
    assert "seed by seed" in fabriloom.charts(repeated)[0].title
    assert "spread" in repeated._repr_html_()
    for other in (scenario, fabriloom.study(scenario)):
        with pytest.raises(TypeError, match=r"charts are of a run, a curve.* take fabriloom\.curve"):
            fabriloom.charts(other)


NAMES = sorted(set(re.findall(r"^### (fabriloom\.[\w.]+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)))
GRAPHS: dict[str, Any] = {
    "own": lambda: fabriloom.topology.from_networkx(networkx.petersen_graph(), 2),
    "torus": lambda: fabriloom.topology.build("torus", shape=[4, 4], terminals_per_switch=1),
    "rings": lambda: fabriloom.topology.build("sci-ring", terminals=5),
    "planes": lambda: fabriloom.topology.build("crossbar", terminals=4, replicate=2),
    "cable": lambda: fabriloom.topology.build("cable"),
    "two cables": lambda: fabriloom.topology.build("cable", replicate=2),
    "two rings": lambda: fabriloom.topology.build("sci-dual-ring", terminals=4),
}


def test_names_of_the_reference_need_one_import() -> None:
    """In an interpreter that has imported nothing else."""
    assert "fabriloom.topology.from_networkx" in NAMES
    script = f"import fabriloom\nfor name in {NAMES!r}: eval(name)\nassert 'topology' in dir(fabriloom)"
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_is_a_topology(name: str) -> None:
    """In a run, in a changed scenario, and again after the scenario was written down."""
    graph = GRAPHS[name]()
    given = {"topology": graph, "traffic": {"load": 0.1}, "run": {"duration": "50 us", "precision": 0.0}}
    results = fabriloom.run(given)
    assert results.graph == graph
    scenario = fabriloom.Scenario.from_dict(given)
    assert fabriloom.Scenario.from_dict(scenario.resolved).sha256 == scenario.sha256
    other = scenario.with_settings(
        {"topology": GRAPHS["own"]()} | ({} if "rings" not in name else {"technology": {}})
    )
    assert fabriloom.run(other).graph.switches == 10


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_are_equal_if_all_parts_are(name: str) -> None:
    assert GRAPHS[name]() == GRAPHS[name]()
    others = [GRAPHS[other]() for other in GRAPHS if other != name]
    assert GRAPHS[name]() not in others
    one = GRAPHS[name]()
    reverse = one.link_reverse.copy()
    reverse[0] = -1 if reverse[0] >= 0 else 0
    assert one != dataclasses.replace(one, link_reverse=reverse)


def test_a_wrong_graph_is_refused_in_words() -> None:
    with pytest.raises(fabriloom.ScenarioError, match="the file must be an object"):
        fabriloom.run({"topology": {"kind": "inline", "content": "[]"}, "traffic": {"load": 0.1}})
    with pytest.raises(fabriloom.ScenarioError, match="not JSON"):
        fabriloom.run({"topology": {"kind": "inline", "content": "{"}, "traffic": {"load": 0.1}})


def test_tables_become_those_of_pandas() -> None:
    pytest.importorskip("pandas", reason="pandas is not installed: make setup-pandas")
    links = fabriloom.run({"topology": GRAPHS["own"](), "run": {"duration": "20 us"}}).links
    assert links.to_pandas()["link"].tolist() == links["link"].to_list()
