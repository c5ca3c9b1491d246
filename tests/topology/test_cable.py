"""A cable between two terminals is a network: it is counted, drawn, run and compared like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabriloom import compile as compiling
from fabriloom import simulate, topology
from fabriloom.report.drawing import fabric_svg
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.studies.inspection import inspect
from fabriloom.topology import measure

WRITTEN: dict[str, Any] = {
    "topology": {"kind": "cable"},
    "technology": {"preset": "spacewire-200"},
    "traffic": {"pattern": "uniform", "length": "64 B", "load": 0.5},
    "run": {"duration": "200 us", "warmup": "0 ns", "precision": 0},
}


def test_it_is_counted_and_drawn() -> None:
    graph = topology.build("cable")
    counted, apart, cut = measure.counts(graph), measure.distances(graph), measure.bisection(graph)
    assert (counted.cables, counted.terminal_cables, counted.ports_used_max) == (1, 1, 0)
    assert (apart.mean_switches, apart.unreachable_pairs) == (0.0, 0)
    assert (cut.links, cut.exact) == (2, True)
    assert fabric_svg(graph).count("<circle") == 2
    assert fabric_svg(graph, [0.1, 0.9]).count("<path") == 2


@pytest.mark.parametrize("preset", ["spacewire-200", "ds-link-c104", "generic"])
@pytest.mark.parametrize("arrivals", ["backlog", "poisson"])
def test_a_packet_takes_its_characters_and_the_twin_agrees(preset: str, arrivals: str) -> None:
    traffic = {"pattern": "uniform", "length": "64 B", "arrivals": arrivals}
    compiled = compiling.compile(
        Scenario.from_dict({**WRITTEN, "technology": {"preset": preset}, "traffic": traffic})
    )
    found = simulate.compare(compiled, 1_000_000_000)
    assert found.identical
    assert found.packets > 50
    # Nothing comes the other way: characters without a share of flow control.
    alone = compiled.beside(np.zeros(2, np.int64))
    columns, tick = alone.arrays, alone.tick_ps
    character, end, arrival = (
        int(columns[f"link_{name}_ticks"][0]) for name in ("character", "end", "arrival")
    )
    payload = compiled.technology.payload_chars(int(columns["length_max"][0]))
    characters = payload + int(columns["header_chars"])
    expected = (characters * character + end + arrival - character) * tick / 1000
    shown = inspect(compiled.scenario)["zero_load_latency_ns"]
    assert shown["min"] == shown["max"] == pytest.approx(expected)


def test_a_file_may_join_two_terminals(tmp_path: Path) -> None:
    (tmp_path / "pair.csv").write_text(
        "kind,source,target\nterminal,camera,\nterminal,memory,\ncable,camera,memory\n"
    )
    own = {**WRITTEN, "topology": {"kind": "file", "path": "pair.csv"}}
    found = inspect(Scenario.from_dict(own, tmp_path))
    assert found["network"]["switches"] == 0
    assert found["channel_load"]["busiest_link"] == "camera>memory"


@pytest.mark.parametrize(
    ("routing", "message"),
    [
        ({"kind": "shortest-path"}, "nothing is routed"),
        ({"interval_labelling": True}, "nothing is routed"),
        ({"universal": True}, "needs more than one switch"),
    ],
)
def test_there_is_nothing_to_route(routing: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        compiling.compile(Scenario.from_dict({**WRITTEN, "routing": routing}))
