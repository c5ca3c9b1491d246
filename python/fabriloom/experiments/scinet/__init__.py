"""The SCINET chapter: switches and multistage networks of SCI rings.

``docs/background/scinet.md`` describes how each figure is modelled, and where it agrees and where not.
"""

from __future__ import annotations

from . import locality, more_nodes, omega, parts, ring_size, switch

MODULES = (parts, switch, omega, more_nodes, locality, ring_size)
"""Each has ``scenarios(effort)``, the runs that it certainly needs, and ``findings(lab)``."""
