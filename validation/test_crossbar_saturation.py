"""Head-of-line saturation of an N x N crossbar with one queue per input.

Packets of one length, all inputs always full, destinations uniform over all N outputs, contenders drawn at
random: the throughput is 0.7500, 0.6553, 0.6184 for N = 2, 4, 8 and tends to 2 - sqrt(2) = 0.586 (Karol,
Hluchyj and Morgan 1987).

The theory is slotted. Here it holds exactly although nothing is slotted: all senders start together, a
crossbar at link rate holds an output for exactly one packet time, routing takes no time and buffers hold
many packets, so every grant falls on a multiple of the packet time and all contenders of a slot are seen in
one tick.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from support import flit_technology, matrix_file, simulate

FLITS = 4
KNOWN = {2: 0.7500, 4: 0.6553, 8: 0.6184}
LIMIT = 2 - 2**0.5


@cache
def throughput(size: int, folder: Path, packets: int = 800_000) -> tuple[float, float]:
    """Share of the outputs' capacity that is used, and its standard error."""
    slots = packets / size / 0.62
    results = simulate(
        {
            "name": f"crossbar {size} x {size}",
            "seed": 5,
            "topology": {"kind": "crossbar", "terminals": 2 * size},
            "technology": flit_technology(arbiter="random"),
            "traffic": {
                "pattern": {"kind": "matrix", "path": matrix_file(folder, size, size)},
                "length": f"{8 * FLITS} B",
                "arrivals": "backlog",
                "senders": list(range(size)),
            },
            "run": {
                "duration": f"{slots * FLITS:.0f} ns",
                "warmup": f"{slots * FLITS / 100:.0f} ns",
                "precision": 0,
            },
        }
    )
    # A flit of 8 bytes in 1 ns is 8000 MB/s.
    capacity = 8000 * size
    summary = results.summary
    return (
        summary["accepted_mbytes_per_s"] / capacity,
        summary["accepted_mbytes_per_s_ci95"] / 2.05 / capacity,
    )


@pytest.mark.parametrize("size", KNOWN)
def test_known_values(size: int, tmp_path: Path) -> None:
    """Within 0.5 % of the theory.

    False alarms: the standard error is asked to be below a fifth of the tolerance, so less than 1 in 10,000.
    """
    share, error = throughput(size, tmp_path)
    assert error < 0.001 * KNOWN[size]
    assert share == pytest.approx(KNOWN[size], rel=0.005)


def test_trend_to_the_limit(tmp_path: Path) -> None:
    """Throughput falls with N towards 0.586, and extrapolated in 1/N it meets it.

    False alarms: differences are several dozen standard errors, the extrapolation is allowed 1 %, five of
    its own standard errors: less than 1 in 10,000.
    """
    shares = {size: throughput(size, tmp_path)[0] for size in (8, 16, 32, 64)}
    values = list(shares.values())
    assert values == sorted(values, reverse=True)
    assert values[-1] > LIMIT
    assert 2 * shares[64] - shares[32] == pytest.approx(LIMIT, rel=0.01)
