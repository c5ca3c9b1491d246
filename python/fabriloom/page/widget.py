"""A widget for notebooks: the packets of a scenario move in the cell, beside the charts of its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from ..arguments import wrong
from ..process.libraries import of_extra
from ..report import for_comparison, for_curve, for_run, for_saturation
from ..report.fabric import with_replay
from ..results import Results
from ..scenario import scenario_of
from ..studies import Comparison, Curve, Saturation
from . import limits
from .replay_file import replay_html, side_in_report

_SCRIPT = """
export default {
  render({ model, el }) {
    const frame = document.createElement("iframe");
    const address = URL.createObjectURL(new Blob([model.get("html")], { type: "text/html" }));
    Object.assign(frame, { src: address, title: "Fabriloom" });
    const border = { border: "1px solid gray", borderRadius: "8px", boxSizing: "border-box" };
    Object.assign(frame.style, { width: "100%", height: model.get("height"), ...border });
    el.append(frame);
    return () => URL.revokeObjectURL(address);
  },
};
"""
_REPORTS: Mapping[type, Callable[[Any], str]] = {
    Curve: for_curve,
    Comparison: for_comparison,
    Saturation: for_saturation,
    Results: for_run,
}


def widget(scenario: Any, found: Any = None, height: str = "46rem") -> Any:
    """Return a widget that plays the packets of a scenario.

    Args:
        scenario: a scenario, or a dictionary of the same form.
        found: its results, or a curve, comparison or saturation; the widget then is their report, in which a
            button plays the packets.
        height: height of the widget, in the units of CSS.

    Raises:
        MissingLibrary: anywidget is not installed.
        ScenarioError: the scenario is wrong.
        TypeError: ``found`` is something else.
        ValueError: the network is too large to be drawn.
    """
    if not isinstance(height, str):
        raise wrong("height", height, 'a length of CSS, such as "300px"')
    kind = _kind()
    made = scenario_of(scenario)
    results = found if isinstance(found, Results) else None
    side = side_in_report(made, results)
    if side is None and found is None:
        raise ValueError(f"the network has more than {limits.TOLD_LINKS} links, too many to be played")
    sides = [] if side is None else [side]
    if found is None:
        return kind(html=replay_html(sides), height=height)
    report = next((report for of, report in _REPORTS.items() if isinstance(found, of)), None)
    if report is None:
        of = "a run, a curve, a comparison, a saturation or a repetition"
        take = "for the points of a [sweep] take fabriloom.curve"
        raise TypeError(f"a widget is of {of}, not of a {type(found).__name__}; {take}")
    html = report(found)
    if sides:
        html = with_replay(html, replay_html(sides), sides[0].replay["part"])
    return kind(html=html, height=height)


@cache
def _kind() -> Any:
    """Return the class of the widget, which exists only where its library does."""
    anywidget = of_extra("anywidget", "notebook", "widgets")
    traitlets = of_extra("traitlets", "notebook", "widgets")

    class Shown(anywidget.AnyWidget):
        """A page of ours in a frame."""

        _esm = _SCRIPT
        html = traitlets.Unicode("").tag(sync=True)
        height = traitlets.Unicode("46rem").tag(sync=True)

    return Shown
