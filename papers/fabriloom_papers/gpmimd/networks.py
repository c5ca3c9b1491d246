"""One of the four networks of the GPMIMD machine, its traffic and run lengths, as scenarios.

No number here comes from a result.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ..lab import Effort, Scenario, sections

PRESET = "t9000-c104"
PROTOCOL = "t9000"
BOARDS, T9000_PER_BOARD = 6, 8
SWITCH_CARDS, NETWORKS = 2, 4
SWITCHES_PER_BOARD, SWITCHES_PER_CARD = 5, 4
SENDING_BOARDS = (0, 1, 2)
RECEIVING_BOARDS = (3, 4, 5)
"""The paper does not say which T9000s send and which receive. All traffic crosses the links that the paper
counts only if sources and destinations share no board."""
LINKS = (3, 6, 9, 12)
"""Links between the boards of the sources and the switch cards: 1 to 4 for each of three boards."""
MOST_LINKS = 12
PACKET_BYTES = 32
PAIRS, LEVEL_2, LEVEL_3 = (21, 21), (18, 18), (21, 14)
"""Sources and destinations of sections 3.1, 4.1 and 4.2."""


def machine(links: int = MOST_LINKS) -> dict[str, Any]:
    """Return the Clos network. Bundles of two and four links reach both switch cards, one and two links to
    each.

    Bundles of one and three links do not form a Clos network, as the paper says: one link leads to one card;
    three links are assumed to lead to one card, not two and one.
    """
    bundle = links // len(SENDING_BOARDS)
    cards = 1 if bundle % SWITCH_CARDS else SWITCH_CARDS
    return {
        "kind": "clos",
        "terminals": BOARDS * T9000_PER_BOARD,
        "terminals_per_switch": T9000_PER_BOARD,
        "centre_switches": cards,
        "links_per_pair": bundle // cards,
    }


def placed(boards: tuple[int, ...], count: int, by_board: bool = False) -> list[str]:
    """Return the names of this many T9000s, spread evenly over the boards, one from each in turn.

    ``by_board``: numbered board after board instead.
    """
    on_board = [count // len(boards) + (place < count % len(boards)) for place in range(len(boards))]
    names = [
        (number, f"t({board}).{number}")
        for board, some in zip(boards, on_board, strict=True)
        for number in range(some)
    ]
    return [name for _, name in (names if by_board else sorted(names, key=lambda one: one[0]))]


def packet_bits(length_bytes: int) -> int:
    """Return the bits of a packet on a link: 10 per character of header (2) and payload, 4 for its end."""
    return (2 + length_bytes) * 10 + 4


def flow_control_bits(length_bytes: int) -> Fraction:
    """Return the bits sent against such a packet: a flow-control character of 4 bits per 8 characters."""
    return Fraction((2 + length_bytes + 1) * 4, 8)


def one_way_mbytes_per_s() -> float:
    """Return the payload rate of a link with packets back to back and only acknowledgements in return."""
    return float(100 * PACKET_BYTES / (packet_bits(PACKET_BYTES) + flow_control_bits(0)))


def both_ways_mbytes_per_s() -> float:
    """Return the payload rate per direction with packets, acknowledgements and flow control in both."""
    bits = packet_bits(PACKET_BYTES) + packet_bits(0)
    return float(100 * PACKET_BYTES / (bits + flow_control_bits(PACKET_BYTES) + flow_control_bits(0)))


def theory_mbytes_per_s(links: int) -> float:
    """Return the maximum one-way throughput of a network with this many links."""
    return links * one_way_mbytes_per_s()


def scenario(
    name: str,
    program: dict[str, Any],
    *,
    warmup_ms: float,
    measure_ms: float,
    links: int = MOST_LINKS,
    protocol: dict[str, Any] | None = None,
    technology: dict[str, Any] | None = None,
    seed: int = 1,
) -> Scenario:
    """Return one run of one network."""
    return {
        "name": f"GPMIMD, {links} links, {name}",
        "seed": seed,
        "topology": machine(links),
        "technology": {"preset": PRESET} | (technology or {}),
        "routing": {"kind": "up-down", "adaptive": True},
        "protocol": {"preset": PROTOCOL} | (protocol or {}),
        "program": program,
        **sections(warmup_ms, measure_ms),
    }


def ends(counts: tuple[int, int], by_board: bool = False) -> dict[str, Any]:
    """Return ``sources`` and ``targets`` of a program."""
    sources, destinations = counts
    return {
        "sources": placed(SENDING_BOARDS, sources, by_board),
        "targets": placed(RECEIVING_BOARDS, destinations, by_board),
    }


def run_times(effort: Effort, message_bytes: int) -> dict[str, Any]:
    """Return warm-up and measuring time; long messages take longer to settle."""
    stretch = max(1.0, message_bytes / effort.time_ms(1024, 2048))
    return {
        "warmup_ms": effort.time_ms(5.0, 2.0) * stretch,
        "measure_ms": effort.time_ms(24.0, 8.0) * stretch,
    }
