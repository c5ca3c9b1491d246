"""``fabriloom replay``: a run as one HTML file that plays."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import exits
from .exits import Mistake
from .options import ForceFile, Seed, Set, at_home, loaded

if TYPE_CHECKING:
    from ..page.replay_file import Side
    from ..scenario import Scenario

_MOST = 2
_END = -1


@exits.guarded
def replay(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="One scenario, or two that play side by side: TOML, YAML or JSON.",
            show_default=False,
            callback=at_home,
        ),
    ],
    settings: Set = None,
    seed: Seed = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TIME",
            help='The packets from this time of the run on, such as "20 us", or "end" for the last ones; if '
            "not given, from the beginning, or the last ones of a run that got stuck.",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE.html", help="The file to write.", callback=at_home)
    ] = Path("replay.html"),
    force: ForceFile = False,
) -> int:
    """Run a scenario and write one HTML file in which its packets play: to be opened or sent anywhere."""
    from ..output import encoded, file
    from ..page.limits import Refusal
    from ..page.replay_file import replay_html
    from . import show, work

    if len(files) > _MOST:
        raise Mistake(f"{files[_MOST]}: a replay shows one fabric, or two side by side")
    if out.suffix.lower() not in (".html", ".htm"):
        raise Mistake(f"--out {out}: a replay is HTML; name it {out.with_suffix('.html').name}")
    if os.path.lexists(out) and not force:
        raise Mistake(f"--out {out}: the file exists; name another one, or add --force to replace it")
    since_ps = _since(since)
    try:
        sides = [_side(loaded(path, settings, seed), since_ps) for path in files]
    except Refusal as refusal:
        raise Mistake(str(refusal)) from None
    content = encoded(replay_html(sides))
    with exits.undisturbed(), file(out) as stream:
        stream.write(content)
    for side in sides:
        show.line(f"{side.looked['name']}: {side.replay['said']}")
    show.line(f"Written to {out}, {len(content) / 1e6:.1f} MB; it plays in any browser, without a network")
    return work.code_of_ends([side.live["end"] for side in sides])


def _since(text: str | None) -> int | None:
    """Return the time from which packets are recorded, in ps."""
    from ..units import parse_time_ps

    if text is None:
        return None
    try:
        return _END if text == "end" else parse_time_ps(text)
    except ValueError as error:
        raise Mistake(f'--from {text}: {error}; or "end" for the last packets') from None


def _side(scenario: Scenario, since_ps: int | None) -> Side:
    from ..page.replay_file import side_of
    from . import bars

    with bars.bar("Running") as bar, bars.bar("Recording") as second:
        return side_of(scenario, since_ps, bar.run, lambda share: second.share(share))
