"""``fabriloom plot``: the charts of a report as figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from .. import exits
from ..exits import Mistake, say
from ..frame import Call, command, option, path_argument, words
from ..house import Chart, HeatMap, folders, reading
from ..house import plot as plots

_LARGEST_REPORT = 1 << 30


@command("", "force")
def plot(
    call: Call,
    report: Annotated[Path, path_argument("REPORT", "A report.html or reproduction.html.")],
    out: Annotated[Path, option("--out DIR", "Folder of the figures.")] = Path("figures"),
    form: Annotated[
        str, option("--format svg|pdf|png", "File format.", autocompletion=words("svg", "pdf", "png"))
    ] = "svg",
    numbers: Annotated[
        list[int] | None, option("--figure N", "Only the N-th chart of the report; repeatable.")
    ] = None,
) -> None:
    """Draw the charts of a report as figures for a paper, one file each."""
    if form not in plots.FORMATS:
        raise Mistake(f"--format {form}: choose from {', '.join(plots.FORMATS)}")
    try:
        plots.of_figures()
    except ImportError as error:
        raise Mistake(str(error)) from error
    file = report / "report.html" if report.is_dir() else report
    charts = _charts_of(file)
    for number in numbers or ():
        if not 1 <= number <= len(charts):
            raise Mistake(f"--figure {number}: the report has {len(charts)} charts, count from 1")
    drawn = {plots.file_name(n, chart, form): chart for n, chart in enumerate(charts, 1)}
    chosen = {name: chart for n, (name, chart) in enumerate(drawn.items(), 1) if not numbers or n in numbers}
    call.out = out
    with call.output() as folder:
        assert folder is not None
        for name, chart in chosen.items():
            with folder.file(name) as figure:
                try:
                    figure.write(plots.drawn(chart, form))
                except ValueError as error:  # of a damaged report
                    raise Mistake(f"{file}: {chart.title} cannot be drawn: {error}") from error
        with exits.undisturbed():
            place = folders.shown(folder.finish())
    for name, chart in chosen.items():
        say(f"Written to {place / name}: {chart.title}")


def _charts_of(file: Path) -> list[Chart | HeatMap]:
    try:
        content = reading.content(file, _LARGEST_REPORT, "1 GB", "name a report.html that fabriloom wrote")
        return plots.charts_in(content.decode("utf-8", "replace"))
    except reading.ReadError as error:
        raise Mistake(f"{file}: {error}\n  {error.hint}") from error
    except ValueError as error:
        raise Mistake(f"{file}: {error}") from error
