"""The ATLAS note on SCI components: cards in PCs, message passing, switches.

``docs/background/atlas-sci.md`` describes how each table is modelled, and where it agrees and where not.
"""

from __future__ import annotations

from . import benchmarks, bx, parts, port, switch, tables

MODULES = (parts, benchmarks, tables, bx, port, switch)
"""Each has ``scenarios(effort)``, the runs that it certainly needs, and ``findings(lab)``."""
