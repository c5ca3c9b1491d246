"""Writes the lessons and the gallery: scenarios, with what came out or with packets that play.

``python docs/site/gallery.py SCENARIOS OUT [ENGINE]`` writes ``OUT/gallery.md`` and the pictures beside it,
and ``OUT/lessons.md`` with its replays in ``OUT/replays``: files as ``fabriloom replay`` writes them. With
the engine for browsers, if that file is there, each of them runs in its page, too.
"""

from __future__ import annotations

import base64
import re
import sys
from pathlib import Path
from typing import Any

from fabriloom import Results, Scenario, load
from fabriloom.page import shelf
from fabriloom.page.replay_file import replay_html, shell, side_in_report
from fabriloom.report.drawing import fabric_svg
from fabriloom.report.page import file_text
from fabriloom.simulate import Progress, run
from packed import laboratory

_STATIC = Path(__file__).parent / "static"
_TRY = """
<style>#try .controls, #second .controls { display: grid; gap: 0 1.4rem; }
.controls { grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); }
#try { margin-top: 1rem; } #seed { width: 6rem; font: inherit; }
label:has(#seed) { white-space: nowrap; }</style>
<section id="try" aria-label="Settings" hidden><h2>Change it, and run it in this browser</h2>
<div class="controls"></div>
<p class="note" id="fails">Shift and a click on a cable: it fails at the shown moment, or works again.</p>
</section>
<section id="second" aria-label="Second fabric" hidden><h2>Second fabric</h2>
<div class="controls"></div></section>
<p class="row"><button id="run" class="main" type="button">Run</button>
<button id="cure" type="button" aria-pressed="false"></button>
<button id="curve" type="button">Saturation curve</button>
<button id="beside" type="button" aria-pressed="false">Second fabric beside it</button>
<button id="stop" type="button" hidden>Stop</button>
<button id="link" type="button">Copy a link to this</button>
<label>Seed <input id="seed" type="number" min="0" step="1" size="6"></label>
<span id="tried" role="status"></span></p>"""
_CURVE = re.compile(r"<!-- curve: -->\n(.*?)<!-- :curve -->", re.DOTALL)
_SOURCES = "'self' 'wasm-unsafe-eval'"
"""A page that runs loads the engine, which lies beside it, and may compile it."""
_GALLERY = (
    "sci-ring-8",
    "noc-mesh-8x8",
    "command-and-data",
    "two-rails",
    "dragonfly",
    "adaptive",
    "deadlock",
)
"""Scenarios of the gallery that run in the page beside the lessons: one of each kind of network."""
_MOST_EVENTS = 2_000_000
_MOST_BYTES = 2_000_000
"""A page with a scenario is not longer, as the guide to the laboratory says."""
_COMMAND = re.compile(r"fabriloom (?:run|curve|compare|saturate|check|bound) scenarios/\S+[^\n#]*")


