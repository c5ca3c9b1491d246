"""Technology of rings: links of symbols, stations with packet queues, buses and memories (IEEE 1596).

``docs/background/ring-model.md`` describes the use of these numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import ClassVar, Final, Literal

from fabriloom.technology.errors import TechnologyError
from fabriloom.technology.model import LEAST_CHARACTER_PS, MOST_CABLE_PS, Ps, Rate, at_most, exact_ps

Forwarding = Literal["store-and-forward", "cut-through"]
HoldUntil = Literal["sent", "echo"]
RetryStrategy = Literal["constant", "linear", "exponential"]
RetryOrder = Literal["first", "ready", "new-first"]
RetryAt = Literal["requester", "responder"]
Transaction = Literal["nwrite", "dmove", "nread", "lock"]
WhenFull = Literal["busy", "pass"]
Payloads = Literal["sci", "any"]
RingFaultStops = Literal["ring", "link"]
Stations = Literal[True, False, "ports", "terminals"]
"""The stations for which a rule holds: all, none, the ports of switches, or all but these."""
Ordered = Literal[Stations, "but-requests"]
"""What is sent in order: also all but the requests of terminals."""

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
OTHER_RINGS: Final = {
    "symbol_bytes": 2,
    "payloads": "sci",
    "when_full": "busy",
    "slot_bytes": 0,
    "token_length_bytes": 0,
    "token_packets": 0,
    "token_rotation_ps": 0,
}
"""Settings by which other rings differ from SCI, with those of IEEE 1596-1992."""
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
    in_order: Ordered
    phases: bool
    bandwidth_allocation: Stations
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
    symbol_bytes: int = 2
    payloads: Payloads = "sci"
    """``sci``: those of the standard; ``any``: any, rounded up to whole symbols with the header."""
    when_full: WhenFull = "busy"
    """What happens to a packet that finds no place: it is busied, or passes and comes back after a round."""
    slot_bytes: int = 0
    """Length of the slots that circulate on a ring, in bytes; 0: stations insert packets anywhere."""
    token_length_bytes: int = 0
    """Length of the token that circulates on a ring, in bytes; 0: stations need none."""
    token_packets: int = 0
    """Most packets that a station sends with the token; 0: no limit."""
    token_rotation_ps: int = 0
    """Time in which the token should come round, in ps; 0: there is none."""
    transaction: Transaction = "nwrite"
    """Transaction of the terminals' packets; it determines their sizes on the link."""

    # A character is a byte here, and its payload is all that is counted, as for character links.
    character_bytes = 1
    end_carries_data = False
    overhead_bytes = 0
    least_bytes = 0
    lanes = 1
    mtu_setting: ClassVar[str] = "technology.slot"
    rounds_packets: ClassVar[bool] = True
    """Whether a packet of mean length does not take the mean time: each fills whole symbols."""
    flow_control = "ignored"
    """Links are one-way, so there is no flow control for an opposite direction."""
    reverse_load = Fraction(0)
    disconnect_ps = 0
    """Failures are detected at once."""
    grain_ps = 1000
    """What has no exact duration is rounded down to this many picoseconds: drawn times, the ends of runs."""

    def __post_init__(self) -> None:
        """Refuse values with which the rules of the ring cannot work."""
        for name in ("requests_out", "responses_out", "in_flight", "rejected"):
            _at_least(name, getattr(self, name), 1)
        for name in PORT_PLACES:
            if getattr(self, name) is not None:
                _at_least(name, getattr(self, name), 1)
        _at_least("transactions", self.transactions, 1)
        _at_least("bus.width", self.bus_width_bytes, 1)
        _at_least("symbol", self.symbol_bytes, 1)
        at_most("symbol", self.symbol_bytes, _MOST_BYTES, "bytes")
        for name in ("request_header", "response_header", "echo", "send_idle", "echo_idle"):
            size = getattr(self, f"{name}_bytes")
            _at_least(name, size, 1 if name.endswith("header") else 0)
            at_most(name, size, _MOST_BYTES, "bytes")
            if self.payloads == "sci" and size % self.symbol_bytes:
                message = f"{name} of {size} B is not a whole number of symbols of {self.symbol_bytes} B"
                down = size - size % self.symbol_bytes
                hint = f'write "{down} B" or "{down + self.symbol_bytes} B", or payloads = "any"'
                raise TechnologyError(message, name, hint)
        at_most("bus.width", self.bus_width_bytes, _MOST_BYTES, "bytes")
        at_most("bus.encapsulation", self.bus_encapsulation_bytes, _MOST_BYTES, "bytes")
        self.check_rate()
        shortest = min(self.request_header_bytes, self.response_header_bytes)
        echo = self.echo_bytes + self.echo_idle_bytes
        if self.echo_bytes > shortest or echo > shortest + self.send_idle_bytes:
            message = f"an echo of {echo} B is longer than the shortest packet that it takes the place of"
            raise TechnologyError(message, "echo", "shorten the echo or its idles")
        self._check_answers()
        self._check_slots()
        self._check_token()
        if self.bus_rate_bits_per_s <= 0:
            raise TechnologyError("bus.rate must be above zero", "bus.rate", 'write for example "600 MB/s"')
        if self.bus_cycle_ps < LEAST_CHARACTER_PS:
            message = f"a cycle of the bus lasts less than {LEAST_CHARACTER_PS} ps"
            raise TechnologyError(message, "bus.rate", "reduce it, or move more bytes in a cycle")

    def _check_answers(self) -> None:
        """Refuse rules that need an echo, if there is none."""
        if self.when_full == "pass" and self.phases:
            message = "phases reserve places for packets that are busied, and here they pass"
            raise TechnologyError(message, "phases", "write phases = false")
        if self.echo_bytes:
            return
        if self.echo_idle_bytes:
            raise TechnologyError("without echoes there are no idles after them", "echo_idle", 'write "0 B"')
        for name, needs in (("phases", self.phases), ("in_order", self.in_order)):
            if needs:
                message = f"{name} needs echoes, by which a sender learns of each packet"
                raise TechnologyError(message, name, f"write {name} = false, or give echo a size")
        if self.hold_until == "echo":
            message = "without echoes no packet can be held until one"
            raise TechnologyError(message, "hold_until", 'write hold_until = "sent"')
        places = (self.requests_in, self.responses_in, self.port_requests_in or 0)
        if self.when_full == "busy" and any(places):
            message = "without echoes no packet can be busied, and a queue can be full"
            hint = 'write when_full = "pass", or requests_in = 0 and responses_in = 0, which are never full'
            raise TechnologyError(message, "when_full", hint)

    def _check_slots(self) -> None:
        """Refuse slots that hold no packet, and rules that cannot go with slots."""
        if not self.slot_bytes:
            return
        if self.slot_bytes % self.symbol_bytes:
            message = f"a slot of {self.slot_bytes} B is not a whole number of symbols"
            raise TechnologyError(message, "slot", f"write a multiple of {self.symbol_bytes} B")
        if self.mtu_bytes < 1:
            message = f"a slot of {self.slot_bytes} B holds no data beside a header and its idles"
            raise TechnologyError(message, "slot", "make it longer")
        if self.forwarding != "cut-through":
            message = "slots pass stations without being stored"
            raise TechnologyError(message, "forwarding", 'write forwarding = "cut-through"')
        if self.bandwidth_allocation:
            message = "go bits are in the idle symbols between packets, and slots have none"
            raise TechnologyError(message, "bandwidth_allocation", "write bandwidth_allocation = false")

    def _check_token(self) -> None:
        """Refuse limits without a token, and rules that cannot go with one."""
        limits = ("token.packets", self.token_packets), ("token.rotation", self.token_rotation_ps)
        if not self.token_length_bytes:
            for name, limit in limits:
                if limit:
                    message = f"{name} limits a station that holds the token, and here is none"
                    raise TechnologyError(message, name, 'give token.length a size, such as "11 B"')
            return
        for name, value, wrong, message in (
            ("slot", '"0 B"', self.slot_bytes > 0, "stations fill slots without a token"),
            ("forwarding", '"cut-through"', self.forwarding != "cut-through", "a token is not stored"),
            ("bandwidth_allocation", "false", self.bandwidth_allocation, "a token needs no go bits"),
            ("when_full", '"busy"', self.when_full == "pass", "packets go round once, ahead of the token"),
            ("retry.at", '"requester"', self.retry_at == "responder", "echoes cannot wait for the token"),
        ):
            if wrong:
                raise TechnologyError(message, name, f"write {name} = {value}")
        if self.echo_bytes and not any(limit for _, limit in limits):
            message = "a station that sends busied packets again could keep the token for ever"
            raise TechnologyError(message, "token.packets", "write token.packets = 1, or a token.rotation")

    def check_rate(self, rate_bits_per_s: Rate | None = None) -> None:
        """Raise TechnologyError for a rate at which symbols are shorter than the resolution of time."""
        rate = self.link_rate_bits_per_s if rate_bits_per_s is None else rate_bits_per_s
        if rate > 0 and self.symbol_ps(rate) < LEAST_CHARACTER_PS:
            message = f"at this rate {8 * self.symbol_bytes} bits last less than {LEAST_CHARACTER_PS} ps"
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
        return exact_ps(8 * self.symbol_bytes * _PS_PER_S / Fraction(rate))

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
        """Legal payloads of the transaction; empty: any."""
        if self.payloads == "any" and self.transaction != "lock":
            return ()
        return PAYLOADS_BYTES[self.transaction]

    @property
    def mtu_bytes(self) -> int:
        """Return the longest payload that a slot holds; 0 without slots: the legal ones limit it, if any."""
        if not self.slot_bytes:
            return 0
        header = max(self.request_header_bytes, self.response_header_bytes)
        return max(0, self.slot_bytes - header - self.send_idle_bytes)

    # Units on a link, in symbols: packets and echoes with their idles.

    def _symbols(self, payload_bytes: float, size_bytes: float) -> float:
        """Return those of a packet; a mean of legal payloads is none of them, and is not rounded up."""
        if not size_bytes:
            return 0.0
        if self.slot_bytes:
            return self.slot_bytes / self.symbol_bytes
        symbols, legal = (size_bytes + self.send_idle_bytes) / self.symbol_bytes, self.legal_payloads_bytes
        return symbols if legal and payload_bytes not in legal else float(ceil(symbols))

    def request_symbols(self, payload_bytes: float) -> float:
        """Return the symbols of a request with this payload."""
        return self._symbols(payload_bytes, self.request_bytes(payload_bytes))

    def response_symbols(self, payload_bytes: float) -> float:
        """Return the symbols of the response; 0 if there is none."""
        return self._symbols(payload_bytes, self.response_bytes(payload_bytes))

    @property
    def token_symbols(self) -> int:
        """Return the symbols of the token; 0 if there is none."""
        return -(-self.token_length_bytes // self.symbol_bytes)

    @property
    def echo_symbols(self) -> int:
        """Return the symbols of an echo; 0 if there is none."""
        if not self.echo_bytes:
            return 0
        if self.slot_bytes:
            return self.slot_bytes // self.symbol_bytes
        return -(-(self.echo_bytes + self.echo_idle_bytes) // self.symbol_bytes)

    def payload_chars(self, length_bytes: int) -> int:
        """Return the payload in the engine's units, which are bytes."""
        return length_bytes

    def mean_packet_ps(
        self, payload_chars: float, rate_bits_per_s: Rate | None = None, via: bool = False
    ) -> float:
        """Return the time from request to request, back to back on a link with idle symbols, in ps."""
        return float(self.request_symbols(payload_chars) * self.symbol_ps(rate_bits_per_s))

    def packet_ps(self, length_bytes: int, rate_bits_per_s: Rate | None = None) -> int:
        """Return the time from request to request for a payload of whole bytes, in ps."""
        return round(self.mean_packet_ps(length_bytes, rate_bits_per_s))

    def packets_per_s(self, length_bytes: int, rate_bits_per_s: Rate | None = None) -> float:
        """Return the requests of this payload per second on a link that carries nothing else."""
        return _PS_PER_S / self.mean_packet_ps(length_bytes, rate_bits_per_s)

    def payload_bytes_per_s(self, length_bytes: int) -> float:
        """Return the payload rate of such requests in bytes per second: a load of 1."""
        return length_bytes * self.packets_per_s(length_bytes)


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        message = f"{name} is {value}, it must be at least {least}"
        raise TechnologyError(message, name, f"write {least} or more")
