"""Fit host and link parameters to measurements, and predict programs that were not used for the fit.

``samples``: values by size, with piecewise linear fits. ``imports``: values from files of other tools.
``model``: settings of a scenario. ``work``: these as a file, and measured beside simulated programs.
"""

from __future__ import annotations

from .samples import FitError
from .work import Fitted, fit

__all__ = ["FitError", "Fitted", "fit"]
