"""What ``fabriloom study`` runs, prints and writes."""

from __future__ import annotations

import shlex
from pathlib import Path

from ..output import encoded, file
from ..report import for_search
from ..results import Provenance, shown
from ..results.ends import STUCK
from ..results.figures import figures, measured
from ..studies.asked import Asked
from ..studies.folder import Folder
from ..studies.run import Team
from ..studies.run_all import Study, run_asked
from ..studies.search import Searched
from ..studies.store import MOST
from . import bars, exits, show
from .exits import say

TRIALS_SHOWN = 10
"""Most trials that are printed; ``study export --trials`` writes all."""
REPORTS = "reports"
SHOWN = 40
"""Most rows that are printed; ``study export`` writes all."""


def run(folder: Folder, studies: list[Asked], team: Team, budget_s: float, json: bool) -> int:
    """Run studies one after another; returns the exit code of the worst."""
    codes = []
    for asked in studies:
        with bars.bar("Study") as bar:
            found = run_asked(folder, asked, team, bar.study, budget_s)
        say(found.to_json().rstrip("\n")) if json else tell(found, folder.path)
        if found.search is not None and not json:
            _write_search(asked, found, folder.path)
        codes.append(_code(found, folder.path))
        if codes[-1] == exits.INTERRUPTED:
            break
    folder.pack(MOST)
    return max(codes)


def tell(found: Study, place: Path) -> None:
    say(f"{found.name}: {len(found.table):,} of {found.runs:,} points are finished")
    if found.search is not None:
        _tell_search(found.search, place)
    if not len(found.table) or found.search is not None:
        return
    table = found.means if "seed" in found.varied else found.table
    paths = [path for path in found.varied if path in table.columns]
    unit, divisor = shown.time_unit(min(table["latency_ns_mean"].drop_nulls().to_list(), default=None))
    head = [*paths, "accepted MB/s", f"latency {unit}", f"99 % {unit}"]
    failed = "packets_lost" in table.columns and bool(table["packets_lost"].sum())
    head += ["lost by faults"] if failed else []
    head += ["runs"] if "runs" in table.columns else ["ended"]
    cells = []
    for row in table.head(SHOWN).iter_rows(named=True):
        half, wide = row.get("accepted_mbytes_per_s_ci95"), row.get("latency_ns_mean_ci95")
        cells.append(
            [
                *(show.value_text(row[path]) for path in paths),
                measured(row["accepted_mbytes_per_s"], half),
                show.time(divisor, row["latency_ns_mean"], wide),
                show.time(divisor, row["latency_ns_p99"]),
                *([measured(row["packets_lost"])] if failed else []),
                str(row["runs"] if "runs" in row else row["end_reason"]),
            ]
        )
    flush = [*(False for _ in paths), *(True for _ in head[len(paths) : -1]), False]
    show.table(head, cells, flush)
    if len(table) > SHOWN:
        say(f"and {len(table) - SHOWN:,} more: `fabriloom study export {place} points.csv`")


def _code(found: Study, place: Path) -> int:
    """Return the exit code of a study, and print a line for each problem."""
    if found.failed:
        settings, why = found.failed[0]
        which = ", ".join(f"{path} = {value}" for path, value in settings.items())
        many = (
            f"{len(found.failed):,} of {found.runs:,} points cannot be run; the first"
            if len(found.failed) > 1
            else "1 point cannot be run"
        )
        exits.complain(f"{'fault' if found.fault else 'error'}: {many}, with {which}:\n{why}")
    if found.why:
        missing = found.runs - len(found.table) - len(found.failed)
        what = "Interrupted" if found.why == "interrupted" else "The budget is used up"
        exits.complain(
            f"{what}: {missing:,} points are left. `fabriloom study resume {place}` continues from here."
        )
    if found.failed:
        return exits.FAULT if found.fault else exits.MISTAKE
    if found.why == "interrupted":
        return exits.INTERRUPTED
    ends = set(found.table["end_reason"].unique()) if len(found.table) else set()
    if "stalled" in ends:
        return exits.FAULT
    return exits.OK if ends.isdisjoint(STUCK) else exits.DEADLOCK


def _tell_search(searched: Searched, place: Path) -> None:
    """Print the best trials, the answer, and how to run it."""
    paths, columns = list(searched.search.over), searched.columns
    rows = [
        [
            str(one.number),
            *(str(one.settings[path]) for path in paths),
            *(figures(one.values[name]) for name in columns),
            one.why,
        ]
        for one in searched.ranked[:TRIALS_SHOWN]
    ]
    flush = [True, *(True for _ in (*paths, *columns)), False]
    show.table(["trial", *paths, *columns, "refused because"], rows, flush)
    if len(searched.ranked) > TRIALS_SHOWN:
        left = len(searched.ranked) - TRIALS_SHOWN
        say(f"and {left:,} more: `fabriloom study export {place} trials.csv --trials`")
    say(f"{searched.verdict}.")
    if searched.best is not None:
        settings = searched.best.settings.items()
        words = [word for path, value in settings for word in ("--set", f"{path}={value}")]
        say(f"To run it: add {shlex.join(words)}")


def _write_search(asked: Asked, found: Study, place: Path) -> None:
    """Write the report of a search into its study folder. Raises OSError."""
    assert found.search is not None
    best = found.search.best
    scenario = asked.scenario.alone().with_settings(best.settings).resolved if best else None
    html = for_search(found, Provenance.of(asked.scenario), scenario)
    path = place / REPORTS / f"{asked.name}.html"
    path.parent.mkdir(exist_ok=True)
    with file(path) as out:
        out.write(encoded(html))
    say(f"Written to {path}")
