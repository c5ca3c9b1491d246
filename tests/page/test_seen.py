"""What the one who looks sees: nothing blank, nothing below the fold, no name too small to read.

Every button does what it says, once; and the legend says what the colours of links are.

Tabs that are closed, come again, or are several; and a worker that dies under one: in a real browser.
"""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator

import pytest
from fabriloom.page import sessions
from fabriloom.page.server import application
from fabriloom.page.sessions import Session
from fabriloom.report import axes
from fabriloom.report.page import Series

from .browser import Browser, Tab
from .laboratory import DONE, LONG, QUIET, SMALL, VIEW, drop, show
from .serving import at, served
from .test_lessons import lesson

TORUS = ("teaching-torus-deadlock.toml", "Deadlock on a torus")
ADAPTIVE = ("teaching-adaptive.toml", "Adaptive against deterministic")
HEAD = ("teaching-head-of-line.toml", "Head-of-line blocking")
COLD = "reaching.shade(0)"
MAGENTA = "#e0007a"
STROKES = "[...document.querySelectorAll('.fabric path[data-links]')]"


def test_a_curve_leaves_the_fabric_as_it_is_and_colours_it(tab: Tab) -> None:
    """Packets stay while it runs; as colours, links show the highest load that was measured."""
    tab.click("#curve")
    tab.until(DONE)
    assert tab.js("document.body.dataset.view") == "packets"
    assert tab.js(f"laboratory.player.step(1), {VIEW}.shown.length") > 0
    show(tab, "use")
    assert tab.js(f"{STROKES}.some(one => one.getAttribute('stroke') !== {COLD})")
    assert "at a load of 100 %" in tab.text("#ramp")


def test_one_switch_shows_packets_again_after_a_run(tab: Tab) -> None:
    tab.click("#run")
    tab.until(DONE)
    assert tab.js("document.body.dataset.view") == "use"
    assert not tab.js("document.querySelector('#play').checkVisibility()")
    show(tab, "packets")
    tab.click("#play")
    tab.until(f"getComputedStyle({VIEW}.canvas).visibility === 'visible' && {VIEW}.shown.length")


def test_a_run_that_deadlocks_shows_the_circle_and_does_not_begin_with_a_rate(tab: Tab) -> None:
    """With the links of terminals that are in it."""
    lesson(tab, *TORUS)
    tab.click("#run")
    tab.until(DONE)
    cycle = tab.js("laboratory.state.live[0].cycle")
    names = tab.js("laboratory.state.live[0].cycle.map(link => laboratory.state.looked[0].links[link])")
    assert any(name.startswith("t(") for name in names)
    for link in cycle:
        drawn = f"{STROKES}.filter(one => one.dataset.links.split(' ').includes('{link}'))"
        assert set(tab.js(f"{drawn}.map(one => one.getAttribute('stroke'))")) == {MAGENTA}
    assert tab.text("#measured").startswith("It deadlocked")
    show(tab, "packets")
    tab.until(f"{STROKES}.every(one => one.getAttribute('stroke') !== '{MAGENTA}')")


def test_names_are_readable_or_left_out(tab: Tab) -> None:
    lesson(tab, *ADAPTIVE)
    sizes = (
        "[...document.querySelectorAll('.fabric svg text')]"
        ".filter(one => one.getAttribute('visibility') !== 'hidden')"
        ".map(one => one.getAttribute('font-size') * one.getScreenCTM().a)"
    )
    for wide in (400, 1280):
        tab.size(wide, 900)
        tab.until(f"innerWidth === {wide} && ({sizes}).every(size => size > 8.4)", 5)
    assert tab.js(f"({sizes}).length") > 0


def test_a_lesson_and_its_replay_are_seen_without_scrolling(tab: Tab) -> None:
    """The drawing fills its place, and the first row of the replay is above the fold."""
    lesson(tab, *HEAD)
    edge = "document.querySelector('#play').getBoundingClientRect().bottom"
    drawn = "[...document.querySelectorAll('.fabric circle')].map(one => one.getBoundingClientRect())"
    for wide, high in ((400, 900), (900, 1000), (2560, 1300), (1280, 900)):
        tab.size(wide, high)
        tab.js("scrollTo(0, 0)")
        tab.until(f"innerWidth === {wide} && {edge} < innerHeight", 5)
        top, bottom = tab.js(
            f"(s => [Math.min(...s.map(r => r.top)), Math.max(...s.map(r => r.bottom))])({drawn})"
        )
        assert bottom - top > 0.6 * tab.js("document.querySelector('.fabric').clientHeight")


def test_nothing_is_waited_for_where_nothing_moves(tab: Tab) -> None:
    """At a load of 1 % most of the time no packet is under way: the clock goes to the next one."""
    drop(tab, "quiet.toml", SMALL.replace("Mine", "Quiet").replace("0.3", "0.01"))
    tab.until(f"{QUIET} && document.querySelector('#title').textContent === 'Quiet'")
    empty = tab.js(
        f"(() => {{ const {{ player }} = laboratory, one = {VIEW}.recording; player.pause(); let before = 0;"
        " const after = []; for (let part = 0; part < 1; part += 0.01) { const at = one.until * part;"
        " before += one.at(at).length === 0; after.push(player.busyFrom(at)); }"
        " return [before, after.filter(at => at < one.until && one.at(at).length === 0).length]; })()"
    )
    assert empty[0] > 50
    assert empty[1] == 0


