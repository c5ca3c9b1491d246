"""The two test beds of the SCINET chapter: PCs on a ring of two that write to and read from each other.

``docs/background/scinet-testbeds.md`` describes how their numbers are modelled, and where they agree and
where not.
"""

from __future__ import annotations

from . import system_1, system_2

MODULES = (system_1, system_2)
"""Each has ``scenarios(effort)``, the runs that it certainly needs, and ``findings(lab)``."""
