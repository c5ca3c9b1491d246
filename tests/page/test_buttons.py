"""Every button does what it says, once; and the legend says what the colours of links are.

Tabs that are closed, come again, or are several; and a worker that dies under one: in a real browser.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator

import pytest
from fabriloom.page import sessions
from fabriloom.page.server import application
from fabriloom.page.sessions import Session

from .browser import Browser, Tab
from .laboratory import DONE, LONG, QUIET, SMALL, VIEW, at, drop, go, served, show

ZOOM = "laboratory.cards[0].fabric.zoom"
FILM = "Save the replay as a WebM film, from here to its end or until you press again"
FILE = "Save the replay as one HTML file that plays without Fabriloom"
EFFECTS = {
    "Run": f"{DONE} && document.querySelector('.measured dd')?.innerText.includes('±')",
    "Saturation curve": f"{DONE} && document.querySelectorAll('#points tbody tr').length === 11",
    "Second fabric beside it": f"{QUIET} && document.querySelectorAll('.side').length === 2",
    "Copy a link to this": "location.hash.startsWith('#state=')",
    "Save scenario": "pressed.some(one => one.endsWith('.toml'))",
    "Enlarge the drawing": f"{ZOOM}.view.width < {ZOOM}.whole.width",
    "Make the drawing smaller": f"{ZOOM}.view.width === {ZOOM}.whole.width",
    "The whole drawing": f"{ZOOM}.view.width === {ZOOM}.whole.width",
    "Play or pause": "laboratory.player.playing",
    "One step on": "laboratory.player.now > laboratory.player.from",
    "One step back": "laboratory.player.now < laboratory.player.until",
    "Jump to the next packet that is blocked": f"{VIEW}.blocked.size > 0",
    "Follow the packet that took longest": "laboratory.player.followed >= 0",
    "Save what is seen as a PNG file": "pressed.some(one => one.endsWith('.png'))",
    FILM: "laboratory.player.rolling",
    FILE: "pressed.some(one => one.endsWith('.html'))",
}
"""What is true after each button, by its label or text."""
UNDO = {
    "Second fabric beside it": f"{QUIET} && document.querySelectorAll('.side').length === 1",
    "Play or pause": "!laboratory.player.playing",
    FILM: "!laboratory.player.rolling",
}
"""Those that are pressed again, and what is true then."""
BEFORE = {
    "Make the drawing smaller": f"{ZOOM}.all(), {ZOOM}.by(1.3)",
    "The whole drawing": f"{ZOOM}.by(3)",
    "One step on": "laboratory.player.show(laboratory.player.from)",
    "One step back": "laboratory.player.show(laboratory.player.until)",
    "Jump to the next packet that is blocked": "laboratory.player.show(laboratory.player.from)",
    "Follow the packet that took longest": "laboratory.player.choose(-1, 0)",
}
"""What is done before a button, so that it has something to do."""
LABEL = "(one.ariaLabel || one.innerText).trim()"


def test_every_button_does_what_it_says(tab: Tab) -> None:
    """A button that is not in the table fails: it has to be tried as well."""
    tab.js(
        "globalThis.pressed = [];"
        " HTMLAnchorElement.prototype.click = function () { pressed.push(this.download); };"
        " laboratory.player.pause(); laboratory.player.show(laboratory.player.from)"
    )
    seen = "[...document.querySelectorAll('button')].filter(one => one.checkVisibility())"
    assert set(tab.js(f"{seen}.map(one => {LABEL})")) == set(EFFECTS)
    # Those that replace what is shown come last.
    last = ("Second fabric beside it", "Saturation curve", "Run")
    for label in [*(one for one in EFFECTS if one not in last), *last]:
        mark = f"{seen}.find(one => {LABEL} === {label!r}).id ||= 'tried'"
        selector = f"#{tab.js(mark)}"
        tab.js(BEFORE.get(label, ""))
        assert not tab.js(f"!!({EFFECTS[label]})"), label
        tab.click(selector)
        tab.until(EFFECTS[label])
        if label in UNDO:
            tab.click(selector)
            tab.until(UNDO[label])
        tab.js("document.querySelector('#tried')?.removeAttribute('id')")
    tab.js("history.replaceState(null, '', location.pathname)")
    tab.open(tab.js("location.href"))


@pytest.mark.parametrize("dark", [False, True])
def test_the_legend_says_what_the_colour_of_a_link_means(tab: Tab, dark: bool) -> None:
    """The colour of a link stands in the legend at the place of its use, in the light and in the dark."""
    tab.dark(dark)
    go(tab)
    stops = tab.js("getComputedStyle(document.querySelector('#ramp i')).backgroundImage")
    legend = [[int(part) for part in one] for one in re.findall(r"rgb\((\d+), (\d+), (\d+)\)", stops)]
    assert len(legend) == 6
    links = tab.js(
        "laboratory.cards[0].fabric.shapes.filter(one => !one.dot && one.links.length === 1).map(one =>"
        " [laboratory.cards[0].fabric.busy[one.links[0]] / 1000, getComputedStyle(one.shape).stroke])"
    )
    tab.dark(False)
    assert len(links) == 10
    assert max(share for share, _ in links) > 0.2
    for share, colour in links:
        place = share * 5
        low = min(int(place), 4)
        wanted = [a + (b - a) * (place - low) for a, b in zip(legend[low], legend[low + 1], strict=True)]
        shown = [int(part) for part in re.findall(r"\d+", colour)]
        assert shown == pytest.approx(wanted, abs=6), share
    # Idle links are near the paper, hot ones far from it.
    light = [sum(one) for one in legend]
    assert light == sorted(light, reverse=not dark)


@pytest.mark.parametrize(("wide", "high"), [(1440, 900), (1920, 1080)])
def test_the_panel_and_the_legend_are_seen_without_scrolling(tab: Tab, wide: int, high: int) -> None:
    tab.size(wide, high)
    tab.js("scrollTo(0, 0)")
    for selector in ("#link", "#replay-key", "#view", "#play"):
        bottom = f"document.querySelector({selector!r}).getBoundingClientRect().bottom"
        tab.until(f"innerWidth === {wide} && {bottom} < innerHeight", 5)
    assert tab.js("(p => p.scrollHeight <= p.clientHeight)(document.querySelector('.panel'))")
    tab.size(1280, 900)
    show(tab, "packets")


APP = application()
PATIENCE_S = 60.0
QUIET = "document.querySelector('#status').textContent === '' && !document.querySelector('#run').disabled"
GOING_ON = "document.querySelector('.measured dd')?.textContent.endsWith('MB/s')"


@pytest.fixture(scope="module")
def own() -> Iterator[str]:
    """The page of a server in this process, whose sessions can be looked at."""
    with served(APP) as port:
        yield f"http://127.0.0.1:{port}{at(port, '/')}"
        APP.state.sessions.hang_up()


def started(chromium: Browser, own: str, text: str = LONG) -> Tab:
    """A tab in which a run goes on."""
    tab = chromium.tab()
    tab.open(own)
    drop(tab, "mine.toml", text)
    tab.until(f"{QUIET} && document.querySelector('#title').textContent === 'Mine'")
    tab.click("#run")
    tab.until(GOING_ON)
    return tab


def session_of(tab: Tab) -> Session:
    name = tab.js("JSON.parse(sessionStorage.getItem('fabriloom')).session")
    session = APP.state.sessions.get(name)
    assert session is not None
    return session


def comes_true(what: str, condition: Callable[[], object]) -> None:
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < PATIENCE_S, what
        time.sleep(0.05)


def test_the_run_of_a_closed_tab_is_given_up(
    chromium: Browser, own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = started(chromium, own)
    session = session_of(tab)
    assert session.worker is not None
    pid = session.worker.pid
    monkeypatch.setattr(sessions, "ALONE_S", 0.5)
    chromium.close(tab)
    comes_true("nobody listens any more", lambda: not session.listeners)
    comes_true("the run is given up", lambda: not session.running)
    comes_true("its process has ended", lambda: not _lives(pid))


def test_a_tab_that_comes_again_finds_its_run(chromium: Browser, own: str) -> None:
    tab = started(chromium, own)
    session = session_of(tab)
    tab.open(own)
    tab.until(GOING_ON)
    assert session_of(tab) is session
    assert session.running
    tab.click("#cancel")
    tab.until("document.querySelector('#status').textContent.startsWith('Cancelled')")
    chromium.close(tab)


def test_two_tabs_run_at_the_same_time_and_a_third_is_told_to_wait(chromium: Browser, own: str) -> None:
    tabs = [started(chromium, own), started(chromium, own)]
    assert [session_of(tab).running for tab in tabs] == [True, True]
    third = chromium.tab()
    third.open(own)
    drop(third, "mine.toml", SMALL)
    third.until(f"{QUIET} && document.querySelector('#title').textContent === 'Mine'")
    third.click("#run")
    third.until("document.querySelector('#said').innerText.includes('2 runs are in progress in other tabs')")
    tabs[0].click("#cancel")
    tabs[0].until("document.querySelector('#status').textContent.startsWith('Cancelled')")
    assert session_of(tabs[1]).running
    third.click("#run")
    third.until("document.querySelector('#status').textContent === 'Done.'")
    tabs[1].click("#cancel")
    for tab in (*tabs, third):
        assert not tab.complaints or tab is third  # a refusal stands in the console as one
        chromium.close(tab)


def test_a_killed_worker_is_said_on_the_page_and_the_next_run_has_another(
    chromium: Browser, own: str
) -> None:
    tab = started(chromium, own)
    worker = session_of(tab).worker
    assert worker is not None
    os.kill(worker.pid, signal.SIGKILL)
    tab.until("document.querySelector('#said').innerText.includes('Press Run to start again')")
    assert "SIGKILL" in tab.text("#said")
    tab.click("#run")
    tab.until(f"document.querySelector('#said').hidden && {GOING_ON}")
    tab.click("#cancel")
    chromium.close(tab)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
