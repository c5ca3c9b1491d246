"""The engine for browsers gives the bytes that the native one gives."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabriloom import _native, load
from fabriloom.compile import compile
from fabriloom.simulate import matched, options_of, rows_of

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
    """The engine, built where there is a compiler: the first time takes minutes."""
    if shutil.which("node") is None:
        pytest.skip("no node here: the engine for browsers is not run")
    sys.path.insert(0, str(SITE))
    engine = importlib.import_module("engine")
    sys.path.remove(str(SITE))
    if isinstance(why := engine.command(), str):
        pytest.skip(f"{why}: the engine for browsers is not built")
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
        return [data[starts[at] : starts[at + 1]] for at in lab["variants"][",".join(map(str, choice))]]

    now = [slider["at"] for slider in lab["sliders"]]
    assert parts(now) == packed.packed(matched(compile(scenario.alone())))
    assert parts([0, *now[1:]]) != parts(now)


def test_a_large_scenario_is_left_out(packed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "MOST_BYTES", 1000)
    assert packed.laboratory(load(ROOT / "scenarios/teaching-pause.toml")) is None
