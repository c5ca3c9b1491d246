"""The widget of notebooks: what it holds, and that its script shows it in a real browser.

The package as it is installed without the repository: the page has its scenarios there too.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import fabriloom
import pytest
from fabriloom.page import shelf
from fabriloom.process.libraries import MissingLibrary

from .browser import PROGRAM, browser

SMALL = {
    "topology": {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 2},
    "run": {"duration": "1 ms"},
}
HOLDS = '<script type="application/json" id="recorded">'
PACKED = '<script type="application/gzip" id="replay">'


def test_it_holds_a_replay_or_a_report_that_plays() -> None:
    pytest.importorskip("anywidget")
    assert HOLDS in fabriloom.widget(SMALL).html
    scenario = fabriloom.Scenario.from_dict(SMALL)
    for found in (fabriloom.run(SMALL), fabriloom.curve(scenario, [0.1, 0.3])):
        html = fabriloom.widget(SMALL, found).html
        assert PACKED in html
        assert "Latency against throughput" in html or "The tail of the latency" in html


def test_it_says_what_it_cannot_show() -> None:
    pytest.importorskip("anywidget")
    with pytest.raises(TypeError, match="not of a int"):
        fabriloom.widget(SMALL, 1)
    large = {"topology": {"kind": "torus", "shape": [40, 40]}, "run": {"duration": "1 us"}}
    with pytest.raises(ValueError, match="too many to be played"):
        fabriloom.widget(large)


def test_it_says_what_installs_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    from fabriloom.page import widget

    widget._kind.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(MissingLibrary, match=r"pip install 'fabriloom\[notebook\]'"):
        fabriloom.widget(SMALL)


@pytest.mark.skipif(PROGRAM is None, reason="no Chromium here")
def test_its_script_shows_the_page(tmp_path: Path) -> None:
    pytest.importorskip("anywidget")
    shown = fabriloom.widget(SMALL)
    (tmp_path / "cell.html").write_text("<!doctype html><title>cell</title><body></body>", encoding="utf-8")
    with browser() as running:
        tab = running.tab()
        tab.open((tmp_path / "cell.html").as_uri(), "document.body")
        tab.js(f"window.values = {{html: {safe(shown.html)}, height: '20rem'}}, 0")
        source = safe(str(shown._esm))
        tab.js(
            f"import(URL.createObjectURL(new Blob([{source}], {{type: 'text/javascript'}})))"
            ".then((it) => it.default.render({ model: { get: (name) => values[name] }, el: document.body }))"
            ".then(() => 0)"
        )
        tab.js("document.querySelector('iframe').addEventListener('load', () => { window.there = true; }), 0")
        tab.until("window.there")
        assert tab.js("document.querySelector('iframe').style.height") == "20rem"
        assert not tab.complaints


def safe(text: str) -> str:
    """A text as a script can hold it."""
    from fabriloom.report.page import script_safe_json

    return script_safe_json(text)


ROOT = Path(__file__).resolve().parents[2]
ASKED = """
import json, sys
from pathlib import Path
import fabriloom
from fabriloom.page import shelf
from fabriloom.page.choices import chosen
from fabriloom.page.looking import describe
names = [entry["name"] for entry in shelf.listed()]
seen = [bool(describe(chosen({"shelf": name}))["svg"]) for name in names]
print(json.dumps({"from": str(Path(fabriloom.__file__).parent), "names": names, "seen": seen}))
"""


def test_every_scenario_of_the_page_is_one_of_the_folder() -> None:
    """Links to it, not copies; and none that is not offered."""
    text = (ROOT / "python/fabriloom/page/shelf.toml").read_text(encoding="utf-8")
    listed = [entry["file"] for entry in tomllib.loads(text)["entry"]]
    assert [entry["file"] for entry in shelf.entries()] == listed
    assert sorted(path.name for path in shelf.FOLDER.iterdir()) == sorted(listed)
    for path in shelf.FOLDER.iterdir():
        assert path.is_symlink()
        assert path.resolve() == ROOT / "scenarios" / path.name


@pytest.mark.skipif(
    importlib.util.find_spec("maturin") is None or shutil.which("cargo") is None,
    reason="without maturin and cargo no wheel is built",
)
def test_an_installed_package_has_them_too(tmp_path: Path) -> None:
    built = [sys.executable, "-m", "maturin", "build", "--release", "--locked", "--offline", "--quiet"]
    subprocess.run([*built, "--out", str(tmp_path)], cwd=ROOT, check=True, timeout=400)
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(installed)
    path = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, "-c", ASKED], cwd=tmp_path, env=path, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert found["from"] == str(installed / "fabriloom")
    assert len(found["names"]) == len(shelf.entries()) == 14
    assert all(found["seen"])
