"""The engine for browsers gives the bytes that the native one gives."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabriloom import _native, load
from fabriloom.compile import compile
from fabriloom.page.recording import names_of, outages, recording
from fabriloom.simulate import matched, options_of, rows_of, run
from page.browser import PROGRAM, browser

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs" / "site"
SCENARIOS = {
    "switched": "teaching-head-of-line",
    "cut_through": "teaching-pause",
    "lanes": "teaching-spacefibre",
    "ring": "sci-ring-8",
    "programs": "teaching-incast-40",
    "faults": "teaching-cut-worm",
}


@pytest.fixture(scope="module")
def packed() -> Any:
    """The packer, which is a part of the site and not of the package."""
    sys.path.insert(0, str(SITE))
    yield importlib.import_module("packed")
    sys.path.remove(str(SITE))


@pytest.fixture(scope="session")
def wasm() -> Path:
    """The engine of these sources, where one has been built before: the first time takes minutes."""
    if shutil.which("node") is None:
        pytest.skip("no node here: the engine for browsers is not run")
    sys.path.insert(0, str(SITE))
    engine = importlib.import_module("engine")
    sys.path.remove(str(SITE))
    if not engine.file().is_file():
        pytest.skip("no engine for browsers here: make test-site builds one")
    built = engine.build()
    assert isinstance(built, Path), built
    return built


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


def test_each_position_of_the_sliders_is_compiled(packed: Any) -> None:
    scenario = load(ROOT / "scenarios/teaching-torus-deadlock.toml")
    lab = packed.laboratory(scenario)
    assert [slider["label"] for slider in lab["sliders"]] == ["Offered load", "Packet length", "Routing"]
    data, starts = packed.base64.b64decode(lab["bytes"]), lab["starts"]
    assert len(data) == starts[-1] < packed.MOST_BYTES

    def parts(choice: list[int]) -> list[bytes]:
        columns = lab["variants"][",".join(map(str, choice))]["columns"]
        return [data[starts[at] : starts[at + 1]] for at in columns]

    now = [slider["at"] for slider in lab["sliders"]]
    assert parts(now) == packed.packed(matched(compile(scenario.alone())))
    assert parts([0, *now[1:]]) != parts(now)


def test_a_large_scenario_is_left_out(packed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "MOST_BYTES", 1000)
    assert packed.laboratory(load(ROOT / "scenarios/teaching-pause.toml")) is None


@pytest.mark.parametrize("newest", [False, True], ids=["first", "last"])
@pytest.mark.parametrize("name", [*SCENARIOS.values(), "command-and-data"])
def test_the_player_gets_the_same_packets(name: str, newest: bool, packed: Any, tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("no node here: the player's packets are not computed in JavaScript")
    compiled = matched(compile(load(ROOT / "scenarios" / f"{name}.toml").alone()))
    results = run(compiled, hops=1 << 17)
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


def test_a_page_runs_what_its_sliders_say(packed: Any, wasm: Path, tmp_path: Path) -> None:
    """From a disk, as a reader opens it: the numbers of another position are those of its scenario."""
    if PROGRAM is None:
        pytest.skip("no Chromium here: the page is not looked at in a browser")
    gallery = importlib.import_module("gallery")
    (tmp_path / "replays").mkdir()
    (tmp_path / "replays/engine.js").write_text(gallery.engine_script(wasm), encoding="utf-8")
    path = ROOT / "scenarios/teaching-torus-deadlock.toml"
    gallery._frame(path, tmp_path, True)
    with browser() as running:
        tab = running.tab()
        tab.open((tmp_path / f"replays/{path.stem}.html").as_uri())
        tab.click("#run")
        tab.until("globalThis.trying")
        assert tab.js("document.querySelector('.ended .chip').textContent") == "deadlocked"
        tab.js(
            "(() => { globalThis.trying = null;"
            " const one = document.querySelector('[data-label=Routing] select');"
            " one.value = 1; one.dispatchEvent(new Event('input', { bubbles: true })); })()"
        )
        tab.until("globalThis.trying")
        found = tab.js("trying")
        assert not tab.complaints
    results = run(load(path).with_settings({"routing.variant": "no-edge-transit"}))
    latency = results.summary["latency_ns"]
    assert found["packets"] == results.summary["packets"]["measured"]
    assert found["accepted"] == pytest.approx(results.summary["accepted_mbytes_per_s"])
    wanted = {"mean": "mean", "median": "p50", "p99": "p99", "longest": "max"}
    assert {mine: found[mine] for mine in wanted} == pytest.approx(
        {m: latency[of] for m, of in wanted.items()}
    )
