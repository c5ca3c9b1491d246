"""Host and link parameters from measurements, and what they say of programs that were not used to find them.

``samples``: what is known by size. ``imports``: the same from files of others. ``lines``: lines through it.
``model``: settings of a scenario. ``preset``: these as a file. ``predict``: measured beside simulated.
"""

from __future__ import annotations

from .errors import FitError
from .work import Fitted, fit

__all__ = ["FitError", "Fitted", "fit"]
