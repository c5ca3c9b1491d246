"""From samples to the settings of a technology and a protocol: parameterised LogP on a crossbar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import simulate, units
from ..scenario import Scenario
from .errors import FitError
from .lines import Curve, Floats
from .samples import QUANTITIES, Samples

CYCLES_PS = sorted(2**a * 5**b for a in range(16) for b in range(13) if 2_000 <= 2**a * 5**b <= 4_000_000)
"""Cycles whose rates are whole bits per second."""
_MOST_FLIT = 512
_LIMITED = 1.1
"""A train that takes so much longer than messages to one target after the other is held up by "
"its receiver."""
_KNOWN = 5.0
"""A difference that is this many times its tolerance is taken for a slope."""
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
    """Of half a round what the model cannot hold."""


@dataclass(frozen=True)
class Model:
    """What was fitted: the table of both sections, and the curves they come from."""

    technology: dict[str, Any]
    rows: list[Row]
    curves: dict[str, Curve]
    samples: Samples
    byte_ns: float
    """G: nanoseconds per byte of the link."""
    latency_ns: float
    """L: of the network, without hosts and without the bytes."""
    receiver_limits: bool

    def sections(self) -> dict[str, Any]:
        """``technology`` and ``protocol`` as a scenario has them."""
        times = ("send", "receive", "packet", "gap")
        names = ("send_time", "receive_time", "packet_time", "send_gap_time")
        rows = [
            {
                "message": units.format_bytes(row.size),
                **{name: ns(getattr(row, time)) for name, time in zip(names, times, strict=True)},
            }
            for row in self.rows
        ]
        packet = units.format_bytes(PACKET_BYTES)
        return {
            "technology": self.technology,
            "protocol": {"preset": "raw", "packet": packet, "by_size": rows},
        }


def ns(value: float) -> str:
    """Nanoseconds as a scenario has them, whole ones."""
    return units.format_time_ps(round(value) * 1000)


def build(samples: Samples) -> Model:
    """The model of all that is known. Raises :class:`FitError` where that is too little."""
    curves = samples.curves()
    gap = curves.get("turn") or curves.get("gap")
    if gap is None:
        missing = QUANTITIES["gap"]
        raise FitError(
            f"nothing says how often messages can be sent: the {missing}, is missing\n  = measure trains"
        )
    limits = _limited(curves)
    sizes = _grid(curves)
    byte_ns = _byte_ns(samples, curves)
    technology, net = _link(curves, gap, byte_ns, sizes)
    rows = [_row(size, curves, gap, net[size], limits) for size in sizes]
    least = min(sizes)
    return Model(technology, rows, curves, samples, byte_ns, max(0.0, net[least] - byte_ns * least), limits)


def _byte_ns(samples: Samples, curves: dict[str, Curve]) -> float:
    """The least time that a byte more is ever seen to take: every part of the way is at least so fast."""
    found: list[float] = []
    for name in ("half_round", "gap", "turn"):
        sizes, values, tolerances = samples.columns(name)
        if name != "half_round":
            found += [float(one) for one in (values / sizes)[values > tolerances]]
        for line in curves[name].lines if name in curves else ():
            inside = (sizes >= line.first) & (sizes <= line.last)
            found += _steps(sizes[inside], values[inside], tolerances[inside])
    if not found:
        message = "all times per message are lost in the noise"
        raise FitError(f"{message}\n  = measure longer trains, or let nothing else run")
    return max(1e-3, min(found))


def _steps(sizes: Floats, values: Floats, tolerances: Floats) -> list[float]:
    """Slopes from one size to the next that are known well."""
    step, unsure = np.diff(values), tolerances[1:] + tolerances[:-1]
    return [float(one) for one in (step / np.diff(sizes))[step > _KNOWN * unsure]]


def _limited(curves: dict[str, Curve]) -> bool:
    """Whether it is the receiver that holds a train up."""
    if "turn" not in curves or "gap" not in curves:
        return False
    first = curves["turn"].lines[0].first
    return curves["gap"].at(first) > _LIMITED * curves["turn"].at(first)


def _grid(curves: dict[str, Curve]) -> list[int]:
    """Sizes at which some line begins or ends, and just before the next one begins."""
    sizes: set[int] = set()
    for curve in curves.values():
        for line in curve.lines:
            sizes |= {int(line.first), int(line.last)}
        sizes |= {int(first) - 1 for _, first, _ in curve.jumps() if first > 1}
    return sorted(sizes)


def _half(curves: dict[str, Curve], gap: Curve, size: int) -> float:
    """Half a round; where nobody measured one, a message takes as long as the next one waits."""
    return (curves.get("half_round") or gap).at(size)


def _hosts(curves: dict[str, Curve], size: int) -> tuple[float, float]:
    send, receive = (curves[name].at(size) if name in curves else 0.0 for name in ("send", "receive"))
    return send, receive


def _link(
    curves: dict[str, Curve], gap: Curve, byte_ns: float, sizes: list[int]
) -> tuple[dict[str, Any], dict[int, float]]:
    """A crossbar's technology with this rate and latency, and what it takes for each size."""
    flit, cycle_ps = min(
        ((flit, cycle) for flit in range(1, _MOST_FLIT + 1) for cycle in _near(byte_ns * flit * 1000)),
        key=lambda pair: (abs(pair[1] / pair[0] / byte_ns / 1000 - 1) > 1e-3, pair[1]),
    )
    least = sizes[0]
    settings = {"preset": "generic", "cycle": units.format_time_ps(cycle_ps), "flit": f"{flit} B"}
    settings |= {"router_cycles": 0, "link_cycles": 1, "handover_cycles": 1, "next_head_cycles": 0}
    wanted = _half(curves, gap, least) - sum(_hosts(curves, least))
    alone = network(_buffered(settings), [least])[least]
    settings["link_cycles"] = 1 + max(0, int((wanted - alone) * 1000 / cycle_ps / 2))
    technology = _buffered(settings)
    return technology, network(technology, sizes)


def _near(cycle_ps: float) -> list[int]:
    """Cycles next to a wanted one."""
    at = int(np.searchsorted(CYCLES_PS, cycle_ps))
    return CYCLES_PS[max(0, at - 1) : at + 1]


def _buffered(settings: dict[str, Any]) -> dict[str, Any]:
    """With buffers that keep the link busy whatever its latency."""
    flits = min(2**20, 4 * int(settings["link_cycles"]) + 16)
    return {**settings, "input_buffer_flits": flits, "output_buffer_flits": 16}


def network(technology: dict[str, Any], sizes: list[int]) -> dict[int, float]:
    """From a message being made to its being there, without any host, in nanoseconds."""
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
    """The times of one size: what hosts and network leave of half a round is the time to fill the packet.

    A receive whose time overlaps the transfer is cut to what is left. A packet cannot take longer to fill
    than the gap, or the gap would be longer; nor a receive where its time would hold up a train.
    """
    send, receive = _hosts(curves, size)
    apart = gap.at(size)
    rest = max(0.0, _half(curves, gap, size) - send - net)
    if limits:
        receive = max(receive, curves["gap"].at(size))
    receive = min(receive, rest)
    packet = min(rest - receive, apart)
    left = rest - receive - packet
    more = max(0.0, min(left, apart - receive))
    return Row(size, send, receive + more, packet, apart, left - more)
