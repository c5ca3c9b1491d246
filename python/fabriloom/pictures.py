"""Pictures for notebooks and programs: the drawn network, and the charts of a report."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .report.page import Chart, Drawing, HeatMap

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, repr=False)
class Picture:
    """A picture as SVG; a notebook shows it."""

    title: str
    svg: str

    def save(self, path: str | Path) -> None:
        """Write it as an SVG file. Raises OSError."""
        from .output import encoded, file

        with file(Path(path)) as out:
            out.write(encoded(self.svg))

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture {self.title!r}>"


class Pictures(list[Picture]):
    """Several pictures, one below the other in a notebook."""

    def _repr_html_(self) -> str:
        return "".join(picture.svg[picture.svg.find("<svg") :] for picture in self)


def draw(network: Any, link_values: ArrayLike | None = None, link_label: str = "utilisation") -> Picture:
    """Draw a network.

    Args:
        network: a scenario, a graph, or results. Results colour each link by its utilisation.
        link_values: one value per link, which sets its colour; shape (links,), NaN for no value.
        link_label: name and unit of these values, for the legend.

    Raises:
        ScenarioError: the scenario's network cannot be built.
        ValueError: ``link_values`` does not have one value per link.
    """
    from .report.drawing import fabric_svg
    from .topology import Graph

    if isinstance(network, Graph):
        graph = network
    elif hasattr(network, "graph"):
        graph = network.graph
        link_values = network.utilisation if link_values is None else link_values
    else:
        from .compile import graph_of
        from .scenario import needed

        needed(network)
        graph = graph_of(network)
    return Picture(repr(graph).strip("<>"), fabric_svg(graph, link_values, link_label))


def charts(found: Any) -> Pictures:
    """Draw the charts that the report shows of a run, a curve, a comparison or a saturation.

    Raises:
        TypeError: ``found`` is none of these.
    """
    from .report import pages, plot

    if isinstance(getattr(found, "points", None), list):
        varied = getattr(found, "varied", None) or (list(found.points[0].settings) if found.points else [])
        varied = [varied] if isinstance(varied, str) else varied
        shown = pages.curve_sections(found.points, varied, ())
    elif hasattr(found, "thinned_tail"):
        shown = pages.run_charts(found)
    else:
        raise TypeError(f"charts are of results or studies, not of a {type(found).__name__}")
    drawn = [one.heat_map if isinstance(one, Drawing) else one for one in shown]
    kept = [one for one in drawn if isinstance(one, Chart | HeatMap)]
    return Pictures([Picture(one.title, plot.drawn(one, "svg").decode()) for one in kept])


def page(found: Any, heading: str, verdicts: list[str]) -> str:
    """Return a study as HTML for a notebook: name, verdicts, charts and table."""
    drawn = charts(found)._repr_html_() if len(found.points) > 1 else ""
    said = "".join(f"<p><b>{escape(text)}</b></p>" for text in verdicts)
    return f"<p>{escape(heading)}</p>{said}{drawn}{found.table._repr_html_()}"
