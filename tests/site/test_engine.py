"""The engine for browsers gives the bytes that the native one gives."""

from __future__ import annotations

import base64
import gzip
import importlib
import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabriloom import Results, _native, curve, load
from fabriloom.compile import Compiled, compile
from fabriloom.page.choices import controls
from fabriloom.page.recording import names_of, outages, recording, tails
from fabriloom.results.limit import seems_to_keep_up
from fabriloom.simulate import matched, options_of, rows_of, run
from page.browser import Browser

from .pages import ROOT, SITE, agrees, move, opened

SCENARIOS = {
    "switched": "teaching-head-of-line",
    "cut_through": "teaching-pause",
    "lanes": "teaching-spacefibre",
    "ring": "sci-ring-8",
    "programs": "teaching-incast-40",
    "faults": "teaching-cut-worm",
}
EDGES = {"routing.variant": "no-edge-transit"}


@pytest.mark.parametrize("name", SCENARIOS.values(), ids=SCENARIOS)
def test_a_browser_computes_what_a_machine_does(name: str, packed: Any, wasm: Path, tmp_path: Path) -> None:
    compiled = matched(compile(load(ROOT / "scenarios" / f"{name}.toml").alone()))
    more = {"hops": 5000, "trace": 5000}
    (tmp_path / "in").write_bytes(b"".join(packed.packed(compiled, **more)))
    ours = [ROOT / "tests/site/run.mjs", SITE / "static/engine.js", wasm, tmp_path / "in", tmp_path / "out"]
    subprocess.run(["node", *ours], check=True)
    simulation = _native.Simulation(
        compiled.arrays, **{**options_of(compiled), **rows_of(compiled)[0], **more}
    )
    while not simulation.advance(200_000):
        pass
    native = simulation.result()
    found = packed.columns_of((tmp_path / "out").read_bytes())
    assert native.pop("standstill") is None
    assert found.keys() == native.keys()
    assert len(found["hop_link"]) > 100
    for column, value in native.items():
        assert np.asarray(found[column]).dtype == np.asarray(value).dtype, column
        assert np.array_equal(found[column], value), column


def test_the_scenarios_use_every_engine() -> None:
    arrays = {
        room: compile(load(ROOT / f"scenarios/{name}.toml").alone()).arrays
        for room, name in SCENARIOS.items()
    }
    assert _native.is_by_packet(arrays["cut_through"])
    assert not _native.is_by_packet(arrays["switched"])
    assert arrays["lanes"]["lanes"] > 1
    assert not _native.is_by_packet(arrays["lanes"])
    assert arrays["ring"]["ring_symbol_bytes"]
    assert len(arrays["programs"]["program_start"])
    assert len(arrays["faults"]["fault_link"])


def test_what_is_packed_is_found_again(packed: Any) -> None:
    parts = [
        packed.column("a", "u64", 2**63),
        packed.column("rows", "f64", [0.5, 2]),
        packed.column("b", "u8", []),
    ]
    found = packed.columns_of(b"".join(parts))
    assert found["a"] == 2**63
    assert found["rows"].tolist() == [0.5, 2.0]
    assert found["b"].tolist() == []


