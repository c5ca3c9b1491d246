"""The output of ``fabriloom study`` about a search."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from ..results.figures import figures
from . import show

if TYPE_CHECKING:
    from ..studies import Study
    from ..studies.asked import Asked
    from ..studies.search import Searched

SHOWN = 10
"""Most trials that are printed; ``study export --trials`` writes all."""
REPORTS = "reports"


def tell(searched: Searched, place: Path) -> None:
    """Print the best trials, the answer, and how to run it."""
    paths, columns = list(searched.search.over), searched.columns
    rows = [
        [
            str(one.number),
            *(str(one.settings[path]) for path in paths),
            *(figures(one.values[name]) for name in columns),
            one.why,
        ]
        for one in searched.ranked[:SHOWN]
    ]
    flush = [True, *(True for _ in (*paths, *columns)), False]
    show.table(["trial", *paths, *columns, "refused because"], rows, flush, folds=False)
    if len(searched.ranked) > SHOWN:
        left = len(searched.ranked) - SHOWN
        show.line(f"and {left:,} more: `fabriloom study export {place} trials.csv --trials`")
    show.line(f"{searched.verdict}.")
    if searched.best is not None:
        settings = searched.best.settings.items()
        words = [word for path, value in settings for word in ("--set", f"{path}={value}")]
        show.line(f"To run it: add {shlex.join(words)}")


def write(asked: Asked, found: Study, place: Path) -> None:
    """Write the report of a search into its study folder. Raises OSError."""
    from ..output import encoded, file
    from ..report.search import for_search
    from ..results import Provenance

    assert found.search is not None
    best = found.search.best
    scenario = asked.scenario.alone().with_settings(best.settings).resolved if best else None
    html = for_search(found, Provenance.of(asked.scenario), scenario)
    path = place / REPORTS / f"{asked.name}.html"
    path.parent.mkdir(exist_ok=True)
    with file(path) as out:
        out.write(encoded(html))
    show.line(f"Written to {path}")
