"""What the one who looks sees: nothing blank, nothing below the fold, no name too small to read."""

from __future__ import annotations

import json

from fabriloom.report import axes
from fabriloom.report.page import Series

from .browser import Tab
from .laboratory import DONE, QUIET, SMALL, VIEW, drop, show
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
    for wide, least in ((400, 0), (1280, 1)):  # while the picture is drawn again there are none
        tab.size(wide, 900)
        tab.until(
            f"innerWidth === {wide} && (s => s.length >= {least} && s.every(size => size > 8.4))({sizes})", 5
        )


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
