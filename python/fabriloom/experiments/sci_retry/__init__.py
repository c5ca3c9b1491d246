"""The retry delay study: rings of fast senders, each with a slow receiver, the port of a switch.

``docs/background/sci-retry.md`` describes how each figure is modelled, and where it agrees and where not.
"""

from __future__ import annotations

from . import delays, parts

MODULES = (parts, delays)
"""Each has ``scenarios(effort)``, the runs that it certainly needs, and ``findings(lab)``."""
