"""Pictures for notebooks and programs: the drawn network, and the charts of a report."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from .compile import graph_of
from .output import encoded, file
from .process.libraries import MissingLibrary
from .report import comparison, pages, plot, search, seeds
from .report.drawing import fabric_svg
from .report.page import Chart, Drawing, HeatMap
from .scenario import scenario_of
from .topology import Graph


@dataclass(frozen=True, repr=False)
class Picture:
    """A picture as SVG; a notebook shows it."""

    title: str
    svg: str
    note: str = ""
    """What to know when reading it; a report prints it below."""

    def save(self, path: str | Path) -> None:
        """Write it as an SVG file. Raises OSError."""
        with file(Path(path)) as out:
            out.write(encoded(self.svg))

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture {self.title!r}>"


class Pictures(list[Picture]):
    """Several pictures, one below the other in a notebook."""

    def _repr_html_(self) -> str:
        return "".join(_figure(picture) for picture in self)


def _figure(picture: Picture) -> str:
    """Return a picture with its title above and its note below."""
    note = f"<p style='max-width:50em;font-size:smaller'>{escape(picture.note)}</p>" if picture.note else ""
    svg = picture.svg[picture.svg.find("<svg") :]
    title = f"<figcaption>{escape(picture.title)}</figcaption>"
    return f"<figure style='margin:0 0 1.5em'>{title}{svg}{note}</figure>"


def draw(network: Any, link_values: ArrayLike | None = None, link_label: str = "utilisation") -> Picture:
    """Draw a network.

    Args:
        network: a scenario, a graph, or what has one. Results of a run colour each link by its utilisation.
        link_values: one value per link, which sets its colour; shape (links,), NaN for no value.
        link_label: name and unit of these values, for the legend.

    Raises:
        ScenarioError: the scenario's network cannot be built.
        ValueError: ``link_values`` does not have one value per link.
    """
    if isinstance(network, Graph):
        graph = network
    elif hasattr(network, "graph"):
        graph = network.graph
        link_values = getattr(network, "utilisation", None) if link_values is None else link_values
    else:
        graph = graph_of(scenario_of(network))
    return Picture(repr(graph).strip("<>"), fabric_svg(graph, link_values, link_label))


def charts(found: Any) -> Pictures:
    """Draw the charts that the report shows of a run, a curve, a comparison, a saturation or a search.

    Raises:
        TypeError: ``found`` is none of these.
        MissingLibrary: matplotlib is not installed.
    """
    drawn = [one.heat_map if isinstance(one, Drawing) else one for one in _shown(found)]
    kept = [one for one in drawn if isinstance(one, Chart | HeatMap)]
    notes = [one.note if isinstance(one, Chart) else "" for one in kept]
    return Pictures(
        [
            Picture(one.title, plot.drawn(one, "svg").decode(), note)
            for one, note in zip(kept, notes, strict=True)
        ]
    )


def _shown(found: Any) -> list[Any]:
    """Return the parts of the report, of which some are charts. Raises TypeError."""
    if getattr(found, "search", None) is not None:
        return search.charts(found.search)
    if hasattr(found, "graphs"):
        return comparison.charts(found) if found.points else []
    if hasattr(found, "means") and hasattr(found, "points"):
        return seeds.charts(found)
    if isinstance(getattr(found, "points", None), list):
        varied = getattr(found, "varied", None) or (list(found.points[0].settings) if found.points else [])
        varied = [varied] if isinstance(varied, str) else varied
        return pages.curve_sections(found.points, varied, ())
    if hasattr(found, "thinned_tail"):
        return pages.run_charts(found)
    of = "a run, a curve, a comparison, a saturation, a repetition or a search"
    take = "for the points of a [sweep] take fabriloom.curve"
    raise TypeError(f"charts are of {of}, not of a {type(found).__name__}; {take}")


def page(found: Any, heading: str, verdicts: list[str], table: Any = None) -> str:
    """Return a study as HTML for a notebook: name, verdicts, charts and table."""
    try:
        drawn = charts(found)._repr_html_() if len(found.points) > 1 else ""
    except MissingLibrary as missing:
        drawn = f"<p>{escape(str(missing))}</p>"
    said = "".join(f"<p><b>{escape(text)}</b></p>" for text in verdicts)
    rows = (found.table if table is None else table)._repr_html_()
    return f"<p>{escape(heading)}</p>{said}{drawn}<div style='overflow-x:auto'>{rows}</div>"
