"""When packets are created: the ``source_arrival``, interval, burst and gap columns.

A load of 1 means packets back to back. For open-loop sources (poisson, constant, together, bernoulli, on-off)
the mean interval is the mean time of a packet on the link divided by the load. For closed-loop sources (wait,
random-wait) the wait after a packet is this interval minus the packet itself. A rate is converted to a load
of each terminal's link, which may exceed 1. Intervals are in grains, and packets are created at whole grains;
a wait that follows from a load is a whole number of grains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabriloom import units
from fabriloom.codes import ARRIVAL, LENGTH, number
from fabriloom.traffic import kinds
from fabriloom.traffic.kinds import TrafficError

_OPEN = ("poisson", "constant", "together", "on-off", "bernoulli")
MOST_GRAINS = 1e15
"""The longest interval; see ``crates/engine/src/fabric/check``."""

CLOSED = ("wait", "random-wait", "backlog")
Floats = NDArray[np.float64]
_MOST_IN_BURST = 10**9
_NEVER_GRAINS = 1e12
"""The interval of a burst that is not repeated."""


Parts = list[tuple[float, float]]
"""Payloads of packets in characters, and which part of all packets has each."""


def packet_grains(
    network: kinds.Network, technology: kinds.Links, parts: Parts, via: bool, others_ps: Floats | None = None
) -> Floats:
    """Return the mean time of a packet with header and end on each terminal's link, in grains.

    ``others_ps``: per terminal, that on its link of another technology, in ps; NaN for the usual one.
    """

    def mean_ps(rate: int | Fraction | None) -> float:
        return sum(share * technology.mean_packet_ps(chars, rate, via) for chars, share in parts)

    usual_ps = kinds.per_rate(network, mean_ps)
    found_ps = usual_ps if others_ps is None else np.where(np.isnan(others_ps), usual_ps, others_ps)
    return found_ps / float(technology.grain_ps)


def character_grains(network: kinds.Network, technology: kinds.Links) -> Floats:
    """Return the time of a character (a flit) on each terminal's link, in grains."""
    return kinds.per_rate(network, lambda rate: float(technology.character_ps(rate))) / float(
        technology.grain_ps
    )


def places(settings: kinds.Settings) -> int:
    """Return the most packets that may wait at a source, as an engine column."""
    queue = settings.get("source_queue", 0)
    return kinds.NO_QUEUE if queue == "none" else min(int(queue), kinds.NO_QUEUE - 1)


def arrivals(
    packet: Floats,
    load: Floats,
    sending: NDArray[np.bool_],
    grain_ps: float,
    settings: kinds.Settings,
    character: Floats,
    ports: NDArray[np.int64] | None = None,
) -> kinds.Columns:
    """Return the columns of the arrivals.

    ``packet``, ``character``: times in grains, that of a packet divided by the number of the terminal's
    ``ports``; ``load``: per terminal, 0 for silent ones.
    """
    given = settings["arrivals"]
    kind = given["kind"]
    sending = sending & (load > 0)
    share = np.where(sending, load, 1.0)
    burst, gap = np.zeros((2, len(packet)))
    first: dict[str, Floats] = {}
    if kind == "backlog":
        interval = np.zeros(len(packet))
    elif given.get("wait_ps") is not None:
        interval = np.full(len(packet), given["wait_ps"] / grain_ps)
    elif kind in ("wait", "random-wait"):
        # By another port the wait is as long as the packet before still leaves.
        overlaps = np.zeros(len(packet), bool) if ports is None else ports > 1
        interval = packet * np.where(overlaps, 1 / share, 1 / share - 1)
        interval = np.floor(interval) if kind == "wait" else interval
    elif kind == "on-off":
        on_load, packets = float(given["on_load"]), float(given["burst_packets"])
        if np.any(share[sending] > on_load):
            message = f"load is above the on_load of {on_load:g} within bursts"
            raise TrafficError(message, "load", "reduce load, or raise on_load")
        interval = packet / on_load
        burst[:] = packets
        gap = packets * packet * (1 / share - 1 / on_load)
    elif kind == "burst":
        burst[:] = given["packets"]
        first = {
            "source_first_grains": np.full(len(packet), given["at_ps"] / grain_ps),
            "source_spacing_grains": np.full(len(packet), given["spacing_grains"]),
        }
        every = (given.get("every_ps") or 0) / grain_ps
        gap[:] = every
        interval = np.full(len(packet), every / given["packets"] if every else _NEVER_GRAINS)
    else:
        interval = packet / share
    if kind == "bernoulli":
        slot = given.get("slot_ps")
        gap = character.copy() if slot is None else np.full(len(packet), slot / grain_ps)
        _check_slots(gap[sending], interval[sending])
    if kind != "burst":
        _check_intervals(interval[sending], gap[sending], settings)
    code = ARRIVAL.BURSTS if kind == "burst" else number("arrival", kind)
    for column in (interval, burst, gap):
        column[~sending] = 0
    return {
        "source_arrival": np.where(sending, code, ARRIVAL.SILENT).astype(np.uint8),
        "source_interval_grains": interval,
        "source_burst": burst,
        "source_gap_grains": np.maximum(gap, 0.0),
        "source_queue": np.full(len(packet), places(settings), np.uint32),
        **first,
    }


