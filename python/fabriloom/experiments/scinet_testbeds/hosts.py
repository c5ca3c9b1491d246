"""The two test beds and what they do, as scenarios. No number here comes from a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...published import Number
from ..lab import Lab, Scenario
from ..moments import between_us
from ..rows import row

BUFFER_BYTES, BUFFERS = 64, 8
SMALL_BYTES = 8
"""A small block."""
INPUT = "an input of the model"
BLOCKS = tuple(2**power for power in range(3, 21))
FULL = 0.95
"""A block has the full throughput from this part of the most on."""


def scenario(
    system: int, size_bytes: int, done: Sequence[str], streams: int = BUFFERS, **protocol: Any
) -> Scenario:
    """Two PCs, of which one does something. A block that fills fewer buffers has only those."""
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
        "program": {"kind": "operations", "terminals": [{"terminal": "t0", "do": list(done)}]},
        "run": {"duration": "10 s", "warmup": "0 ns", "precision": 0.0},
        "output": {"links": False, "flows": False},
    }


def elapsed(system: int, size_bytes: int, streams: int = BUFFERS, **protocol: Any) -> Scenario:
    """One block, until it is over for its sender."""
    done = ["mark", f"send t1 {size_bytes} B", "flush", "mark"]
    return scenario(system, size_bytes, done, streams, **protocol)


def repeated(system: int, size_bytes: int, streams: int = BUFFERS, **protocol: Any) -> Scenario:
    """Block after block."""
    done = ["mark", f"repeat {blocks(size_bytes)}", f"send t1 {size_bytes} B", "end", "flush", "mark"]
    return scenario(system, size_bytes, done, streams, **protocol)


def blocks(size_bytes: int) -> int:
    """How many, so that beginning and end do not count."""
    return max(2, 2**18 // size_bytes)


def throughputs(
    lab: Lab, system: int, sizes_bytes: Sequence[int], streams: int = BUFFERS, **protocol: Any
) -> list[float]:
    """MB/s of blocks of some sizes."""
    runs = [repeated(system, size, streams, **protocol) for size in sizes_bytes]
    took = lab.each(between_us, runs)
    return [blocks(size) * size / us for size, us in zip(sizes_bytes, took, strict=True)]


def full_from(sizes_bytes: Sequence[int], rates: Sequence[float]) -> int:
    """The shortest block with the full throughput."""
    most = max(rates)
    return next(size for size, rate in zip(sizes_bytes, rates, strict=True) if rate >= FULL * most)


def inputs(printed: dict[str, Number], values: dict[str, float]) -> list[dict[str, Any]]:
    """Rows of what the model was given."""
    return [
        row("scinet-testbeds", printed[key], value, kind="reported", note=INPUT)
        for key, value in values.items()
    ]
