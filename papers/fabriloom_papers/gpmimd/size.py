"""Section 4.1, figure 7: event rate against the number of sources, which equals that of destinations."""

from __future__ import annotations

from typing import Any

from ..lab import Effort, Findings, Lab, Measured, Scenario
from ..published import numbers
from ..rows import near, predicted, reported
from . import level2, networks

COUNTS = (3, 6, 9, 12, 15, 18)
SIZES_BYTES = (200, 1200)
BLOCKS = (3, 5)
SOURCES_PER_BLOCK = 2
SCORED_BLOCKS = {200: 5, 1200: 3}
"""Blocks per event of the printed rates, which the paper does not give. The summary has 50 to 70 MB/s for
level II; 45 kHz are 27 MB/s with three blocks and 45 with five, 18 kHz are 65 and 108."""


def _curve(effort: Effort, size_bytes: int, blocks: int) -> list[Scenario]:
    return [
        level2.run(
            effort,
            size_bytes,
            1.2 * level2.most_khz(size_bytes, blocks),
            blocks=blocks,
            sources_per_block=SOURCES_PER_BLOCK,
            ends=networks.ends((count, count)),
        )
        for count in effort.choose(COUNTS, (18,))
    ]


def scenarios(effort: Effort) -> list[Scenario]:
    """Return the runs of every block size, number of blocks and number of sources."""
    return [one for size in SIZES_BYTES for blocks in BLOCKS for one in _curve(effort, size, blocks)]


def findings(lab: Lab) -> Findings:
    """Compare the event rates of 18 x 18; plot two figures."""
    found = Findings()
    x = lab.effort.choose(COUNTS, (18,))
    for size in SIZES_BYTES:
        for blocks in BLOCKS:
            measured = lab.measure(_curve(lab.effort, size, blocks))
            found.series += level2.rate_and_bandwidth(
                "7",
                "ab",
                "Level II, two sources per block, sources at random",
                f"{blocks} blocks of {size} B",
                list(x),
                measured,
                "sources, and destinations",
            )
            found.rows += _rows(size, blocks, measured[-1])
    return found


def _rows(size: int, blocks: int, one: Measured) -> list[dict[str, Any]]:
    printed = numbers("gpmimd")
    network = printed[f"rate-{size}"]
    khz = one.events_per_s / 1000
    if blocks != SCORED_BLOCKS[size]:
        note = (
            "the other reading: not the number of blocks with which the rate is nearest to the 50 to 70 MB/s"
        )
        return [reported(network, khz, note, variant=f"{blocks} blocks per event")]
    return [predicted(network, khz, near(network, 0.15))]
