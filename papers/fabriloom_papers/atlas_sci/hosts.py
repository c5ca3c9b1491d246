"""The hosts of the note and their programs, as scenarios. No number here comes from a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..lab import Scenario

MB = 2**20
"""Bytes in a MB of the measured rates. Only with this value do Tables 1 to 4 and 9 agree with the times of
Tables 5 to 8 and 10, which are of the same machines."""

TRANSACTION_BYTES, SMALL_BYTES = 64, 16
"""Payload of the two transactions into which the cards pack stores."""
STORE_PS = 121_212
"""Time of a store that is not combined: four clocks of a PCI bus at 33 MHz. The 63 and 32 MB/s of Tables 1
and 2 are eight and sixteen such stores for 64 B."""
STORES_BYTES = (4, 8)
AHEAD_BYTES = 32
"""How much can be stored ahead into the chipset: the setting ``ahead`` of the hosts."""
LINE_WAITS = 3
"""Single stores that are neither combined nor gathered leave in transactions of 16 B. The four transactions
of a line of 64 B share a buffer. Each but the last has to be answered before the processor can store on; the
next line has its own buffer."""
BARRIER = "850 ns"
"""Time of the barrier that ends a latency test: reading a register of the card. Calibrated on Table 7."""
RING = {"kind": "sci-ring", "terminals": 2}
"""Two PCs, back to back."""
ROUTING = {"kind": "fewest-buses", "by_transaction": True}
"""The tables of an LC-2 also use the transaction identifier (section 4): packets of one pair cross the switch
of 16 ports by both expansion modules."""
BUSY_MS = 3

Protocol = dict[str, Any]


def scenario(
    name: str,
    programs: Mapping[str, Sequence[str]],
    *,
    protocol: Protocol,
    technology: dict[str, Any],
    topology: dict[str, Any] = RING,
) -> Scenario:
    """Return a run of programs that end."""
    return {
        "name": name,
        "topology": topology,
        "routing": ROUTING,
        "technology": technology,
        "protocol": protocol,
        "program": {
            "kind": "operations",
            "terminals": [{"terminal": who, "do": list(done)} for who, done in programs.items()],
        },
        "run": {"duration": "1 s", "warmup": "0 ns", "precision": 0.0},
        "output": {"links": False, "flows": False},
    }


def parts(size_bytes: int, to: str) -> list[str]:
    """Return a message; below 64 B it leaves in transactions of 16 B, one after the other."""
    if size_bytes >= TRANSACTION_BYTES:
        return [f"send {to} {size_bytes} B"]
    return _in_turn([min(SMALL_BYTES, size_bytes - at) for at in range(0, size_bytes, SMALL_BYTES)], to)


def flushed(size_bytes: int, to: str, streams: int, most_streams: int) -> list[str]:
    """Return one message shorter than 64 B of a stream through a card that gathers.

    The first store of the next message does not continue the gathered data: the card sends these, and the
    processor waits for the answer. The transactions of 16 B go one after the other, or all at once if the
    card uses all its buffers. Calibrated on the row of 32 B of Table 4.
    """
    if streams == most_streams:
        return [f"send {to} {size_bytes} B", "flush"]
    return [*parts(size_bytes, to), "flush"]


def _in_turn(sizes_bytes: Sequence[int], to: str) -> list[str]:
    """Return messages that each wait for the answer to the previous one; nothing follows the last."""
    done = [line for size in sizes_bytes for line in (f"send {to} {size} B", "flush")]
    return done[:-1]


def single_stores(sizes_bytes: Sequence[int], to: str, at_once: Sequence[bool]) -> list[str]:
    """Return stores that are neither combined nor gathered, in packets of these sizes.

    Where ``at_once`` is false the processor waits for the answer, and stores the next packet ahead into the
    chipset meanwhile; otherwise the next store takes its own time.
    """
    done: list[str] = []
    for size, goes_on in zip(sizes_bytes, at_once, strict=True):
        if not done or done[-1] != "flush":
            done.append(f"wait {-(-size // min(STORES_BYTES)) * STORE_PS} ps")
        done.append(f"send {to} {size} B")
        if not goes_on:
            done.append("flush")
    return done


def lines(size_bytes: int, to: str, alone: bool = False) -> list[str]:
    """Return a message in single stores. ``alone``: the first store finds the card idle and leaves."""
    first = [min(STORES_BYTES)] if alone else []
    starts = range(0, size_bytes, SMALL_BYTES)
    sizes = [min(SMALL_BYTES, size_bytes - at) for at in starts]
    if alone:
        sizes[0] -= first[0]
    waits = [size_bytes > SMALL_BYTES and at % TRANSACTION_BYTES < LINE_WAITS * SMALL_BYTES for at in starts]
    return single_stores([*first, *sizes], to, [*(False for _ in first), *(not one for one in waits)])


def streamed(done: Sequence[str], before: int, counted: int) -> dict[str, list[str]]:
    """Return a sender that repeats operations until the flow is steady, and then between two marks."""
    return {"t0": [f"repeat {before}", *done, "end", "mark", f"repeat {counted}", *done, "end", "mark"]}
