"""The hosts of the note and what they do, as scenarios. No number here comes from a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..lab import Scenario

MB = 2**20
"""Bytes in what the measured rates call MB: only so do Tables 1 to 4 and 9 agree with the times of Tables 5
to 8 and 10, of the same machines."""

TRANSACTION_BYTES, SMALL_BYTES = 64, 16
"""Data of the two transactions that the cards make of stores."""
STORE_PS = 121_212
"""A store that is not combined: four clocks of a PCI bus at 33 MHz. The 63 and 32 MB/s of Tables 1 and 2 are
eight and sixteen of them for 64 B."""
STORES_BYTES = (4, 8)
AHEAD_BYTES = 32
"""What can be stored ahead into the chipset: the setting ``ahead`` of the hosts."""
LINE_WAITS = 3
"""Single stores, neither combined nor gathered, leave in transactions of 16 B. The four of a line of 64 B
share a buffer, so each but the last has to be answered before the processor can store on; the next line has
a buffer of its own."""
BARRIER = "850 ns"
"""Of the barrier that ends a latency test: reading a register of the card. Calibrated on Table 7."""
RING = {"kind": "sci-ring", "terminals": 2}
"""Two PCs back to back."""
ROUTING = {"kind": "fewest-buses", "by_transaction": True}
"""The tables of an LC-2 look at the transaction identifier, too (section 4): packets of one pair go through
the switch of 16 ports by both expansion modules."""
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
    """A run of programs that end."""
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
    """What is shorter than a transaction of 64 B leaves in transactions of 16 B, one after the other."""
    if size_bytes >= TRANSACTION_BYTES:
        return [f"send {to} {size_bytes} B"]
    return _in_turn([min(SMALL_BYTES, size_bytes - at) for at in range(0, size_bytes, SMALL_BYTES)], to)


def flushed(size_bytes: int, to: str, streams: int, most_streams: int) -> list[str]:
    """Message after message shorter than 64 B through a card that gathers.

    The first store of the next message does not continue what is gathered: it has the card send that, and
    waits until it is answered. In transactions of 16 B; one after the other, or at once if the card uses all
    the buffers it has. Calibrated on the row of 32 B of Table 4.
    """
    if streams == most_streams:
        return [f"send {to} {size_bytes} B", "flush"]
    return [*parts(size_bytes, to), "flush"]


def _in_turn(sizes_bytes: Sequence[int], to: str) -> list[str]:
    """Messages one by one, each when the one before is answered; nothing behind the last."""
    done = [line for size in sizes_bytes for line in (f"send {to} {size} B", "flush")]
    return done[:-1]


def single_stores(sizes_bytes: Sequence[int], to: str, at_once: Sequence[bool]) -> list[str]:
    """Stores that nobody combines or gathers, in packets of this size; for some the processor waits.

    While it waits it stores the next packet ahead, into the chipset; else that takes its time.
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
    """A message in single stores. ``alone``: the first store finds the card idle and leaves by itself."""
    first = [min(STORES_BYTES)] if alone else []
    starts = range(0, size_bytes, SMALL_BYTES)
    sizes = [min(SMALL_BYTES, size_bytes - at) for at in starts]
    if alone:
        sizes[0] -= first[0]
    waits = [size_bytes > SMALL_BYTES and at % TRANSACTION_BYTES < LINE_WAITS * SMALL_BYTES for at in starts]
    return single_stores([*first, *sizes], to, [*(False for _ in first), *(not one for one in waits)])


def streamed(done: Sequence[str], before: int, counted: int) -> dict[str, list[str]]:
    """A sender that repeats something until all is steady, and then between two marks."""
    return {"t0": [f"repeat {before}", *done, "end", "mark", f"repeat {counted}", *done, "end", "mark"]}
