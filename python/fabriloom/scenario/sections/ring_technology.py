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
    setting,
)
from fabriloom.scenario.sections.technology import RingPreset
from fabriloom.technology.rings import Payloads, RingFaultStops, WhenFull
from fabriloom.topology.kinds import RINGS, NetworkKind

Places = Annotated[int, Field(ge=1, le=65535)]
AnyPlaces = Annotated[int, Field(ge=0, le=65535)]


class Retry(Section):
    """The retry of a packet that was rejected with a busy echo."""

    strategy: Literal["constant", "linear", "exponential"] | None = setting(
        "Delay before the r-th retry. constant: delay; linear: r × delay; exponential: 2^(r-1) × delay", None
    )
    delay_ps: TimePs | None = setting("Delay before the first retry", None)
    order: Literal["first", "ready"] | None = setting(
        "first: a retry is sent before all new packets; ready: after the packets that were ready before it",
        None,
    )
    at: Literal["requester", "responder"] | None = setting(
        "Who waits for the delay: the requester before the retry, or the responder before its busy echo", None
    )


class Token(Section):
    """The token that circulates on each ring, without which a station starts no packet."""

    length_bytes: Bytes | None = setting("Length of the token; 0 B: there is none. If not given, none", None)
    packets: Annotated[int, Field(ge=0, le=10**6)] | None = setting(
        "Most packets that a station sends before it passes the token on; 0: no limit. If not given, none",
        None,
    )
    rotation_ps: TimePs | None = setting(
        "Time in which the token should come round: a station starts packets until the token is due again, "
        "and none if it comes late; 0: there is none. If not given, none",
        None,
    )


class Bus(Section):
    """The bus between the ports of a switch."""

    rate_bits_per_s: ByteRateBitsPerS | None = setting("Data rate of a bus", None)
    width_bytes: PositiveBytes | None = setting("Bytes that a bus moves per cycle", None)
    setup_ps: TimePs | None = setting("Time before every transfer", None)
    encapsulation_bytes: Bytes | None = setting("Bytes added to every packet on the bus", None)


class Memory(Section):
    """The memory access that a received packet causes in a terminal."""

    access_ps: TimePs | None = setting("Fixed time of an access", None)
    block_ps: TimePs | None = setting("Additional time for every started 64 B of an access", None)


