"""The two test beds and their programs, as scenarios. No number here comes from a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..lab import Lab, Scenario, between_us

BUFFER_BYTES, BUFFERS = 64, 8
SMALL_BYTES = 8
"""Size of a small block."""
BLOCKS = tuple(2**power for power in range(3, 21))
FULL = 0.95
"""A block has the full throughput if it reaches this fraction of the maximum."""


def scenario(
    system: int,
    size_bytes: int,
    programs: Mapping[str, Sequence[str]],
    streams: int = BUFFERS,
    **protocol: Any,
) -> Scenario:
    """Return two PCs. A block that fills fewer buffers gets only those."""
    used = min(streams, -(-size_bytes // BUFFER_BYTES))
    return {
        "name": f"system {system}, {size_bytes} B, {streams} streams",
        "topology": {"kind": "sci-ring", "terminals": 2},
        "technology": {"preset": f"sci-testbed-{system}"},
        "protocol": {
            "preset": f"pio-testbed-{system}",
            "packets_at_once": used,
            "transaction": "dmove",
        }
        | protocol,
        "program": {
            "kind": "operations",
            "terminals": [{"terminal": who, "do": list(done)} for who, done in programs.items()],
        },
        "run": {"duration": "10 s", "warmup": "0 ns", "precision": 0.0},
        "output": {"links": False, "flows": False},
    }


def arrived(system: int, size_bytes: int, streams: int = BUFFERS) -> Scenario:
    """Return one block, until it is in the memory of the other PC: "the real end-to-end data rate".

    The end of the sender says nothing: a write "is already finished as soon as its data are stored in the
    transmit buffer".
    """
    programs = {"t0": ["mark", f"send t1 {size_bytes} B"], "t1": ["receive t0", "mark"]}
    return scenario(system, size_bytes, programs, streams)


def checked(system: int, size_bytes: int, streams: int = BUFFERS, **protocol: Any) -> Scenario:
    """Return one block, until the software of its sender has checked it."""
    programs = {"t0": ["mark", f"send t1 {size_bytes} B", "flush", "mark"]}
    return scenario(system, size_bytes, programs, streams, **protocol)


def repeated(system: int, size_bytes: int, streams: int = BUFFERS, **protocol: Any) -> Scenario:
    """Return block after block."""
    done = ["mark", f"repeat {blocks(size_bytes)}", f"send t1 {size_bytes} B", "end", "flush", "mark"]
    return scenario(system, size_bytes, {"t0": done}, streams, **protocol)


def blocks(size_bytes: int) -> int:
    """Return the number of blocks; with this many, beginning and end do not matter."""
    return max(2, 2**18 // size_bytes)


def throughputs(
    lab: Lab, system: int, sizes_bytes: Sequence[int], streams: int = BUFFERS, **protocol: Any
) -> list[float]:
    """Return the throughput in MB/s of blocks of some sizes."""
    runs = [repeated(system, size, streams, **protocol) for size in sizes_bytes]
    took = lab.each(between_us, runs)
    return [blocks(size) * size / us for size, us in zip(sizes_bytes, took, strict=True)]


def full_from(sizes_bytes: Sequence[int], rates: Sequence[float]) -> int:
    """Return the size of the shortest block with the full throughput."""
    most = max(rates)
    return next(size for size, rate in zip(sizes_bytes, rates, strict=True) if rate >= FULL * most)
