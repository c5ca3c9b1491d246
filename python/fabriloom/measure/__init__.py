"""Run the programs of scenarios on real machines, over MPI, with results like those of a simulation.

``plan``: the operations of each process. ``launch``: finds the installed MPI, starts the
processes and reads their messages. ``records``: turns the measured times into the numbers of a run. ``work``:
the whole measurement.
"""

from __future__ import annotations

from .launch import Settings
from .plan import MeasureError
from .work import Measured, measure

__all__ = ["MeasureError", "Measured", "Settings", "measure"]
