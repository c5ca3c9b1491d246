"""Fit the settings of a technology and a protocol to samples: parameterised LogP on a crossbar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import simulate, units
from ..scenario import Scenario
from .samples import QUANTITIES, Curve, FitError, Floats, Samples

_CYCLE_PS, _STEP_PS, _MOST_FLIT = 2_000, 10, 512
"""Least cycle: messages fill whole ones. Cycles are of whole steps, which keep the ticks of a run long."""
_LIMITED = 1.1
"""If a train takes longer by this factor than messages to several targets in turn, its receiver limits it."""
_KNOWN = 5.0
"""Least ratio of a difference to its tolerance from which a slope is taken."""
PACKET_BYTES = 2**24


@dataclass(frozen=True)
class Row:
    """The times of messages of one size, in nanoseconds."""

    size: int
    send: float
    receive: float
    packet: float
    gap: float
    left: float
    """Part of a half round trip that the model cannot represent; below 0: what its network takes too long."""


@dataclass(frozen=True)
class Model:
    """The fitted model: the table of both sections, and the curves from which it was made."""

    technology: dict[str, Any]
    rows: list[Row]
    curves: dict[str, Curve]
    samples: Samples
    byte_ns: float
    """G: time per byte of the link, in nanoseconds."""
    latency_ns: float
    """L: latency of the network in nanoseconds, without hosts and bytes."""
    receiver_limits: bool

    def sections(self) -> dict[str, Any]:
        """Return ``technology`` and ``protocol`` in the form of a scenario."""
        times = ("send", "receive", "packet", "gap")
        names = ("send_time", "receive_time", "packet_time", "send_gap_time")
        rows = [
            {
                "message": units.format_bytes(row.size),
                **{name: ns(getattr(row, time)) for name, time in zip(names, times, strict=True)},
            }
            for row in self.rows
        ]
        protocol = {"preset": "raw", "packet": units.format_bytes(PACKET_BYTES), "by_size": rows}
        return {"technology": self.technology, "protocol": protocol}


def ns(value: float) -> str:
    """Format whole nanoseconds as in a scenario."""
    return units.format_time_ps(round(value) * 1000)


def build(samples: Samples) -> Model:
    """Fit the model to all samples. Raises :class:`FitError` if there are too few."""
    curves = samples.curves()
    gap = curves.get("turn") or curves.get("gap")
    if gap is None:
        missing = QUANTITIES["gap"]
        raise FitError(
            f"nothing says how often messages can be sent: the {missing}, is missing\n  = measure trains"
        )
    limits, sizes, byte_ns = _limited(curves), _grid(curves), _byte_ns(samples, curves)
    technology, net = _link(samples, curves, gap, byte_ns, sizes)
    rows = [_row(size, curves, gap, net[size], limits) for size in sizes]
    least = min(sizes)
    return Model(technology, rows, curves, samples, byte_ns, max(0.0, net[least] - byte_ns * least), limits)


@dataclass(frozen=True)
class Rate:
    """A time per byte that no part of the path exceeds."""

    byte_ns: float
    quantity: str
    size: int
    """Of the message that takes it, or of the second of two."""
    between: bool
    """Whether it is what one message takes longer than another, instead of all that one takes."""


def rates(samples: Samples, curves: dict[str, Curve]) -> list[Rate]:
    """Return the measured times per byte, the least first: every part of the path is at least this fast.

    Times are those of the lines: of two points of a line the noise would tell. Sizes off the line of their
    neighbours tell none.
    """
    found: list[Rate] = []
    for name in ("half_round", "gap", "turn"):
        even = ~samples.odd(name)
        sizes, values, tolerances = (column[even] for column in samples.columns(name))
        values = np.array([curves[name].at(size) for size in sizes]) if name in curves else values
        host = [curves["send"].at(size) for size in sizes] if name == "half_round" and "send" in curves else 0
        whole = values - host
        found += [
            Rate(float(time / size), name, int(size), False)
            for size, time, unsure in zip(sizes, whole, tolerances, strict=True)
            if time > unsure
        ]
        for line in curves[name].lines if name in curves else ():
            inside = (sizes >= line.first) & (sizes <= line.last)
            found += _steps(name, sizes[inside], values[inside], tolerances[inside])
    return sorted(found, key=lambda rate: rate.byte_ns)


def _byte_ns(samples: Samples, curves: dict[str, Curve]) -> float:
    """Return the least measured time per byte. Raises :class:`FitError` if there is none."""
    found = rates(samples, curves)
    if not found:
        message = "all times per message are lost in the noise"
        raise FitError(f"{message}\n  = measure longer trains, or let nothing else run")
    return max(1e-3, found[0].byte_ns)


def _steps(name: str, sizes: Floats, values: Floats, tolerances: Floats) -> list[Rate]:
    """Return the well-determined slopes from one size to the next."""
    step, unsure = np.diff(values), tolerances[1:] + tolerances[:-1]
    known = np.flatnonzero(step > _KNOWN * unsure)
    return [Rate(float(step[at] / np.diff(sizes)[at]), name, int(sizes[at + 1]), True) for at in known]


def _limited(curves: dict[str, Curve]) -> bool:
    """Whether the receiver limits a train."""
    if "turn" not in curves or "gap" not in curves:
        return False
    first = curves["turn"].lines[0].first
    return curves["gap"].at(first) > _LIMITED * curves["turn"].at(first)


def _grid(curves: dict[str, Curve]) -> list[int]:
    """Return the sizes at which a line begins or ends, and those just before the next one."""
    sizes: set[int] = set()
    for curve in curves.values():
        for line in curve.lines:
            sizes |= {int(line.first), int(line.last)}
        sizes |= {int(first) - 1 for _, first, _ in curve.jumps() if first > 1}
    return sorted(sizes)


def _half(curves: dict[str, Curve], gap: Curve, size: int) -> float:
    """Return half a round trip; if none was measured, the gap between messages."""
    return (curves.get("half_round") or gap).at(size)


def _hosts(curves: dict[str, Curve], size: int) -> tuple[float, float]:
    send, receive = (curves[name].at(size) if name in curves else 0.0 for name in ("send", "receive"))
    return send, receive


def _link(
    samples: Samples, curves: dict[str, Curve], gap: Curve, byte_ns: float, sizes: list[int]
) -> tuple[dict[str, Any], dict[int, float]]:
    """Return the technology of a crossbar with this rate and latency, and its time for each size."""
    flit, cycle_ps = flit_of(byte_ns * 1000)
    settings = {"preset": "generic", "cycle": units.format_time_ps(cycle_ps), "flit": f"{flit} B"}
    settings |= {"router_cycles": 0, "link_cycles": 1, "handover_cycles": 1, "next_head_cycles": 0}
    latency = _latency(samples, curves, gap, network(_buffered(settings), sizes))
    settings["link_cycles"] = 1 + max(0, int(latency * 1000 / cycle_ps / 2))
    technology = _buffered(settings)
    return technology, network(technology, sizes)


def _latency(samples: Samples, curves: dict[str, Curve], gap: Curve, alone: dict[int, float]) -> float:
    """Return the time that a link takes longer than one that is as short as it can be.

    It is what the smallest message takes besides its hosts, or less, if only then no receive is shortened;
    but where receives overlap the transfer whatever the latency is, some are.
    """
    rest = {size: _half(curves, gap, size) - sum(_hosts(curves, size)) for size in alone}
    least = min(alone)
    even = ~samples.odd("half_round")
    sizes, _, tolerances = (column[even] for column in samples.columns("half_round"))
    known = dict(zip(sizes.tolist(), tolerances.tolist(), strict=True))
    most = [rest[size] - alone[size] + known[size] for size in alone if size in known]
    latency = rest[least] - alone[least]
    return min(latency, *most) if most and min(most) > 0 else latency


def flit_of(byte_ps: float) -> tuple[int, int]:
    """Return a flit in bytes and the time of its cycle: the shortest with this rate within 0.1 %."""
    first = min(max(1, -int(-_CYCLE_PS // byte_ps)), _MOST_FLIT)
    flits = range(first, min(4 * first, _MOST_FLIT) + 1)
    found = [(flit, max(1, round(byte_ps * flit / _STEP_PS)) * _STEP_PS) for flit in flits]
    return min(found, key=lambda one: (abs(one[1] / one[0] / byte_ps - 1) > 1e-3, one[1]))


def _buffered(settings: dict[str, Any]) -> dict[str, Any]:
    """Add buffers that keep the link busy at any latency."""
    flits = min(2**20, 4 * int(settings["link_cycles"]) + 16)
    return {**settings, "input_buffer_flits": flits, "output_buffer_flits": 16}


def network(technology: dict[str, Any], sizes: list[int]) -> dict[int, float]:
    """Return the time of a message from creation to arrival without hosts, in nanoseconds."""
    to, back = [], []
    for size in sizes:
        to += [f"send 1 {size} B", "receive 1"]
        back += ["receive 0", "send 0 1 B"]
    tables = [{"terminal": 0, "do": to}, {"terminal": 1, "do": back}]
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": 2},
            "technology": technology,
            "protocol": {"preset": "raw", "packet": units.format_bytes(PACKET_BYTES)},
            "program": {"kind": "operations", "terminals": tables},
            "run": {"duration": "1000 s"},
            "output": {"messages": True, "links": False, "flows": False},
        }
    )
    messages = simulate.run(scenario).messages
    mine = messages.filter(messages["source"] == messages["source"][0]).sort("made_ns")
    return dict(zip(sizes, mine["latency_ns"].to_list(), strict=True))


def _row(size: int, curves: dict[str, Curve], gap: Curve, net: float, limits: bool) -> Row:
    """Return the times of one size: half a round trip minus hosts and network is the time to fill the packet.

    A receive that overlaps the transfer is shortened to the remainder. Filling a packet cannot take longer
    than the gap, or the gap would be longer; nor can a receive where its time would limit a train.
    """
    send, receive = _hosts(curves, size)
    apart = gap.at(size)
    spare = _half(curves, gap, size) - send - net
    rest = max(0.0, spare)
    if limits:
        receive = max(receive, curves["gap"].at(size))
    receive = min(receive, rest)
    packet = min(rest - receive, apart)
    left = rest - receive - packet
    more = max(0.0, min(left, apart - receive))
    return Row(size, send, receive + more, packet, apart, left - more + min(0.0, spare))
