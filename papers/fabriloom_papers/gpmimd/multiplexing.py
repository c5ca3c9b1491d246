"""Section 4.1, figure 8: the number of virtual links that a source needs on its link."""

from __future__ import annotations

from ..lab import Effort, Findings, Lab, Scenario
from ..published import numbers
from ..rows import predicted
from . import level2, settings

VIRTUAL_LINKS = (1, 2, 3, 4, 5, 6, 7, 8)
BLOCK_BYTES = 1000
SHARES = (0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 1.2)
QUICK_SHARES = (1.2,)
CONSTANT_PERCENT = 3
"""Reading of "constant": within this of the highest bandwidth."""


def _curve(effort: Effort, virtual_links: int) -> dict[float, Scenario]:
    rates = [share * level2.most_khz(BLOCK_BYTES) for share in effort.choose(SHARES, QUICK_SHARES)]
    setting = settings.multiplexed(virtual_links)
    return {khz: level2.run(effort, BLOCK_BYTES, khz, setting=setting) for khz in rates}


def scenarios(effort: Effort) -> list[Scenario]:
    """Return the runs of every number of virtual links and every attempted rate."""
    return [one for links in VIRTUAL_LINKS for one in _curve(effort, links).values()]


def findings(lab: Lab) -> Findings:
    """Compare the number of virtual links beyond which more do not help; plot two figures."""
    found = Findings()
    highest = {}
    for links in VIRTUAL_LINKS:
        curve = _curve(lab.effort, links)
        measured = lab.measure(curve.values())
        highest[links] = measured[-1].accepted_mbytes_per_s
        found.series += level2.rate_and_bandwidth(
            "8",
            "ab",
            f"Level II, three blocks of {BLOCK_BYTES} B, sources at random",
            f"{links} virtual links",
            list(curve),
            measured,
        )
    enough = max(highest.values()) * (1 - CONSTANT_PERCENT / 100)
    knee = min(links for links, rate in highest.items() if rate >= enough)
    printed = numbers("gpmimd")["virtual-links-knee"]
    found.rows = [predicted(printed, float(knee), (4.0, 6.0))]
    return found
