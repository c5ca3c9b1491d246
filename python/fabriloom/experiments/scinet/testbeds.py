"""Sections 6.3 and 6.4: the test beds. Their numbers are kept here until the model of a host is there."""

from __future__ import annotations

from ...published import numbers
from ..lab import Effort, Findings, Lab, Scenario
from ..rows import row

REASON = "test beds: host model"
"""A PC with its PCI bus, bridge and software is not in the model of rings."""
KEYS = ("testbed-", "bridge-")


def scenarios(_effort: Effort) -> list[Scenario]:
    """Nothing to run."""
    return []


def findings(_lab: Lab) -> Findings:
    """One row per printed number, without ours."""
    printed = numbers("scinet")
    return Findings(
        rows=[
            row("scinet", number, None, kind="reported", note=REASON)
            for key, number in printed.items()
            if key.startswith(KEYS)
        ]
    )
