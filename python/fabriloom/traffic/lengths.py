"""How long packets are: the ``source_length`` and ``length_*`` columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fabriloom import units
from fabriloom.traffic import kinds
from fabriloom.traffic.kinds import TrafficError


def lengths(
    terminals: int, technology: kinds.Links, settings: kinds.Settings
) -> tuple[kinds.Columns, float, float]:
    """Return the columns, and the mean payload of a packet in bytes and in characters."""
    kind, values, weights = settings["kind"], [], None
    if kind == "fixed":
        low = high = _checked(technology, settings["value_bytes"], "length.value")
        code, mean = kinds.LENGTH_FIXED, float(low)
        chars = float(technology.payload_chars(low))
    elif kind == "uniform":
        low = _checked(technology, settings["min_bytes"], "length.min")
        high = _checked(technology, settings["max_bytes"], "length.max")
        if low < high and technology.legal_payloads_bytes:
            message = "lengths between these two are none that a packet can have"
            hint = 'give them one by one, such as length = { kind = "table", lengths = ["16 B", "64 B"] }'
            raise TrafficError(message, "length", hint)
        code, mean = kinds.LENGTH_UNIFORM, (low + high) / 2
        chars = mean_chars(low, high, Filling.of(technology))
    else:
        sizes: Sequence[int] = settings["lengths_bytes"]
        values = [_checked(technology, size, f"length.lengths.{i}") for i, size in enumerate(sizes)]
        weights = np.asarray(settings.get("weights") or np.ones(len(values)), np.float64)
        values = [value for value, weight in zip(values, weights, strict=True) if weight > 0]
        weights = weights[weights > 0]
        code, low, high = kinds.LENGTH_TABLE, min(values), max(values)
        mean = float(np.average(values, weights=weights))
        chars = float(np.average([technology.payload_chars(value) for value in values], weights=weights))
    columns: dict[str, Any] = {
        "source_length": np.full(terminals, code, np.uint8),
        "length_min": np.full(terminals, low, np.uint32),
        "length_max": np.full(terminals, high, np.uint32),
        "length_values": np.asarray(values, np.uint32),
        "length_cumulative": cumulative(weights) if weights is not None else np.zeros(0),
    }
    return columns, mean, chars


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
