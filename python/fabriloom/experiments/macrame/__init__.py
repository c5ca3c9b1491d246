"""The Macramé testbed: 1024 nodes on DS-Links and STC104 switches.

``docs/background/macrame.md`` describes how each figure is modelled, and where it agrees and where not.
"""

from __future__ import annotations

from . import adaptive, arithmetic, crossbar, latency, packet_length, parts, size, tail

MODULES = (parts, arithmetic, crossbar, packet_length, size, latency, tail, adaptive)
"""Each has ``scenarios(effort)``, the runs that it certainly needs, and ``findings(lab)``."""
