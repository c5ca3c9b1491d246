"""Technology of rings: links of symbols, stations with packet queues, buses and memories (IEEE 1596).

``docs/background/ring-model.md`` describes the use of these numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal

from fabriloom.technology.errors import TechnologyError
from fabriloom.technology.model import (
    LEAST_CHARACTER_PS,
    MOST_CABLE_PS,
    Ps,
    Rate,
    at_most,
    exact_ps,
)

Forwarding = Literal["store-and-forward", "cut-through"]
HoldUntil = Literal["sent", "echo"]
RetryStrategy = Literal["constant", "linear", "exponential"]
RetryOrder = Literal["first", "ready"]
RetryAt = Literal["requester", "responder"]
Transaction = Literal["nwrite", "dmove", "nread", "lock"]
RingFaultStops = Literal["ring", "link"]

SYMBOL_BYTES: Final = 2
"""Bytes per symbol: a link moves 16 bits at a time (IEEE 1596-1992)."""
LOCK_BYTES: Final = 16
"""Payload of the request and of the response of a lock."""
PAYLOADS_BYTES: Final = {
    "nwrite": (16, 64, 256),
    "dmove": (16, 64, 256),
    "nread": (16, 64, 256),
    "lock": (LOCK_BYTES,),
}
"""Legal payloads by transaction (IEEE 1596-1992)."""

PORT_PLACES: Final = ("port_requests_out", "port_responses_out", "port_requests_in")
"""Settings of a switch port; each replaces the setting of every station whose name it continues."""
_PS_PER_S = 10**12
_MOST_BYTES = 1024
"""Largest header, idle and bus width that the engine supports."""


@dataclass(frozen=True)
class RingTechnology:
    """Rings with equal stations and buses. Packet sizes are in bytes, without idle symbols."""

    preset: str
    link_rate_bits_per_s: Rate
    cable_length_m: float
    cable_delay_ps_per_m: int
    request_header_bytes: int
    response_header_bytes: int
    echo_bytes: int
    send_idle_bytes: int
    """Idle symbols after a request or a response, in bytes."""
    echo_idle_bytes: int
    decode_latency_ps: int
    bypass_latency_ps: int
    receive_latency_ps: int
    transmit_latency_ps: int
    interface_latency_ps: int
    """Delay added to both latencies in every station, of terminals and switches."""
    host_latency_ps: int
    requests_out: int
    responses_out: int
    requests_in: int
    responses_in: int
    in_flight: int
    """Most packets of a station and kind that wait for their echo."""
    rejected: int
    """Most busied packets of a station and kind that wait before new ones are held back."""
    transactions: int
    forwarding: Forwarding
    hold_until: HoldUntil
    response_priority: bool
    interface_occupied: bool
    in_order: bool
    phases: bool
    bandwidth_allocation: bool
    retry_strategy: RetryStrategy
    retry_delay_ps: int
    retry_order: RetryOrder
    retry_at: RetryAt
    timeout_ps: int
    """Transaction time-out in ps; 0: none."""
    echo_timeout_ps: int
    """Time from the loss of a packet or its echo until its sender forgets it, in ps."""
    restart_ps: int
    """Time from a repair until the ring runs, in ps."""
    fault_stops: RingFaultStops
    close_after: int
    """Consecutive time-outs after which a terminal closes its route to another one; 0: never."""
    closed_for_ps: int
    bus_rate_bits_per_s: Rate
    bus_width_bytes: int
    bus_setup_ps: int
    bus_encapsulation_bytes: int
    memory_access_ps: int
    memory_block_ps: int
    """Memory time for every started 64 B, in ps."""
    port_requests_out: int | None = None
    """``requests_out`` of a switch port, as the next two for their queues; None: the same."""
    port_responses_out: int | None = None
    port_requests_in: int | None = None
    transaction: Transaction = "nwrite"
    """Transaction of the terminals' packets; it determines their sizes on the link."""

    # A character is a byte here, and its payload is all that is counted, as for character links.
    character_bytes = 1
    end_carries_data = False
    overhead_bytes = 0
    least_bytes = 0
    lanes = 1
    mtu_bytes = 0
    """The legal payloads say how long packets are."""
    flow_control = "ignored"
    """Links are one-way, so there is no flow control for an opposite direction."""
    reverse_load = Fraction(0)
    disconnect_ps = 0
    """Failures are detected at once."""
    grain_ps = 1000
    """What has no exact duration is rounded down to this many picoseconds: drawn times, the ends of runs."""

    def __post_init__(self) -> None:
        """Refuse values with which the rules of the ring cannot work."""
        for name in ("requests_out", "responses_out", "requests_in", "responses_in", "in_flight", "rejected"):
            _at_least(name, getattr(self, name), 1)
        for name in PORT_PLACES:
            if getattr(self, name) is not None:
                _at_least(name, getattr(self, name), 1)
        _at_least("transactions", self.transactions, 1)
        _at_least("bus.width", self.bus_width_bytes, 1)
        for name in ("request_header", "response_header", "echo", "send_idle", "echo_idle"):
            size = getattr(self, f"{name}_bytes")
            _at_least(name, size, 0 if name.endswith("idle") else SYMBOL_BYTES)
            at_most(name, size, _MOST_BYTES, "bytes")
            if size % SYMBOL_BYTES:
                message = f"{name} of {size} B is not a whole number of symbols of {SYMBOL_BYTES} B"
                raise TechnologyError(message, name, f'write "{size - 1} B" or "{size + 1} B"')
        at_most("bus.width", self.bus_width_bytes, _MOST_BYTES, "bytes")
        at_most("bus.encapsulation", self.bus_encapsulation_bytes, _MOST_BYTES, "bytes")
        self.check_rate()
        shortest = min(self.request_header_bytes, self.response_header_bytes)
        echo = self.echo_bytes + self.echo_idle_bytes
        if self.echo_bytes > shortest or echo > shortest + self.send_idle_bytes:
            message = f"an echo of {echo} B is longer than the shortest packet that it takes the place of"
            raise TechnologyError(message, "echo", "shorten the echo or its idles")
        if self.bus_rate_bits_per_s <= 0:
            raise TechnologyError("bus.rate must be above zero", "bus.rate", 'write for example "600 MB/s"')
        if self.bus_cycle_ps < LEAST_CHARACTER_PS:
            message = f"a cycle of the bus lasts less than {LEAST_CHARACTER_PS} ps"
            raise TechnologyError(message, "bus.rate", "reduce it, or move more bytes in a cycle")

    def check_rate(self, rate_bits_per_s: Rate | None = None) -> None:
        """Raise TechnologyError for a rate at which symbols are shorter than the resolution of time."""
        rate = self.link_rate_bits_per_s if rate_bits_per_s is None else rate_bits_per_s
        if rate > 0 and self.symbol_ps(rate) < LEAST_CHARACTER_PS:
            message = f"at this rate 16 bits last less than {LEAST_CHARACTER_PS} ps"
            raise TechnologyError(message, "link_rate", 'write at most "200 GB/s"')

    def carrying(self, transaction: Transaction) -> RingTechnology:
        """Return the technology with another transaction."""
        return replace(self, transaction=transaction)

    # Durations.

    def symbol_ps(self, rate_bits_per_s: Rate | None = None) -> Ps:
        """Return the time of a symbol on a link, in ps."""
        rate = self.link_rate_bits_per_s if rate_bits_per_s is None else rate_bits_per_s
        if rate <= 0:
            raise TechnologyError("link_rate must be above zero", "link_rate", 'write for example "500 MB/s"')
        return exact_ps(8 * SYMBOL_BYTES * _PS_PER_S / Fraction(rate))

    def character_ps(self, rate_bits_per_s: Rate | None = None) -> Ps:
        """Return the time of a symbol, under the name that all technologies share."""
        return self.symbol_ps(rate_bits_per_s)

    def cable_ps(self, length_m: float | None = None) -> int:
        """Return the propagation delay of a link's cable, in ps."""
        length = self.cable_length_m if length_m is None else length_m
        return min(MOST_CABLE_PS, round(length * self.cable_delay_ps_per_m))

    def arrival_ps(self, rate_bits_per_s: Rate | None = None, length_m: float | None = None) -> Ps:
        """Return the time from the start of a symbol on a link until the next station can use it, in ps."""
        return self.symbol_ps(rate_bits_per_s) + self.cable_ps(length_m)

    @property
    def running_ps(self) -> int:
        """Return the time from the repair of a link until it runs, in ps."""
        return self.restart_ps

    @property
    def receive_ps(self) -> int:
        """Return the time from a packet being complete in a receive queue to its bus or host, in ps."""
        return self.receive_latency_ps + self.interface_latency_ps

    @property
    def transmit_ps(self) -> int:
        """Return the time from the bus or the host until a packet is ready for the link, in ps."""
        return self.transmit_latency_ps + self.interface_latency_ps

    @property
    def bus_cycle_ps(self) -> Ps:
        """Return the cycle time of the bus, in ps."""
        return exact_ps(8 * self.bus_width_bytes * _PS_PER_S / Fraction(self.bus_rate_bits_per_s))

    def bus_transfer_ps(self, packet_bytes: int) -> Ps:
        """Return the time of a packet on the bus, including the set-up, in ps."""
        cycles = -(-(packet_bytes + self.bus_encapsulation_bytes) // self.bus_width_bytes)
        return self.bus_setup_ps + cycles * self.bus_cycle_ps

    # Packets, in bytes without idles.

    def request_bytes(self, payload_bytes: float) -> float:
        """Return the size of a request with this payload."""
        carried = {"nread": 0, "lock": LOCK_BYTES}.get(self.transaction, payload_bytes)
        return self.request_header_bytes + carried

    def response_bytes(self, payload_bytes: float) -> float:
        """Return the size of the response; 0 if there is none."""
        if self.transaction == "dmove":
            return 0
        carried = {"nread": payload_bytes, "lock": LOCK_BYTES}.get(self.transaction, 0)
        return self.response_header_bytes + carried

    @property
    def legal_payloads_bytes(self) -> tuple[int, ...]:
        """Legal payloads of the transaction."""
        return PAYLOADS_BYTES[self.transaction]

    def payload_chars(self, length_bytes: int) -> int:
        """Return the payload in the engine's units, which are bytes."""
        return length_bytes

    def mean_packet_ps(
        self,
        payload_chars: float,
        rate_bits_per_s: Rate | None = None,
        via: bool = False,
    ) -> float:
        """Return the time from request to request, back to back on a link with idle symbols, in ps."""
        symbols = (self.request_bytes(payload_chars) + self.send_idle_bytes) / SYMBOL_BYTES
        return float(symbols * self.symbol_ps(rate_bits_per_s))

    def packet_ps(self, length_bytes: int, rate_bits_per_s: Rate | None = None) -> int:
        """Return the time from request to request for a payload of whole bytes, in ps."""
        return round(self.mean_packet_ps(length_bytes, rate_bits_per_s))

    def packets_per_s(self, length_bytes: int, rate_bits_per_s: Rate | None = None) -> float:
        """Return the requests of this payload per second on a link that carries nothing else."""
        return _PS_PER_S / self.mean_packet_ps(length_bytes, rate_bits_per_s)

    def payload_bytes_per_s(self, length_bytes: int, rate_bits_per_s: Rate | None = None) -> float:
        """Return the payload rate of such requests in bytes per second: a load of 1."""
        return length_bytes * self.packets_per_s(length_bytes, rate_bits_per_s)


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise TechnologyError(
            f"{name} is {value}, it must be at least {least}", name, f"write {least} or more"
        )
