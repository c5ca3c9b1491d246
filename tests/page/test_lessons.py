"""Lessons: what each of them must show, as the one who opens it sees it.

What the one who looks sees: nothing blank, nothing below the fold, no name too small to read.

The challenge at the end of each lesson has the answer that we think, by the controls of the page.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fabriloom import Results, load
from fabriloom.page.choices import controls
from fabriloom.report import page
from fabriloom.report.page import Series
from fabriloom.simulate import run

from .browser import Tab
from .laboratory import QUIET, SMALL, VIEW, coloured, drop, go, show

SHELF = (
    "(() => {{ const s = document.querySelector('#shelf'); s.value = '{}';"
    " s.dispatchEvent(new Event('change')); }})()"
)

CROWD = (
    f"(() => {{ const {{ player }} = laboratory, view = {VIEW}; let most = 0;"
    " for (let part = 0; part < 60; part++) { player.show(player.until * part / 60); const to = {};"
    " for (const packet of view.blocked.keys()) { const name = view.recording.ends(packet)[1];"
    " to[name] = (to[name] ?? 0) + 1; most = Math.max(most, to[name]); } } return most; })()"
)
"""The most packets that wait for one terminal at the same time."""


def lesson(tab: Tab, name: str, title: str) -> None:
    """Open a lesson and wait for its packets."""
    tab.js(SHELF.format(name))
    tab.until(f"document.querySelector('#title').textContent === {title!r} && {QUIET}")
    tab.js("laboratory.player.pause()")


def beside(tab: Tab) -> None:
    """Put the lesson's second fabric beside it, and wait for its packets."""
    tab.click("#beside")
    both = "laboratory.player.views().filter((view) => view.recording).length === 2"
    tab.until(f"{QUIET} && document.querySelectorAll('.side').length === 2 && {both}")


def test_head_of_line_blocking_shows_the_head_and_what_it_waits_for(tab: Tab) -> None:
    """Its wanted output is taken by another packet, while other outputs of the switch are idle."""
    lesson(tab, "teaching-head-of-line.toml", "Head-of-line blocking")
    tab.click("#next-blocking")
    tab.until("/Its head waits for s>t/.test(document.querySelector('#replay-said').textContent)")
    wanted = f"[...{VIEW}.blocked.values()][0].wants"
    assert tab.js(f"{VIEW}.recording.at(laboratory.player.now).some((row) => row.link === {wanted})")
    used = f"new Set({VIEW}.shown.map((row) => row.link)).size"
    assert tab.js(f"{used} < 32")
    assert coloured(tab, 0xD4, 0x21, 0x3D) > 20


def test_adaptive_routing_uses_every_link_up_and_deterministic_one(tab: Tab) -> None:
    lesson(tab, "teaching-adaptive.toml", "Adaptive against deterministic")
    beside(tab)
    up = (
        "laboratory.player.views().map((view) => new Set(view.recording.rows.map((row) =>"
        " view.recording.names[row.link]).filter((name) => name.startsWith('edge(0)>centre'))).size)"
    )
    adaptive, deterministic = tab.js(up)
    assert adaptive > deterministic


def test_starvation_shows_queues_that_grow_at_the_last_stations(tab: Tab) -> None:
    lesson(tab, "teaching-sci-starvation.toml", "Starvation on an SCI ring")
    queue = f"(name, part) => {VIEW}.recording.queue(name, part * laboratory.player.until)"
    grown = tab.js(f"((queue) => [queue('t0', 1), queue('t6', 0.5), queue('t6', 1)])({queue})")
    assert grown[2] > grown[1] > 10
    assert grown[2] > grown[0] + 10
    tab.js("laboratory.player.show(laboratory.player.until)")
    assert coloured(tab, 0x82, 0x56, 0xC9) > 100


def test_incast_shows_the_crowd_before_one_builder(tab: Tab) -> None:
    lesson(tab, "teaching-incast.toml", "Incast in event building")
    assert tab.js(CROWD) >= 5


