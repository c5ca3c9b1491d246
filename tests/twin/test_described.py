"""The same network described otherwise gives the same deliveries; another one does not pass as the same."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from fabriloom import Scenario, load, topology
from fabriloom.compile import compile, silent, times
from fabriloom.reading.tomls import toml_text
from fabriloom.scenario.sections.routing import AnyRouting

from . import drawing, laws

Seeds = Callable[[int], Iterator[int]]
Rows = list[dict[str, str]]
pytestmark = pytest.mark.seeds
ONE_WAY = ("tree", "star", "crossbar")
"""Families with one way between two terminals, if their cables are not parallel."""


def asks_for_the_nearest(one: laws.Drawn) -> bool:
    """Whether targets are chosen by their distance, in the order in which switches are found."""
    return one.written.get("traffic", {}).get("pattern", {}).get("kind") == "nearest-neighbour"


def waits_for_its_link(one: laws.Drawn) -> bool:
    """Whether a source is asked for a packet when the one before has been sent, not at a time."""
    arrivals = one.written.get("traffic", {}).get("arrivals", {}).get("kind")
    return arrivals in ("backlog", "wait", "random-wait")


def rows_of(graph: topology.Graph, folder: Path) -> Rows:
    """The rows of a graph's file, without the line that says of which family it is."""
    topology.write(graph, folder / "graph.csv")
    lines = (folder / "graph.csv").read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def as_file(rows: Rows, file: Path) -> dict[str, Any]:
    with file.open("w", newline="", encoding="utf-8") as out:
        table = csv.DictWriter(out, rows[0])
        table.writeheader()
        table.writerows(rows)
    return {"kind": "file", "path": str(file)}


def by_plane(graph: topology.Graph, file: Callable[[topology.Graph, str], dict[str, Any]]) -> dict[str, Any]:
    """A network as a file, or as those of its planes: ``file`` describes one, to which it gives a name."""
    parts = [{"name": plane.name, "network": file(plane.graph, plane.name)} for plane in graph.planes]
    return {"kind": "planes", "planes": parts} if graph.several is not None else parts[0]["network"]


def of_any_graph(written: dict[str, Any]) -> dict[str, Any]:
    """A description without what asks for coordinates or stages."""
    general = AnyRouting.model_fields.keys() - {"kind"}
    routing = {key: value for key, value in written["routing"].items() if key in general}
    if routing.get("lane_choice") not in (None, "any", "destination"):
        routing["lane_choice"] = "any"
    return {**written, "routing": routing}


def agree(one: laws.Drawn, written: dict[str, Any], other: dict[str, Any]) -> int:
    """Assert that two descriptions deliver the same; returns how many packets."""
    both = [laws.ran(each, one.duration_ps) for each in (written, other)]
    usual, found = (laws.deliveries_ps(each, laws.comparable_ps(*both)) for each in both)
    assert np.array_equal(usual, found), written
    return len(usual)


def test_toml_and_json_in_any_order_are_what_python_says(seeds: Seeds, tmp_path: Path) -> None:
    for number, one in enumerate(laws.drawn(seeds(30))):
        files = [tmp_path / "one.toml", tmp_path / "one.json"]
        sections = list(one.written.items())
        Random(number).shuffle(sections)
        files[0].write_text(toml_text(one.written), encoding="utf-8")
        files[1].write_text(json.dumps(dict(sections)), encoding="utf-8")
        python = Scenario.from_dict(one.written)
        for file in files:
            assert load(file).sha256 == python.sha256
            assert silent.equal(compile(load(file)).arrays, compile(python).arrays), one.written


def test_names_and_formats_of_a_graph_do_not_matter(seeds: Seeds, tmp_path: Path) -> None:
    packets = 0
    for number, one in enumerate(laws.drawn(seeds(25))):
        dice, written, whole = Random(number), of_any_graph(one.written), one.compiled.graph
        form, names = dice.choice(["csv", "json", "graphml"]), dict[str, str]()

        def file(graph: topology.Graph, name: str, form: str = form) -> dict[str, Any]:
            topology.write(graph, tmp_path / f"graph{name}.{form}")
            return {"kind": "file", "path": str(tmp_path / f"graph{name}.{form}")}

        def plain(graph: topology.Graph, name: str) -> dict[str, Any]:
            return as_file(rows_of(graph, tmp_path), tmp_path / f"usual-{name}.csv")

        def renamed(
            graph: topology.Graph, name: str, dice: Random = dice, names: dict[str, str] = names
        ) -> dict[str, Any]:
            rows = rows_of(graph, tmp_path)
            for row in (row for row in rows if row["kind"] != "cable"):
                names.setdefault(row["source"], f"n{dice.random()}")
            ends = ({end: names.get(row[end], row[end]) for end in ("source", "target")} for row in rows)
            other = [row | own for row, own in zip(rows, ends, strict=True)]
            return as_file(other, tmp_path / f"renamed-{name}.csv")

        packets += agree(one, one.written, {**one.written, "topology": by_plane(whole, file)})
        usual = {**written, "topology": by_plane(whole, plain)}
        try:
            compile(Scenario.from_dict(usual))
        except laws.REFUSED:
            continue  # its routing asks for a choice of lanes
        packets += agree(one, usual, {**written, "topology": by_plane(whole, renamed)})
    assert packets > 500


