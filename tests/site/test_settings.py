"""What can be done by hand on a page of the site: cables that fail, the cure, links to a state."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabriloom import _native, load
from fabriloom.compile import compile
from fabriloom.simulate import matched, options_of, rows_of, run
from page.browser import Browser, Tab

from .pages import ROOT, SITE, agrees, opened

PRESS = (
    "document.querySelector('.picture path[data-links]').dispatchEvent("
    "new KeyboardEvent('keydown', {key: 'Enter', shiftKey: true, bubbles: true}))"
)


def modules(folder: Path) -> Path:
    """The scripts of the site as node takes them."""
    for script in (SITE / "static").glob("*.js"):
        shutil.copy(script, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    return folder


def results_of(scenario: Any) -> dict[str, Any]:
    """What a machine computes."""
    compiled = matched(compile(scenario))
    simulation = _native.Simulation(compiled.arrays, **{**options_of(compiled), **rows_of(compiled)[0]})
    while not simulation.advance(200_000):
        pass
    native = dict(simulation.result())
    native.pop("standstill")
    return native


@pytest.mark.parametrize(
    "name",
    [
        "teaching-cut-worm",
        "teaching-stuck-receiver",
        "teaching-spacefibre",
        "teaching-credit-loop",
        "teaching-torus-deadlock",
        "teaching-incast-40",
        "two-rails",
    ],
)
def test_a_cable_that_fails_gives_the_bytes_of_the_engine_here(
    name: str, packed: Any, wasm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One, two, and one that fails in the file and works again."""
    monkeypatch.setattr(packed, "_MOST", (1,))
    scenario = load(ROOT / f"scenarios/{name}.toml").alone()
    lab, graph = packed.laboratory(scenario), compile(scenario).graph
    links, own = [str(one) for one in graph.link_names], lab["faults"]
    middle = {"cable": links[2 * len(links) // 3], "at": "20345 ns"}
    cases = [own, [*own, middle], [*own, middle, {"cable": links[0], "at": "0 ns"}]]
    if any("cable" in fault for fault in own):
        cases += [own[1:], [], [*own, {"cable": own[1]["cable"], "at": "1234 ns"}]]
    if any("stuck" in fault for fault in own):
        into = links[compile(scenario).arrays["fault_link"][0]]
        cases += [[*own, {"cable": into, "at": f"{at} ns"}] for at in (50_000, 100_000, 200_000, 500_000)]
    out, command = tmp_path / "out", ["node", ROOT / "tests/site/settings.mjs", modules(tmp_path), wasm]
    for faults in cases:
        settings = {"place": [one["at"] for one in lab["sliders"]], "seed": scenario.seed, "faults": faults}
        told = json.dumps({"lab": lab, "links": links, "settings": settings})
        subprocess.run([*command, out], check=True, input=told, text=True)
        found = packed.columns_of(out.read_bytes())
        native = results_of(packed._with(scenario, {"fault": faults}))
        assert found.keys() == native.keys()
        differ = [column for column, value in native.items() if not np.array_equal(found[column], value)]
        assert not differ, (faults, differ)


def test_a_scenario_says_why_no_cable_fails(packed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "_MOST", (1,))
    ring = packed.laboratory(load(ROOT / "scenarios/sci-ring-8.toml").alone())
    assert "transactions need a time-out" in ring["refusal"]
    torus = load(ROOT / "scenarios/teaching-cut-worm.toml").with_settings(
        {"routing.after_fault.delay": "300 us"}
    )
    assert "`fabriloom page`" in packed.laboratory(torus.alone())["refusal"]


def test_every_lesson_has_its_cure(packed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no combination of settings that has one is larger than a page may be."""
    gallery = importlib.import_module("gallery")
    monkeypatch.setattr(packed, "_MOST", (12,))
    for path in sorted((ROOT / "scenarios").glob("teaching-*.toml")):
        lab = packed.laboratory(load(path).alone(), **gallery._beside(path))
        assert lab is not None
        assert lab["beside"], path.name
        place = [slider["at"] for slider in lab["sliders"]]
        for number, to in lab["beside"]:
            place[number] = to
        shown = zip(place, lab["sliders"], strict=True)
        assert ",".join(str(at) for at, one in shown if "columns" not in one) in lab["variants"], path.name


def pressed(tab: Tab, act: str) -> None:
    """Do something by hand, and wait for the run."""
    tab.js(f"globalThis.trying = null; {act}; 0")
    tab.until("globalThis.trying")


def test_a_cable_fails_by_hand_and_a_link_shows_it(
    packed: Any, wasm: Path, chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "_MOST", (54,))
    name = "teaching-stuck-receiver"
    scenario, tab = load(ROOT / f"scenarios/{name}.toml"), opened(name, chromium, wasm, tmp_path)
    tab.js("laboratory.player.pause(); laboratory.player.show(150400)")
    pressed(tab, PRESS)
    assert tab.js("laboratory.player.now") == pytest.approx(150400)
    down = "laboratory.player.views()[0].recording.data.outages.filter(([, , , stuck]) => !stuck)"
    assert tab.js(f"{down}.map(([, from]) => from)") == [150400, 150400]
    cable = tab.js("laboratory.state.looked[0].links")[tab.js(f"{down}[0][0]")]
    faults = [*scenario.raw["fault"], {"cable": cable, "at": "150400 ns"}]
    agrees(tab.js("trying[0]"), run(packed._with(scenario.alone(), {"fault": faults})))
    assert f"cable {cable}, at 150400 ns" in tab.js("laboratory.state.looked[0].text")
    tab.js("document.querySelector('#seed').value = 7")
    pressed(tab, "document.querySelector('#cure').click()")
    settings = {"fault": faults, "technology.watchdog": "20 us", "seed": 7}
    agrees(tab.js("trying[0]"), run(packed._with(scenario.alone(), settings)))
    tab.js("laboratory.player.pause(); laboratory.player.show(160000)")
    tab.click("#link")
    tab.until("/link|address/.test(document.querySelector('#tried').innerText)")
    other = chromium.tab()
    other.open(tab.js("location.href"))
    other.until("globalThis.trying")
    assert other.js("trying") == tab.js("trying")
    assert other.js("laboratory.player.now") == pytest.approx(160000)
    assert other.text("#cure") == "Watchdog: 20 us"
    assert other.js("document.querySelector('#cure').getAttribute('aria-pressed')") == "true"
    pressed(other, PRESS)
    assert other.js(f"{down}.length") == 0
    assert not tab.complaints + other.complaints


def test_what_cannot_fail_says_so_and_a_foreign_link_too(
    packed: Any, wasm: Path, chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "_MOST", (4,))
    tab = opened("sci-ring-8", chromium, wasm, tmp_path)
    tab.js(PRESS)
    assert tab.text("#tried").startswith("No cable fails here: where rings fail")
    assert tab.js("document.querySelector('#fails').hidden")
    foreign = "btoa(JSON.stringify({places: [[99]], faults: [[]]}))"
    tab.js(f"history.replaceState(null, '', '#state=' + {foreign}); location.reload()")
    tab.until("/another version/.test(document.querySelector('#tried')?.innerText)")
    folder = tmp_path / "pause"
    folder.mkdir()
    tab = opened("teaching-pause", chromium, wasm, folder)
    tab.js("laboratory.player.pause(); laboratory.player.show(30000)")
    pressed(tab, PRESS)
    assert tab.js("laboratory.player.views()[0].recording.data.outages.length") == 2
    pressed(tab, "document.querySelector('#run').click()")