def test_a_deadlock_shows_its_circle(tab: Tab) -> None:
    tab.js(
        "(() => { const s = document.querySelector('#shelf'); s.value = 'teaching-torus-deadlock.toml';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    tab.until(f"{QUIET} && document.querySelector('#title').textContent === 'Deadlock on a torus'")
    tab.click("#to-deadlock")
    tab.until(f"{QUIET} && {VIEW}.recording?.data.cycle.length >= 4")
    assert tab.js("[laboratory.player.playing, laboratory.player.now === laboratory.player.until]") == [
        False,
        True,
    ]
    assert "deadlocked" in tab.text("#replay-said")
    assert coloured(tab, 0xE0, 0x00, 0x7A) > 500


def test_a_credit_loop_shows_its_circle_and_lanes_cure_it(tab: Tab) -> None:
    lesson(tab, "teaching-credit-loop.toml", "A credit loop, and its cure by lanes")
    tab.click("#to-deadlock")
    tab.until(f"{QUIET} && {VIEW}.recording?.data.cycle.length >= 4")
    assert coloured(tab, 0xE0, 0x00, 0x7A) > 500
    beside(tab)
    tab.click("#to-deadlock")
    tab.until(f"{QUIET} && {VIEW}.recording.data.cycle.length >= 4")
    assert tab.js("laboratory.player.views()[1].recording.data.cycle.length") == 0


def test_incast_at_size_shows_the_crowd_before_a_builder(tab: Tab) -> None:
    lesson(tab, "teaching-incast-40.toml", "Incast on 40 builders")
    assert tab.js(CROWD) >= 20


def test_a_cut_worm_shows_the_cable_that_is_down_and_what_is_spilled(tab: Tab) -> None:
    """Its front goes on, its rest falls out at the switch before the cable, and the other cable works."""
    lesson(tab, "teaching-cut-worm.toml", "A worm is cut")
    tab.click("#next-loss")
    assert tab.js("laboratory.player.now") == pytest.approx(150_000, rel=1e-3)
    assert "cut on s(0," in tab.text("#replay-said")
    assert "2 links are down" in tab.text("#replay-count")
    assert coloured(tab, 0xB3, 0x00, 0x5E) > 10, "the cross"
    spill = f"{VIEW}.recording.spills.find((one) => one.until - one.from > {VIEW}.recording.stay / 4)"
    tab.js(f"laboratory.player.choose(-1, 0); laboratory.player.show(({spill}.from + {spill}.until) / 2)")
    assert coloured(tab, 0xB3, 0x00, 0x5E) > 2, "the drops"
    ending = f"{VIEW}.recording.losses.every((one) => {VIEW}.recording.byPacket.get(one.packet).every("
    assert tab.js(f"{ending}(row) => !{VIEW}.recording.waits(row, one.time + 1)))"), (
        "none waits after its loss"
    )
    tab.js("laboratory.player.show(laboratory.player.until)")
    assert "down" not in tab.text("#replay-count")


def test_a_stuck_receiver_is_marked_and_blocks_others(tab: Tab) -> None:
    """With a watchdog beside it packets are lost, and fewer are blocked."""
    lesson(tab, "teaching-stuck-receiver.toml", "A receiver that is stuck")
    tab.js("laboratory.player.show(340e3)")
    assert "1 terminal is stuck" in tab.text("#replay-count")
    assert coloured(tab, 0x3B, 0x41, 0x45) > 30
    for_it = (
        f"[...{VIEW}.blocked.keys()].filter((one) => {VIEW}.recording.ends(one)[1] === 't(0,1).0').length"
    )
    assert tab.js(for_it) > 0
    assert tab.js(f"{VIEW}.blocked.size > {for_it}"), "others as well"


STUCK_ON_A_RING = """
name = "Stuck on a ring"
[topology]
kind = "sci-switch"
ports = 4
terminals_per_ring = 2
[technology]
preset = "sci-lc2"
timeout = "50 us"
[traffic]
length = "64 B"
load = 0.1
[[fault]]
terminal = 0
stuck = true
at = "2 us"
repaired = "8 us"
[[fault]]
bus = "s0"
at = "5 us"
repaired = "12 us"
[run]
duration = "100 us"
"""


def test_stuck_stations_of_rings_are_marked_and_counted(tab: Tab) -> None:
    """A terminal, then the ports of a switch of which the buses fail."""
    drop(tab, "stuck.toml", STUCK_ON_A_RING)
    tab.until(f"document.querySelector('#title').textContent === 'Stuck on a ring' && {QUIET}")
    tab.js("laboratory.player.pause()")
    for at_ns, said in ((3e3, "1 station is stuck"), (6e3, "5 stations are stuck"), (15e3, "")):
        tab.js(f"laboratory.player.show({at_ns})")
        text = tab.text("#replay-count")
        assert said in text if said else "stuck" not in text


def test_a_pause_storm_stops_an_innocent_stream_and_a_priority_frees_it(tab: Tab) -> None:
    lesson(tab, "teaching-pause.toml", "A pause storm on Ethernet")
    beside(tab)
    moments = (
        "laboratory.player.views().map((view, side) => { let found = 0; const { player } = laboratory;"
        " for (let part = 0; part < 60; part++) { player.show(player.until * part / 60); for (const packet of"
        " player.views()[side].blocked.keys()) found += view.recording.ends(packet)[1] === 't(2).1'; }"
        " return found; })"
    )
    paused, free = tab.js(moments)
    assert paused > 20
    assert free < paused / 2


def test_the_queue_of_spacefibre_grows_where_less_is_reserved(tab: Tab) -> None:
    lesson(tab, "teaching-spacefibre.toml", "SpaceFibre: what is reserved under overload")
    beside(tab)
    queues = (
        "laboratory.player.views().map((view) => ['t(0).0', 't(0).1', 't(0).2'].map((name) =>"
        " view.recording.queue(name, laboratory.player.until)))"
    )
    (radar, camera, keeping), (first, second, third) = tab.js(queues)
    assert radar > 2 * max(camera, keeping)
    assert second > 2 * max(first, third)


TORUS = ("teaching-torus-deadlock.toml", "Deadlock on a torus")
ADAPTIVE = ("teaching-adaptive.toml", "Adaptive against deterministic")
HEAD = ("teaching-head-of-line.toml", "Head-of-line blocking")
COLD = "reaching.shade(0)"
MAGENTA = "#e0007a"
STROKES = "[...document.querySelectorAll('.fabric path[data-links]')]"


def test_a_curve_leaves_the_fabric_as_it_is_and_colours_it(tab: Tab) -> None:
    """Packets stay while it runs; as colours, links show the highest load that was measured."""
    go(tab, "curve")
    assert tab.js("document.body.dataset.view") == "packets"
    assert tab.js(f"laboratory.player.step(1), {VIEW}.shown.length") > 0
    show(tab, "use")
    assert tab.js(f"{STROKES}.some(one => one.getAttribute('stroke') !== {COLD})")
    assert "at a load of 100 %" in tab.text("#ramp")


def test_one_switch_shows_packets_again_after_a_run(tab: Tab) -> None:
    go(tab)
    assert tab.js("document.body.dataset.view") == "use"
    assert not tab.js("document.querySelector('#play').checkVisibility()")
    show(tab, "packets")
    tab.click("#play")
    tab.until(f"getComputedStyle({VIEW}.canvas).visibility === 'visible' && {VIEW}.shown.length")


def test_a_run_that_deadlocks_shows_the_circle_and_does_not_begin_with_a_rate(tab: Tab) -> None:
    """With the links of terminals that are in it."""
    lesson(tab, *TORUS)
    go(tab)
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
        log = page.is_log(series)
        lines = [json.dumps([{"points": list(enumerate(ys))}]) for ys in (solid, dashed)]
        assert tab.js(f"plots.spans({lines[0]})") == log
        assert tab.js(f"plots.top({lines[0]}, {lines[1]}, {json.dumps(log)})") == page.top(series, log)


SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"


def ran(name: str, **settings: Any) -> Results:
    """A run of a lesson, with settings whose dots are written as two underscores."""
    scenario = load(SCENARIOS / f"teaching-{name}.toml")
    return run(scenario.with_settings({path.replace("__", "."): one for path, one in settings.items()}))


def end(name: str, **settings: Any) -> str:
    return str(ran(name, **settings).end_reason)


def keeps_up(name: str, load: float, **settings: Any) -> bool:
    short = {"run__duration": "50 ms", "traffic__load": load}
    return bool(ran(name, **short, **settings).summary["keeps_up"])


def event_ns(**settings: Any) -> float:
    return float(ran("incast-40", **settings).summary["events"]["latency_ns"]["mean"])


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("teaching-*.toml")), ids=lambda path: path.stem)
def test_each_lesson_ends_with_a_challenge(path: Path) -> None:
    *_, last = load(path).description.strip().splitlines()
    assert last.startswith("Challenge: ")


