"""Fabriloom: a simulator and workbench for lossless packet fabrics.

    import fabriloom

    scenario = fabriloom.load("scenarios/macrame-clos-256.toml")
    results = fabriloom.run(scenario)
    results.summary, results.links, results.flows, results.latency
    fabriloom.curve(scenario, [0.1, 0.3]).table

Everything is imported when it is first used, so that the command answers at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .process.libraries import names

if TYPE_CHECKING:
    from . import routing as routing
    from . import topology as topology
    from ._native import __version__  # type: ignore[attr-defined]
    from .bounds import bound
    from .page.widget import widget
    from .pictures import charts, draw
    from .results import Results
    from .scenario import Scenario, ScenarioError, load
    from .simulate import run
    from .studies import check, compare, curve, repeat, saturate, study

__all__ = [
    "Results",
    "Scenario",
    "ScenarioError",
    "__version__",
    "bound",
    "charts",
    "check",
    "compare",
    "curve",
    "draw",
    "load",
    "repeat",
    "run",
    "saturate",
    "study",
    "widget",
]

_HOMES = {
    "__version__": "._native",
    "Results": ".results",
    "Scenario": ".scenario",
    "ScenarioError": ".scenario",
    "bound": ".bounds",
    "charts": ".pictures",
    "check": ".studies",
    "compare": ".studies",
    "curve": ".studies",
    "draw": ".pictures",
    "imports": ".imports",
    "load": ".scenario",
    "repeat": ".studies",
    "routing": ".routing",
    "run": ".simulate",
    "saturate": ".studies",
    "study": ".studies",
    "topology": ".topology",
    "widget": ".page.widget",
}

__getattr__ = names(globals(), _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
