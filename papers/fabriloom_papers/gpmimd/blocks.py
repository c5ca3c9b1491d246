"""Section 4.1, figure 6: event rate against data blocks per event, by the number of sources per block."""

from __future__ import annotations

from ..lab import Effort, Findings, Lab, Scenario
from ..published import numbers
from ..rows import predicted
from . import level2

BLOCK_BYTES = 1000
BLOCKS = (1, 2, 3, 4, 5, 6)
SOURCES_PER_BLOCK = (1, 2, 3)
FLAT_PERCENT = 10
"""Reading of "does not vary significantly": no curve deviates more than this from their average."""


def _curve(effort: Effort, sources: int) -> list[Scenario]:
    return [
        level2.run(
            effort,
            BLOCK_BYTES,
            1.2 * level2.most_khz(BLOCK_BYTES, blocks),
            blocks=blocks,
            sources_per_block=sources,
        )
        for blocks in effort.choose(BLOCKS, (1, 3))
    ]


def scenarios(effort: Effort) -> list[Scenario]:
    """Return the runs of every number of blocks and of sources per block."""
    return [one for sources in SOURCES_PER_BLOCK for one in _curve(effort, sources)]


def findings(lab: Lab) -> Findings:
    """Compare the number of blocks from which on the curves coincide; plot two figures."""
    found = Findings()
    x = lab.effort.choose(BLOCKS, (1, 3))
    title = f"Level II, blocks of {BLOCK_BYTES} B, sources at random"
    rates = []
    for sources in SOURCES_PER_BLOCK:
        measured = lab.measure(_curve(lab.effort, sources))
        rates.append([one.events_per_s for one in measured])
        found.series += level2.rate_and_bandwidth(
            "6", "ab", title, f"{sources} sources per block", list(x), measured, "data blocks per event"
        )
    if not lab.effort.quick:
        printed = numbers("gpmimd")["figure-6-flat"]
        found.rows = [predicted(printed, _flat_above(list(x), rates), (1.0, 3.0))]
    return found


def _flat_above(x: list[int], rates: list[list[float]]) -> float:
    """Return the largest number of blocks at which a curve deviates from the average of all, or 0."""
    apart = [0]
    for place, blocks in enumerate(x):
        here = [curve[place] for curve in rates]
        mean = sum(here) / len(here)
        if max(abs(rate - mean) for rate in here) > mean * FLAT_PERCENT / 100:
            apart.append(blocks)
    return float(max(apart))