def test_a_load_is_the_last_that_is_carried() -> None:
    assert keeps_up("head-of-line", 0.55)
    assert not keeps_up("head-of-line", 0.75)
    assert keeps_up("adaptive", 0.3, routing__adaptive=False)
    assert not keeps_up("adaptive", 0.4, routing__adaptive=False)


def test_shorter_packets_or_longer_buffers_let_a_run_complete() -> None:
    assert end("torus-deadlock") == end("credit-loop") == "deadlocked"
    assert end("torus-deadlock", traffic__length="32 B") == "time_limit"
    assert end("torus-deadlock", technology__input_buffer="256 B") == "time_limit"
    assert end("credit-loop", traffic__length="16 B") == "time_limit"
    assert end("credit-loop", technology__input_buffer_flits=32) == "time_limit"


def test_what_helps_events_and_what_does_not() -> None:
    built = [
        ran("incast", **settings).summary["events"]["achieved_per_s"]
        for settings in (
            {"program__fragment": "256 B"},
            {"technology__link_rate": "200 Mbit/s"},
            {},
            {"technology__input_buffer": "512 B"},
        )
    ]
    assert min(built[:2]) > 4950 > 4500 > built[2] > 1.3 * built[3]
    usual = event_ns()
    assert event_ns(program__fragment="2048 B") < 0.55 * usual
    assert event_ns(technology__cycle="2560 ps") < 0.55 * usual
    assert event_ns(routing__adaptive=False) == pytest.approx(usual, rel=0.01)


