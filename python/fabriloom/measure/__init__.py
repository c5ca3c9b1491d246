"""Programs of scenarios on real machines, over MPI, with results like those of a run.

``plan``: what each process is to do. ``find``: the MPI that is there, and the runner. ``launch``: the
processes, and what they say. ``records``: what came back, as the numbers of a run. ``work``: all of it.
"""

from __future__ import annotations

from .errors import MeasureError
from .find import Settings
from .work import Measured, measure

__all__ = ["MeasureError", "Measured", "Settings", "measure"]