def test_a_tip_lies_over_its_drawing(tab: Tab) -> None:
    tab.js("laboratory.player.pause()")
    x, y = tab.js(
        f"(() => {{ const p = {STROKES}[2], m = p.getScreenCTM();"
        " const q = p.getPointAtLength(p.getTotalLength() / 2);"
        " return [m.a * q.x + m.e, m.d * q.y + m.f]; })()"
    )
    tab.point(x, y)
    tab.until("document.querySelector('.hover').innerText.includes('in use')")
    inside = tab.js(
        "(() => { const [a, b] = ['.hover', '.fabric']"
        ".map(one => document.querySelector(one).getBoundingClientRect());"
        " return a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom; })()"
    )
    tab.point(5, 5)
    assert inside


def test_what_many_packets_do_is_seen_before_where_they_go(tab: Tab) -> None:
    """More destinations than colours would be confetti."""
    drop(tab, "many.toml", SMALL.replace("Mine", "Many").replace("= 5", "= 60"))
    tab.until(f"{QUIET} && document.querySelector('#title').textContent === 'Many'")
    assert tab.js("laboratory.player.by") == "state"
    drop(tab, "mine.toml", SMALL)
    tab.until(f"{QUIET} && document.querySelector('#title').textContent === 'Mine'")
    assert tab.js("laboratory.player.by") == "destination"


def test_the_page_ends_its_axes_as_reports_do(tab: Tab) -> None:
    for solid, dashed in (
        ((27, 31, 48), (27, 40, 4e5)),
        ((27, 31, 48), (27, 31, 90)),
        ((1, 5, 90), (1, 60, 4e6)),
    ):
        series = [
            Series("", [[x, y, None, None, ""] for x, y in enumerate(ys)], style)
            for ys, style in ((solid, "line"), (dashed, "dashed"))
        ]
        log = axes.is_log(series)
        lines = [json.dumps([{"points": list(enumerate(ys))}]) for ys in (solid, dashed)]
        assert tab.js(f"plots.spans({lines[0]})") == log
        assert tab.js(f"plots.top({lines[0]}, {lines[1]}, {json.dumps(log)})") == axes.top(series, log)


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
    tab.click("#run")
    tab.until(DONE)
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
TABS_QUIET = (
    "document.querySelector('#status').textContent === '' && !document.querySelector('#run').disabled"
)
GOING_ON = "document.querySelector('.measured dd')?.textContent.endsWith('MB/s')"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The page of a server in this process, whose sessions can be looked at."""
    with served(APP) as port:
        yield f"http://127.0.0.1:{port}{at(port, '/')}"
        APP.state.sessions.hang_up()


def started(chromium: Browser, address: str, text: str = LONG) -> Tab:
    """A tab in which a run goes on."""
    tab = chromium.tab()
    tab.open(address)
    drop(tab, "mine.toml", text)
    tab.until(f"{TABS_QUIET} && document.querySelector('#title').textContent === 'Mine'")
    tab.click("#run")
    tab.until(GOING_ON)
    return tab


def session_of(tab: Tab) -> Session:
    name = tab.js("JSON.parse(sessionStorage.getItem('fabriloom')).session")
    session = APP.state.sessions.get(name)
    assert session is not None
    return session


def comes_true(what: str, condition: object, patience_s: float = PATIENCE_S) -> None:
    assert callable(condition)
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < patience_s, what
        time.sleep(0.05)


def test_the_run_of_a_closed_tab_is_given_up(
    chromium: Browser, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = started(chromium, address)
    session = session_of(tab)
    assert session.worker is not None
    pid = session.worker.pid
    monkeypatch.setattr(sessions, "ALONE_S", 0.5)
    chromium.close(tab)
    comes_true("nobody listens any more", lambda: not session.listeners)
    comes_true("the run is given up", lambda: not session.running)
    comes_true("its process has ended", lambda: not _lives(pid))


def test_a_tab_that_comes_again_finds_its_run(chromium: Browser, address: str) -> None:
    tab = started(chromium, address)
    session = session_of(tab)
    tab.open(address)
    tab.until(GOING_ON)
    assert session_of(tab) is session
    assert session.running
    tab.click("#cancel")
    tab.until("document.querySelector('#status').textContent.startsWith('Cancelled')")
    chromium.close(tab)


def test_two_tabs_run_at_the_same_time_and_a_third_is_told_to_wait(chromium: Browser, address: str) -> None:
    tabs = [started(chromium, address), started(chromium, address)]
    assert [session_of(tab).running for tab in tabs] == [True, True]
    third = chromium.tab()
    third.open(address)
    drop(third, "mine.toml", SMALL)
    third.until(f"{TABS_QUIET} && document.querySelector('#title').textContent === 'Mine'")
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
    chromium: Browser, address: str
) -> None:
    tab = started(chromium, address)
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