def test_stations_are_alike_at_a_small_load() -> None:
    rates = ran("sci-starvation", traffic__load=0.1).flows["mbytes_per_s"]
    assert len(rates) == 7
    assert rates.min() == pytest.approx(rates.max(), rel=0.01)


def test_a_length_at_which_no_worm_is_cut() -> None:
    assert ran("cut-worm").summary["packets"]["lost"] > 0
    assert ran("cut-worm", traffic__length="16 B").summary["packets"]["lost"] == 0


def test_longer_buffers_are_no_help_to_others() -> None:
    accepted = [
        ran("stuck-receiver", technology__input_buffer=size).summary["accepted_mbytes_per_s"]
        for size in ("64 B", "512 B")
    ]
    assert accepted[0] == pytest.approx(accepted[1], rel=0.01)
    largest = {c["label"]: c for c in controls(load(SCENARIOS / "teaching-pause.toml"))}[
        "Input buffer (flits)"
    ]
    for_others = [
        ran("pause", **option["settings"]).flows.filter(target="t(2).1")["latency_ns_mean"].mean()
        for option in (largest["options"][0], largest["options"][-1])
    ]
    assert for_others[0] == pytest.approx(for_others[1], rel=0.01)


def test_rates_that_spacefibre_carries() -> None:
    shares = [
        one.summary["accepted_mbytes_per_s"] / one.summary["offered_mbytes_per_s"]
        for one in (ran("spacefibre"), ran("spacefibre", traffic__scale=0.7))
    ]
    assert shares[0] < 0.7 < 0.95 < shares[1]
