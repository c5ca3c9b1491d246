"""The parts of the machine: inputs, counts on the networks as built, numbers that are not simulated, and
rates that follow from the characters alone, which must agree to the printed digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from fabriloom.technology import protocol, technology
from fabriloom.topology import build

from ..lab import Findings, Lab
from ..published import Number, numbers
from ..rows import arithmetic, exact, inputs, noted, reported
from . import networks

CASE = "says which case is run"
OUTSIDE = "not part of what is simulated"
DRAWN = "a count in a drawn example"
EXPECTED = "what an experiment expects, not a result"

_CASES = {
    "pair-sources": networks.PAIRS[0],
    "pair-destinations": networks.PAIRS[1],
    "level-2-sources": networks.LEVEL_2[0],
    "level-2-destinations": networks.LEVEL_2[1],
    "level-3-sources": networks.LEVEL_3[0],
    "level-3-destinations": networks.LEVEL_3[1],
    "level-2-blocks": 3,
    "level-2-sources-per-block": 1,
    "figure-6-block": 1.0,
    "figure-7-block-least": 0.2,
    "figure-7-block-most": 1.2,
    "figure-7-blocks-least": 3,
    "figure-7-blocks-most": 5,
    "figure-7-sources-per-block": 2,
    "figure-7-from": 3,
    "figure-7-to": 18,
    "virtual-links": 5,
    "level-3-block-sizes": 3,
    "level-3-sources-per-block": 21,
    "figure-9-traced": 3,
    "figure-10-sources": 21,
    "figure-10-destinations": 14,
    "table-2/level-2-blocks": 3,
    "table-2/level-2-sources": 2,
    "table-2/level-3-sources": 21,
    "table-2/level-2-least": 0.2,
    "table-2/level-2-most": 1.2,
    "table-2/level-3-least": 10,
    "table-2/level-3-most": 50,
}
_OUTSIDE = (
    "protocols",
    "hs-rate-least",
    "hs-rate-most",
    "reliable-distance",
    "bit-error-rate",
    "switching-share",
    "upgrade-cards",
    "upgrade-nodes",
    "next-fabric",
)


def findings(_lab: Lab) -> Findings:
    """Return one row per printed part."""
    printed = numbers("gpmimd")
    rows = _inputs(printed) + _counts(printed) + _beside(printed)
    rows += [reported(printed[key], value, CASE) for key, value in _CASES.items()]
    rows += [reported(printed[key], None, OUTSIDE) for key in _OUTSIDE]
    rows += [reported(one, None, DRAWN) for key, one in printed.items() if key.startswith("example-")]
    expected = [one for key, one in printed.items() if key.startswith("table-1/")]
    rows += [reported(one, None, EXPECTED) for one in [*expected, printed["nodes-expected"]]]
    return Findings(rows=rows + _rates(printed))


def _inputs(printed: dict[str, Number]) -> list[dict[str, Any]]:
    tech, virtual_link = technology(networks.PRESET), protocol(networks.PROTOCOL)
    ours = {
        "link-rate": tech.link_rate_bits_per_s / 1e6,
        "protocol-levels": 3,
        "packet-most": virtual_link["packet_bytes"],
        "motherboards": networks.BOARDS,
        "processors-per-board": networks.T9000_PER_BOARD,
        "switches-per-board": networks.SWITCHES_PER_BOARD,
        "switch-cards": networks.SWITCH_CARDS,
        "switches-per-card": networks.SWITCHES_PER_CARD,
        "networks": networks.NETWORKS,
        "processor-links": networks.NETWORKS,
        "switch-ports": 32,
        "bundle-least": networks.LINKS[0] // 3,
        "bundle-most": networks.LINKS[-1] // 3,
    }
    return inputs(printed, ours)


def _counts(printed: dict[str, Number]) -> list[dict[str, Any]]:
    """Compare counts on the networks as built; they must be exact."""
    clos = build(**networks.machine())
    boards = networks.BOARDS * networks.SWITCHES_PER_BOARD
    cards = networks.SWITCH_CARDS * networks.SWITCHES_PER_CARD
    counted: dict[str, float] = {
        "processors": clos.terminals,
        "switches": boards + cards,
        "links-per-board": _up(networks.MOST_LINKS, (0,)),
        "network-links-least": _up(networks.LINKS[0], networks.SENDING_BOARDS),
        "network-links-most": _up(networks.LINKS[-1], networks.SENDING_BOARDS),
        "level-2-links": _up(networks.MOST_LINKS, networks.SENDING_BOARDS),
        "machine-over-network": networks.NETWORKS,
    }
    counted |= {f"links-{links}": _up(links, networks.SENDING_BOARDS) for links in networks.LINKS}
    both_cards = [links // 3 for links in networks.LINKS if networks.machine(links)["centre_switches"] == 2]
    counted |= {f"bundle-clos-{bundle}": bundle for bundle in both_cards}
    return exact(printed, counted)


def _up(links: int, boards: tuple[int, ...]) -> int:
    """Return the number of links from these boards' switches to those of the cards."""
    clos = build(**networks.machine(links))
    up = (clos.link_target >= networks.BOARDS) & (clos.link_target < clos.switches)
    return int((np.isin(clos.link_source, boards) & up).sum())


def _beside(printed: dict[str, Number]) -> list[dict[str, Any]]:
    """Report printed numbers that the rest of the paper contradicts, or that are only rounded."""
    least, most = (float(printed[f"summary-bandwidth-{end}"]["value"]) for end in ("least", "most"))
    theory = networks.theory_mbytes_per_s(networks.MOST_LINKS)
    processors = networks.BOARDS * networks.T9000_PER_BOARD
    ends = sum(networks.PAIRS)
    machine = float(printed["machine-processors"]["value"])
    said = {
        "machine-links": (machine * networks.NETWORKS, "a round number: 4 links of each of 256 processors"),
        "machine-processors": (None, "the full machine was never there; the model has the 48 of section 3"),
        "nodes-share": (100 * processors / machine, "a round number: 48 of 256"),
        "summary-nodes": (ends, "section 3.1 has 21 sources and 21 destinations"),
        "summary-share-least": (100 * least / theory, "the summary's 50 MB/s, of what 12 links carry"),
        "summary-share-most": (100 * most / theory, "the summary's 70 MB/s, of what 12 links carry"),
    }
    return noted(printed, said)


def _rates(printed: dict[str, Number]) -> list[dict[str, Any]]:
    """Compare a link in one direction, a network, and a switch with all its links busy in both directions."""
    three_links = networks.theory_mbytes_per_s(networks.LINKS[0])
    note = "contradicts the 3 links of the sentence before; 37 MB/s is what 4 links carry"
    return [
        _cut(printed["link-payload"], networks.one_way_mbytes_per_s(), 0.01),
        _cut(printed["network-payload-most"], networks.theory_mbytes_per_s(networks.MOST_LINKS), 1),
        _cut(printed["level-2-network"], networks.theory_mbytes_per_s(networks.MOST_LINKS), 1),
        _cut(printed["level-3-network"], networks.theory_mbytes_per_s(networks.MOST_LINKS), 1),
        _cut(printed["switch-bandwidth"], 32 * networks.both_ways_mbytes_per_s(), 1),
        reported(printed["network-payload-least"], three_links, note),
    ]


def _cut(printed: Number, ours: float, digit: float) -> dict[str, Any]:
    """Compare with a truncated number: the paper prints 264 for 264.6."""
    value = float(printed["value"])
    return arithmetic(printed, ours, (value, value + digit))
