"""Bounds on the wait at a source with periodic flows.

``docs/background/worst-case.md`` describes the method.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..codes import ARRIVAL
from ..compile import Compiled
from .calculus import Worst
from .flows import flow_of_rows
from .signals import Reals

_MOST_MOMENTS = 1 << 20
"""Most packets of one flow that are examined."""
_MOST_STEPS = 10_000
"""Most steps of the iteration for the longest busy time."""


@dataclass(frozen=True)
class Train:
    """The load of a flow on the queue of its source, in ticks."""

    period: float
    jitter: float
    packets: int
    service: int
    """Service time of a packet: until its end has left the input buffer of the source's link."""

    def work(self, times: np.ndarray) -> np.ndarray:
        """Return the largest total service time of packets created in closed intervals of these lengths."""
        return (np.floor((times + self.jitter) / self.period + 1e-9) + 1) * (self.packets * self.service)


def totals(compiled: Compiled, worst: Worst) -> list[int | str]:
    """Return the bound of each row of flows, in ticks from creation to delivery, or why there is none."""
    arrays = compiled.arrays
    flow_of, grain = flow_of_rows(compiled, worst.flows), int(arrays["grain_ticks"])
    first = [worst.network.out_link[worst.flows[flow].first] for flow in flow_of]
    trains = [
        Train(
            float(arrays["flow_interval_grains"][row]) * grain,
            # A packet is made at the last whole grain up to its moment.
            (float(arrays["flow_jitter_grains"][row]) + 1) * grain,
            int(arrays["flow_packets"][row]),
            worst.service[first[row], worst.alike[flow]],
        )
        for row, flow in enumerate(flow_of)
    ]
    found: list[int | str] = [""] * len(flow_of)
    start = arrays["flow_start"].astype(np.int64).tolist()
    random = arrays["flow_arrival"] == ARRIVAL.POISSON
    for source in range(len(start) - 1):
        rows_of = range(start[source], start[source + 1])
        drawn = any(random[row] for row in rows_of)
        for link in sorted({first[row] for row in rows_of}):
            own = [row for row in rows_of if first[row] == link]
            refuses = int(arrays["source_queue"][source]) > 0
            waits = _of_source([trains[row] for row in own], drawn, refuses, _Codes(worst, link))
            for row, wait in zip(own, waits, strict=True):
                found[row] = wait
    return found


class _Codes:
    """The codes that packets of a source can meet."""

    def __init__(self, worst: Worst, first: int) -> None:
        self.signals = worst.signals
        self.first = first
        self.busy = 0.0 if worst.signals is None else worst.signals.busy(first)

    def prolong(self, times: Reals) -> Reals:
        """Return times with the codes in them."""
        if self.signals is None:
            return times
        return self.signals.prolonged(times, self.signals.apiece(self.first))


def _of_source(trains: list[Train], random: bool, refuses: bool, codes: _Codes) -> list[int | str]:
    """Return the bounds of the flows of one port of a source, whose packets share a queue."""
    if random:
        return ["its source makes packets at random, so no wait is the longest"] * len(trains)
    if refuses:
        return ["its source refuses packets that find the queue full"] * len(trains)
    busy = codes.busy + sum(train.packets * train.service / train.period for train in trains)
    if busy >= 1:
        message = "in the worst case its packets leave more slowly than its source creates them"
        return [message] * len(trains)
    length = _longest_busy(trains, codes)
    if length is None:
        return ["in the worst case its source hardly ever pauses"] * len(trains)
    return [_slowest(train, trains, length, codes) for train in trains]


def _longest_busy(trains: list[Train], codes: _Codes) -> float | None:
    """Return the longest busy time of a source: it ends when all packets created up to then are served."""
    time = 0.0
    for _ in range(_MOST_STEPS):
        work = sum((train.work(np.array([time])) for train in trains), np.zeros(1))
        done = float(codes.prolong(work)[0])
        if done <= time:
            return time
        if np.isinf(done):
            return None
        time = done
    return None


def _slowest(train: Train, trains: list[Train], length: float, codes: _Codes) -> int | str:
    """Return the largest wait plus service of a packet of this flow, behind all packets created before."""
    count = int((length + train.jitter) / train.period) + 1
    if count > _MOST_MOMENTS:
        return f"in the worst case its source has no pause for {count:,} packets"
    moments = np.maximum(0.0, np.arange(count) * train.period - train.jitter)
    work = sum((one.work(moments) for one in trains), np.zeros(count))
    return int(np.ceil((codes.prolong(work) - moments).max()))
