"""The charts of a report again as figures for a paper: SVG, PDF or PNG, drawn by matplotlib."""

from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from .page import Axis, Chart, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "pdf", "png")
# Okabe and Ito's colours without the yellow one: told apart by colour-blind readers, and on white paper.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_MARKS = "osD^vPX"
_WIDTH_INCHES, _HEIGHT_INCHES = 5.2, 3.4


class _Data(HTMLParser):
    """Finds the element of a report that holds its charts."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag == "script" and ("id", "charts") in attrs

    def handle_data(self, data: str) -> None:
        self.text += data if self._inside else ""

    def handle_endtag(self, tag: str) -> None:
        self._inside = False


def charts_in(report: str) -> list[Chart]:
    """The charts of a report. Raises ValueError when it is no report with charts."""
    found = _Data()
    found.feed(report)
    try:
        return [_chart(chart) for chart in json.loads(found.text)]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError("no report of fabriloom; name a report.html that it wrote") from None


def _chart(data: dict[str, Any]) -> Chart:
    series = [Series(**one) for one in data["series"]]
    return Chart(**{**data, "x": Axis(**data["x"]), "y": Axis(**data["y"]), "series": series})


def file_name(number: int, chart: Chart, form: str) -> str:
    """The name of a figure's file: ``1-latency-against-throughput.svg``."""
    words = re.sub(r"[^a-z0-9]+", "-", chart.title.lower()).strip("-")
    return f"{number}-{words[:60].rstrip('-')}.{form}"


def figure(chart: Chart) -> Figure:
    """A chart as a figure of matplotlib, of a column's width, without a title: that is the caption's work."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(_WIDTH_INCHES, _HEIGHT_INCHES), layout="constrained")
    axes = drawn.subplots()
    for number, series in enumerate(chart.series):
        _draw(axes, series, number)
    axes.set(xlabel=chart.x.label, ylabel=chart.y.label)
    axes.set_xscale("log" if chart.x.log else "linear")
    axes.set_yscale("log" if chart.y.log else "linear")
    if not chart.y.log:
        axes.set_ylim(bottom=0)
    if not chart.x.log:
        axes.set_xlim(left=0)
    axes.grid(linewidth=0.4, alpha=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    if len(chart.series) > 1:
        axes.legend(frameon=False, fontsize="small")
    return drawn


def _draw(axes: Axes, series: Series, number: int) -> None:
    colour, mark = _COLOURS[number % len(_COLOURS)], _MARKS[number % len(_MARKS)]
    x, y = ([point[place] for point in series.points] for place in (0, 1))
    if series.style == "published":
        axes.plot(x, y, "D", color="black", fillstyle="none", markersize=8, zorder=4, label=series.name)
    elif series.style == "step":
        axes.step(x, y, where="post", color=colour, label=series.name)
    elif series.style == "points":
        axes.plot(x, y, mark, color=colour, markersize=3.5, label=series.name)
    else:
        axes.plot(x, y, f"{mark}-", color=colour, markersize=4, linewidth=1.3, label=series.name)
    ranged = [point for point in series.points if point[2] is not None]
    if ranged:
        spread = [[p[1] - p[2] for p in ranged], [p[3] - p[1] for p in ranged]]
        places = [[p[0] for p in ranged], [p[1] for p in ranged]]
        axes.errorbar(*places, yerr=spread, fmt="none", ecolor=colour, capsize=2.5, linewidth=1)


def drawn(chart: Chart, form: str) -> bytes:
    """A chart's figure in a format: the same chart gives the same bytes, whatever a ``matplotlibrc`` says."""
    import matplotlib

    # Names from files are text, whatever signs of formulas are in them.
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
