"""``fabriloom replay``: a run as one HTML file that plays."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ..exits import Mistake, say
from ..frame import (
    HTML,
    Call,
    ForceFile,
    check_file,
    code_of_ends,
    command,
    option,
    path_argument,
    path_option,
    write_file,
)
from ..house import Scenario, Side, bars, limits, replay_file, units

_MOST = 2
_END = -1


@command("", "settings seed")
def replay(
    call: Call,
    files: Annotated[
        list[Path], path_argument("FILE…", "One scenario, or two that play side by side: TOML, YAML or JSON.")
    ],
    since: Annotated[
        str | None,
        option(
            "--from TIME",
            'The packets from this time of the run on, such as "20 us", or "end" for the last ones; if '
            "not given, from the beginning, or the last ones of a run that got stuck, and those of the "
            "other one before that time.",
        ),
    ] = None,
    out: Annotated[Path, path_option("--out FILE.html", "The file to write.")] = Path("replay.html"),
    force: ForceFile = False,
) -> int:
    """Run a scenario and write one HTML file in which its packets play: to be opened or sent anywhere."""
    if len(files) > _MOST:
        raise Mistake(f"{files[_MOST]}: a replay shows one fabric, or two side by side")
    check_file(out, force, "--out", "a replay is HTML", HTML)
    since_ps = _since(since)
    try:
        sides = _sides([call.scenario(path) for path in files], since_ps)
    except limits.Refusal as refusal:
        raise Mistake(str(refusal)) from None
    size = write_file(out, replay_file.replay_html(sides))
    for side in sides:
        say(f"{side.looked['name']}: {side.replay['said']}")
    say(f"Written to {out}, {size / 1e6:.1f} MB; it plays in any browser, without a network")
    return code_of_ends([side.live["end"] for side in sides])


def _since(text: str | None) -> int | None:
    """Return the time from which packets are recorded, in ps."""
    if text is None:
        return None
    try:
        return _END if text == "end" else units.parse_time_ps(text)
    except ValueError as error:
        raise Mistake(f'--from {text}: {error}; or "end" for the last packets') from None


def _sides(scenarios: list[Scenario], since_ps: int | None) -> list[Side]:
    sides = [_side(one, since_ps) for one in scenarios]
    if since_ps is not None:
        return sides
    with bars.bar("Recording") as bar:
        return replay_file.on_one_clock(scenarios, sides, bar.share)


def _side(scenario: Scenario, since_ps: int | None) -> Side:
    with bars.bar("Running") as bar, bars.bar("Recording") as second:
        return replay_file.side_of(scenario, since_ps, bar.run, second.share)
