"""The charts of a report as figures for a paper: SVG, PDF or PNG, drawn by matplotlib."""

from __future__ import annotations

import io
import math
import re
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Strict, TypeAdapter

from ..process.libraries import of_extra
from .drawing.style import RAMP
from .page import Chart, HeatMap, Series, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "pdf", "png")
# Okabe and Ito's colours without yellow: distinguishable for colour-blind readers and on white paper.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_MARKS = "osD^vPX"
_WIDTH_INCHES, _HEIGHT_INCHES = 5.2, 3.4
_At = Annotated[float | None, Strict()]
_End = Annotated[float, Strict()]
_Point = tuple[_At, _At, None, None, str] | tuple[_At, _At, _End, _End, str]


def of_figures() -> Any:
    """Return matplotlib. Raises :class:`MissingLibrary`."""
    return of_extra("matplotlib", "plots", "figures of charts")


def _data(report: str, name: str) -> str:
    """Return what a script element of a report holds; empty if there is none of this name."""
    found = re.search(rf'<script\b[^>]*\bid="{name}"[^>]*>(.*?)</script>', report, re.DOTALL | re.IGNORECASE)
    return found[1] if found else ""


def charts_in(report: str) -> list[Chart | HeatMap]:
    """Return the charts of a report, then its heat maps. Raises ValueError for other files."""
    try:
        return [*_charts(_data(report, "charts")), *_heat_maps(_data(report, "maps") or "[]")]
    except ValueError:
        raise ValueError("no report of fabriloom; name a report.html that it wrote") from None


def _charts(text: str) -> list[Chart]:
    """Return the charts in a JSON text, with points that can be drawn. Raises ValueError."""
    charts = TypeAdapter(list[Chart]).validate_json(text)
    points = TypeAdapter(list[_Point])
    for series in (series for chart in charts for series in chart.series):
        points.validate_python(series.points)
    return charts


def _heat_maps(text: str) -> list[HeatMap]:
    """Return the heat maps in a JSON text. Raises ValueError."""
    found = TypeAdapter(list[HeatMap]).validate_json(text)
    for one in found:
        if len(one.cells) != len(one.down_values) or {*map(len, one.cells)} != {len(one.across_values)}:
            raise ValueError("cells for other values")
    return found


def file_name(number: int, chart: Chart | HeatMap, form: str) -> str:
    """Return the name of a figure's file: ``1-latency-against-throughput.svg``."""
    words = re.sub(r"[^a-z0-9]+", "-", chart.title.lower()).strip("-")
    return f"{number}-{words[:60].rstrip('-')}.{form}"


def figure(chart: Chart | HeatMap) -> Figure:
    """Return a chart as a matplotlib figure, one column wide, without a title, because the caption has it."""
    from matplotlib.figure import Figure

    if isinstance(chart, HeatMap):
        return _map_figure(chart)
    drawn = Figure(figsize=(_WIDTH_INCHES, _HEIGHT_INCHES), layout="constrained")
    axes = drawn.subplots()
    own = [series.name for series in chart.series if not series.of]
    for series in chart.series:
        _draw(axes, series, own.index(series.of or series.name))
    axes.set(xlabel=chart.x.label, ylabel=chart.y.label)
    axes.set_xscale("log" if chart.x.log else "linear")
    axes.set_yscale("log" if chart.y.log else "linear")
    if not chart.y.log:
        axes.set_ylim(bottom=0)
    if chart.y.top is not None:
        axes.set_ylim(top=chart.y.top)
    if not chart.x.log:
        axes.set_xlim(left=0)
    for axis, log in ((axes.xaxis, chart.x.log), (axes.yaxis, chart.y.log)):
        if log:
            axis.set_major_formatter(_power)
            axis.set_minor_formatter("")
    axes.grid(linewidth=0.4, alpha=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    if len(chart.series) > 1:
        axes.legend(frameon=False, fontsize="small")
    return drawn


def _power(value: float, _: float) -> str:
    """Return the label of a logarithmic tick as plain text, not as a formula."""
    return f"{value:g}".replace("e+0", "e")


def _map_figure(heat_map: HeatMap) -> Figure:
    """Return a heat map with the number in every cell, larger than a column if it has many cells."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    rows, columns = len(heat_map.down_values), len(heat_map.across_values)
    size = max(_WIDTH_INCHES, 1.5 + 0.62 * columns), max(1.2 + 0.32 * rows, 0.5 * _HEIGHT_INCHES)
    drawn = Figure(figsize=size, layout="constrained")
    axes = drawn.subplots()
    values = [[float("nan") if cell is None else cell for cell in row] for row in heat_map.cells]
    top = max((cell for row in values for cell in row if cell == cell), default=0.0) or 1.0
    colours = LinearSegmentedColormap.from_list("fabriloom", RAMP)
    axes.imshow(values, cmap=colours, vmin=0, vmax=top, aspect="auto")
    for row, cells in enumerate(values):
        for column, value in enumerate(cells):
            ink = "white" if value / top > 0.55 else "black"
            axes.text(column, row, number(value), ha="center", va="center", color=ink, fontsize="small")
    axes.set_xticks(range(columns), heat_map.across_values)
    axes.set_yticks(range(rows), heat_map.down_values)
    axes.set(xlabel=heat_map.across, ylabel=heat_map.down)
    return drawn


def _draw(axes: Axes, series: Series, number: int) -> None:
    colour, mark = _COLOURS[number % len(_COLOURS)], _MARKS[number % len(_MARKS)]
    known = [[math.nan if at is None else at for at in point[:2]] for point in series.points]
    x, y = [at for at, _ in known], [at for _, at in known]
    if series.style == "published":
        axes.plot(x, y, "D", color="black", fillstyle="none", markersize=8, zorder=4, label=series.name)
    elif series.style == "step":
        axes.step(x, y, where="post", color=colour, label=series.name)
    elif series.style == "points":
        axes.plot(x, y, mark, color=colour, markersize=3.5, label=series.name)
    else:
        dashed = series.style == "dashed"
        axes.plot(x, y, "--" if dashed else "-", color=colour, linewidth=1.3, label=series.name)
        for hollow in (False, True):
            at = [n for n in range(len(x)) if (n in series.hollow) == hollow]
            face = "white" if hollow else colour
            places = [x[n] for n in at], [y[n] for n in at]
            axes.plot(*places, mark, color=colour, markerfacecolor=face, markersize=4)
    ranged = [point for point in series.points if point[2] is not None]
    if ranged:
        spread = [[p[1] - p[2] for p in ranged], [p[3] - p[1] for p in ranged]]
        places = [[p[0] for p in ranged], [p[1] for p in ranged]]
        axes.errorbar(*places, yerr=spread, fmt="none", ecolor=colour, capsize=2.5, linewidth=1)


def drawn(chart: Chart | HeatMap, form: str) -> bytes:
    """Return a chart's figure in a format; the bytes depend only on the chart, not on a ``matplotlibrc``."""
    matplotlib = of_figures()
    # Names from files are plain text, even with signs of formulas.
    settings: dict[Any, Any] = {
        "text.parse_math": False,
        "svg.hashsalt": "fabriloom",
        "svg.fonttype": "none",
        "pdf.fonttype": 42,
    }
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings)
        undated = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
        written = io.BytesIO()
        figure(chart).savefig(written, format=form, dpi=200, metadata=undated.get(form))
    return written.getvalue()
