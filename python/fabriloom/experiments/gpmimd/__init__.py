"""The GPMIMD machine: T9000 transputers on four Clos networks of C104 switches, with trigger traffic.

``docs/background/gpmimd.md`` describes how each figure is modelled, and where it agrees and where not.
"""

from __future__ import annotations

from . import arithmetic, blocks, delay, level2, level3, multiplexing, pairs, parts, size, two_nodes, whole

MODULES = (parts, arithmetic, two_nodes, pairs, level2, blocks, size, whole, multiplexing, level3, delay)
"""Each has ``scenarios(effort)``, the runs that it certainly needs, and ``findings(lab)``."""
