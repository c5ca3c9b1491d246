"""Sensitivity of the results of the test beds: one assumption changed at a time."""

from __future__ import annotations

from typing import Any

from ..lab import Lab, between_us
from . import hosts, system_1, system_2

CASES: dict[str, dict[str, Any]] = {
    "as reproduced": {},
    "NWRITE64, with responses": {"transaction": "nwrite"},
    "no bus at the receiver": {"bus_byte_time": "0 ns"},
    "no time to store": {"byte_time": "0 ns"},
}
"""Description of each change, and its settings."""
HEADER = (
    "changed",
    "system 1, 64 B over the most (%)",
    "system 1, write over read",
    *(f"system 2, {count} buffers (MB/s)" for count in system_2.STREAMS),
)


def table(jobs: int = 2) -> list[list[str]]:
    """Return one line per case."""
    with Lab(jobs=jobs) as lab:
        return [[name, *_line(lab, changed)] for name, changed in CASES.items()]


def _line(lab: Lab, changed: dict[str, Any]) -> list[str]:
    large = system_1.LARGE
    half, most = hosts.throughputs(lab, 1, [system_1.HALF_BLOCK, large], **changed)
    read = system_1.reads(large)
    read |= {"protocol": read["protocol"] | changed}
    (read_us,) = lab.each(between_us, [read])
    streams = [hosts.throughputs(lab, 2, [large], count, **changed)[0] for count in system_2.STREAMS]
    shares = [f"{100 * half / most:.0f}", f"{most / (large / read_us):.2f}"]
    return [*shares, *(f"{rate:.1f}" for rate in streams)]
