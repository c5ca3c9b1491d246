"""The drawn fabric of a report in a real browser: pointer and keys reach every link and terminal."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fabriloom import load, report, run
from page.browser import Browser, Tab

from .test_report import rings, scenario

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[tuple[Tab, Path]]:
    """A tab, and a folder with a report of links, one of rings, one of a deadlock, and one in which a link
    carries twice what others do.
    """
    folder = tmp_path_factory.mktemp("reports")
    dead = load(ROOT / "scenarios" / "teaching-torus-deadlock.toml")
    flows = [{"source": f"t(0,0).{at}", "target": f"t(0,1).{at}", "rate": "4 MB/s"} for at in (0, 1)]
    twice = scenario("Twice", traffic={"pattern": {"kind": "flows", "flows": flows}, "length": "32 B"})
    for name, made in (("links", scenario()), ("rings", rings()), ("dead", dead), ("twice", twice)):
        (folder / f"{name}.html").write_text(report.for_run(run(made)), encoding="utf-8")
    tab = chromium.tab()
    yield tab, folder
    chromium.close(tab)


FIRST = (
    "[...document.querySelectorAll('.fabric path[data-links]')]"
    ".find(one => !/t\\(/.test(one.ariaLabel ?? one.textContent))"
)


def opened(shared: tuple[Tab, Path], name: str) -> Tab:
    tab, folder = shared
    tab.open((folder / f"{name}.html").as_uri(), "document.documentElement?.dataset.charts")
    tab.js("document.querySelector('.fabric').scrollIntoView()")
    return tab


def middle(tab: Tab) -> tuple[float, float]:
    """Where the middle of the first link between switches is in the window: a box lies over a terminal's."""
    x, y = tab.js(
        f"(() => {{ const e = {FIRST};"
        " const p = e.getPointAtLength(e.getTotalLength() / 2).matrixTransform(e.getScreenCTM());"
        " return [p.x, p.y]; })()"
    )
    return x, y


TIP = ".fabric .tip"
SAID = ".numbers output"
FOCUSED = "document.activeElement.getAttribute('aria-label')"


def test_the_pointer_shows_more_than_the_utilisation(shared: tuple[Tab, Path]) -> None:
    tab = opened(shared, "links")
    tab.point(*middle(tab))
    tab.until(f"!document.querySelector({TIP!r}).hidden")
    assert all(word in tab.text(TIP) for word in ("utilisation", "blocked", "packets", "mean wait"))
    assert tab.js("document.querySelectorAll('.fabric [data-links] title').length") == 0
    tab.point(2, 2)
    tab.until(f"document.querySelector({TIP!r}).hidden")


@pytest.mark.parametrize("aside_px", [0, 3])
def test_a_click_on_or_beside_a_link_keeps_its_numbers(shared: tuple[Tab, Path], aside_px: int) -> None:
    tab = opened(shared, "links")
    x, y = middle(tab)
    tab.press(x + aside_px, y - aside_px)
    tab.until(f"document.querySelector({SAID!r} + ' td')")
    name = tab.js(f"{FIRST}.getAttribute('aria-label')")
    assert (tab.js(FOCUSED), tab.text(f"{SAID} td")) == (name, name)
    assert "packets" in tab.text(f"{SAID} thead")
    assert tab.js("document.querySelectorAll('.fabric .halo').length") == 1


def test_a_terminal_says_what_it_sends_and_receives(shared: tuple[Tab, Path]) -> None:
    for name in ("links", "rings"):
        tab = opened(shared, name)
        tab.click(".fabric circle[data-links]")
        tab.until(f"document.querySelector({SAID!r} + ' tbody').rows.length === 2")
        assert "sends" in tab.text(TIP)
        assert "receives" in tab.text(TIP)


def test_keys_reach_everything_that_is_drawn(shared: tuple[Tab, Path]) -> None:
    """One stop for Tab, arrows from one to the next, warmest first; Enter keeps, Escape closes."""
    tab = opened(shared, "links")
    stops = ".fabric [tabindex='0'][data-links]"
    assert tab.js(f"document.querySelectorAll({stops!r}).length") == 1
    tab.js("document.querySelector('.fabric').tabIndex = -1; document.querySelector('.fabric').focus()")
    tab.key("Tab")
    warmest = tab.js(FOCUSED)
    assert "utilisation" in tab.text(TIP)
    assert tab.js("document.querySelectorAll('.fabric .halo').length") == 1
    tab.key("ArrowUp")
    assert tab.js(FOCUSED) == warmest
    tab.key("Home")
    seen = [tab.js(FOCUSED)]
    while len(seen) < 100:
        tab.key("ArrowRight")
        if tab.js(FOCUSED) == seen[-1]:
            break
        seen.append(tab.js(FOCUSED))
    assert len(seen) == len(set(seen)) == tab.js("document.querySelectorAll('.fabric [tabindex]').length")
    assert {"s(0,0)>s(0,1)", "t(0,0).0"} <= set(seen)
    assert tab.js(f"document.querySelectorAll({stops!r}).length") == 1
    tab.key("Enter")
    assert tab.js(f"document.querySelector({SAID!r}).innerText").startswith(seen[-1])
    tab.key("Escape")
    assert tab.text(SAID).startswith("Point at a link or a terminal")
    assert tab.js(f"document.querySelector({TIP!r}).hidden")
    tab.key("Tab")
    assert tab.js("document.activeElement.tagName") == "SELECT"