def parts_of(lab: dict[str, Any], place: list[int], tenths: Any) -> list[bytes]:
    """The columns that a page gives to the engine, as its script chooses them, with a name for each."""
    data, starts = gzip.decompress(base64.b64decode(lab["bytes"])), lab["starts"]
    sliders, clocks = lab["sliders"], lab["clocks"]

    def parts(numbers: list[int]) -> dict[bytes, bytes]:
        found = [data[starts[number] : starts[number + 1]] for number in numbers]
        return {part[16 : 16 + part[0]]: part for part in found}

    own = [one["columns"][at] for one, at in zip(sliders, place, strict=True) if "columns" in one]
    key = ",".join(str(at) for one, at in zip(sliders, place, strict=True) if "columns" not in one)
    fabrics = lab["variants"][key]
    if tenths is None:
        return sorted(parts([*lab["common"], *fabrics[0]["columns"], *own]).values())
    present = set(tenths.tolist())
    fabric = next(one for one in fabrics if all(clocks[one["clock"]]["factors"][k] for k in present))
    clock = clocks[fabric["clock"]]
    tables, factors = [parts(numbers) for numbers in clock["tables"]], np.array(clock["factors"])
    found = parts([*lab["common"], *fabric["columns"], *own])
    for name in tables[0]:
        rows = np.array(
            [np.frombuffer(table[name], "<u4", len(tenths), 16 + -(-len(name) // 8) * 8) for table in tables]
        )
        chosen = rows[tenths, np.arange(len(tenths))] * factors[tenths]
        found[name] = importlib.import_module("packed").column(name.decode(), "u32", chosen)
    return sorted(found.values())


@pytest.mark.parametrize(
    ("name", "labels", "most"),
    [
        ("teaching-torus-deadlock", ("Link rate", "Arbiter", "Routing"), 400),
        ("teaching-credit-loop", ("Cycle", "Arbiter", "Routing", "Lanes"), 400),
        ("sci-ring-8", ("Link rate", "Retry delay", "Phases"), 1200),
    ],
)
def test_what_the_sliders_say_is_what_is_compiled(
    name: str, labels: tuple[str, ...], most: int, packed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some of the positions, also far from those of the file, and the file itself; a page has up to 1200."""
    monkeypatch.setattr(packed, "_MOST", (most,))
    scenario = load(ROOT / f"scenarios/{name}.toml").alone()
    shown = importlib.import_module("gallery")._beside(Path(f"{name}.toml"))
    lab = packed.laboratory(scenario, **shown)
    sliders = {slider["label"]: slider for slider in lab["sliders"]}
    assert {"Offered load", "Packet length", *labels} <= sliders.keys()
    assert len(lab["loads"]) == len(sliders["Offered load"]["texts"]) >= 6
    assert lab["starts"][-1] < packed.MOST_BYTES
    assert lab["seed"] == scenario.seed
    options = {control["label"]: control["options"] for control in controls(scenario)}
    if "choice" in shown:
        options[shown["choice"][0]] = packed._choice(**shown)["options"]
    now, random = [slider["at"] for slider in lab["sliders"]], np.random.default_rng(1)

    def is_compiled(place: list[int], settings: dict[str, Any]) -> None:
        compiled = matched(compile(packed._with(scenario, settings)))
        tenths = None if compiled.technology.flow_control != "matched" else compiled.times.beside
        assert parts_of(lab, place, tenths) == sorted(packed.packed(compiled)), settings

    is_compiled(now, {})
    for _ in range(6):
        place = [int(random.integers(len(slider["texts"]))) for slider in lab["sliders"]]
        settings: dict[str, Any] = {}
        for slider, at in zip(lab["sliders"], place, strict=True):
            texts = {option["text"]: option["settings"] for option in options[slider["label"]]}
            settings |= texts[slider["texts"][at]]
        is_compiled(place, settings)


def test_a_large_scenario_is_left_out(packed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "MOST_BYTES", 1000)
    assert packed.laboratory(load(ROOT / "scenarios/teaching-pause.toml")) is None


@cache
def ran(name: str) -> tuple[Compiled, Results]:
    """A scenario with the hops of its packets."""
    compiled = matched(compile(load(ROOT / "scenarios" / f"{name}.toml").alone()))
    return compiled, run(compiled, hops=1 << 17)


@pytest.mark.parametrize("newest", [False, True], ids=["first", "last"])
@pytest.mark.parametrize("name", [*SCENARIOS.values(), "command-and-data"])
def test_the_player_gets_the_same_packets(name: str, newest: bool, packed: Any, tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("no node here: the player's packets are not computed in JavaScript")
    compiled, results = ran(name)
    (tmp_path / "in").write_bytes(b"".join(packed.packed(compiled)))
    kinds = {"uint8": "u8", "uint32": "u32", "uint64": "u64", "int64": "i64"}
    wanted = ("hop_", "wait_", "deadlock_links")
    native = {of: np.asarray(one) for of, one in results.native.items() if of.startswith(wanted)}
    columns = [packed.column(of, kinds[rows.dtype.name], rows) for of, rows in native.items()]
    columns.append(packed.column("end_time_ticks", "i64", results.native["end_time_ticks"]))
    (tmp_path / "out").write_bytes(b"".join(columns))
    names = names_of(compiled.graph, compiled.target_names())
    known = {
        "names": names,
        "terminals": compiled.graph.terminal_names,
        "rings": compiled.graph.network_kind.buses,
    }
    scripts = [ROOT / "tests/site/recorded.mjs", SITE / "static/engine.js", SITE / "static/recorded.js"]
    command = ["node", *scripts, tmp_path / "in", tmp_path / "out", str(newest).lower()]
    told = subprocess.run(command, check=True, input=json.dumps(known), capture_output=True, text=True).stdout
    found, expected = json.loads(told), recording(results, None if newest else 0)
    assert found["rows"] == expected["rows"] > 50
    for part in ("packet", "link", "kind", "bus", "last", "cycle", "rings"):
        assert found[part] == expected[part], part
    assert [ends[:2] for ends in found["packets"]] == [ends[:2] for ends in expected["packets"]]
    assert found["queues"].keys() == expected["queues"].keys()
    for part in ("from_ns", "until_ns", "begin"):
        assert found[part] == pytest.approx(expected[part], abs=0.011), part
    assert [end or 0 for end in found["end"]] == pytest.approx(
        [end or 0 for end in expected["end"]], abs=0.011
    )
    assert [row[1:] for row in found["losses"]] == [row[1:] for row in expected["losses"]]
    assert len(found["codes"]) == len(expected["codes"])
    for source, (created, started) in expected["queues"].items():
        assert found["queues"][source][0] == pytest.approx(created, abs=0.11)
        assert found["queues"][source][1] == pytest.approx(started, abs=0.11)
    assert found["outages"] == outages(compiled, expected)
    assert {int(link): after for link, after in found["tails"].items()} == tails(compiled, expected)


def test_a_page_runs_what_its_sliders_say(packed: Any, wasm: Path, chromium: Browser, tmp_path: Path) -> None:
    """The numbers of another position are those of its scenario."""
    name = "teaching-torus-deadlock"
    tab = opened(name, chromium, wasm, tmp_path)
    tab.click("#run")
    tab.until("globalThis.trying")
    assert tab.js("document.querySelector('.ended .chip').textContent") == "deadlocked"
    move(tab, "Link rate", 2)
    rate = tab.js("document.querySelector('[data-label=\"Link rate\"] option:checked').textContent")
    move(tab, "Routing", 1)
    faster = {**EDGES, "technology.link_rate": rate}
    agrees(tab.js("trying[0]"), run(load(ROOT / f"scenarios/{name}.toml").with_settings(faster)))
    move(tab, "Link rate", 1)
    move(tab, "Routing", 0)
    tab.click("#beside")
    tab.until("trying?.length === 2")
    agrees(tab.js("trying[1]"), run(load(ROOT / f"scenarios/{name}.toml").with_settings(EDGES)))
    data = "{ recording: { data: { from_ns, until_ns } } }"
    shown = f"laboratory.player.views().map(({data}) => [from_ns, from_ns + until_ns])"
    (begin, end), (other_begin, other_end) = tab.js(shown)
    assert end == pytest.approx(other_end)
    assert max(begin, other_begin) < 0.9 * end, "both are seen until one of them stands still"
    assert not tab.complaints


def test_two_fabrics_and_a_curve_are_run_in_a_page(
    packed: Any, wasm: Path, chromium: Browser, tmp_path: Path
) -> None:
    name = "teaching-credit-loop"
    scenario = load(ROOT / f"scenarios/{name}.toml")
    tab = opened(name, chromium, wasm, tmp_path)
    tab.click("#beside")
    tab.until("globalThis.trying")
    move(tab, "Arbiter", 4, "#second")
    move(tab, "Packet length", 1)
    shared = {"traffic.length": tab.text("[data-label='Packet length'] option:checked")}
    cure = {"technology.lanes": 2, "routing.lane_choice": "dateline"}
    both = [shared, {**shared, **cure, "technology.arbiter": "oldest-first"}]
    for found, settings in zip(tab.js("trying"), both, strict=True):
        agrees(found, run(scenario.with_settings(settings)))
    assert tab.js("laboratory.player.views().filter((view) => view.recording).length") == 2
    assert tab.text(".side[data-side='1'] h2 .name") == "Arbiter: oldest-first, Lanes: two, with a dateline"
    tab.click("#curve")
    tab.until(
        "document.querySelector('#stop').hidden && /^6 of/.test(document.querySelector('#tried').innerText)"
    )
    points = tab.js("laboratory.state.points")
    for settings, line in zip(both, points, strict=True):
        found = curve(scenario.with_settings(settings), [one["load"] for one in line]).points
        for mine, theirs in zip(line, found, strict=True):
            summary = theirs.summary
            assert mine["accepted"] == pytest.approx(summary["accepted_mbytes_per_s"])
            assert 1e3 * mine["latency_us"] == pytest.approx(summary["latency_ns"]["mean"])
            assert 1e3 * mine["total_us"] == pytest.approx(summary["total_latency_ns"]["mean"])
            assert mine["sustained"] == seems_to_keep_up(summary)
            assert mine["end"] == summary["end"]["reason"]
    assert {one["sustained"] for one in points[0]} == {True, False}
    tab.js("['curve', 'stop'].forEach((name) => document.querySelector(`#${name}`).click())")
    tab.click("#beside")
    tab.until("trying.length === 1")
    assert tab.js("laboratory.state.points[0].length") == 0, "what is stopped adds no points"
    assert not tab.complaints