def burst_of(given: kinds.Settings, mean_bytes: float, grain_ps: float) -> kinds.Settings:
    """Return a burst with the number of its packets and their distance, which may be given by a rate and a
    length of time; other arrivals unchanged. Raises TrafficError.
    """
    if given["kind"] != "burst":
        return given
    packets, rate, lasts_ps = given.get("packets"), given.get("rate"), int(given.get("lasts_ps") or 0)
    if (packets is None) == (rate is None) or (rate is None) != (not lasts_ps):
        message = "a burst has packets, which are created at once, or a rate and a time that it lasts"
        hint = 'write packets = 100, or rate = "100 MB/s" and lasts = "1 ms"'
        raise TrafficError(message, "arrivals", hint)
    if rate is None:
        return {**given, "spacing_grains": 0.0}
    per_grain = packets_per_grain(rate, mean_bytes, grain_ps, "arrivals.rate")
    count = int(per_grain * lasts_ps / grain_ps + 1e-9) or 1
    every_ps = given.get("every_ps")
    if per_grain > 1 or count > _MOST_IN_BURST:
        hint = "lower the rate" if per_grain > 1 else "shorten it, or lower the rate"
        message = "packets would be made more often than once in a grain, or too many"
        raise TrafficError(message, "arrivals.rate", hint)
    if every_ps is not None and every_ps < lasts_ps:
        message = "a burst begins before the one before has ended"
        raise TrafficError(message, "arrivals.every", "lengthen it, or shorten lasts")
    return {**given, "packets": count, "spacing_grains": 1 / per_grain}


def _check_slots(slot: Floats, interval: Floats) -> None:
    """Refuse slots that need more than one packet, and slots shorter than a grain."""
    if np.any(slot > interval):
        message = "more than one packet would have to be made in a slot"
        raise TrafficError(message, "arrivals.slot", "shorten the slot, or offer less")
    if np.any(slot < 1):
        message = "a slot is shorter than a grain, which is 1 ns, or a flit of generic"
        raise TrafficError(message, "arrivals.slot", "lengthen the slot")


def _check_intervals(interval: Floats, gap: Floats, settings: kinds.Settings) -> None:
    """Refuse intervals longer than any run, or shorter than the resolution of time."""
    by_load = settings["arrivals"].get("wait_ps") is None
    name = "load" if by_load else "arrivals.wait"
    if max(interval.max(initial=0), gap.max(initial=0)) > MOST_GRAINS:
        message = "there would be no packet in any run: the time between two is beyond counting"
        raise TrafficError(message, name, "raise load" if by_load else "shorten the wait")
    if settings["arrivals"]["kind"] in _OPEN and interval.min(initial=1) < 1:
        message = "packets would be made less than a grain apart, which is 1 ns, or a flit of generic"
        raise TrafficError(message, name, "offer less, or make packets longer or links slower")


_PS_PER_S = 1e12


def packets_per_grain(rate: str, mean_bytes: float, grain_ps: float, parameter: str) -> float:
    """Return packets per grain at a rate such as "120 Mbit/s" or "20000 packets/s" and a mean payload."""
    amount, of_packets = units.parse_offered_rate(rate)
    if of_packets:
        return float(amount) / 1000 * grain_ps / _PS_PER_S
    if mean_bytes <= 0:
        message = "packets of 0 B carry no payload"
        raise TrafficError(message, parameter, "give a rate in packets/s")
    return float(amount) / (8 * mean_bytes) * grain_ps / _PS_PER_S


_MOST_LENGTHS = 4096
"""Lengths of a range that are counted one by one; of a longer one as many, spread evenly."""


def spread(low: int, high: int) -> NDArray[np.int64]:
    """Return the lengths of a range, or as many of them as are counted."""
    return np.linspace(low, high, min(high - low + 1, _MOST_LENGTHS)).astype(np.int64)


