"""The ATLAS note on SCI components: cards in PCs, message passing, switches.

How each table is modelled, and where it agrees and where not, is in ``docs/background/atlas-sci.md``.
"""

from __future__ import annotations

from . import benchmarks, bx, parts, port, switch, tables

MODULES = (parts, benchmarks, tables, bx, port, switch)
"""Each has ``scenarios(effort)``, what it will surely run, and ``findings(lab)``."""
