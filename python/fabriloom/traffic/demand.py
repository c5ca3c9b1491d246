"""How many packets each pair of terminals exchanges, for bounds on the throughput."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabriloom.codes import ARRIVAL, LENGTH, TARGET
from fabriloom.traffic import kinds
from fabriloom.traffic.packets import Filling, mean_chars, spread

Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]
_OPEN = (
    *(ARRIVAL.CONSTANT, ARRIVAL.POISSON, ARRIVAL.ON_OFF, ARRIVAL.TOGETHER, ARRIVAL.BERNOULLI),
    *(ARRIVAL.BURSTS, ARRIVAL.FLOWS, ARRIVAL.TIMED),
)
"""Open-loop arrivals, at times that do not depend on the network."""


@dataclass(frozen=True)
class Payload:
    """Means of the packets of pairs."""

    bytes: np.ndarray
    chars: np.ndarray
    """Characters before the end of the packet: those that its last bytes do not fill count whole."""

    def rows(self, some: NDArray[Any]) -> Payload:
        """Return some pairs of them."""
        return Payload(self.bytes[some], self.chars[some])


@dataclass(frozen=True)
class Demand:
    """Packets per unit of time; the busiest source sends 1 in total."""

    source: np.ndarray
    """Per listed pair: the terminal that sends."""
    target: np.ndarray
    packets: np.ndarray
    even: np.ndarray
    """Per terminal: what it sends evenly to all others, in addition; a list of all pairs would be too
    long."""
    payload: Payload | None = None
    """Per listed pair: what a packet carries."""
    even_payload: tuple[float, float] = (0.0, 0.0)
    """Mean bytes and characters of what is sent evenly to all others."""
    spread: Demand | None = None
    """What is sent to distributions, with their numbers as targets; None: nothing."""
    per_grain: float | None = None
    """Packets per grain of a source that sends 1; None if sources wait for the network."""

    @property
    def pairs(self) -> Pairs:
        return self.source, self.target, self.packets

    def by_length(self, apiece: float) -> Demand:
        """Return this with a long packet as several, as links are filled; the busiest source sends 1 of them.

        ``apiece``: characters of a packet beside its payload. Unchanged where all packets are alike.
        """
        if self.payload is None or not len(self.payload.chars):
            return self
        listed, even = self.payload.chars + apiece, self.even_payload[1] + apiece
        if np.ptp(listed) == 0 and (not self.even.any() or even == listed[0]):
            return self
        filled = replace(self, packets=self.packets * listed, even=self.even * even, payload=None)
        sent, spread = filled.sent(), self.spread
        if spread is not None and spread.payload is not None:
            spread = replace(spread, packets=spread.packets * (spread.payload.chars + apiece), payload=None)
            sent = sent + spread.sent()
        most = sent.max()
        if spread is not None:
            spread = replace(spread, packets=spread.packets / most)
        return replace(filled, packets=filled.packets / most, even=filled.even / most, spread=spread)

    def by_payload(self, total: float) -> Demand:
        """Return this with each pair's part of all bytes instead of its part of all packets: of ``total``."""
        if self.payload is None:
            return self
        packets, others = self.packets * self.payload.bytes, self.even * self.even_payload[0]
        mean = (packets.sum() + others.sum()) / max(total, 1e-300)
        return replace(self, packets=packets / mean, even=others / mean, payload=None) if mean else self

    def matrix(self) -> NDArray[np.float64]:
        return self.rows(np.arange(len(self.even)))

    def rows(self, sources: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what these terminals, in ascending order, send to each."""
        terminals, rows = len(self.even), np.arange(len(sources))
        found = np.repeat((self.even[sources] / max(1, terminals - 1))[:, None], terminals, axis=1)
        found[rows, sources] = 0.0
        order, source = self._by_source
        first, last = (np.searchsorted(source, sources, side) for side in ("left", "right"))
        listed = np.concatenate([order[:0], *(order[a:b] for a, b in zip(first, last, strict=True))])
        np.add.at(found, (np.repeat(rows, last - first), self.target[listed]), self.packets[listed])
        return found

    @cached_property
    def _by_source(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The listed pairs by terminals that send, and these."""
        order = np.argsort(self.source, kind="stable")
        return order, self.source[order]

    def sent(self) -> np.ndarray:
        return self.even + np.bincount(self.source, weights=self.packets, minlength=len(self.even))

    def received(self) -> np.ndarray:
        others = (self.even.sum() - self.even) / max(1, len(self.even) - 1)
        return others + np.bincount(self.target, weights=self.packets, minlength=len(self.even))


def demand(columns: kinds.Columns) -> Demand:
    """Return what each terminal sends to each other. Descriptors are counted without their waits."""
    arrival, kind = columns["source_arrival"], columns["source_target"]
    rate = _rates(columns)
    parts: list[Pairs] = []
    active = (rate > 0) & ~_among(arrival, ARRIVAL.LIST, ARRIVAL.TIMED, ARRIVAL.FLOWS)
    count = len(arrival)
    anyone = np.flatnonzero(active & (kind == TARGET.ANY))
    parts.append((anyone, anyone, rate[anyone] / count))
    fixed = np.flatnonzero(active & (kind == TARGET.FIXED))
    parts.append((fixed, columns["target_fixed"][fixed], rate[fixed]))
    hot = np.flatnonzero(active & (kind == TARGET.HOT_SPOT))
    parts.append((hot, columns["target_fixed"][hot], rate[hot] * columns["target_share"][hot]))
    if np.any(kind == TARGET.WEIGHTED):
        parts.append(_weighted(columns, rate))
    even_payload = _usual(columns)
    size = [np.full(len(part[0]), even_payload[0]) for part in parts]
    chars = [np.full(len(part[0]), even_payload[1]) for part in parts]
    own = [(columns["list_length"], _listed(columns))] if len(columns["list_start"]) else []
    own += [(columns["flow_length"], _flows(columns, rate))] if len(columns["flow_start"]) else []
    for lengths_of, part in own:
        parts.append(part)
        size.append(lengths_of.astype(np.float64))
        chars.append(_chars(columns, lengths_of))
    payload = Payload(np.concatenate(size), np.concatenate(chars))
    source, target, packets = (np.concatenate([part[i] for part in parts]) for i in range(3))
    listed = (source.astype(np.int64), target.astype(np.int64), packets.astype(np.float64))
    cold = 1 - np.where(
        kind == TARGET.HOT_SPOT, columns["target_share"], np.where(kind == TARGET.ANY, 1 / count, 0.0)
    )
    even = np.where(to_all(columns), rate * cold, 0.0)

    def rows(some: NDArray[np.bool_], first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, Payload]:
        some = some & (packets > 0)
        return listed[0][some], listed[1][some] - first, listed[2][some], payload.rows(some)

    sender, several, sent, carried = rows(target >= count, count)
    spread = Demand(sender, several, sent, np.zeros(count), carried) if len(sent) else None
    sender, receiver, sent, carried = rows(target < count, 0)
    return Demand(sender, receiver, sent, even, carried, even_payload, spread, _per_grain(columns))


def flows_at(columns: kinds.Columns, times: float) -> Demand:
    """Return the demand of flows at a multiple of their rates, as far as their token buckets let it pass."""
    apart = ("source_interval_grains", "flow_interval_grains")
    return demand({**columns, **{name: columns[name] / times for name in apart}})


def to_all(columns: kinds.Columns) -> NDArray[np.bool_]:
    """Return, per terminal, whether it sends to all others."""
    arrival, kind = columns["source_arrival"], columns["source_target"]
    return ~_among(arrival, ARRIVAL.SILENT, ARRIVAL.LIST, ARRIVAL.TIMED, ARRIVAL.FLOWS) & _among(
        kind, TARGET.UNIFORM, TARGET.HOT_SPOT, TARGET.ANY
    )


def sends_evenly(columns: kinds.Columns) -> bool:
    """Return whether some terminal sends evenly to all others, as in :attr:`Demand.even`.

    A hot spot that gets everything leaves nothing for others.
    """
    return bool(np.any(to_all(columns) & (columns["source_target"] == TARGET.UNIFORM)))


def _among(values: np.ndarray, *codes: int) -> NDArray[np.bool_]:
    """Return, per value, whether it is one of a few codes; several times as fast as ``np.isin``."""
    return np.logical_or.reduce([values == code for code in codes])


def _periods(columns: kinds.Columns) -> np.ndarray:
    """Return the mean grains between packets of each source."""
    interval, burst = columns["source_interval_grains"], columns["source_burst"]
    on_off = (columns["source_arrival"] == ARRIVAL.ON_OFF) & (burst > 0)
    gap = np.divide(columns["source_gap_grains"], burst, out=np.zeros_like(interval), where=on_off)
    return interval + gap


def _all_open(columns: kinds.Columns) -> bool:
    arrival = columns["source_arrival"]
    return bool(np.all(_among(arrival, ARRIVAL.SILENT, *_OPEN)))


def _per_grain(columns: kinds.Columns) -> float | None:
    """Return the packets per grain of the busiest source."""
    timed = (columns["source_arrival"] != ARRIVAL.SILENT) & (columns["source_interval_grains"] > 0)
    if not np.any(timed) or not _all_open(columns):
        return None
    return float(1 / _periods(columns)[timed].min())


def _chars(columns: kinds.Columns, size: NDArray[Any]) -> NDArray[np.float64]:
    """Return the payload characters of packets of these sizes in bytes."""
    of_one, at_end, overhead, least = Filling.of_columns(columns)
    filled = np.maximum(size.astype(np.int64) + overhead, least)
    return np.maximum(-(-filled // of_one) - at_end, 0).astype(np.float64)


def _usual(columns: kinds.Columns) -> tuple[float, float]:
    """Return the mean bytes and characters of packets that belong to no flow."""
    if not len(columns["source_length"]):
        return 0.0, 0.0
    if columns["source_length"][0] == LENGTH.TABLE:
        share, sizes = np.diff(columns["length_cumulative"], prepend=0.0), columns["length_values"]
        return float(share @ sizes), float(share @ _chars(columns, sizes))
    low, high = (int(columns[name][0]) for name in ("length_min", "length_max"))
    return (low + high) / 2, mean_chars(low, high, Filling.of_columns(columns))


def _rates(columns: kinds.Columns) -> np.ndarray:
    """Return the packets of each source relative to the busiest; equal if nothing else is known."""
    interval, arrival = columns["source_interval_grains"], columns["source_arrival"]
    rate = (arrival != ARRIVAL.SILENT).astype(np.float64)
    timed = (rate > 0) & (interval > 0) & (arrival != ARRIVAL.LIST)
    period = _periods(columns)
    if np.any(timed) and (_all_open(columns) or np.all(columns["source_target"] == TARGET.WEIGHTED)):
        rate[timed] = period[timed].min() / period[timed]
    return rate


def _flows(columns: kinds.Columns, rate: np.ndarray) -> Pairs:
    """Return each flow's fraction of what its source makes, as far as its token bucket lets it pass."""
    start = columns["flow_start"].astype(np.int64)
    source = np.repeat(np.arange(len(start) - 1), np.diff(start))
    made = columns["flow_packets"] / columns["flow_interval_grains"]
    sums = np.bincount(source, weights=made, minlength=len(start) - 1)
    return source, columns["flow_target"], rate[source] * passed(columns) / sums[source]


def passed(columns: kinds.Columns) -> np.ndarray:
    """Return the packets per grain of each flow, at most as many as its token bucket gets tokens for."""
    made, cost = columns["flow_packets"] / columns["flow_interval_grains"], columns["flow_cost_grains"]
    if not len(cost):
        return np.asarray(made)
    return np.minimum(made, np.divide(1.0, cost, out=np.full(len(cost), np.inf), where=cost > 0))


def _weighted(columns: kinds.Columns, rate: np.ndarray) -> Pairs:
    start = columns["weight_start"].astype(np.int64)
    source = np.repeat(np.arange(len(start) - 1), np.diff(start))
    share = np.diff(columns["weight_cumulative"], prepend=0.0)
    first = start[:-1][np.diff(start) > 0]
    share[first] = columns["weight_cumulative"][first]
    return source, columns["weight_target"], share * rate[source]


def _listed(columns: kinds.Columns) -> Pairs:
    start = columns["list_start"].astype(np.int64)
    rows = np.diff(start)
    source = np.repeat(np.arange(len(rows)), rows)
    return source, columns["list_target"], np.full(len(source), 1.0 / max(1, rows.max()))


def lengths(arrays: kinds.Columns) -> tuple[np.ndarray, np.ndarray]:
    """Return the payloads of packets in bytes, and which part of all packets has each."""
    if (given := given_lengths(arrays)) is not None:
        sizes, share = given
    elif arrays["source_length"][0] == LENGTH.TABLE:
        sizes, share = arrays["length_values"], np.diff(arrays["length_cumulative"], prepend=0.0)
    else:
        low, high = (int(arrays[name][0]) for name in ("length_min", "length_max"))
        sizes = spread(low, high)
        share = np.ones(len(sizes))
    return sizes, share / share.sum()


def given_lengths(arrays: kinds.Columns) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the payloads of flows or lists in bytes, with how often each is sent; None if there are none."""
    if len(arrays["flow_length"]):
        return arrays["flow_length"], passed(arrays)
    if len(arrays["list_length"]):
        return arrays["list_length"], np.ones(len(arrays["list_length"]))
    return None


def mean_length(arrays: kinds.Columns) -> tuple[float, float]:
    """Return the mean payload of a packet in bytes and in characters, by flows, lists or tables."""
    if (given := given_lengths(arrays)) is None:
        return _usual(arrays) if (arrays["source_arrival"] > 0).any() else (0.0, 0.0)
    sizes, share = given
    return tuple(float(np.average(each, weights=share)) for each in (sizes, _chars(arrays, sizes)))  # type: ignore[return-value]
