"""Technology of links and switches, in exact integers, and the times derived from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal

from fabriloom import units
from fabriloom.technology.errors import TechnologyError
from fabriloom.technology.lanes import TURNS, LaneRules
from fabriloom.technology.pause import SharedBuffer, check_thresholds

Crossbar = Literal["fast", "link-rate", "clock"]
FlowControl = Literal["matched", "average", "ignored"]
Arbiter = Literal["fifo", "round-robin", "fixed", "random", "oldest-first"]
GroupChoice = Literal["first", "least-recent", "random", "drawn", "source"]
LaneSharing = Literal["flit", "packet", "frame"]
LaneArbiter = Literal["round-robin", "fixed", "reserved", "weighted"]
Switching = Literal["wormhole", "virtual-cut-through", "store-and-forward"]
InputQueues = Literal["fifo", "per-output"]
FaultStops = Literal["cable", "link"]
Ps = int | Fraction
"""A duration in picoseconds."""
Rate = int | Fraction
"""A rate in bits per second."""

_PS_PER_S = 10**12
MOST_CHARS = 2**20
"""The largest buffer or credit that the engine supports, in characters."""
MOST_HEADER_CHARS = 1024
LEAST_CHARACTER_PS = 10
"""The shortest character time."""
_EXACT = 10**6
"""Rounded durations have at least this many parts: they are off by half a millionth at most."""
MOST_CABLE_PS = 2**60


def exact_ps(duration: Fraction, step_ps: Ps = 0) -> Ps:
    """Return a duration, rounded by less than 1 ppm where its fraction of a picosecond is too fine for ticks;
    or rounded to steps, at least one unless it is 0.
    """
    if step_ps:
        duration = Fraction(max(1, round(duration / step_ps)) * step_ps) if duration else duration
    elif duration.denominator != 1:
        parts = 1
        while duration * parts < _EXACT:
            parts *= 10
        if duration.denominator > parts:
            duration = Fraction(round(duration * parts), parts)
    return duration.numerator if duration.denominator == 1 else duration


def at_most(name: str, value: int, most: int, unit: str) -> None:
    """Raise TechnologyError for a size above the supported range."""
    if value > most:
        raise TechnologyError(f"{name} has {value:,} {unit}, the most is {most:,}", name, "make it smaller")


@dataclass(frozen=True)
class Technology:
    """Links and switches of one kind.

    A packet on a link is its header, its payload and one end of packet, in characters. Buffers and the credit
    quantum are counted in characters; for byte links a character is a byte.
    """

    preset: str
    link_rate_bits_per_s: Rate
    data_bits: int
    """Bits of a header or payload character on the wire."""
    end_bits: int
    """Bits of the end of packet."""
    flow_control_bits: int
    """Bits of a flow-control character; 0 if credit returns on separate wires."""
    character_bytes: int
    """Payload bytes of one character."""
    end_carries_data: bool
    """True if the end of packet is itself the last character of the payload (a tail flit)."""
    credit_quantum_chars: int
    input_buffer_chars: int
    output_buffer_chars: int
    header_chars: int
    via_header_chars: int
    delete_header: bool
    """True if links into terminals delete the header."""
    decode_latency_ps: Ps
    forward_latency_ps: Ps
    receiver_latency_ps: Ps
    turn_around_ps: Ps
    handover_ps: Ps
    """Time from the end of packet leaving an input buffer until its output is free, in ps."""
    cable_length_m: float
    cable_delay_ps_per_m: int
    crossbar: Crossbar
    flow_control: FlowControl
    arbiter: Arbiter
    group_choice: GroupChoice
    lanes: int = 1
    """Number of lanes (virtual channels) per link, each with its own buffers and credit."""
    lane_sharing: LaneSharing = "flit"
    """How the lanes of a link share its wire."""
    lane_arbiter: LaneArbiter = "round-robin"
    lane_rules: LaneRules = TURNS
    """Frames, priorities, reservations and tables of the lanes."""
    switching: Switching = "wormhole"
    """Whether a packet starts with credit for a character or for all of it, and is stored in every switch."""
    input_queues: InputQueues = "fifo"
    next_head_ps: Ps | None = None
    """Time from the end of packet leaving an input buffer until the next packet is at the front; None: the
    handover time."""
    receive_bits: Fraction | None = None
    """Receive delay of switches in bit times of the incoming link, if it is not that of terminals; it
    replaces ``receiver_latency_ps``."""
    receive_ps: Ps = 0
    """Receive delay of such switches besides, in ps; external ports have neither."""
    transmit_bits: Fraction = Fraction(0)
    """Transmit delay in bit times of the outgoing link, for such routers."""
    crossing_ps: int = 0
    """Period of its clock in which a character crosses to its port, in ps; 0: another crossbar."""
    credit_limit_chars: int | None = None
    """Most characters granted and not received, for any buffer size; None: no limit."""
    grain_ps: Ps = 1000
    """What has no exact duration is rounded down to this many picoseconds: drawn times, the ends of runs."""
    step_ps: Ps = 0
    """Times of characters and cables are whole multiples of it; 0: exact, or as ``exact_ps`` has them."""
    disconnect_ps: Ps = 0
    """Time from the failure of a link until its receiver detects it, in ps."""
    restart_ps: Ps = 0
    """Time from the repair of a link until it runs, in ps."""
    start_rate_bits_per_s: Rate | None = None
    """Rate of the characters with which a link starts after ``restart_ps``; None: it starts without any."""
    fault_stops: FaultStops = "link"
    """Whether a failed direction also stops the opposite direction of its cable."""
    watchdog_ps: Ps = 0
    """Time after which a switch ends a packet that holds an output and does not move, in ps; 0: never."""
    code_bits: int = 0
    """Bits of a time-code or an interrupt on the wire; 0: the links have none."""
    code_forward_ps: int = 0
    """Time from the arrival of a code at a switch until it is ready for the wires, at most, in ps."""
    code_jitter_ps: int = 0
    code_receive_bits: Fraction | None = None
    """``receive_bits`` for codes."""
    code_transmit_bits: Fraction = Fraction(0)
    interrupt_hold_ps: int = 0
    """Time for which a switch or a terminal ignores an interrupt number after accepting it, in ps."""
    first_port: int = 0
    """The lowest port of a switch, and the highest; then the same of addresses."""
    last_port: int = 2**16 - 1
    first_address: int = 0
    last_address: int = 2**16 - 1
    mtu_setting: ClassVar[str] = "technology.mtu"
    rounds_packets: ClassVar[bool] = False
    mtu_bytes: int = 0
    """Payload of the longest packet; 0: any."""
    overhead_bytes: int = 0
    """Headers and check sums of a packet, which fill flits together with its payload."""
    least_bytes: int = 0
    """The shortest packet, overhead included."""
    pause_above_chars: int = 0
    """A buffer that holds more of complete packets pauses its sender; 0: packets wait for credit."""
    pause_until_chars: int = 0
    """When it holds no more than this, the sender goes on."""
    shared: SharedBuffer | None = None
    drop_when_full: bool = False
    """Whether a packet is dropped for which a buffer has no room."""
    padding_bits: int = 0
    """Bits of each byte that is missing in the last character of a packet and is not sent; 0: it is sent."""
    reverse_load: Fraction = Fraction(1)
    """Load of the opposite direction of a cable, 0 to 1: the factor on the flow-control share of a character.
    It is 1 for loads and bounds; for runs with matched flow control it is measured."""

    def __post_init__(self) -> None:
        """Refuse buffers that can never move a packet, and sizes above the supported range."""
        self._check_counts()
        self._check_queues()
        self.lane_rules.check(self.lanes, self.lane_sharing, self.lane_arbiter, self.character_bytes)
        self.check_rate()
        for name, least in (("input_buffer", 1), ("output_buffer", 1), ("credit_quantum", 1)):
            if getattr(self, f"{name}_chars") < least:
                raise TechnologyError(f"{name} holds no character", name, "give it at least one character")
        if self.input_buffer_chars < self.credit_quantum_chars:
            message = (
                f"input_buffer of {self.input_buffer_chars} characters is smaller than one credit of "
                f"{self.credit_quantum_chars}: nothing would ever be sent"
            )
            raise TechnologyError(message, "input_buffer", "enlarge input_buffer or reduce credit_quantum")
        if self.decode_latency_ps + self.front_ps == 0:
            message = "a head would request before the packet in front of it has left: at least one of "
            name, other = "next_head_cycles", "router_cycles"
            if not self.in_flits:
                name, other = "handover", "decode_latency"
            hint = f"write {name} = 1" if self.in_flits else f'write {name} = "10 ns"'
            raise TechnologyError(f"{message}{name} and {other} takes time", name, hint)
        header = max(self.header_chars, self.via_header_chars)
        if self.input_buffer_chars < header:
            message = f"input_buffer of {self.input_buffer_chars} characters cannot hold a header of {header}"
            raise TechnologyError(message, "input_buffer", "enlarge input_buffer or shorten the header")
        # The first characters of a header must not keep the credit for its last one from being promised.
        if self.input_buffer_chars < self.credit_quantum_chars + header - 1:
            message = (
                f"input_buffer of {self.input_buffer_chars} characters is too small for credits of "
                f"{self.credit_quantum_chars} and a header of {header}: a header could wait for itself"
            )
            hint = f"give it at least {self.credit_quantum_chars + header - 1}, or reduce credit_quantum"
            raise TechnologyError(message, "input_buffer", hint)

    @property
    def in_flits(self) -> bool:
        """Whether characters are flits, and times are given in cycles."""
        return self.end_carries_data

    def _check_counts(self) -> None:
        unit = "flits" if self.in_flits else "characters"
        for name in ("input_buffer", "output_buffer", "credit_quantum"):
            at_most(name, getattr(self, f"{name}_chars"), MOST_CHARS, unit)
        for name in ("header", "via_header"):
            at_most(name, getattr(self, f"{name}_chars"), MOST_HEADER_CHARS, unit)
        at_most("flit", self.character_bytes, MOST_CHARS, "bytes")

    def _check_queues(self) -> None:
        if self.switching == "wormhole" and (self.pause_above_chars or self.drop_when_full):
            message = "packets are paused or dropped whole, not within one as with wormhole switching"
            name = "pause_above_flits" if self.pause_above_chars else "drop_when_full"
            raise TechnologyError(message, name, 'write switching = "store-and-forward"')
        if self.shared is not None:
            self.shared.check(self.pause_above_chars > 0, self.drop_when_full)
        if self.pause_above_chars:
            check_thresholds(self.pause_above_chars, self.pause_until_chars, self.input_buffer_chars)
        elif self.pause_until_chars:
            message = "pause_until_flits has no meaning while packets wait for credit"
            hint = "give pause_above_flits, too, or write pause_until_flits = 0"
            raise TechnologyError(message, "pause_until_flits", hint)
        if self.input_queues == "per-output" and self.switching == "wormhole":
            message = "input queues per output need whole packets of credit: with wormhole switching, what "
            message += "comes in for one output could wait for places that packets for others keep"
            raise TechnologyError(message, "input_queues", 'write switching = "virtual-cut-through"')

    def check_whole_packets(self, longest_chars: int, via: bool, places: int = 1) -> None:
        """Raise TechnologyError if buffers have fewer places for packets with this payload: a packet without
        one never gets enough credit to start.
        """
        if self.switching == "wormhole":
            return
        packet = longest_chars + 1 + self.header_chars + (self.via_header_chars if via else 0)
        least = places * packet + self.credit_quantum_chars - 1
        if self.input_buffer_chars < least:
            message = f"input_buffer of {self.input_buffer_chars} flits is too small for "
            message += self.switching if places == 1 else f"a bubble, which takes {places} packets"
            message += f": the longest packet has {packet}"
            if self.credit_quantum_chars > 1:
                message += f", and credits come by {self.credit_quantum_chars}"
            hint = f"give it at least {least} flits, or send shorter packets"
            raise TechnologyError(message, "input_buffer", hint)

    def check_watchdog(self, longest_chars: int, via: bool) -> None:
        """Raise TechnologyError for a watchdog shorter than the wait for a single other packet."""
        packet_ps = round(self.mean_packet_ps(longest_chars, None, via))
        if 0 < self.watchdog_ps < packet_ps:
            name = "watchdog_cycles" if self.in_flits else "watchdog"
            watchdog, packet = map(units.format_time_ps, (self.watchdog_ps, packet_ps))
            message = f"a watchdog of {watchdog} is shorter than the longest packet takes, {packet}: packets "
            message += "that wait their turn are ended"
            raise TechnologyError(message, name, "make it some times as long, or send shorter packets")

    @property
    def holds_wire(self) -> bool:
        """Whether a packet that waits for credit blocks the other lanes of its link."""
        return self.lane_sharing == "packet" and self.switching == "wormhole"

    def check_rate(self, rate_bits_per_s: Rate | None = None) -> None:
        """Raise TechnologyError for a rate at which characters are shorter than the resolution of time."""
        bits = min(self.data_bits, self.end_bits)
        if self._bits_ps(Fraction(bits), rate_bits_per_s) < LEAST_CHARACTER_PS:
            most = units.format_rate_bits_per_s(bits * _PS_PER_S // LEAST_CHARACTER_PS)
            message = f"at this rate {bits} bits last less than {LEAST_CHARACTER_PS} ps"
            longer = ", or take a technology of longer flits" if self.in_flits else ""
            hint = f'write at most "{most}"{longer}'
            if self.in_flits and rate_bits_per_s is None:
                hint = f'write at least "{LEAST_CHARACTER_PS} ps"'
            raise TechnologyError(message, "cycle" if self.in_flits else "link_rate", hint)

    # Durations. `rounded` tells by how much the times of characters differ from those of their rate.

    def character_ps(self, rate_bits_per_s: Rate | None = None) -> Ps:
        """Return the time of a header or payload character on the wire in ps, with its flow-control share."""
        return self._rounded_ps(self.data_bits, rate_bits_per_s)

    def end_ps(self, rate_bits_per_s: Rate | None = None) -> Ps:
        """Return the time of the end of packet on the wire in ps, with its flow-control share."""
        return self._rounded_ps(self.end_bits, rate_bits_per_s)

    def padding_ps(self, rate_bits_per_s: Rate | None = None) -> Ps:
        """Return by how much each byte missing in the last character makes a packet shorter, in ps."""
        own = self.share_bits * bool(self.padding_bits)
        return self._exact_ps(self.padding_bits + own / self.character_bytes, rate_bits_per_s)

    def flow_control_ps(self, rate_bits_per_s: Rate | None = None) -> Ps:
        """Return the time of a flow-control character on the wire in ps; 0 if there are none."""
        return self._exact_ps(Fraction(self.flow_control_bits), rate_bits_per_s)

    def check_credit(self, rate_bits_per_s: Rate | None = None, length_m: float | None = None) -> None:
        """Raise TechnologyError if the credit limit is reached before a flow-control character returns.

        Otherwise the limit never binds: sending this many characters takes longer than the round trip of the
        first one and its credit. The input buffer alone then determines the throughput.
        """
        if self.credit_limit_chars is None or self.credit_limit_chars >= self.input_buffer_chars:
            return
        shortest = self._bits_ps(Fraction(min(self.data_bits, self.end_bits)), rate_bits_per_s)
        under_way = (self.credit_limit_chars - self.credit_quantum_chars + 1) * shortest
        loop = self.arrival_ps(rate_bits_per_s, length_m) + self.credit_ps(rate_bits_per_s, length_m)
        if under_way < loop + self.receiver_ps(rate_bits_per_s) + self.transmitter_ps(rate_bits_per_s):
            message = "on a cable of this length credit ends at credit_limit, "
            message += f"{self.credit_limit_chars} characters under way"
            hint = f'a larger buffer is of no use then: write input_buffer = "{self.credit_limit_chars} B"'
            raise TechnologyError(message, "cable_length", hint)

    def cable_ps(self, length_m: float | None = None) -> Ps:
        """Return the one-way propagation delay of the cable in ps, limited to the supported range."""
        length = self.cable_length_m if length_m is None else length_m
        delay_ps = min(MOST_CABLE_PS, round(length * self.cable_delay_ps_per_m))
        if self.step_ps or isinstance(self.grain_ps, int) or not delay_ps:
            return exact_ps(Fraction(delay_ps), self.step_ps)
        # Cables and cycles have no short common tick: a cable is some thousandths of a cycle, or finer ones.
        part_ps = Fraction(self.grain_ps, 1000)
        while delay_ps < _EXACT * part_ps / 2:
            part_ps /= 10
        return round(delay_ps / part_ps) * part_ps

    def arrival_ps(self, rate_bits_per_s: Rate | None = None, length_m: float | None = None) -> Ps:
        """Return the time from a character's start on the wire until it can be used at the target, in ps."""
        return self.character_ps(rate_bits_per_s) + self.cable_ps(length_m) + self.receiver_latency_ps

    def credit_ps(self, rate_bits_per_s: Rate | None = None, length_m: float | None = None) -> Ps:
        """Return the time from a place becoming free until the sender can use its credit, at least a step."""
        return max(
            self.step_ps or 1,
            self.flow_control_ps(rate_bits_per_s) + self.cable_ps(length_m) + self.turn_around_ps,
        )

    def receiver_ps(self, rate_bits_per_s: Rate | None = None) -> Ps:
        """Return the time from the end of a character on the wire until a switch can use it, in ps."""
        if self.receive_bits is None:
            return self.receiver_latency_ps
        return self._exact_ps(self.receive_bits, rate_bits_per_s) + self.receive_ps

    def transmitter_ps(self, rate_bits_per_s: Rate | None = None) -> Ps:
        """Return the time of a character in the output of a switch before its first bit is sent, in ps."""
        return self._exact_ps(self.transmit_bits, rate_bits_per_s) + self.crossing_ps

    def code_ps(self, rate_bits_per_s: Rate | None = None) -> Ps:
        """Return the time of a time-code or an interrupt on the wire, in ps."""
        return self._exact_ps(Fraction(self.code_bits), rate_bits_per_s)

    def code_arrival_ps(
        self, into_switch: bool, out_of_switch: bool, rate: Rate | None = None, length_m: float | None = None
    ) -> Ps:
        """Return the time from the start of a code on a wire until it has arrived at the target, in ps."""
        bits = self.code_transmit_bits if out_of_switch else Fraction(0)
        receiver_ps = self.receiver_latency_ps
        if into_switch and self.code_receive_bits is not None:
            bits, receiver_ps = bits + self.code_receive_bits, 0
        return self.code_ps(rate) + self.cable_ps(length_m) + receiver_ps + self._exact_ps(bits, rate)

    @property
    def running_ps(self) -> Ps:
        """Return the time from the repair of a link until it runs: the silence and the start, in ps."""
        return self.restart_ps + self.start_ps

    @property
    def start_ps(self) -> Ps:
        """Return the time of the characters with which a link starts, in ps.

        Both ends send NULLs until one has come from the other end; then each sends a flow-control character,
        and runs when it has received one. Cables have the length of the technology.
        """
        if self.start_rate_bits_per_s is None:
            return 0
        bit_ps = _PS_PER_S / Fraction(self.start_rate_bits_per_s)
        null_ps, flow_control_ps = 2 * self.flow_control_bits * bit_ps, self.flow_control_bits * bit_ps
        way_ps = self.cable_ps() + self.receiver_latency_ps
        nulls = -(-(null_ps + way_ps) // null_ps)
        return round(nulls * null_ps + flow_control_ps + way_ps)

    @property
    def crossbar_ps(self) -> Ps:
        """Return the time between two characters through the crossbar in ps; 0: as fast as the buffers allow.

        Flow-control characters do not pass the crossbar, so link rate means the rate of bare characters.
        """
        if self.crossbar == "clock":
            return self.crossing_ps
        return 0 if self.crossbar == "fast" else self._exact_ps(Fraction(self.data_bits), None)

    @property
    def release_ps(self) -> Ps:
        """Return the time from the end of packet leaving its input buffer until its output is free, in ps.

        The end of packet itself crosses in the time of a character.
        """
        return max(self.handover_ps, self.crossbar_ps)

    @property
    def front_ps(self) -> Ps:
        """Return the time from the end of packet leaving its input buffer until the next packet is at the
        front, in ps.

        With the decoding, it is at least the time for which the crossbar is busy.
        """
        if self.next_head_ps is None:
            return self.release_ps
        return max(self.next_head_ps, self.crossbar_ps - self.decode_latency_ps)

    @property
    def share_bits(self) -> Fraction:
        """Flow-control bits per character."""
        if self.flow_control == "ignored":
            return Fraction(0)
        return Fraction(self.flow_control_bits, self.credit_quantum_chars) * self.reverse_load

    def beside(self, reverse_load: Fraction) -> Technology:
        """Return the technology with this load of the opposite directions."""
        return replace(self, reverse_load=reverse_load)

    @property
    def alone(self) -> Technology:
        """The technology beside idle opposite directions."""
        return self.beside(Fraction(0)) if self.flow_control == "matched" else self

    def rounded(self, rate_bits_per_s: Rate | None = None) -> float:
        """Return the part by which characters are rounded: less than a millionth without steps."""
        bits = (self.data_bits + self.share_bits, self.end_bits + self.share_bits)
        times = [self._bits_ps(b, rate_bits_per_s) for b in bits]
        return max(float(abs(exact_ps(time, self.step_ps) / time - 1)) for time in times)

    # Packets.

    def payload_chars(self, length_bytes: int) -> int:
        """Return the payload characters of a packet of ``length_bytes`` before its end."""
        filled = max(length_bytes + self.overhead_bytes, self.least_bytes)
        characters = -(-filled // self.character_bytes)
        return max(0, characters - self.end_carries_data)

    @property
    def legal_payloads_bytes(self) -> tuple[int, ...]:
        """Legal payloads of a packet; empty: any."""
        return ()

    def mean_packet_ps(
        self, payload_chars: float, rate_bits_per_s: Rate | None = None, via: bool = False
    ) -> float:
        """Return the mean time on a link of packets with this mean payload: header, payload and end, in
        ps, and their share of full frames.
        """
        header = self.header_chars + (self.via_header_chars if via else 0)
        characters_ps = (header + payload_chars) * self.character_ps(rate_bits_per_s)
        return float((characters_ps + self.end_ps(rate_bits_per_s)) * self.lane_rules.framed)

    def packet_ps(self, length_bytes: int, rate_bits_per_s: Rate | None = None, via: bool = False) -> Ps:
        """Return the time of a packet on a link: header, payload and end, and its share of full frames."""
        header = self.header_chars + (self.via_header_chars if via else 0)
        characters_ps = (header + self.payload_chars(length_bytes)) * self.character_ps(rate_bits_per_s)
        return exact_ps(Fraction(characters_ps + self.end_ps(rate_bits_per_s)) * self.lane_rules.framed)

    def packets_per_s(self, length_bytes: int, rate_bits_per_s: Rate | None = None) -> float:
        """Return the largest number of packets of this length per second on a link."""
        return float(_PS_PER_S / self.packet_ps(length_bytes, rate_bits_per_s))

    def payload_bytes_per_s(self, length_bytes: int) -> float:
        """Return the largest payload rate of a link with packets of this length, in bytes per second."""
        return length_bytes * self.packets_per_s(length_bytes)

    def data_bytes_per_s(self) -> float:
        """Return the rate of an endless packet, in bytes per second: 9.524 MB/s for a DS-Link at 100 Mbit/s
        that is busy in both directions."""
        return float(self.character_bytes * _PS_PER_S / (self.character_ps() * self.lane_rules.framed))

    @cached_property
    def _known_ps(self) -> dict[tuple[int, Rate | None], Ps]:
        """Durations that were asked for before: fractions are slow, and every run asks for the same."""
        return {}

    def _rounded_ps(self, bits: int, rate_bits_per_s: Rate | None) -> Ps:
        """Return the time of a character, flow-control share included, to the nearest picosecond."""
        key = bits, rate_bits_per_s
        if key not in self._known_ps:
            self._known_ps[key] = self._exact_ps(bits + self.share_bits, rate_bits_per_s)
        return self._known_ps[key]

    def _exact_ps(self, bits: Fraction, rate_bits_per_s: Rate | None) -> Ps:
        return exact_ps(self._bits_ps(bits, rate_bits_per_s), self.step_ps)

    def _bits_ps(self, bits: Fraction, rate_bits_per_s: Rate | None) -> Fraction:
        rate = self.link_rate_bits_per_s if rate_bits_per_s is None else rate_bits_per_s
        if rate <= 0:
            message, hint = "link_rate must be above zero", 'write for example "100 Mbit/s"'
            raise TechnologyError(message, "link_rate", hint)
        return Fraction(bits * _PS_PER_S) / rate