def lengths(
    terminals: int, technology: kinds.Links, settings: kinds.Settings
) -> tuple[kinds.Columns, float, Parts]:
    """Return the columns, and the payload of packets: its mean in bytes, and parts with the mean time."""
    kind, values, weights, rounds = settings["kind"], [], None, technology.rounds_packets
    if kind == "fixed":
        low = high = _checked(technology, settings["value_bytes"], "length.value")
        code, mean = LENGTH.FIXED, float(low)
        parts = [(float(technology.payload_chars(low)), 1.0)]
    elif kind == "uniform":
        low = _checked(technology, settings["min_bytes"], "length.min")
        high = _checked(technology, settings["max_bytes"], "length.max")
        if low < high and technology.legal_payloads_bytes:
            message = "lengths between these two are none that a packet can have"
            hint = 'give them one by one, such as length = { kind = "table", lengths = ["16 B", "64 B"] }'
            raise TrafficError(message, "length", hint)
        code, mean = LENGTH.UNIFORM, (low + high) / 2
        each = spread(low, high) if rounds else [mean_chars(low, high, Filling.of(technology))]
        parts = [(float(chars), 1 / len(each)) for chars in each]
    else:
        sizes: Sequence[int] = settings["lengths_bytes"]
        values = [_checked(technology, size, f"length.lengths.{i}") for i, size in enumerate(sizes)]
        weights = np.asarray(settings.get("weights") or np.ones(len(values)), np.float64)
        values = [value for value, weight in zip(values, weights, strict=True) if weight > 0]
        weights = weights[weights > 0]
        code, low, high = LENGTH.TABLE, min(values), max(values)
        mean = float(np.average(values, weights=weights))
        chars = [float(technology.payload_chars(value)) for value in values]
        share = (weights / weights.sum()).tolist()
        mean_of = float(np.average(chars, weights=weights))
        parts = list(zip(chars, share, strict=True)) if rounds else [(mean_of, 1.0)]
    columns: dict[str, Any] = {
        "source_length": np.full(terminals, code, np.uint8),
        "length_min": np.full(terminals, low, np.uint32),
        "length_max": np.full(terminals, high, np.uint32),
        "length_values": np.asarray(values, np.uint32),
        "length_cumulative": cumulative(weights) if weights is not None else np.zeros(0),
    }
    return columns, mean, parts


class Filling(NamedTuple):
    """How the bytes of a packet fill characters."""

    character_bytes: int
    end_carries_data: bool
    overhead_bytes: int
    least_bytes: int

    @classmethod
    def of(cls, technology: kinds.Links) -> Filling:
        """Return that of a technology."""
        return cls(*(getattr(technology, name) for name in cls._fields))

    @classmethod
    def of_columns(cls, columns: Mapping[str, Any]) -> Filling:
        """Return that of the engine's arrays; what is missing fills nothing."""
        size, *others = (int(columns.get(name, 0)) for name in cls._fields)
        return cls(max(1, size), bool(others[0]), *others[1:])


def mean_chars(low: int, high: int, filling: Filling) -> float:
    """Return the mean payload characters over all lengths from ``low`` to ``high`` bytes."""
    size, at_end, overhead, least = filling

    def below(length: int) -> int:
        whole, rest = divmod(length, size)
        return (size * whole + 2 * rest) * (whole + 1) // 2

    first, last = low + overhead, high + overhead
    filled = max(0, min(last, least) - first + 1)
    first = max(first + filled, 1)
    ends = max(0, last - first + 1) + filled * (least > 0) if at_end else 0
    chars = below(last) - below(first - 1) + filled * -(-least // size)
    return (chars - ends) / (high - low + 1)


def cumulative(weights: np.ndarray) -> np.ndarray:
    """Return cumulative probabilities, the last exactly 1."""
    sums = np.cumsum(weights / weights.max())
    sums /= sums[-1]
    sums[-1] = 1.0
    return sums


def checked(technology: kinds.Links, size_bytes: int) -> int:
    """Return the size in bytes. Raises UnitError if no packet has it."""
    legal = technology.legal_payloads_bytes
    if legal and size_bytes not in legal:
        sizes = [units.format_bytes(size) for size in legal]
        choice = sizes[0] if len(sizes) == 1 else f"{', '.join(sizes[:-1])} or {sizes[-1]}"
        message = f"there is no packet with {units.format_bytes(size_bytes)} of payload"
        raise units.UnitError(message, f"the payload of these packets is {choice}")
    if 0 < technology.mtu_bytes < size_bytes:
        mtu = units.format_bytes(technology.mtu_bytes)
        message = f"a packet of {units.format_bytes(size_bytes)} is longer than the MTU, {mtu}"
        hint = "send several packets, or messages of a [program], which are cut; or raise "
        hint += technology.mtu_setting
        raise units.UnitError(message, hint)
    if technology.payload_chars(size_bytes) > kinds.MOST_CHARACTERS:
        message = f"a packet of {units.format_bytes(size_bytes)} is longer than 2^24 characters"
        raise units.UnitError(message, "send several packets")
    return size_bytes


def _checked(technology: kinds.Links, size_bytes: int, parameter: str) -> int:
    try:
        return checked(technology, size_bytes)
    except units.UnitError as error:
        raise TrafficError(error.message, parameter, error.hint) from None