def test_other_numbers_can_be_coloured(shared: tuple[Tab, Path]) -> None:
    tab = opened(shared, "rings")
    stroke = "document.querySelector('.fabric path[data-links]').getAttribute('stroke')"
    legend = "document.querySelector('.fabric [data-legend=label]').textContent"
    before = tab.js(stroke)
    assert tab.js(legend) == "utilisation"
    tab.js(
        "(() => { const s = document.querySelector('.numbers select');"
        " s.selectedIndex = [...s.options].findIndex(o => o.text === 'retries');"
        " s.dispatchEvent(new Event('change')); })()"
    )
    assert tab.js(legend) == "retries"
    assert tab.js(stroke) != before
    assert not tab.complaints


def keep(tab: Tab) -> None:
    """Keep the text and the kind of what is saved in the page."""
    tab.js(
        "(() => { URL.createObjectURL = (blob) => { window.kind = blob.type;"
        " blob.text().then((text) => { window.saved = text; }); return '#'; }; })()"
    )


def test_charts_and_drawings_are_saved_as_pictures_and_points(shared: tuple[Tab, Path]) -> None:
    tab = opened(shared, "links")
    keep(tab)
    for place, kinds in ((".canvas", ("text/csv", "image/svg+xml", "image/png")), (".numbers", _PICTURES)):
        for number, kind in enumerate(kinds):
            tab.js("delete window.saved")
            tab.click(place + " + .save" * (number + 1))
            tab.until("window.saved")
            assert tab.js("window.kind") == kind
            if kind == "image/svg+xml":
                found = re.match(
                    r'<svg xmlns="http://www.w3.org/2000/svg"[^>]* width="([\d.]+)"', tab.js("window.saved")
                )
                assert found is not None
                assert float(found[1]) > 300
    tab.js("delete window.saved")
    tab.click(".canvas + .save")
    tab.until("window.saved")
    head, *rows = csv.reader(tab.js("window.saved").splitlines())
    assert (head[0], len(rows) > 5) == ("curve", True)
    assert not tab.complaints, tab.complaints


_PICTURES = ("image/svg+xml", "image/png")


def test_every_table_is_saved_as_csv(shared: tuple[Tab, Path]) -> None:
    tab = opened(shared, "links")
    counts = tab.js("['.wide table', '.wide + .save'].map((each) => document.querySelectorAll(each).length)")
    assert counts[0] == counts[1] > 0
    keep(tab)
    tab.click(".wide + .save")
    tab.until("window.saved")
    head, *rows = csv.reader(tab.js("window.saved").splitlines())
    assert head[:3] == ["Link", "Utilisation", "Blocked"]
    assert all(len(row) == len(head) for row in rows)
    assert 0 < float(rows[0][1]) <= 1


def test_a_cursor_says_what_the_curves_have_there(shared: tuple[Tab, Path]) -> None:
    tab = opened(shared, "links")
    key = "document.querySelector('#chart-0').dispatchEvent(new KeyboardEvent('keydown', {key: %r}))"
    for name in ("ArrowRight", "ArrowRight"):
        tab.js(key % name)
    said = tab.text(".cursor")
    assert said.startswith("latency (µs) ")
    assert float(said.split(": ")[1].split()[-1].rstrip(",")) <= 1
    tab.js(key % "Escape")
    assert tab.text(".cursor") == ""


def test_the_link_that_limits_is_marked(shared: tuple[Tab, Path]) -> None:
    assert opened(shared, "twice").js("document.querySelectorAll('.fabric .limit').length") == 1


def test_no_link_is_marked_where_all_are_alike(shared: tuple[Tab, Path]) -> None:
    assert opened(shared, "links").js("document.querySelectorAll('.fabric .limit').length") == 0


def test_all_links_of_a_deadlock_are_marked(shared: tuple[Tab, Path]) -> None:
    """Those of terminals too, and the one that leads around the torus."""
    tab = opened(shared, "dead")
    waiting = tab.js("document.querySelectorAll('section table')[0].tBodies[0].rows.length")
    assert tab.js("document.querySelectorAll('.fabric path.limit').length") == waiting
    assert tab.text(".facts dt") == "Accepted before it stopped"
