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
)
from fabriloom.scenario.sections.technology import RingPreset
from fabriloom.technology.rings import RingFaultStops
from fabriloom.topology.kinds import RINGS, NetworkKind

Places = Annotated[int, Field(ge=1, le=65535)]


class Retry(Section):
    """The retry of a packet that was rejected with a busy echo."""

    strategy: Literal["constant", "linear", "exponential"] | None = Field(
        default=None,
        description="Delay before the r-th retry. constant: delay; linear: r × delay; exponential: "
        "2^(r-1) × delay",
    )
    delay_ps: TimePs | None = Field(default=None, alias="delay", description="Delay before the first retry")
    order: Literal["first", "ready"] | None = Field(
        default=None,
        description="first: a retry is sent before all new packets; ready: after the packets that were ready "
        "before it",
    )
    at: Literal["requester", "responder"] | None = Field(
        default=None,
        description="Who waits for the delay: the requester before the retry, or the responder before its "
        "busy echo",
    )


class Bus(Section):
    """The bus between the ports of a switch."""

    rate_bits_per_s: ByteRateBitsPerS | None = Field(
        default=None, alias="rate", description="Data rate of a bus"
    )
    width_bytes: PositiveBytes | None = Field(
        default=None, alias="width", description="Bytes that a bus moves per cycle"
    )
    setup_ps: TimePs | None = Field(default=None, alias="setup", description="Time before every transfer")
    encapsulation_bytes: Bytes | None = Field(
        default=None, alias="encapsulation", description="Bytes added to every packet on the bus"
    )


class Memory(Section):
    """The memory access that a received packet causes in a terminal."""

    access_ps: TimePs | None = Field(default=None, alias="access", description="Fixed time of an access")
    block_ps: TimePs | None = Field(
        default=None, alias="block", description="Additional time for every started 64 B of an access"
    )


