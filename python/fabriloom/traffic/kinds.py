"""The error of traffic, limits, and the protocols of other packages that traffic needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, ClassVar, Final, Protocol

import numpy as np
from numpy.typing import NDArray

Place = tuple[str, int, int, int, str]
"""File, line, column, length (line and column from 1) and the text of the line."""


class TrafficError(ValueError):
    """Traffic that cannot be built.

    ``parameter``: the dotted setting of ``[traffic]`` at fault. ``hint``: what to do. ``place``: the place in
    a traffic file.
    """

    def __init__(
        self, message: str, parameter: str | None = None, hint: str = "", place: Place | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.parameter = parameter
        self.hint = hint
        self.place = place


NO_QUEUE: Final = 2**32 - 1
"""``source_queue`` of sources without a queue."""

MOST_CHARACTERS: Final = 2**24
"""The longest payload of one packet, in characters."""

Ints = NDArray[np.int64]
Columns = dict[str, NDArray[Any]]
Settings = Mapping[str, Any]


def in_units(values: Ints, unit: int | Fraction) -> Ints:
    """Return how many whole units fit into each value; a unit, such as a tick in ps, may be a fraction."""
    if unit.denominator * int(values.max(initial=0)) < 2**63:
        return values * unit.denominator // unit.numerator
    return np.array([int(value // unit) for value in values.tolist()], np.int64)


class Kind(Protocol):
    """What traffic and programs need to know of a kind of network (see ``fabriloom.topology.kinds``)."""

    @property
    def cables(self) -> bool: ...
    @property
    def transactions(self) -> bool: ...


class Network(Protocol):
    """What traffic needs to know of a graph (see ``fabriloom.topology.Graph``)."""

    @property
    def switch_names(self) -> list[str]: ...
    @property
    def terminal_names(self) -> list[str]: ...
    @property
    def switches(self) -> int: ...
    @property
    def terminals(self) -> int: ...
    @property
    def link_source(self) -> Ints: ...
    @property
    def link_target(self) -> Ints: ...
    @property
    def layout(self) -> dict[str, Any]: ...
    @property
    def attributes(self) -> dict[str, NDArray[Any]]: ...
    @property
    def network_kind(self) -> Kind: ...
    @property
    def partner(self) -> Ints | None: ...
    def terminals_of(self, role: str) -> Ints: ...


class Links(Protocol):
    """What traffic needs to know of a technology (see ``fabriloom.technology``)."""

    mtu_setting: ClassVar[str]
    rounds_packets: ClassVar[bool]

    @property
    def grain_ps(self) -> int | Fraction: ...
    @property
    def legal_payloads_bytes(self) -> tuple[int, ...]: ...
    @property
    def character_bytes(self) -> int: ...
    @property
    def mtu_bytes(self) -> int: ...
    @property
    def overhead_bytes(self) -> int: ...
    @property
    def least_bytes(self) -> int: ...
    @property
    def end_carries_data(self) -> bool: ...
    def payload_chars(self, length_bytes: int) -> int: ...
    def character_ps(self, rate_bits_per_s: int | Fraction | None = None) -> int | Fraction: ...
    def mean_packet_ps(
        self, payload_chars: float, rate_bits_per_s: int | Fraction | None = None, via: bool = False
    ) -> float: ...


def out_links(network: Network) -> Ints:
    """Return, per terminal, the link on which it sends."""
    links = np.flatnonzero(network.link_source >= network.switches)
    found = np.empty(network.terminals, np.int64)
    found[network.link_source[links] - network.switches] = links
    return found


def rates_of(network: Network) -> NDArray[np.float64]:
    """Return the rate of the link on which each terminal sends, in bits per second, NaN for the usual one."""
    rates = network.attributes.get("rate_bits_per_s")
    if rates is None:
        return np.full(network.terminals, np.nan)
    return np.asarray(rates, np.float64)[out_links(network)]


def per_rate(network: Network, times_of: Callable[[int | Fraction | None], float]) -> NDArray[np.float64]:
    """Return, per terminal, ``times_of`` for the rate of its link; None is the usual rate."""
    rates, which = np.unique(np.nan_to_num(rates_of(network), nan=-1.0), return_inverse=True)
    times = np.array([times_of(rate_of(rate)) for rate in rates.tolist()], np.float64)
    return times[which]


def rate_of(rate_bits_per_s: float) -> int | Fraction | None:
    """Return a rate that a file gives, exactly as written; None below 0, or where it gives none (NaN)."""
    if not rate_bits_per_s >= 0:
        return None
    return int(rate_bits_per_s) if rate_bits_per_s.is_integer() else Fraction(repr(rate_bits_per_s))


def homes(network: Network) -> Ints:
    """Return, per terminal, the switch that it sends to."""
    return network.link_target[out_links(network)]
