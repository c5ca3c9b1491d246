"""Section 4.1: the event rates of the whole machine, all four networks at once.

The paper multiplies its measurement of one network by four. Here every T9000 has a link into each network: a
source has one message under way per link, sent when the link becomes free, and the hosts are shared.
"""

from __future__ import annotations

from ..lab import Effort, Findings, Lab, Scenario
from ..published import numbers
from ..rows import predictions
from . import level2, networks, settings, size

CHOICE = "first-free"
"""Each link of a source has at most one message at a time, as in one network; the paper does not say how
messages would be spread over the links."""


def run(effort: Effort, block_bytes: int) -> Scenario:
    """Return level II on four networks with four times the events, offered faster than they are achieved."""
    blocks = size.SCORED_BLOCKS[block_bytes]
    one = level2.run(
        effort,
        block_bytes,
        1.2 * networks.NETWORKS * level2.most_khz(block_bytes, blocks),
        blocks=blocks,
        sources_per_block=size.SOURCES_PER_BLOCK,
        ends=networks.ends(networks.LEVEL_2),
        setting=settings.on_all_links(settings.LEVEL_2),
    )
    topology = one["topology"] | {"replicate": networks.NETWORKS}
    return one | {"name": f"{one['name']}, four networks", "topology": topology, "ports": {"choice": CHOICE}}


def scenarios(effort: Effort) -> list[Scenario]:
    """Return the runs of both block sizes."""
    return [run(effort, block_bytes) for block_bytes in size.SIZES_BYTES]


def findings(lab: Lab) -> Findings:
    """Compare the event rates of the machine."""
    measured = zip(size.SIZES_BYTES, lab.measure(scenarios(lab.effort)), strict=True)
    rates = {f"machine-rate-{block}": (one.events_per_s / 1000, 0.15) for block, one in measured}
    return Findings(rows=predictions(numbers("gpmimd"), rates))
