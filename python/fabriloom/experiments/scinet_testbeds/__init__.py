"""The two test beds of the SCINET chapter: PCs on a ring of two, writing to and reading from each other.

How their numbers are modelled, and where they agree and where not, is in
``docs/background/scinet-testbeds.md``.
"""

from __future__ import annotations

from . import system_1, system_2

MODULES = (system_1, system_2)
"""Each has ``scenarios(effort)``, what it will surely run, and ``findings(lab)``."""
