"""``fabriloom fit``: parameters from measured times."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ..exits import say
from ..frame import Call, command, document, path_argument
from ..house import Fitted, Output, bars, files, folders, report, show
from ..house import fit as room


@command("", "json out force csv")
def fit(
    call: Call,
    measured: Annotated[
        list[Path],
        path_argument("MEASURED…", "Folders of fabriloom measure; output of OSU or netgauge; CSV."),
    ],
) -> None:
    """Fit host and link parameters to ping-pong, message-train and one-to-many measurements, and predict the
    other measured programs.

    With --out, the parameters are written as a preset, fitted.toml, which a scenario can name.
    """
    with call.output():
        with bars.bar("Predicting") as bar:
            found = room.fit(measured, bar.steps)
        call.give(
            lambda: document(found.summary), lambda: _tell(found), lambda at: _write(at, found, call.csv)
        )


def _tell(found: Fitted) -> None:
    for line in found.told():
        say(line)
    if found.predictions:
        say()
        show.predictions(found.predictions)


def _write(at: Output, found: Fitted, csv: bool) -> None:
    files.put_text(at, "fitted.toml", found.text)
    if found.predictions:
        folders.write_tables(at, {"predictions": found.table}, csv)
    files.put_text(at, "report.html", report.for_fit(found.summary, found.told(), found.text))
    files.put_text(at, "summary.json", document(found.summary) + "\n")
