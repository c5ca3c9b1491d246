"""The SCINET chapter: switches and multistage networks of SCI rings.

How each figure is modelled, and where it agrees and where not, is in ``docs/background/scinet.md``.
"""

from __future__ import annotations

from . import locality, more_nodes, omega, parts, ring_size, switch

MODULES = (parts, switch, omega, more_nodes, locality, ring_size)
"""Each has ``scenarios(effort)``, what it will surely run, and ``findings(lab)``."""
