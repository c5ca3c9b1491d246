"""A replay as one HTML file that plays from a disk, without a network and without Fabriloom.

The file holds the player of the page, as it is, and a recording instead of the server.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from ..compile import Compiled, compile, graph_of
from ..reading import toml_text
from ..report.page import file_text, script_safe_json, source_hash
from ..results import Results
from ..results.ends import STUCK
from ..scenario import Scenario
from ..simulate import Progress, run
from . import limits
from .live import Live, pictured
from .recording import Told, record, together

_OF_RUN = (
    *("busy", "carried", "columns", "facts", "end", "bad", "verdict"),
    *("warnings", "cycle", "limit", "sources"),
)
"""What a file holds of a measured run; `static/page.js` has the same names."""
_ROOM = "fabriloom.page"
_PLACE = "{}</script>"
_MOST_S = 30.0
"""A stuck run that took longer is not run again for the replay in its report."""
_SCRIPTS = ("reach.js", "plots.js", "vendor/lines.min.js", "large.js")
_PART = re.compile(r"<!-- replay: -->\n?(.*?)<!-- :replay -->", re.DOTALL)


@dataclass(frozen=True)
class Side:
    """One fabric of a replay: its drawing, its recorded packets, and the numbers of its run."""

    looked: dict[str, Any]
    replay: dict[str, Any]
    live: dict[str, Any]
    """Empty if it was not measured."""


def side_of(
    scenario: Scenario, since_ps: int | None, progress: Callable[[Progress], None], told: Told
) -> Side:
    """Run a scenario, and again to record its packets.

    Args:
        scenario: the scenario; what it varies is ignored.
        since_ps: time of the run from which packets are recorded; -1: the last ones; None: from the
            beginning, or the last ones of a run that got stuck.
        progress: called during the first run.
        told: called during the second one with its finished fraction.

    Raises:
        KeyboardInterrupt: the run was interrupted.
        Refusal: the network is too large to be drawn.
    """
    scenario = scenario.alone()
    graph = graph_of(scenario)
    limits.check_size(graph)
    compiled = compile(scenario)
    live, results = Live(compiled), run(compiled, progress)
    reason = results.summary["end"]["reason"]
    if reason == "interrupted":
        raise KeyboardInterrupt
    if since_ps is None:
        since_ps = -1 if reason in STUCK else 0
    return _side(scenario, compiled, since_ps, told, live.end(results))


def on_one_clock(scenarios: Sequence[Scenario], sides: Sequence[Side], told: Told) -> list[Side]:
    """Return the sides of fabrics with packets of times that meet."""
    recordings = [side.replay for side in sides]
    found = together([one.alone() for one in scenarios], recordings, lambda: None, told)
    return [replace(side, replay=one) for side, one in zip(sides, found, strict=True)]


def side_in_report(scenario: Scenario, results: Results | None = None, name: str = "") -> Side | None:
    """Return the side of a replay that a report holds, with the numbers of a run if it is given, and
    under another ``name``.

    From the beginning; of a run that got stuck, the last packets, for which it has to run to its end again.
    None if the network is too large, or that would take long.
    """
    scenario = scenario.alone()
    compiled = compile(scenario)
    reason = "" if results is None else results.end_reason
    long = results is not None and results.wall_s > _MOST_S
    if compiled.graph.links > limits.TOLD_LINKS or reason == "interrupted" or (reason in STUCK and long):
        return None
    ended = {} if results is None else Live(compiled).end(results)
    side = _side(scenario, compiled, -1 if reason in STUCK else 0, lambda share: None, ended)
    return replace(side, looked={**side.looked, "name": name or side.looked["name"]})


def _side(scenario: Scenario, compiled: Compiled, since_ps: int, told: Told, ended: dict[str, Any]) -> Side:
    looked = {
        **pictured(scenario, compiled.graph),
        "warnings": compiled.warnings,
        "text": toml_text(scenario.raw),
    }
    replay = record(scenario, None if since_ps < 0 else since_ps, lambda: None, told)
    return Side(looked, replay, {name: ended[name] for name in _OF_RUN} if ended else {})


def replay_html(sides: Sequence[Side], around: str | None = None, **more: Any) -> str:
    """Return the file that plays one or two fabrics, side by side on one clock.

    ``around``: another :func:`shell`, and what its script finds beside the recording.
    """
    looked = [side.looked for side in sides]
    if len(sides) > 1 and looked[0]["name"] == looked[1]["name"]:
        looked[1] = {**looked[1], "name": f"{looked[1]['name']} (second)"}
    data = {
        "looked": [{**one, "controls": []} for one in looked],
        "replays": [side.replay for side in sides],
        "live": [side.live for side in sides if side.live],
        **more,
    }
    before, after = (around or shell()).split(_PLACE, 1)
    return f"{before}{script_safe_json(data)}</script>{after}"


@cache
def shell(entry: str = "replayed", beside: Path | None = None, first: str = "", sources: str = "") -> str:
    """Return the file without a recording.

    Its content security policy allows no downloads, and only our own scripts, by hash. A page with more has
    its own module as ``entry``, others ``beside`` it, what it shows ``first``, and ``sources`` of scripts.
    """
    parts = [part.rstrip("\n") for part in _PART.findall(file_text("static/index.html", _ROOM))]
    brand, title, about, switch, stage = parts
    scripts = [*map(file_text, _SCRIPTS), bundled(entry, beside)]
    style = file_text("style.css") + file_text("static/page.css", _ROOM)
    allowed = " ".join([*(f"'{source_hash(script)}'" for script in scripts), *sources.split()])
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; script-src {allowed}"
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">\n<meta name="generator" content="Fabriloom">',
            '<title>Replay – Fabriloom</title>\n<link rel="icon" href="data:,">',
            f"<style>{style}</style>\n</head>",
            f'<body>\n<header>\n{brand}<span class="kind">replay</span></p>\n</header>',
            f'<main class="whole">\n<div class="stage">\n{title}\n{about}{first}',
            f'<div class="row show">{switch}</div>\n{stage}',
            '<footer><p id="origin"></p></footer>\n</div>\n</main>',
            f'<script type="application/json" id="recorded">{_PLACE}',
            *(f"<script>{script}</script>" for script in scripts),
            "</body>\n</html>\n",
        ]
    )


# The modules of the page as one script: a browser loads no modules from a file on a disk.
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|class|function|async function) ([$\w]+))", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def source_of(module: str, beside: Path | None = None) -> str:
    """Return the text of a module of the page, or of one that lies in another folder."""
    if beside is not None and (own := beside / f"{module}.js").is_file():
        return own.read_text(encoding="utf-8")
    return file_text(f"static/{module}.js", _ROOM)


@cache
def bundled(entry: str, beside: Path | None = None) -> str:
    """Return a module and all that it imports, as one script: each module is a function that runs once.

    ``beside``: a folder with further modules.

    Raises ValueError for a form of import or export that the modules of the page do not use, and for a circle
    of imports, in which no order is right.
    """
    found: dict[str, str] = {}

    def add(module: str, above: tuple[str, ...]) -> None:
        if module in above:
            raise ValueError(f"{module}.js imports itself, by {' and '.join(above)}")
        if module in found:
            return
        text = source_of(module, beside)
        for needed in _IMPORT.finditer(text):
            add(needed[2], (*above, module))
        found[module] = _wrapped(module, text)

    add(entry, ())
    return '"use strict";\n' + "\n".join(found.values())


def _wrapped(module: str, text: str) -> str:
    """Return a module as a function whose result is what it exports."""
    exported = [name[1] for name in _EXPORT.finditer(text)]
    text = _EXPORT.sub("", _IMPORT.sub(r"const \1 = of_\2;", text))
    if left := _LEFT.search(text):
        raise ValueError(f"{module}.js: {left[0]}")
    return f"const of_{module} = (() => {{\n{text.rstrip()}\nreturn {{ {', '.join(exported)} }};\n}})();"