def test_the_order_of_switches_does_not_matter_where_there_is_one_way(seeds: Seeds, tmp_path: Path) -> None:
    """Elsewhere it decides between ways as short or groups that share links, and which switch is drawn."""
    packets = 0
    for number, one in enumerate(laws.drawn(seeds(60))):
        parallel = one.written["topology"].get("links_per_edge", 1) > 1
        ways = parallel or one.written["routing"]["universal"]
        if one.written["topology"]["kind"] not in ONE_WAY or ways or asks_for_the_nearest(one):
            continue
        if one.compiled.graph.several is not None:
            continue  # the laws of planes
        rows = rows_of(one.compiled.graph, tmp_path)
        switches = [row for row in rows if row["kind"] == "switch"]
        others = [row for row in rows if row["kind"] != "switch"]
        Random(number).shuffle(switches)
        technology = laws.free_of_numbers(one.written["technology"], "fifo")
        written = {**of_any_graph(one.written), "technology": technology}
        usual = {**written, "topology": as_file(rows, tmp_path / "usual.csv")}
        packets += agree(
            one, usual, {**written, "topology": as_file(switches + others, tmp_path / "other.csv")}
        )
    assert packets > 200


def test_a_finer_tick_changes_nothing(seeds: Seeds, monkeypatch: pytest.MonkeyPatch) -> None:
    """The losers at a crossbar once tried again in the next tick, however short that was."""
    packets, usual_tick_ps = 0, times.tick_ps
    for number, one in enumerate(laws.drawn(seeds(40))):
        parts = (2, 3, 5)[number % 3]

        def finer(*given: Any, parts: int = parts) -> Any:
            tick = Fraction(usual_tick_ps(*given)) / parts
            return tick.numerator if tick.denominator == 1 else tick

        runs = [laws.ran(one.written, one.duration_ps)]
        with monkeypatch.context() as patch:
            patch.setattr(times, "tick_ps", finer)
            runs.append(laws.ran(one.written, one.duration_ps))
        usual, fine = (laws.deliveries_ps(each, laws.comparable_ps(*runs)) for each in runs)
        assert usual.shape == fine.shape, one.written
        assert np.allclose(usual, fine, rtol=1e-12, atol=1e-3), one.written
        packets += len(usual)
    assert packets > 500


def test_a_plane_that_nobody_uses_changes_nothing(seeds: Seeds) -> None:
    """Sources that wait for their link make the next packet earlier where they could choose a port for it."""
    packets = 0
    for one in laws.drawn(seeds(60)):
        graph, kind = one.compiled.graph, one.written["routing"]["kind"]
        if "interface" in one.written or asks_for_the_nearest(one) or waits_for_its_link(one):
            continue
        if graph.several is not None:
            continue  # it has no one plane that all use
        usual = {**one.written, "technology": laws.free_of_numbers(one.written["technology"], "fifo")}
        names = list(graph.terminal_names)
        planes = [
            {"name": "used", "network": one.written["topology"], "terminals": names},
            {"name": "spare", "network": {"kind": "crossbar", "terminals": len(names)}, "terminals": names},
        ]
        written = {**usual, "topology": {"kind": "planes", "planes": planes}}
        try:
            compile(Scenario.from_dict({**written, "ports": {"choice": "nominal"}}))
        except laws.REFUSED:
            assert kind != "shortest-path" or one.written["routing"]["universal"], written
            continue  # the routing is none for both
        packets += agree(one, usual, {**written, "ports": {"choice": "nominal"}})
    assert packets > 200


NAMED = ("name", "description", "run", "output", *silent.SECTIONS)
"""What does not reach the arrays, and sections of which warnings name what changes nothing."""
MAY_CHANGE_NOTHING = {
    "preset": "every value of it is written out",
    "highest_rate": "a limit",
    "transmit": "in cycles, which may be as many ns",
    "receive": "the same",
    "receive_buffer": "in whole credits; no more than a chip may grant",
    "time_code_transmit": "of codes, as the next one",
    "time_code_receive": "",
    "clock": "where nothing is given in its cycles",
    "switch_ports": "in pairs",
}


def are_one(path: tuple[Any, ...], written: dict[str, Any]) -> bool:
    """Whether values at this place describe one network: a torus of two switches a side is a grid."""
    return path == ("topology", "kind") and max(written["topology"].get("shape", [0])) == 2


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path, value


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The same with another value at this place."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


def test_a_setting_matters_or_is_refused(seeds: Seeds) -> None:
    """Values are those that other scenarios have there; warnings name what changes nothing elsewhere."""
    seen: dict[tuple[Any, ...], list[Any]] = {}
    tried = 0
    for seed in seeds(90):
        dice = Random(f"settings {seed}")
        draw = (drawing.links, drawing.lanes, drawing.rings)[seed % 3]
        try:
            compiled = compile(Scenario.from_dict(draw(seed)))
        except laws.REFUSED:
            continue
        written = compiled.scenario.resolve()
        places = [(path, value) for path, value in leaves(written) if path[0] not in NAMED]
        for path, value in places:
            if value not in seen.setdefault(path, []):
                seen[path].append(value)
        able = [(path, value) for path, value in places if len(seen[path]) > 1]
        for path, value in dice.sample(able, min(4, len(able))):
            new = dice.choice([one for one in seen[path] if one != value])
            try:
                other = compile(Scenario.from_dict(changed(written, path, new)))
            except laws.REFUSED:
                continue
            tried += 1
            same = silent.equal(compiled.arrays, other.arrays)
            same = same and silent.equal(compiled.sources.given, other.sources.given)
            may_be = path[-1] in MAY_CHANGE_NOTHING or are_one(path, written)
            assert not same or may_be, f"seed {seed}: {path} to {new}\n{draw(seed)}"
    assert tried > 50