def _comment(text: str) -> str:
    """The comment at the beginning of a scenario, as one paragraph per blank comment line."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# ").rstrip())
    return "\n".join(lines)


def _entry(path: Path, out: Path, with_engine: bool) -> str:
    text = path.read_text(encoding="utf-8")
    scenario, said = load(path), _comment(text)
    results = _results(scenario)
    sentence = re.sub(r": fabriloom .*", ".", " ".join(said.split("\n\n")[0].split()))
    found = _COMMAND.search(said)
    command = re.split(r" {2,}", found[0])[0] if found else f"fabriloom run scenarios/{path.name}"
    picture = f"{path.stem}.svg"
    svg = fabric_svg(results.graph, results.links["utilisation"].to_numpy())
    (out / "gallery" / picture).write_text(svg, encoding="utf-8")
    title = scenario.name or path.stem
    runs = with_engine and path.stem in _GALLERY
    shown = _frame(path, out, with_engine) if runs else f"![{title}](gallery/{picture})"
    verdict = results.summary["verdict"]
    return f"## {title}\n\n{sentence}\n\n{shown}\n\n**Result:** {verdict}.\n\n```sh\n{command}\n```\n"


def _results(scenario: Scenario) -> Results:
    """Run a scenario, a long one in part: always up to the same event."""

    def progress(state: Progress) -> None:
        if state.events >= _MOST_EVENTS:
            raise KeyboardInterrupt

    return run(scenario.alone(), progress)


def _frame(path: Path, out: Path, with_engine: bool) -> str:
    """Write the page in which a scenario plays, and runs if the engine is there, and return its frame."""
    scenario = load(path).alone()
    side = side_in_report(scenario, run(scenario))
    assert side is not None, f"{path}: this scenario cannot be played"
    around, more = None, dict[str, Any]()
    if with_engine and (lab := laboratory(scenario, **_beside(path))) is not None:
        around, more = shell("trying", _STATIC, _TRY + _curve(), _SOURCES), {"lab": lab}
    replay = out / "replays" / f"{path.stem}.html"
    page = replay_html([side], around, **more).encode()
    assert len(page) <= _MOST_BYTES, f"{path}: its page would have {len(page):,} bytes"
    replay.write_bytes(page)
    return f'<iframe class="replay" loading="lazy" title="{path.stem}" src="replays/{replay.name}"></iframe>'


def _lesson(path: Path, out: Path, with_engine: bool) -> str:
    scenario = load(path).alone()
    frame = _frame(path, out, with_engine)
    said = "\n\n".join(
        " ".join(part.split()) for part in re.split(r"\n(?=Look for:|Challenge:)", scenario.description)
    )
    return f"## {scenario.name}\n\n{said}\n\n{frame}\n\n```sh\nfabriloom page scenarios/{path.name}\n```\n"


def _beside(path: Path) -> dict[str, Any]:
    """Return the settings that the laboratory puts beside a scenario, and the control for them, if any."""
    found = next((one for one in shelf.entries() if one["file"] == path.name), {})
    return {name: found[name] for name in ("beside", "choice") if name in found}


def _curve() -> str:
    """Return the charts and the table of a curve, as on the page of the laboratory."""
    return "".join(_CURVE.findall(file_text("static/index.html", "fabriloom.page")))


def write_scripts(wasm: Path, out: Path) -> None:
    """Write what pages load when it is first used: the engine, as a script, because a page that is opened
    from a disk may load nothing else; and the charts.
    """
    engine = f'globalThis.fabriloomEngine = "{base64.b64encode(wasm.read_bytes()).decode()}";\n'
    (out / "engine.js").write_text(engine, encoding="utf-8")
    (out / "charts.min.js").write_text(file_text("vendor/charts.min.js"), encoding="utf-8")


def lessons(scenarios: Path, out: Path, with_engine: bool) -> None:
    """Write the lessons and their replays."""
    entries = [_lesson(path, out, with_engine) for path in sorted(scenarios.glob("teaching-*.toml"))]
    runs = (
        "Move a slider, press the button with the cure, or let a cable fail, and the engine itself runs the "
        "scenario in your browser, with the same results as on any machine."
        if with_engine
        else "This site was built without a compiler for WebAssembly, so it carries the recordings only."
    )
    about = (
        "Each lesson is the recording of a run, which plays here as in a file of `fabriloom replay`. "
        f"{runs} In [the laboratory](guides/laboratory.md#what-each-lesson-shows) you can change everything."
    )
    (out / "lessons.md").write_text("\n".join([f"# Lessons\n\n{about}\n", *entries]), encoding="utf-8")


def main(scenarios: Path, out: Path, wasm: Path | None = None) -> None:
    """Write the pages and their pictures."""
    with_engine = wasm is not None and wasm.is_file()
    (out / "replays").mkdir(parents=True, exist_ok=True)
    if wasm is not None and with_engine:
        write_scripts(wasm, out / "replays")
    lessons(scenarios, out, with_engine)
    (out / "gallery").mkdir(parents=True, exist_ok=True)
    entries = [_entry(path, out, with_engine) for path in sorted(scenarios.glob("*.toml"))]
    about = (
        "Every scenario of the repository: what it is about, how much of the time each link is in use, what "
        f"came out, and a command that runs it. Here a run ends after {_MOST_EVENTS // 10**6} million events."
    )
    head = f"# Gallery\n\n{about}\n"
    (out / "gallery.md").write_text("\n".join([head, *entries]), encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
