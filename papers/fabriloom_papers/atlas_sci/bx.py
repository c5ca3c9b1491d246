"""Tables 9, 10 and 13: PCs with the BX chipset and D321 cards, back to back and through the switch."""

from __future__ import annotations

from typing import Any

from ..lab import Effort, Findings, Lab, Scenario, between_us
from ..published import Number
from . import hosts, tables

PARAMETER = "what the bridge and the software take: presets pio-bx-d321 and sci-bx-d321, SLOW"
FASTEST_MHZ, SLOW_MHZ = 450, 300
SLOW: hosts.Protocol = {"send_time": "200 ns", "receive_time": "960 ns"}
"""Host times with the slowest processor: 200 ns per message more at either end than in the preset of the
faster ones. Calibrated on Table 10."""
LAST = 1
"""Tag of the last part of a message, for which the receiver waits."""
PRESET = "sci-bx-d321"
TOPOLOGIES: dict[str, tuple[dict[str, Any], str]] = {
    "direct": (hosts.RING, "t1"),
    "across-1-module": ({"kind": "sci-module"}, "t1"),
    "across-3-modules": ({"kind": "sci-switch-16"}, "t15"),
}
"""The networks of Table 13, and the partner of t0 in each."""


def protocol(mhz: int = FASTEST_MHZ) -> hosts.Protocol:
    """Return the protocol of a PC whose processor has that clock."""
    return {"preset": "pio-bx-d321"} | (SLOW if mhz == SLOW_MHZ else {})


def ping_pong(size_bytes: int, mhz: int = FASTEST_MHZ, connection: str = "direct") -> Scenario:
    """Return one round. The driver sends the end of a message after all other parts have been answered."""
    topology, partner = TOPOLOGIES[connection]
    programs = {
        "t0": ["mark", *_message(size_bytes, partner), f"receive {partner} tag {LAST}", "mark"],
        partner: [f"receive t0 tag {LAST}", *_message(size_bytes, "t0")],
    }
    name = f"ping-pong of {size_bytes} B, {mhz} MHz, {connection}"
    technology = {"preset": PRESET}
    return hosts.scenario(name, programs, protocol=protocol(mhz), technology=technology, topology=topology)


def _message(size_bytes: int, to: str) -> list[str]:
    """Return a message for which a receiver waits."""
    whole = size_bytes >= hosts.TRANSACTION_BYTES
    end = min(size_bytes, hosts.TRANSACTION_BYTES if whole else hosts.SMALL_BYTES)
    body = [*hosts.parts(size_bytes - end, to), "flush"] if size_bytes > end else []
    return [*body, f"send {to} {end} B tag {LAST}"]


def stream(size_bytes: int, mhz: int) -> Scenario:
    """Return a sender of message after message. The card always uses all its buffers."""
    small = size_bytes < hosts.TRANSACTION_BYTES
    done = hosts.flushed(size_bytes, "t1", 1, 1) if small else [f"send t1 {size_bytes} B"]
    programs = hosts.streamed(done, *tables.rounds(size_bytes))
    name = f"stream of {size_bytes} B, {mhz} MHz"
    return hosts.scenario(name, programs, protocol=protocol(mhz), technology={"preset": PRESET})


def _mhz(number: Number) -> int:
    return int(number["column"].split("-")[0])


def runs(effort: Effort) -> list[tuple[Number, Scenario, float]]:
    """Return printed cells, their runs, and what to multiply microseconds by (negative: divide)."""
    found: list[tuple[Number, Scenario, float]] = []
    for one in tables.cells(effort, (9,)):
        size = int(one["row"])
        megabytes = tables.rounds(size)[1] * size / hosts.MB
        found.append((one, stream(size, _mhz(one)), -1e6 * megabytes))
    for one in tables.cells(effort, (10,)):
        found.append((one, ping_pong(int(one["row"]), _mhz(one)), 0.5))
    for one in tables.cells(effort, (13,)):
        found.append((one, ping_pong(int(one["row"]), connection=one["column"]), 0.5))
    return found


def findings(lab: Lab) -> Findings:
    """Return one row per cell."""
    found = runs(lab.effort)
    took = lab.each(between_us, [run for _, run, _ in found])
    return Findings(
        rows=[
            tables.told(one, counts * us if counts > 0 else -counts / us, calibrated=PARAMETER)
            for (one, _, counts), us in zip(found, took, strict=True)
        ]
    )
