"""The Macramé testbed: 1024 nodes on DS-Links and STC104 switches.

How each figure is modelled, and where it agrees and where not, is in ``docs/background/macrame.md``.
"""

from __future__ import annotations

from . import adaptive, arithmetic, crossbar, latency, packet_length, parts, size, tail

MODULES = (parts, arithmetic, crossbar, packet_length, size, latency, tail, adaptive)
"""Each has ``scenarios(effort)``, what it will surely run, and ``findings(lab)``."""
