"""``[technology]`` of SCI: links, stations and buses of rings. The preset gives the defaults."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from fabriloom.scenario.fields import (
    ByteRateBitsPerS,
    Bytes,
    DelayPsPerM,
    LengthM,
    PositiveBytes,
    PositiveTimePs,
    Section,
    TimePs,
    optional,
    setting,
)
from fabriloom.scenario.sections.technology import RingPreset
from fabriloom.technology.rings import Ordered, Payloads, RetryOrder, RingFaultStops, Stations, WhenFull
from fabriloom.topology.kinds import RINGS, NetworkKind

Places = Annotated[int, Field(ge=1, le=65535)]
AnyPlaces = Annotated[int, Field(ge=0, le=65535)]


class Retry(Section):
    """The retry of a packet that was rejected with a busy echo."""

    strategy: Literal["constant", "linear", "exponential"] | None = optional(
        "Delay before the r-th retry. constant: delay; linear: r × delay; exponential: 2^(r-1) × delay"
    )
    delay_ps: TimePs | None = optional("Delay before the first retry")
    order: RetryOrder | None = optional(
        "first: a retry is sent before all new packets; ready: after the packets that were ready before it; "
        "new-first: after all new packets that are ready"
    )
    at: Literal["requester", "responder"] | None = optional(
        "Who waits for the delay: the requester before the retry, or the responder before its busy echo"
    )


class Token(Section):
    """The token that circulates on each ring, without which a station starts no packet."""

    length_bytes: Bytes | None = optional("Length of the token; 0 B: there is none. If not given, none")
    packets: Annotated[int, Field(ge=0, le=10**6)] | None = optional(
        "Most packets that a station sends before it passes the token on; 0: no limit. If not given, none"
    )
    rotation_ps: TimePs | None = optional(
        "Time in which the token should come round: a station starts packets until the token is due again, "
        "and none if it comes late; 0: there is none. If not given, none"
    )


class Bus(Section):
    """The bus between the ports of a switch."""

    rate_bits_per_s: ByteRateBitsPerS | None = optional("Data rate of a bus")
    width_bytes: PositiveBytes | None = optional("Bytes that a bus moves per cycle")
    setup_ps: TimePs | None = optional("Time before every transfer")
    encapsulation_bytes: Bytes | None = optional("Bytes added to every packet on the bus")


class Memory(Section):
    """The memory access that a received packet causes in a terminal."""

    access_ps: TimePs | None = optional("Fixed time of an access")
    block_ps: TimePs | None = optional("Additional time for every started 64 B of an access")


class RingLinks(Section):
    """SCI and other rings, and switches whose ports are joined by buses."""

    network_kind: ClassVar[NetworkKind] = RINGS

    preset: RingPreset = setting("Named set of values for all settings below")
    link_rate_bits_per_s: ByteRateBitsPerS | None = optional("Data rate of a link")
    symbol_bytes: PositiveBytes | None = optional(
        "What a link moves at a time; packets are rounded up to whole symbols. If not given, 2 B"
    )
    cable_length_m: LengthM | None = optional("Length of every cable")
    cable_delay_ps_per_m: DelayPsPerM | None = optional("Propagation delay of a cable per length")
    request_header_bytes: PositiveBytes | None = optional("Header and checksum of a request")
    response_header_bytes: PositiveBytes | None = optional("Header and checksum of a response")
    echo_bytes: Bytes | None = optional("An echo; 0 B: receivers send none")
    send_idle_bytes: Bytes | None = optional("Idle symbols after a request or a response")
    echo_idle_bytes: Bytes | None = optional("Idle symbols after an echo")
    payloads: Payloads | None = optional(
        "How much data a packet carries. sci: 16, 64 or 256 B; any: any number of bytes. If not given, sci"
    )
    slot_bytes: Bytes | None = optional(
        "Length of the slots that circulate on a ring: a station starts a packet only in an empty one, each "
        "packet or echo fills one, and the first station of a ring delays it until it holds whole slots; "
        "0 B: no slots. If not given, none"
    )
    token: Token = setting(
        "The token without which a station starts no packet; the first station of a ring delays it until the "
        "ring holds it",
        Token(),
    )
    decode_latency_ps: TimePs | None = optional("Delay of the address decoder")
    bypass_latency_ps: TimePs | None = optional("Delay of an empty bypass FIFO")
    receive_latency_ps: TimePs | None = optional(
        "Time from a packet being complete in a receive queue until it is ready for the bus or the terminal"
    )
    transmit_latency_ps: TimePs | None = optional(
        "Time from a packet arriving from the bus or the terminal until it is ready for the link"
    )
    interface_latency_ps: TimePs | None = optional(
        "Delay of a station's interface, added to both receive_latency and transmit_latency"
    )
    host_latency_ps: TimePs | None = optional("Delay of the host before a request reaches its station")
    requests_out: Places | None = optional("A station's output queue for requests, in packets")
    port_requests_out: Places | None = optional("The same for a switch port; if not given, requests_out")
    responses_out: Places | None = optional("A station's output queue for responses, in packets")
    port_responses_out: Places | None = optional("The same for a switch port; if not given, responses_out")
    requests_in: AnyPlaces | None = optional(
        "A station's input queue for requests, in packets; 0: it is never full"
    )
    port_requests_in: Places | None = optional("The same for a switch port; if not given, requests_in")
    responses_in: AnyPlaces | None = optional(
        "A station's input queue for responses, in packets; 0: it is never full"
    )
    when_full: WhenFull | None = optional(
        "A packet that finds its receiver's queue full. busy: it is taken off the ring, and its sender sends "
        "it again; pass: it passes, and comes back after a round. If not given, busy"
    )
    in_flight: Places | None = optional(
        "Most requests, and most responses, of a station that wait for their echo"
    )
    rejected: Places | None = optional(
        "Most busied requests, and most busied responses, of a station that wait for a retry "
        "before it holds back new ones"
    )
    transactions: Places | None = optional("Most transactions that a terminal has open at the same time")
    forwarding: Literal["store-and-forward", "cut-through"] | None = optional(
        "store-and-forward: a station forwards a passing packet once all of it has arrived; "
        "cut-through: as soon as it has read the address"
    )
    hold_until: Literal["sent", "echo"] | None = optional(
        "How long a packet keeps its place in the output queue. sent: until it has left; echo: "
        "until its echo confirms that it was accepted"
    )
    response_priority: bool | None = optional(
        "Whether responses are sent before requests that were ready earlier"
    )
    interface_occupied: bool | None = optional(
        "Whether a packet occupies an interface during its receive or transmit latency, so that "
        "the next packet waits"
    )
    in_order: Ordered | None = optional(
        "Whether a packet waits until the previous one of its kind between its two terminals is accepted: at "
        "no station, at all, only at the ports of switches or at terminals, or at all but for requests of "
        "terminals"
    )
    phases: bool | None = optional("Whether busied packets reserve queue places by phases (BUSY_A, BUSY_B)")
    bandwidth_allocation: Stations | None = optional(
        "Whether a station starts a packet only after an idle symbol with the go bit: no station, all, or "
        "only the ports of switches or terminals"
    )
    retry: Retry = setting("The retry of a packet that was busied", Retry())
    timeout_ps: TimePs | None = optional("Time after which a transaction is abandoned; 0: never")
    echo_timeout_ps: PositiveTimePs | None = optional(
        "Time from the loss of a packet or its echo by a fault until its sender forgets it"
    )
    restart_ps: PositiveTimePs | None = optional("Time from a repair until the ring runs again")
    close_after: Annotated[int, Field(ge=0, le=10**6)] | None = optional(
        "A terminal closes its route to another one after this many consecutive time-outs; 0: never"
    )
    closed_for_ps: PositiveTimePs | None = optional(
        "Time for which a route stays closed; packets that its source creates for it meanwhile are lost"
    )
    fault_stops: RingFaultStops | None = optional(
        "What stops when a link fails. ring: all links of its ring; link: the failed link only"
    )
    bus: Bus = setting("The bus between the ports of a switch", Bus())
    memory: Memory = setting("The memory access that a received packet causes", Memory())

    def overrides(self) -> dict[str, Any]:
        """Return the settings that differ from the preset, by their names with units; dots become
        underscores.
        """
        found: dict[str, Any] = {}
        for name, value in self.written("preset").items():
            inner = {f"{name}_{key}": each for key, each in value.items()} if isinstance(value, dict) else {}
            found |= inner if isinstance(value, dict) else {name: value}
        return found