class RingLinks(Section):
    """SCI and other rings, and switches whose ports are joined by buses."""

    network_kind: ClassVar[NetworkKind] = RINGS

    preset: RingPreset = setting("Named set of values for all settings below")
    link_rate_bits_per_s: ByteRateBitsPerS | None = setting("Data rate of a link", None)
    symbol_bytes: PositiveBytes | None = setting(
        "What a link moves at a time; packets are rounded up to whole symbols. If not given, 2 B", None
    )
    cable_length_m: LengthM | None = setting("Length of every cable", None)
    cable_delay_ps_per_m: DelayPsPerM | None = setting("Propagation delay of a cable per length", None)
    request_header_bytes: PositiveBytes | None = setting("Size of header and checksum of a request", None)
    response_header_bytes: PositiveBytes | None = setting("Size of header and checksum of a response", None)
    echo_bytes: Bytes | None = setting("Size of an echo; 0 B: receivers send none", None)
    send_idle_bytes: Bytes | None = setting("Idle symbols after a request or a response", None)
    echo_idle_bytes: Bytes | None = setting("Idle symbols after an echo", None)
    payloads: Payloads | None = setting(
        "How much data a packet carries. sci: 16, 64 or 256 B; any: any number of bytes. If not given, sci",
        None,
    )
    slot_bytes: Bytes | None = setting(
        "Length of the slots that circulate on a ring: a station starts a packet only in an empty one, each "
        "packet or echo fills one, and the first station of a ring delays it until it holds whole slots; "
        "0 B: no slots. If not given, none",
        None,
    )
    token: Token = setting(
        "The token without which a station starts no packet; the first station of a ring delays it until the "
        "ring holds it",
        Token(),
    )
    decode_latency_ps: TimePs | None = setting("Delay of the address decoder", None)
    bypass_latency_ps: TimePs | None = setting("Delay of an empty bypass FIFO", None)
    receive_latency_ps: TimePs | None = setting(
        "Time from a packet being complete in a receive queue until it is ready for the bus or the terminal",
        None,
    )
    transmit_latency_ps: TimePs | None = setting(
        "Time from a packet arriving from the bus or the terminal until it is ready for the link", None
    )
    interface_latency_ps: TimePs | None = setting(
        "Delay of a station's interface, added to both receive_latency and transmit_latency", None
    )
    host_latency_ps: TimePs | None = setting("Delay of the host before a request reaches its station", None)
    requests_out: Places | None = setting("Size of a station's output queue for requests, in packets", None)
    port_requests_out: Places | None = setting("The same for a switch port; if not given, requests_out", None)
    responses_out: Places | None = setting("Size of a station's output queue for responses, in packets", None)
    port_responses_out: Places | None = setting(
        "The same for a switch port; if not given, responses_out", None
    )
    requests_in: AnyPlaces | None = setting(
        "Size of a station's input queue for requests, in packets; 0: it is never full", None
    )
    port_requests_in: Places | None = setting("The same for a switch port; if not given, requests_in", None)
    responses_in: AnyPlaces | None = setting(
        "Size of a station's input queue for responses, in packets; 0: it is never full", None
    )
    when_full: WhenFull | None = setting(
        "A packet that finds its receiver's queue full. busy: it is taken off the ring, and its sender sends "
        "it again; pass: it passes, and comes back after a round. If not given, busy",
        None,
    )
    in_flight: Places | None = setting(
        "Most requests, and most responses, of a station that wait for their echo", None
    )
    rejected: Places | None = setting(
        "Most busied requests, and most busied responses, of a station that wait for a retry "
        "before it holds back new ones",
        None,
    )
    transactions: Places | None = setting("Most transactions that a terminal has open at the same time", None)
    forwarding: Literal["store-and-forward", "cut-through"] | None = setting(
        "store-and-forward: a station forwards a passing packet once all of it has arrived; "
        "cut-through: as soon as it has read the address",
        None,
    )
    hold_until: Literal["sent", "echo"] | None = setting(
        "How long a packet keeps its place in the output queue. sent: until it has left; echo: "
        "until its echo confirms that it was accepted",
        None,
    )
    response_priority: bool | None = setting(
        "Whether responses are sent before requests that were ready earlier", None
    )
    interface_occupied: bool | None = setting(
        "Whether a packet occupies an interface during its receive or transmit latency, so that "
        "the next packet waits",
        None,
    )
    in_order: bool | None = setting(
        "Whether a packet waits until the previous one between its two terminals is accepted", None
    )
    phases: bool | None = setting(
        "Whether busied packets reserve queue places by phases (BUSY_A, BUSY_B)", None
    )
    bandwidth_allocation: bool | None = setting(
        "Whether a station starts a packet only after an idle symbol with the go bit", None
    )
    retry: Retry = setting("The retry of a packet that was busied", Retry())
    timeout_ps: TimePs | None = setting("Time after which a transaction is abandoned; 0: never", None)
    echo_timeout_ps: PositiveTimePs | None = setting(
        "Time from the loss of a packet or its echo by a fault until its sender forgets it", None
    )
    restart_ps: PositiveTimePs | None = setting("Time from a repair until the ring runs again", None)
    close_after: Annotated[int, Field(ge=0, le=10**6)] | None = setting(
        "A terminal closes its route to another one after this many consecutive time-outs; 0: never", None
    )
    closed_for_ps: PositiveTimePs | None = setting(
        "Time for which a route stays closed; packets that its source creates for it meanwhile are lost", None
    )
    fault_stops: RingFaultStops | None = setting(
        "What stops when a link fails. ring: all links of its ring; link: the failed link only", None
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
