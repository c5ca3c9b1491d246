"""Fit host and link parameters to measurements, and predict programs that were not used for the fit.

``samples``: values by size. ``imports``: values from files of other tools. ``lines``: piecewise linear fits.
``model``: settings of a scenario. ``work``: these as a file, and measured beside simulated programs.
"""

from __future__ import annotations

from .lines import FitError
from .work import Fitted, fit

__all__ = ["FitError", "Fitted", "fit"]