class RingLinks(Section):
    """SCI: register-insertion rings, and switches whose ports are joined by buses."""

    network_kind: ClassVar[NetworkKind] = RINGS

    preset: RingPreset = Field(description="Named set of values for all settings below")
    link_rate_bits_per_s: ByteRateBitsPerS | None = Field(
        default=None, alias="link_rate", description="Data rate of a link"
    )
    cable_length_m: LengthM | None = Field(
        default=None, alias="cable_length", description="Length of every cable"
    )
    cable_delay_ps_per_m: DelayPsPerM | None = Field(
        default=None, alias="cable_delay", description="Propagation delay of a cable per length"
    )
    request_header_bytes: PositiveBytes | None = Field(
        default=None, alias="request_header", description="Size of header and checksum of a request"
    )
    response_header_bytes: PositiveBytes | None = Field(
        default=None, alias="response_header", description="Size of header and checksum of a response"
    )
    echo_bytes: PositiveBytes | None = Field(default=None, alias="echo", description="Size of an echo")
    send_idle_bytes: Bytes | None = Field(
        default=None, alias="send_idle", description="Idle symbols after a request or a response"
    )
    echo_idle_bytes: Bytes | None = Field(
        default=None, alias="echo_idle", description="Idle symbols after an echo"
    )
    decode_latency_ps: TimePs | None = Field(
        default=None, alias="decode_latency", description="Delay of the address decoder"
    )
    bypass_latency_ps: TimePs | None = Field(
        default=None, alias="bypass_latency", description="Delay of an empty bypass FIFO"
    )
    receive_latency_ps: TimePs | None = Field(
        default=None,
        alias="receive_latency",
        description="Time from a packet being complete in a receive queue until it is ready for the bus or "
        "the terminal",
    )
    transmit_latency_ps: TimePs | None = Field(
        default=None,
        alias="transmit_latency",
        description="Time from a packet arriving from the bus or the terminal until it is ready for the link",
    )
    interface_latency_ps: TimePs | None = Field(
        default=None,
        alias="interface_latency",
        description="Delay of a station's interface, added to both receive_latency and transmit_latency",
    )
    host_latency_ps: TimePs | None = Field(
        default=None,
        alias="host_latency",
        description="Delay of the host before a request reaches its station",
    )
    requests_out: Places | None = Field(
        default=None, description="Size of a station's output queue for requests, in packets"
    )
    port_requests_out: Places | None = Field(
        default=None, description="The same for a switch port; if not given, requests_out"
    )
    responses_out: Places | None = Field(
        default=None, description="Size of a station's output queue for responses, in packets"
    )
    port_responses_out: Places | None = Field(
        default=None, description="The same for a switch port; if not given, responses_out"
    )
    requests_in: Places | None = Field(
        default=None, description="Size of a station's input queue for requests, in packets"
    )
    port_requests_in: Places | None = Field(
        default=None, description="The same for a switch port; if not given, requests_in"
    )
    responses_in: Places | None = Field(
        default=None, description="Size of a station's input queue for responses, in packets"
    )
    in_flight: Places | None = Field(
        default=None,
        description="Most requests, and most responses, of a station that wait for their echo",
    )
    rejected: Places | None = Field(
        default=None,
        description="Most busied requests, and most busied responses, of a station that wait for a retry "
        "before it holds back new ones",
    )
    transactions: Places | None = Field(
        default=None, description="Most transactions that a terminal has open at the same time"
    )
    forwarding: Literal["store-and-forward", "cut-through"] | None = Field(
        default=None,
        description="store-and-forward: a station forwards a passing packet once all of it has arrived; "
        "cut-through: as soon as it has read the address",
    )
    hold_until: Literal["sent", "echo"] | None = Field(
        default=None,
        description="How long a packet keeps its place in the output queue. sent: until it has left; echo: "
        "until its echo confirms that it was accepted",
    )
    response_priority: bool | None = Field(
        default=None, description="Whether responses are sent before requests that were ready earlier"
    )
    interface_occupied: bool | None = Field(
        default=None,
        description="Whether a packet occupies an interface during its receive or transmit latency, so that "
        "the next packet waits",
    )
    in_order: bool | None = Field(
        default=None,
        description="Whether a packet waits until the previous one between its two terminals is accepted",
    )
    phases: bool | None = Field(
        default=None, description="Whether busied packets reserve queue places by phases (BUSY_A, BUSY_B)"
    )
    bandwidth_allocation: bool | None = Field(
        default=None,
        description="Whether a station starts a packet only after an idle symbol with the go bit",
    )
    retry: Retry = Field(default=Retry(), description="The retry of a packet that was busied")
    timeout_ps: TimePs | None = Field(
        default=None, alias="timeout", description="Time after which a transaction is abandoned; 0: never"
    )
    echo_timeout_ps: PositiveTimePs | None = Field(
        default=None,
        alias="echo_timeout",
        description="Time from the loss of a packet or its echo by a fault until its sender forgets it",
    )
    restart_ps: PositiveTimePs | None = Field(
        default=None, alias="restart", description="Time from a repair until the ring runs again"
    )
    close_after: Annotated[int, Field(ge=0, le=10**6)] | None = Field(
        default=None,
        description="A terminal closes its route to another one after this many consecutive time-outs; "
        "0: never",
    )
    closed_for_ps: PositiveTimePs | None = Field(
        default=None,
        alias="closed_for",
        description="Time for which a route stays closed; packets that its source creates for it meanwhile "
        "are lost",
    )
    fault_stops: RingFaultStops | None = Field(
        default=None,
        description="What stops when a link fails. ring: all links of its ring; link: the failed link only",
    )
    bus: Bus = Field(default=Bus(), description="The bus between the ports of a switch")
    memory: Memory = Field(default=Memory(), description="The memory access that a received packet causes")

    def overrides(self) -> dict[str, Any]:
        """Return the settings that differ from the preset, by their names with units; dots become
        underscores.
        """
        found: dict[str, Any] = {}
        for name, value in self.written("preset").items():
            inner = {f"{name}_{key}": each for key, each in value.items()} if isinstance(value, dict) else {}
            found |= inner if isinstance(value, dict) else {name: value}
        return found
