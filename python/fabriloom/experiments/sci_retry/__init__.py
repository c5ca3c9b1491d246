"""The retry delay study: fast senders and one slow receiver on a ring.

How each figure is modelled, and where it agrees and where not, is in ``docs/background/sci-retry.md``.
"""

from __future__ import annotations

from . import delays, parts

MODULES = (parts, delays)
"""Each has ``scenarios(effort)``, what it will surely run, and ``findings(lab)``."""
