"""The retry delay study: rings of fast senders with a slow receiver each, the port of a switch.

How each figure is modelled, and where it agrees and where not, is in ``docs/background/sci-retry.md``.
"""

from __future__ import annotations

from . import delays, parts

MODULES = (parts, delays)
"""Each has ``scenarios(effort)``, what it will surely run, and ``findings(lab)``."""
