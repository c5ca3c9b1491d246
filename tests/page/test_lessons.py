"""Lessons: what each of them must show, as the one who opens it sees it."""

from __future__ import annotations

import pytest

from .browser import Tab
from .laboratory import QUIET, VIEW, coloured, drop

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
