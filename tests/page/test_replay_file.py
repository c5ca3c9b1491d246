"""A replay as one file: it plays from a disk, in a real browser, and shows what the run did."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import command
from fabriloom import load, run
from fabriloom.page import replay_file
from fabriloom.page.replay_file import shell

from .browser import Browser, Tab
from .laboratory import SMALL, VIEW, coloured, go, show

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
BUSY = SMALL.replace("0.3", "0.6")
TRACED = BUSY + "[output]\ntrace = true\n"
LARGE = """name = "Large"
[topology]
kind = "torus"
shape = [26, 26]
[traffic]
load = 0.1
[run]
duration = "20 us"
"""
MOST_BYTES = 3_000_000


def replayed(*arguments: str | Path, code: int = 0) -> str:
    """What the command prints."""
    done = command("replay", *arguments)
    assert done.exit_code == code, done.output
    return done.output


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def data_of(html: str) -> dict[str, Any]:
    """What a file holds besides its player."""
    found = re.search(r'<script type="application/json" id="recorded">(.*?)</script>', html, re.DOTALL)
    assert found
    return json.loads(found[1])


@pytest.fixture
def alone(chromium: Browser) -> Any:
    """A tab of its own, without a server, that fetches nothing."""
    tab = chromium.tab()
    yield tab
    assert not tab.complaints
    chromium.close(tab)


def opened(tab: Tab, path: Path) -> Tab:
    tab.open(path.as_uri())
    tab.js("laboratory.player.pause()")
    return tab


def under_way(tab: Tab, time_ns: float) -> int:
    """The packets that the page counts at a time."""
    tab.js(f"laboratory.player.show({time_ns})")
    return int(tab.text("#replay-count").split()[0])


def test_a_file_counts_the_packets_of_the_run(alone: Tab, tmp_path: Path) -> None:
    """At any moment that is not the very one at which a packet comes or goes."""
    scenario, out = written(tmp_path, "mine.toml", TRACED), tmp_path / "mine.html"
    replayed(scenario, "--out", out)
    results = run(load(scenario))
    started, delivered = (results.trace[f"{name}_ns"].to_numpy() for name in ("started", "delivered"))
    tab = opened(alone, out)
    last_ns = tab.js("laboratory.player.until")
    recorded, counts = f"{VIEW}.recording", results.summary["packets"]
    waiting = f"{recorded}.sources.map(one => {recorded}.queue(one, {last_ns})).reduce((a, b) => a + b, 0)"
    assert tab.js(f"{recorded}.byPacket.size + {waiting}") == counts["offered"]
    assert counts["offered"] == counts["delivered"] + counts["in_flight"]
    seen = []
    for time_ns in np.linspace(0.05, 0.95, 800) * last_ns:
        near = np.abs(np.concatenate([started, delivered]) - time_ns).min()
        if near > 1500 and len(seen) < 25:
            wanted = int(((started <= time_ns) & (time_ns < delivered)).sum())
            assert under_way(tab, time_ns) == wanted, time_ns
            seen.append(wanted)
    assert len(seen) == 25
    assert max(seen) > 3


SHIFT = """name = "Fragments and acknowledgements in two planes"
[topology]
kind = "fat_tree"
arity = 2
levels = 3
replicate = 2
[technology]
preset = "ethernet-100g"
cable_length = "10 m"
[ports]
choice = "round-robin"
per = "packet"
[protocol]
preset = "tcp"
[program]
kind = "all-to-all"
size = "20 kB"
order = "same"
rounds = 1
[output]
trace = true
"""


@pytest.mark.parametrize("since", [None, "6 us", "end"])
def test_a_file_counts_waiting_and_short_packets(alone: Tab, tmp_path: Path, since: str | None) -> None:
    """From any time on: those that wait in switches then are there, and those that have arrived are gone."""
    busy = SHIFT.replace('"tcp"', '"verbs-roce"').replace("20 kB", "30 kB")
    scenario, out = written(tmp_path, "mine.toml", SHIFT if since is None else busy), tmp_path / "mine.html"
    replayed(scenario, "--out", out, *(["--from", since] if since else []))
    trace = run(load(scenario)).trace
    started, delivered = (trace[f"{name}_ns"].to_numpy() for name in ("started", "delivered"))
    tab = opened(alone, out)
    first, last = tab.js("laboratory.player.from"), tab.js("laboratory.player.until")
    moments = np.linspace(first, last, 60)[1:-1]
    apart = np.abs(np.concatenate([started, delivered])[:, None] - moments).min(axis=0)
    moments = moments[apart > 0.1]
    wanted = [int(((started <= time_ns) & (time_ns < delivered)).sum()) for time_ns in moments]
    assert max(wanted) > 10
    assert [under_way(tab, time_ns) for time_ns in moments] == wanted


def test_a_head_that_is_blocked_is_marked(alone: Tab, tmp_path: Path) -> None:
    """Red, with a thread to an output that another packet holds at that time."""
    scenario, out = written(tmp_path, "mine.toml", BUSY), tmp_path / "mine.html"
    replayed(scenario, "--out", out)
    tab = opened(alone, out)
    tab.js("laboratory.player.show(0)")
    assert coloured(tab, 212, 33, 61) == 0
    tab.click("#next-blocking")
    assert coloured(tab, 212, 33, 61) > 20
    now, packets, wants = tab.js(
        f"(() => {{ const rows = [...{VIEW}.blocked.values()]; return [laboratory.player.now,"
        f" rows.map(row => {VIEW}.recording.ends(row.packet)), rows.map(row => row.wants)]; }})()"
    )
    results = run(load(scenario), hops=1 << 19)
    tick_ns, names = results.tick_ps / 1000, results.graph.terminal_names
    hops = {
        name: np.asarray(results.native[f"hop_{name}"]).astype(np.int64) * factor
        for name, factor in (("link", 1), ("source", 1), ("begin_ticks", tick_ns), ("end_ticks", tick_ns))
    }
    assert packets
    for (source, *_), wanted in zip(packets, wants, strict=True):
        on = (hops["link"] == wanted) & (hops["begin_ticks"] <= now) & (now < hops["end_ticks"])
        holders = {names[one] for one in hops["source"][on]}
        assert len(holders) == 1
        assert source not in holders
    assert " blocked" in tab.text("#replay-count")
    assert "Its head waits for" in tab.text("#replay-said")


def test_the_controls_of_the_page_work_in_a_file(alone: Tab, tmp_path: Path) -> None:
    out = tmp_path / "mine.html"
    replayed(written(tmp_path, "mine.toml", BUSY), "--out", out)
    tab = opened(alone, out)
    tab.click("#to-slowest")
    took = f"{VIEW}.recording.slowest.packet"
    assert tab.js(f"laboratory.player.followed === {took}")
    tab.click("#play")
    zoom = "laboratory.cards[0].fabric.zoom"
    tab.click(".zoom button")
    assert tab.js(f"{zoom}.view.width < {zoom}.whole.width")
    tab.js(
        "(() => { const only = document.querySelector('#only'); only.value = 't.2';"
        " only.dispatchEvent(new Event('input')); })()"
    )
    shown = f"{VIEW}.shown.map(row => {VIEW}.recording.ends(row.packet).slice(0, 2))"
    tab.until(f"{VIEW}.shown.length || (laboratory.player.step(1), 0)")
    assert all("t.2" in ends for ends in tab.js(shown))
    show(tab, "use")
    assert tab.js("document.querySelector('.fabric path[data-links]').getAttribute('stroke')") != "#dcd9cf"
    assert "MB/s" in tab.text(".measured .facts")
    assert tab.js("document.querySelector('#save-replay').hidden")


def test_the_address_of_a_file_shows_its_moment_again(alone: Tab, tmp_path: Path) -> None:
    out = tmp_path / "mine.html"
    replayed(written(tmp_path, "mine.toml", BUSY), "--out", out)
    tab = opened(alone, out)
    for _ in range(3):
        tab.click("#player [aria-label='One step on']")
    show(tab, "use")
    tab.until("location.hash.startsWith('#state=')")
    now = tab.js("laboratory.player.now")
    tab.js("globalThis.before = true")
    tab.js("location.reload()")
    ready = "document.documentElement?.dataset.ready === 'yes' && document.body.dataset.view === 'use'"
    tab.until(f"!globalThis.before && {ready}")
    assert tab.js("laboratory.player.now") == pytest.approx(now, abs=1)


def test_a_run_that_deadlocked_plays_its_end(alone: Tab, tmp_path: Path) -> None:
    out = tmp_path / "dead.html"
    replayed(SCENARIOS / "teaching-torus-deadlock.toml", "--out", out, code=3)
    tab = opened(alone, out)
    tab.click("#to-deadlock")
    assert tab.js("laboratory.player.now === laboratory.player.until")
    assert coloured(tab, 224, 0, 122) > 100
    assert "wait for each other in a cycle" in alone.text("#replay-key")
    assert alone.text("#look").endswith("the replay shows how it closed."), "there is nothing to change here"


def test_two_fabrics_play_on_one_clock(alone: Tab, tmp_path: Path) -> None:
    one, two = (written(tmp_path, f"{name}.toml", SMALL) for name in ("one", "two"))
    replayed(one, two, "--out", tmp_path / "two.html", "--from", "1 ms")
    tab = opened(alone, tmp_path / "two.html")
    assert tab.js("laboratory.cards.map(card => card.title.textContent)") == ["Mine", "Mine (second)"]
    assert tab.js("laboratory.player.from") == 1e6
    tab.js("laboratory.player.step(1)")
    first, second = (part.split(": ")[1] for part in tab.text("#replay-count").split("; "))
    assert first == second


def test_a_fabric_of_very_many_links_plays_too(alone: Tab, tmp_path: Path) -> None:
    out = tmp_path / "large.html"
    replayed(written(tmp_path, "large.toml", LARGE), "--out", out)
    assert out.stat().st_size < MOST_BYTES
    tab = opened(alone, out)
    tab.js("laboratory.player.show(laboratory.player.from + 5000)")
    assert tab.js(f"{VIEW}.shown.length") > 10
    assert tab.js("laboratory.cards[0].fabric.large !== null")


def test_five_thousand_packets_are_less_than_3_megabytes(tmp_path: Path) -> None:
    out = tmp_path / "many.html"
    replayed(SCENARIOS / "teaching-head-of-line.toml", "--set", "run.duration=20 ms", "--out", out)
    assert len(data_of(out.read_text(encoding="utf-8"))["replays"][0]["packets"]) > 5000
    assert out.stat().st_size < MOST_BYTES


def test_two_fabrics_are_seen_at_the_same_time(tmp_path: Path) -> None:
    """One deadlocks after milliseconds, and the other one runs on."""
    stuck = SCENARIOS / "teaching-torus-deadlock.toml"
    text = stuck.read_text(encoding="utf-8").replace('variant = "minimal"', 'variant = "no-edge-transit"')
    free, out = written(tmp_path, "free.toml", text), tmp_path / "two.html"
    text += '[[fault]]\ncable = "s(0,0)>s(0,1)"\nat = "15 ms"\n'  # after all that is shown
    written(tmp_path, "free.toml", text)
    said = replayed(stuck, free, "--out", out, code=3)
    assert said.count("The network deadlocked") == 1
    assert "time limit" not in said
    first, other = data_of(out.read_text(encoding="utf-8"))["replays"]
    ends = [one["from_ns"] + one["until_ns"] for one in (first, other)]
    assert ends[0] == pytest.approx(ends[1])
    assert (bool(first["cycle"]), bool(other["cycle"])) == (True, False)
    assert max(first["from_ns"], other["from_ns"]) < 0.9 * ends[0]


def test_a_fabric_without_packets_is_shown_beside_another(tmp_path: Path) -> None:
    flow = (
        'pattern = { kind = "flows", flows = [{ source = 0, target = 1, rate = "1 MB/s", start = "9 ms" }] }'
    )
    idle, out = written(tmp_path, "idle.toml", SMALL.replace("load = 0.3", flow)), tmp_path / "two.html"
    said = replayed(idle, SCENARIOS / "teaching-torus-deadlock.toml", "--out", out, "--force", code=3)
    assert "No packet was under way" in said
    assert "No packet was under way" in replayed(idle, "--out", out, "--force")


def test_the_page_saves_the_file_that_the_command_writes(tab: Tab, tmp_path: Path) -> None:
    go(tab)
    show(tab, "packets")
    tab.js(
        "(() => { HTMLAnchorElement.prototype.click = () => {}; URL.createObjectURL = (blob) => {"
        " blob.text().then((text) => { globalThis.savedReplay = text; }); return '#'; }; })()"
    )
    tab.click("#save-replay")
    tab.until("globalThis.savedReplay")
    saved = tab.js("savedReplay")
    tab.open(tab.js("location.href"))
    replayed(written(tmp_path, "mine.toml", SMALL), "--out", tmp_path / "mine.html")
    ours = (tmp_path / "mine.html").read_text(encoding="utf-8")
    empty = re.compile(r'(?<=id="recorded">).*?(?=</script>)', re.DOTALL)
    assert empty.sub("{}", saved) == empty.sub("{}", ours) == shell()
    theirs, own = data_of(saved), data_of(ours)
    for side in own["looked"]:
        side.pop("controls")
    assert theirs == own


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--out", "there.html"), "the file exists"),
        (("--out", "replay.pdf"), "name it replay.html"),
        (("--out", "new.html", "--from", "7"), "has no unit"),
        (("mine.toml", "mine.toml", "--out", "new.html"), "one fabric, or two"),
    ],
)
def test_mistakes_are_told_before_anything_runs(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "mine.toml", SMALL.replace('"2 ms"', '"2000 s"'))
    written(tmp_path, "there.html", "mine")
    assert message in replayed("mine.toml", *arguments, code=2)
    assert (tmp_path / "there.html").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ({"a": 'import { b } from "./b.js";', "b": 'import { a } from "./a.js";'}, "imports itself"),
        ({"a": 'import * as b from "./b.js";'}, "a.js: import"),
        ({"a": "export default 7;"}, "a.js: export"),
    ],
)
def test_modules_that_cannot_be_one_script_are_refused(
    sources: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_file, "source_of", lambda module, beside: sources[module])
    replay_file.bundled.cache_clear()
    with pytest.raises(ValueError, match=re.escape(message)):
        replay_file.bundled("a")
