"""The one door between the commands and the house: a module is imported when a command first uses it.

So help and completion know every option and import nothing, and a command waits for no room but its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .. import bounds as bounds
    from .. import compile as compile
    from .. import design as design
    from .. import fit as fit
    from .. import imports as imports
    from .. import measure as measure
    from .. import output as output
    from .. import page as page
    from .. import reading as reading
    from .. import report as report
    from .. import scenario as scenario
    from .. import simulate as simulate
    from .. import studies as studies
    from .. import units as units

    # Only for annotations, which are never evaluated.
    from ..bounds import Bounds as Bounds
    from ..bounds import Line as Line
    from ..bounds import Promise as Promise
    from ..bounds.calculus import Part as Part
    from ..compile import Compiled as Compiled
    from ..compile import deadlock as deadlock
    from ..compile import silent as silent
    from ..design import Design as Design
    from ..design.sieve import Looked as Looked
    from ..fit import Fitted as Fitted
    from ..fit import samples as samples
    from ..imports import written as written
    from ..output import Files as Files
    from ..output import Output as Output
    from ..output import Working as Working
    from ..page import limits as limits
    from ..page import replay_file as replay_file
    from ..page.replay_file import Side as Side
    from ..report import drawing as drawing
    from ..report import fabric as fabric
    from ..report import plot as plot
    from ..report import tally as tally
    from ..report.page import Chart as Chart
    from ..report.page import HeatMap as HeatMap
    from ..results import Provenance as Provenance
    from ..results import Results as Results
    from ..results import ends as ends
    from ..results import files as files
    from ..routing import dumps as dumps
    from ..routing import routers as routers
    from ..scenario import Scenario as Scenario
    from ..studies import Comparison as Comparison
    from ..studies import Curve as Curve
    from ..studies import Repetition as Repetition
    from ..studies import Saturation as Saturation
    from ..studies import comparison as comparison
    from ..studies import emit as emit
    from ..studies import failures as failures
    from ..studies import folder as folder
    from ..studies import inspection as inspection
    from ..studies import route_choices as route_choices
    from ..studies import run_all as run_all
    from ..studies import saturation as saturation
    from ..studies import store as store
    from ..studies.run import Team as Team
    from ..topology import Graph as Graph
    from ..topology import edge_list as edge_list
    from ..topology import graphml as graphml
    from ..topology import several as several
    from . import bars as bars
    from . import folders as folders
    from . import promised as promised
    from . import replays as replays
    from . import show as show
    from . import studied as studied
    from . import templates as templates
else:
    from ..process.libraries import Later

    _ROOMS = {
        "compile": "deadlock silent",
        "fit": "samples",
        "imports": "written",
        "page": "limits replay_file",
        "report": "drawing fabric plot tally",
        "results": "ends files",
        "routing": "dumps routers",
        "studies": "comparison emit failures folder inspection route_choices run_all saturation store",
        "topology": "edge_list graphml several",
        "cli": "bars folders promised replays show studied templates",
    }
    _HOMES = {name: f"{room}.{name}" for room, names in _ROOMS.items() for name in names.split()}

    def __getattr__(name: str) -> Later:
        return Later(f"fabriloom.{_HOMES.get(name, name)}")
