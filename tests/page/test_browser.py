"""The laboratory in a real browser: what a hand does there, and what the eye then sees."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from fabriloom import load

from .browser import Browser, Tab
from .laboratory import BRIDGE, DONE, LONG, QUIET, SMALL, VIEW, drop, drop_once_running, go, slide


def test_a_run_is_seen_as_it_goes_on(tab: Tab) -> None:
    drop(tab, "mine.toml", LONG)
    tab.until(f"{QUIET} && document.querySelectorAll('.fabric circle').length === 30")
    cold = tab.js("document.querySelector('.fabric path[data-links]').getAttribute('stroke')")
    tab.click("#run")
    tab.until("document.querySelector('.measured dd')?.textContent.endsWith('MB/s')")
    first = tab.text(".measured .facts > div:nth-child(5) dd")
    tab.until(f"document.querySelector('.measured .facts > div:nth-child(5) dd').innerText !== {first!r}")
    assert tab.js("document.querySelector('.fabric path[data-links]').getAttribute('stroke')") != cold
    assert tab.js("document.querySelectorAll('#chart-accepted path').length") > 3
    tab.click("#cancel")
    tab.until("document.querySelector('#status').textContent.startsWith('Cancelled')", 30)
    assert "interrupted" in tab.text(".measured .ended")


def test_two_fabrics_run_beside_each_other(tab: Tab) -> None:
    tab.click("#beside")
    tab.until(f"{QUIET} && document.querySelectorAll('.side').length === 2")
    slide(tab, 0, "#fabric-1")
    tab.until(f"{QUIET} && document.querySelectorAll('.side')[1].innerText.includes('Input buffer: 16 B')")
    go(tab)
    below = tab.js("[...document.querySelectorAll('.measured')].map(s => s.innerText)")
    assert all("time limit" in one and "MB/s" in one for one in below)
    assert tab.text("#chart-latency").count("Input buffer: 16 B") == 1
    assert tab.js("[...document.querySelectorAll('.side .name')].map(one => one.innerText)") == [
        "Input buffer: 43 B",
        "Input buffer: 16 B",
    ]
    assert tab.js("fetch(document.querySelector('#report').href).then(r => r.text())").startswith(
        "<!doctype html>"
    )


def test_a_cursor_in_one_chart_over_time_is_in_the_other(tab: Tab) -> None:
    go(tab)
    before = tab.js("document.querySelector('#chart-latency').innerHTML")
    x, y = tab.js(
        "(() => { const c = document.querySelector('#chart-accepted'); c.scrollIntoView({block: 'center'});"
        " const r = c.getBoundingClientRect(); return [r.x + 0.6 * r.width, r.y + 0.5 * r.height]; })()"
    )
    tab.point(x, y)
    tab.until(f"document.querySelector('#chart-latency').innerHTML !== {before!r}")
    tab.point(x, 5)
    tab.until(f"document.querySelector('#chart-latency').innerHTML === {before!r}")


def test_a_saturation_curve_takes_one_button(tab: Tab) -> None:
    go(tab, "curve")
    assert tab.js("document.querySelectorAll('#points tbody tr').length") == 11
    tab.until("document.querySelector('#study-text').textContent.length > 20")


def test_a_load_of_the_table_is_run(tab: Tab) -> None:
    go(tab, "curve")
    tab.click("#points tbody tr:nth-child(2) button")
    tab.until(f"{DONE} && document.querySelector('#study').hidden")
    assert "load = 0.1" in tab.js("document.querySelector('#text pre').textContent")


def test_a_curve_says_nothing_more_of_the_run_before_it(tab: Tab) -> None:
    """How that ended would stand under a fabric whose numbers are gone."""
    go(tab)
    assert "time limit" in tab.text(".measured .ended")
    tab.click("#curve")
    tab.until("!document.querySelector('#study').hidden")
    assert tab.text(".measured .ended") == ""
    tab.until(DONE)


def test_ways_of_routing_are_a_list(tab: Tab) -> None:
    """They have no order, so a slider, as numbers have one, would be a riddle."""
    drop(tab, "grid.toml", SMALL.replace("crossbar", "grid").replace("terminals = 5", "shape = [3, 3]"))
    tab.until(f"{QUIET} && document.querySelector('#fabric-0 [data-label=Routing]')")
    for label, ways in (("Routing", 4), ("Arbiter", 5)):
        assert tab.js(f"document.querySelectorAll('#fabric-0 [data-label={label}] option').length") == ways
    assert tab.js("document.querySelectorAll('#traffic input[type=range]').length") == 2


def test_packets_are_replayed_and_followed(tab: Tab) -> None:
    """By themselves, from the beginning on."""
    assert tab.js("laboratory.player.from") == 0
    tab.until("laboratory.player.playing")
    tab.click("#play")
    tab.until(
        f"{VIEW}.shown.length > 1 || (document.querySelector('#player button:nth-of-type(3)').click(), 0)"
    )
    at = tab.text("#player output")
    tab.click("#player button:nth-of-type(3)")
    tab.until(f"document.querySelector('#player output').innerText !== {at!r}")
    tab.js(
        "(() => { const f = laboratory.player.follow; f.dispatchEvent(new Event('focus'));"
        " f.selectedIndex = 1; f.dispatchEvent(new Event('change')); })()"
    )
    tab.until("/^The packet from t.* to t.*: /.test(document.querySelector('#replay-said').innerText)")


def test_any_moment_of_a_run_is_replayed_and_what_it_measured_stays(tab: Tab) -> None:
    go(tab)
    accepted = tab.text(".measured dd")
    x, y = tab.js(
        "(() => { const r = document.querySelector('#chart-accepted').getBoundingClientRect();"
        " scrollTo(0, r.y); const s = document.querySelector('#chart-accepted').getBoundingClientRect();"
        " return [s.x + 0.6 * s.width, s.y + 0.5 * s.height]; })()"
    )
    tab.press(x, y)
    tab.until("!document.querySelector('#moment').hidden")
    moment = tab.js("Number(document.querySelector('#from').value)")
    assert 0.3 < moment < 1.9
    tab.until(
        f"{QUIET} && document.querySelector('#replay-said').innerText.includes('The measured run, repeated')"
    )
    assert tab.js("laboratory.player.from") == pytest.approx(1e6 * moment)
    assert tab.text(".measured dd") == accepted
    assert (
        tab.js("document.querySelector('#live').hidden || document.querySelector('#report').hidden") is False
    )


def test_packets_are_seen_on_the_buses_between_rings(tab: Tab) -> None:
    drop(tab, "bridge.toml", BRIDGE)
    tab.until(f"{QUIET} && document.querySelectorAll('.fabric circle').length === 6")
    # What crosses a bus is on the bus of its port for a while.
    tab.until(f"{QUIET} && {VIEW}.recording.data.rings")
    on_bus = f"{VIEW}.shown.some((row) => row.bus >= 0 && {VIEW}.wayOf(row))"
    begin = "const { player } = laboratory; player.pause(); let seen = 0;"
    steps = f"for (let turn = 0; turn < 300; turn++) {{ player.step(1); seen += {on_bus}; }}"
    assert tab.js(f"(() => {{ {begin} {steps} return seen; }})()") > 5


def test_packets_of_every_plane_are_on_its_own_links(tab: Tab) -> None:
    """Each plane has a picture of its own within the drawing."""
    drop(tab, "planes.toml", SMALL.replace("terminals = 5", "terminals = 5\nreplicate = 4"))
    tab.until(
        f"{QUIET} && document.querySelectorAll('.fabric svg svg').length === 4 && {VIEW}.dots.size === 40"
    )
    astray = (
        f"(() => {{ const to = {VIEW}.fabric.place.querySelector('svg').getScreenCTM();"
        " return [...document.querySelectorAll('.fabric circle[data-links]')].filter((shape) => {"
        "  const box = shape.getBoundingClientRect();"
        "  return shape.dataset.links.split(' ').some((link) => {"
        f"   const dot = {VIEW}.dots.get(Number(link)), x = to.a * dot.x + to.e, y = to.d * dot.y + to.f;"
        "   return x < box.left || x > box.right || y < box.top || y > box.bottom; }); }).length; })()"
    )
    assert tab.js(astray) == 0


def test_what_is_shown_is_saved_and_outlives_a_reload(tab: Tab, address: str, tmp_path: Path) -> None:
    slide(tab, 2)
    tab.until(f"{QUIET} && document.querySelector('#text pre').textContent.includes('load = 0.03')")
    go(tab)
    accepted = tab.text(".measured dd")
    tab.js(
        "(() => { URL.createObjectURL = (blob) => {"
        " blob.text().then((text) => { window.saved = text; }); return '#'; }; })()"
    )
    tab.click(".side h2 button")
    tab.until("window.saved")
    path = tmp_path / "saved.toml"
    path.write_text(tab.js("window.saved"), encoding="utf-8")
    assert (
        tomllib.loads(path.read_text(encoding="utf-8"))["traffic"]["load"] == load(path).traffic.load == 0.03
    )
    tab.open(address)
    tab.until("document.querySelector('.measured dd')")
    assert tab.text("#title") == "Mine"
    assert tab.text(".measured dd") == accepted


def test_a_wrong_file_is_shown_with_a_caret_and_changes_nothing(tab: Tab) -> None:
    drop(tab, "wrong.toml", SMALL.replace("crossbar", "crosbar"))
    tab.until("!document.querySelector('#said').hidden")
    said = tab.text("#said")
    assert "wrong.toml:3:8" in said
    assert "^^^^" in said
    assert tab.text("#title") == "Mine"
    drop(tab, "wrong.exe", "MZ")
    tab.until("document.querySelector('#said').innerText.includes('not a kind of scenario file')")


def test_another_tab_has_a_run_of_its_own(chromium: Browser, address: str, tab: Tab) -> None:
    other = chromium.tab()
    other.open(address)
    go(tab)
    assert other.js("document.querySelectorAll('.measured dd').length") == 0
    assert not other.complaints
    chromium.close(other)


def test_packets_are_of_the_scenario_that_is_shown(tab: Tab) -> None:
    """One that is chosen while another is still replayed gets its own packets."""
    drop_once_running(tab, "bridge.toml", BRIDGE)
    drop(tab, "grid.toml", SMALL.replace("crossbar", "grid").replace("terminals = 5", "shape = [3, 3]"))
    tab.until(f"{QUIET} && document.querySelectorAll('.fabric circle').length === 6")
    assert tab.js(f"{VIEW}.recording.data.rings")
    assert tab.js(f"{VIEW}.recording.names === {VIEW}.fabric.links")


def test_a_run_of_a_scenario_that_is_left_ends(tab: Tab) -> None:
    """Its numbers would stand under the name of the other one."""
    drop(tab, "mine.toml", LONG)
    tab.until(f"{QUIET} && document.querySelectorAll('.fabric circle').length === 30")
    tab.click("#run")
    tab.until("document.querySelector('.measured dd')?.textContent.endsWith('MB/s')")
    drop(tab, "bridge.toml", BRIDGE)
    tab.until(f"{QUIET} && document.querySelectorAll('.fabric circle').length === 6")
    assert tab.js("document.querySelector('.measured dd')") is None
    assert tab.js("document.querySelector('#live').hidden")


def test_settings_that_change_during_a_run_mark_what_it_measures(tab: Tab) -> None:
    drop(tab, "mine.toml", LONG)
    tab.until(f"{QUIET} && document.querySelectorAll('.fabric circle').length === 30")
    tab.click("#run")
    tab.until("laboratory.state.running")
    slide(tab, 2)
    tab.until("!document.querySelector('#old').hidden")
    tab.click("#cancel")
    tab.until("!document.querySelector('#run').disabled && laboratory.player.playing")
    assert not tab.js("document.querySelector('#old').hidden")


def test_a_cable_fails_by_hand_and_works_again(tab: Tab) -> None:
    """At the shown moment, and as a setting, which a saved scenario has."""
    press = (
        "document.querySelector('.picture path[data-links]').dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'Enter', shiftKey: true, bubbles: true}))"
    )
    down = f"{VIEW}.recording.data.outages.map(([, from]) => from)"
    tab.js(f"laboratory.player.pause(); laboratory.player.show(1234); {press}")
    tab.until(f"{QUIET} && {VIEW}.recording.data.outages.length === 2")
    assert tab.js(down) == [1234, 1234]
    (failed,) = tab.js("laboratory.state.first.settings.fault")
    assert failed["at"] == "1234 ns"
    assert failed["cable"] in tab.js("laboratory.state.looked[0].links")
    assert failed["cable"] in tab.js("laboratory.state.looked[0].text")
    tab.js(press)
    tab.until(f"{QUIET} && {VIEW}.recording.data.outages.length === 0")


def test_a_drag_adds_a_cable_and_takes_it_away(tab: Tab) -> None:
    """With Shift, from the box of a switch to that of another; a saved scenario has it."""
    drop(tab, "grid.toml", '[topology]\nkind = "grid"\nshape = [3, 3]\n')
    tab.until(f"{QUIET} && laboratory.state.looked[0].links.length === 42")
    drag = """
        (() => {
          const box = (name) => {
            const names = [...document.querySelectorAll('.picture text')];
            const text = names.find((one) => one.textContent === name);
            const { left, top, width, height } = text.previousElementSibling.getBoundingClientRect();
            return { clientX: left + width / 2, clientY: top + height / 2, shiftKey: true, bubbles: true };
          };
          const place = document.querySelector('.fabric');
          place.dispatchEvent(new PointerEvent('pointerdown', box('s(0,0)')));
          place.dispatchEvent(new PointerEvent('pointermove', box('s(1,1)')));
          place.dispatchEvent(new PointerEvent('pointerup', box('s(2,2)')));
        })()
    """
    tab.js(drag)
    tab.until(f"{QUIET} && laboratory.state.looked[0].links.length === 44")
    assert tab.js("laboratory.state.looked[0].links.at(-1)") == "s(2,2)>s(0,0)"
    assert 'more_cables = [["s(0,0)", "s(2,2)"]]' in tab.js("laboratory.state.looked[0].text")
    tab.js(drag)
    tab.until(f"{QUIET} && laboratory.state.looked[0].links.length === 42")


def test_a_cable_that_cannot_fail_changes_nothing(tab: Tab) -> None:
    drop(tab, "ring.toml", BRIDGE)
    tab.until(f"{QUIET} && laboratory.state.looked[0].controls.length > 5")
    tab.js(
        "document.querySelector('.picture path[data-links]').dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'Enter', shiftKey: true, bubbles: true}))"
    )
    tab.until("!document.querySelector('#said').hidden")
    assert tab.js("laboratory.state.first.settings.fault") is None


@pytest.mark.parametrize("wide", [1100, 420])
def test_nothing_is_cut_off(tab: Tab, wide: int) -> None:
    tab.size(wide, 900)
    tab.until(f"innerWidth === {wide}")
    assert tab.js("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    tab.size(1280, 900)


def test_a_replay_is_not_cut_off(tab: Tab) -> None:
    """The list of its packets is as wide as their names, but no wider than the window."""
    tab.js("laboratory.player.offer()")
    tab.js("laboratory.player.follow.options[0].text = 'a name and '.repeat(9)")
    tab.size(420, 900)
    tab.until("innerWidth === 420")
    assert tab.js("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    tab.size(1280, 900)


def test_the_drawing_is_reached_by_the_keyboard(tab: Tab) -> None:
    """One stop among the buttons; arrows lead from link to link and say what they carry."""
    go(tab)
    tab.js("document.querySelector('.side h2 .zoom button:last-child').focus()")
    tab.key("Tab")
    said = tab.text(".side .hover")
    for what in ("utilisation", "blocked", "packets", "mean wait"):
        assert what in said, "as much as the report says"
    tab.key("ArrowRight")
    assert tab.text(".side .hover") != said
    assert tab.js("document.querySelectorAll('.fabric .halo').length") == 1
    tab.key("Escape")
    assert tab.text(".side .hover") == ""
    assert tab.js("document.querySelectorAll('.fabric [tabindex=\"0\"]').length") == 1


@pytest.mark.parametrize("wide", [400, 900])
def test_on_a_narrow_page_the_replay_stands_above_the_settings(tab: Tab, wide: int) -> None:
    tab.size(wide, 900)
    tab.until(f"innerWidth === {wide} && !document.querySelector('#player').hidden")
    order = ["#shelf", "#title", "#sides", "#player", "#replay-key", "#look", "#run", "#traffic"]
    if wide == 900:  # there is room for what to look for above the picture
        order.insert(2, order.pop(order.index("#look")))
    tops = tab.js(f"{order}.map(one => document.querySelector(one).getBoundingClientRect().top)")
    tab.size(1280, 900)
    assert tops == sorted(tops), dict(zip(order, tops, strict=True))


def test_what_is_seen_is_saved_as_a_picture_and_as_a_film(tab: Tab) -> None:
    tab.js(
        "globalThis.usual = laboratory.player.saved;"
        " laboratory.player.saved = async (blob, ending) => { globalThis.saved ="
        " [ending, blob.type, blob.size, [...new Uint8Array(await blob.slice(0, 4).arrayBuffer())]]; }"
    )
    tab.js("laboratory.player.pause(); globalThis.saved = null")
    tab.click("#save-picture")
    tab.until("globalThis.saved")
    ending, kind, size, begin = tab.js("globalThis.saved")
    assert (ending, kind, begin[1:]) == ("png", "image/png", list(b"PNG"))
    tab.js("globalThis.saved = null; laboratory.player.show(laboratory.player.from)")
    tab.click("#save-film")
    tab.until("laboratory.player.now > laboratory.player.from")
    assert tab.text("#save-film") == "Stop and save"
    tab.click("#save-film")
    tab.until("globalThis.saved")
    ending, kind, size, begin = tab.js("globalThis.saved")
    assert (ending, kind, begin) == ("webm", "video/webm", [0x1A, 0x45, 0xDF, 0xA3])
    assert size > 1000
    assert tab.text("#save-film") == "Save film"
    tab.js("laboratory.player.saved = usual")  # other tests have the same page


def test_keys_play_and_jump(tab: Tab) -> None:
    tab.js("laboratory.player.pause(); laboratory.player.show(laboratory.player.from)")
    tab.js("document.activeElement.blur()")
    press = "document.body.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{}', bubbles: true }}))"
    tab.js(press.format("."))
    assert tab.js("laboratory.player.now > laboratory.player.from")
    tab.js(press.format("b"))
    assert tab.js(f"{VIEW}.blocked.size") > 0
    tab.js(press.format(" "))
    assert tab.js("laboratory.player.playing")
    tab.js(press.format(" "))
    assert not tab.js("laboratory.player.playing")


@pytest.mark.parametrize("button", ["run", "curve"])
def test_the_keyboard_stays_where_it_was(tab: Tab, button: str) -> None:
    """What was pressed gives way to Cancel and comes back; the focus must not begin at the top again."""
    drop(tab, "mine.toml", SMALL.replace('"2 ms"', '"1 s"'))
    tab.until(f"{QUIET} && document.querySelector('#text pre').textContent.includes('1 s')")
    tab.js(f"document.querySelector('#{button}').focus()")
    tab.key("Enter")
    tab.until("document.activeElement.id === 'cancel'")
    tab.key("Enter")
    tab.until("!document.querySelector('#run').disabled")
    assert tab.js("document.activeElement.id") == button


def test_a_long_name_stays_on_its_side(tab: Tab) -> None:
    """As a heading of one of two fabrics it would lie over the other."""
    drop(tab, "long.toml", SMALL.replace("Mine", "Donaudampfschifffahrt" * 6))
    tab.until(f"{QUIET} && document.querySelector('#title').textContent.startsWith('Donau')")
    assert tab.js(
        "document.querySelector('.side .name').getBoundingClientRect().right"
        " <= document.querySelector('.side').getBoundingClientRect().right"
    )


def test_what_a_link_carried_goes_with_its_fabric(tab: Tab) -> None:
    """Its name is one of a network that is no longer there."""
    tab.js("document.querySelector('.side h2 .zoom button:last-child').focus()")
    tab.key("Tab")
    assert "in use" in tab.text(".side .hover")
    drop(tab, "bridge.toml", BRIDGE)
    tab.until(f"{QUIET} && document.querySelectorAll('#fabric-0 [data-label=Phases]').length")
    assert tab.text(".side .hover") == ""


def test_everything_is_reached_by_the_keyboard(tab: Tab) -> None:
    """Whatever can be pressed can be focused, and has a name."""
    unreachable = tab.js(
        "[...document.querySelectorAll('button, select, input, a[href]')]"
        ".filter(e => e.checkVisibility() && !e.disabled)"
        ".filter(e => { e.focus(); return document.activeElement !== e"
        " || !(e.innerText || e.labels?.[0]?.innerText || e.ariaLabel); }).map(e => e.outerHTML.slice(0, 80))"
    )
    assert unreachable == []


def test_changed_settings_mark_what_was_measured(tab: Tab) -> None:
    go(tab)
    slide(tab, 2)
    tab.until(f"{QUIET} && !document.querySelector('#old').hidden")
    tab.click("#run")
    tab.until(f"{DONE} && document.querySelector('#old').hidden")


def test_a_link_opens_the_same_again(chromium: Browser, tab: Tab) -> None:
    slide(tab, 3)
    tab.until(f"{QUIET} && document.querySelector('#text pre').textContent.includes('load = 0.04')")
    tab.click("#link")
    tab.until("location.hash.startsWith('#state=')")
    tab.until("document.querySelector('#status').innerText.includes('behind its address')")
    other = chromium.tab()
    other.open(tab.js("location.href"))
    assert other.text("#title") == "Mine"
    assert "load = 0.04" in other.js("document.querySelector('#text pre').textContent")
    tab.js("history.replaceState(null, '', location.pathname)")
    chromium.close(other)


def test_files_are_dropped_with_the_scenario_that_names_them(tab: Tab) -> None:
    graph = "kind,source,target\nterminal,t0,s\nterminal,t1,s\nterminal,t2,s\n"
    text = SMALL.replace('kind = "crossbar"\nterminals = 5', 'kind = "file"\npath = "cables.csv"')
    described = f'description = "{"Two cables. " * 40}"\n'
    drop(tab, "cables.csv", graph, **{"two.toml": described + text.replace("Mine", "Two")})
    tab.until(f"{QUIET} && document.querySelector('#title').textContent === 'Two'")
    drop(tab, "alone.toml", text.replace("cables", "missing"))
    tab.until("document.querySelector('#said').innerText.includes('drop it together with the scenario')")
