"""Tables 1 to 8: two PCs with the LX chipset and D310 cards, in all their settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fabriloom.technology import protocol

from ..lab import Effort, Findings, Lab, Scenario, between_us
from ..published import Number, numbers
from ..rows import near, reported, row
from . import hosts

BANDWIDTHS, LATENCIES = (1, 2, 3, 4), (5, 6, 7, 8)
CALIBRATED = (1, 4, 7)
PARAMETER = "what a store, a burst, the bridge and the barrier take: preset pio-lx-d310 and hosts.py"
NEAR = 0.15
"""Tolerance of a cell, as a fraction of the printed value; the tables are judged by their mean deviation."""
QUICK_SIZES = (16, 64, 512)
MOST_STREAMS = 8
"""Stream buffers of a D310."""
PRESET, BRIDGE_SMALL_PS = "pio-lx-d310", 1_825_000
"""Preset of the host, and the bridge's latency before a transaction of 16 B. The rings' preset has the
latency before one of 64 B. Calibrated on Tables 1 and 4."""


@dataclass(frozen=True)
class Cell:
    """The settings of one measurement."""

    table: int
    size_bytes: int
    streams: int
    store_bytes: int

    @classmethod
    def of(cls, number: Number) -> Cell:
        """Return the settings of a printed cell."""
        table, size, streams, store = number["id"].split("/")
        return cls(int(table[6:]), int(size), int(streams[0]), int(store[0]))

    @property
    def gathered(self) -> bool:
        """Whether the card gathers the stores that it gets."""
        return self.table % 2 == 0

    @property
    def combined(self) -> bool:
        """Whether the processor combines its stores."""
        return self.table in (3, 4, 7, 8)

    @property
    def single(self) -> bool:
        """Whether every store of 4 bytes reaches and leaves the card by itself."""
        return not self.gathered and not self.combined and self.store_bytes == min(hosts.STORES_BYTES)

    @property
    def posted(self) -> bool:
        """Whether a message is stored ahead while the previous one is flushed; it then arrives in a burst."""
        return self.gathered and self.table in BANDWIDTHS and self.size_bytes <= hosts.AHEAD_BYTES

    @property
    def crosses_ahead(self) -> bool:
        """Whether what waits for an answer has crossed the host's bus when that comes.

        A store that the card refuses is repeated until the answer is there. With one buffer, or a flush
        between messages, this saves the crossing of a message that is one store; with several buffers, that
        of single stores in lines. Table 1 shows both, and that nothing else is saved.
        """
        if self.combined or self.table not in BANDWIDTHS:
            return False
        if self.single and self.size_bytes >= hosts.TRANSACTION_BYTES:
            return self.streams > 1
        return self.size_bytes == self.store_bytes and (self.streams == 1 or self.gathered)

    @property
    def small(self) -> bool:
        """Whether the transactions have 16 B."""
        return self.single or self.size_bytes < hosts.TRANSACTION_BYTES


def scenario(cell: Cell) -> Scenario:
    """Return the measurement of a cell as a run."""
    longer = cell.size_bytes + 1  # makes every message a small one
    protocol: hosts.Protocol = {
        "preset": PRESET,
        "packets_at_once": cell.streams,
        "small_below": f"{longer if cell.single else hosts.TRANSACTION_BYTES} B",
    }
    if cell.single:
        protocol["byte_time"] = "0 ns"  # the programs contain this time
    elif not cell.combined and not cell.posted:
        protocol["byte_time"] = f"{hosts.STORE_PS // cell.store_bytes} ps"
    technology: dict[str, Any] = {"preset": "sci-lx-d310"}
    if cell.small:
        technology["host_latency"] = f"{_bridge_ps(cell)} ps"
    programs = _bandwidth(cell) if cell.table in BANDWIDTHS else _latency(cell)
    words = "combined" if cell.combined else f"{cell.store_bytes} B at a time"
    name = f"{cell.size_bytes} B, {cell.streams} streams, stores {words}"
    return hosts.scenario(name, programs, protocol=protocol, technology=technology)


def _bridge_ps(cell: Cell) -> int:
    """Return the bridge's latency before a packet, without the crossing of the bus if that is saved."""
    host = protocol(PRESET)
    packet_bytes = min(cell.size_bytes, hosts.SMALL_BYTES)
    crossing_ps = host["bus_packet_time_ps"] + packet_bytes * host["bus_byte_time_ps"]
    return BRIDGE_SMALL_PS - int(crossing_ps if cell.crosses_ahead else 0)


def _bandwidth(cell: Cell) -> dict[str, list[str]]:
    """Return a program that sends message after message."""
    if cell.single:
        done = hosts.lines(cell.size_bytes, "t1")
    elif cell.gathered and cell.small:
        done = hosts.flushed(cell.size_bytes, "t1", cell.streams, MOST_STREAMS)
    else:
        done = [f"send t1 {cell.size_bytes} B"]
    return hosts.streamed(done, *rounds(cell.size_bytes))


def rounds(size_bytes: int) -> tuple[int, int]:
    """Return how many messages to send first, and how many to measure: multiples of eight buffers."""
    fewest = max(1, 2048 // max(size_bytes, hosts.TRANSACTION_BYTES))
    return fewest, 2 * fewest


def _latency(cell: Cell) -> dict[str, list[str]]:
    """Return one message and a barrier. The first single store finds the card idle and leaves alone."""
    if cell.single:
        done = hosts.lines(cell.size_bytes, "t1", alone=True)
    else:
        done = hosts.parts(cell.size_bytes, "t1")
    return {"t0": ["mark", *done, "flush", f"wait {hosts.BARRIER}", "mark"]}


def cells(effort: Effort, tables: tuple[int, ...] = BANDWIDTHS + LATENCIES) -> list[Number]:
    """Return the printed cells of some tables, damaged ones included; for a quick look, a few rows."""
    found = [
        number
        for number in numbers("atlas-sci").values()
        if number["id"].split("/")[0] in {f"table-{table}" for table in tables} and "row" in number
    ]
    return [one for one in found if not effort.quick or int(one["row"]) in QUICK_SIZES]


def value(cell: Cell, took_us: float) -> float:
    """Return the value of a cell from the time of its run: MB/s or us."""
    if cell.table in LATENCIES:
        return took_us
    return rounds(cell.size_bytes)[1] * cell.size_bytes / took_us * 1e6 / hosts.MB


def findings(lab: Lab) -> Findings:
    """Return one row per cell."""
    printed = cells(lab.effort)
    took = lab.each(between_us, [scenario(Cell.of(one)) for one in printed])
    return Findings(
        rows=[told(one, value(Cell.of(one), us)) for one, us in zip(printed, took, strict=True)],
    )


def told(number: Number, ours: float, near_part: float = NEAR, calibrated: str = PARAMETER) -> dict[str, Any]:
    """Return the row of a cell; damaged cells are not scored."""
    if "damaged" in number:
        return reported(number, ours, f"damaged: {number['damaged']}")
    table = int(number["id"].split("/")[0][6:])
    kind = "calibrated" if table in CALIBRATED or table == 10 else "predicted"
    note = calibrated if kind == "calibrated" else ""
    return row(number, ours, kind=kind, tolerance=near(number, near_part), note=note)
