"""The widget of notebooks: what it holds, and that its script shows it in a real browser."""

from __future__ import annotations

import sys
from pathlib import Path

import fabriloom
import pytest
from fabriloom.process.libraries import MissingLibrary

from .browser import Browser

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
    with pytest.raises(ValueError, match='height is 300; give a length of CSS, such as "300px"'):
        fabriloom.widget(SMALL, height=300)  # type: ignore[arg-type]
    large = {"topology": {"kind": "torus", "shape": [40, 40]}, "run": {"duration": "1 us"}}
    with pytest.raises(ValueError, match="too many to be played"):
        fabriloom.widget(large)


def test_it_says_what_installs_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    from fabriloom.page import widget

    widget._kind.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(MissingLibrary, match=r"pip install 'fabriloom\[notebook\]'"):
        fabriloom.widget(SMALL)


def test_its_script_shows_the_page(tmp_path: Path, chromium: Browser) -> None:
    pytest.importorskip("anywidget")
    shown = fabriloom.widget(SMALL)
    (tmp_path / "cell.html").write_text("<!doctype html><title>cell</title><body></body>", encoding="utf-8")
    tab = chromium.tab()
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
    chromium.close(tab)


def safe(text: str) -> str:
    """A text as a script can hold it."""
    from fabriloom.report.page import script_safe_json

    return script_safe_json(text)
