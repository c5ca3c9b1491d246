"""``[technology]`` of SCI: links, stations and buses of rings. Everything but the preset is optional."""

from __future__ import annotations

from typing import Annotated, Any, Literal

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
from fabriloom.technology.rings import RingFaultStops

Places = Annotated[int, Field(ge=1, le=65535)]


class Retry(Section):
    """What happens to a packet that was busied."""

    strategy: Literal["constant", "linear", "exponential"] | None = Field(
        default=None,
        description="Delay before the r-th retry: constant, r times the delay, or the delay times 2^(r-1)",
    )
    delay_ps: TimePs | None = Field(default=None, alias="delay", description="The delay of the first retry")
    order: Literal["first", "ready"] | None = Field(
        default=None,
        description="first: a packet that is to be sent again goes before all new ones; ready: it goes after "
        "those that were ready before it",
    )
    at: Literal["requester", "responder"] | None = Field(
        default=None, description="Who waits: the requester, or the responder with its busy echo"
    )


class Bus(Section):
    """The bus between the ports of a switch."""

    rate_bits_per_s: ByteRateBitsPerS | None = Field(default=None, alias="rate", description="Rate of a bus")
    width_bytes: PositiveBytes | None = Field(
        default=None, alias="width", description="What it moves in a cycle"
    )
    setup_ps: TimePs | None = Field(default=None, alias="setup", description="Time before every transfer")
    encapsulation_bytes: Bytes | None = Field(
        default=None, alias="encapsulation", description="Added to every packet on the bus"
    )


class Memory(Section):
    """What a terminal does with a packet that it receives."""

    access_ps: TimePs | None = Field(
        default=None, alias="access", description="Time of an access, however short"
    )
    block_ps: TimePs | None = Field(
        default=None, alias="block", description="Time for every 64 B of an access, begun ones counted"
    )


class RingLinks(Section):
    """SCI: register-insertion rings, switches that are ports joined by buses."""

    preset: Literal[
        "scinet",
        "sci-retry",
        "sci-1000",
        "sci-lc2",
        "sci-lx-d310",
        "sci-bx-d321",
        "sci-lc1-alpha",
        "sci-testbed-1",
        "sci-testbed-2",
    ] = Field(description="Where the numbers come from")
    link_rate_bits_per_s: ByteRateBitsPerS | None = Field(
        default=None, alias="link_rate", description="Rate of a link"
    )
    cable_length_m: LengthM | None = Field(
        default=None, alias="cable_length", description="Length of every cable"
    )
    cable_delay_ps_per_m: DelayPsPerM | None = Field(
        default=None, alias="cable_delay", description="Delay of a cable per length"
    )
    request_header_bytes: PositiveBytes | None = Field(
        default=None, alias="request_header", description="Header and check sum of a request"
    )
    response_header_bytes: PositiveBytes | None = Field(
        default=None, alias="response_header", description="Header and check sum of a response"
    )
    echo_bytes: PositiveBytes | None = Field(default=None, alias="echo", description="An echo")
    send_idle_bytes: Bytes | None = Field(
        default=None, alias="send_idle", description="Idle symbols behind a request or a response"
    )
    echo_idle_bytes: Bytes | None = Field(
        default=None, alias="echo_idle", description="Idle symbols behind an echo"
    )
    decode_latency_ps: TimePs | None = Field(
        default=None, alias="decode_latency", description="Time of the address decoder"
    )
    bypass_latency_ps: TimePs | None = Field(
        default=None, alias="bypass_latency", description="Time through a bypass FIFO that is empty"
    )
    receive_latency_ps: TimePs | None = Field(
        default=None,
        alias="receive_latency",
        description="From a packet standing whole in a receive queue to the bus or the terminal",
    )
    transmit_latency_ps: TimePs | None = Field(
        default=None,
        alias="transmit_latency",
        description="From the bus or the terminal to a packet being ready for the link",
    )
    interface_latency_ps: TimePs | None = Field(
        default=None,
        alias="interface_latency",
        description="Time in a station's interface, added to both the receive and the transmit latency",
    )
    host_latency_ps: TimePs | None = Field(
        default=None, alias="host_latency", description="In the host, before a request reaches its station"
    )
    requests_out: Places | None = Field(default=None, description="Places of a station for requests to send")
    port_requests_out: Places | None = Field(
        default=None, description="The same of a port of a switch, where it differs"
    )
    responses_out: Places | None = Field(
        default=None, description="Places of a station for responses to send"
    )
    requests_in: Places | None = Field(default=None, description="Places of a station for requests received")
    responses_in: Places | None = Field(
        default=None, description="Places of a station for responses received"
    )
    in_flight: Places | None = Field(
        default=None,
        description="Requests, and responses, of a station that may be sent before an echo comes back",
    )
    rejected: Places | None = Field(
        default=None,
        description="Busied requests, and responses, of a station that may wait to be sent again before "
        "new ones are held back",
    )
    transactions: Places | None = Field(
        default=None, description="Transactions of a terminal that may be open at a time"
    )
    forwarding: Literal["store-and-forward", "cut-through"] | None = Field(
        default=None, description="Whether a station waits for all of a packet that passes"
    )
    hold_until: Literal["sent", "echo"] | None = Field(
        default=None,
        description="How long a packet keeps its place to send: until it has left, or until "
        "its echo says that it was accepted",
    )
    response_priority: bool | None = Field(
        default=None, description="Whether responses go before requests that were ready earlier"
    )
    interface_occupied: bool | None = Field(
        default=None,
        description="Whether a packet occupies an interface for its receive or transmit latency, "
        "so that the next one waits",
    )
    in_order: bool | None = Field(
        default=None, description="Whether packets of one pair of terminals wait for each other's acceptance"
    )
    phases: bool | None = Field(
        default=None, description="Whether busied packets reserve queue space by phases (BUSY_A, BUSY_B)"
    )
    bandwidth_allocation: bool | None = Field(
        default=None, description="Whether stations begin packets only where idle symbols say go"
    )
    retry: Retry = Field(default=Retry(), description="What happens to a packet that was busied")
    timeout_ps: TimePs | None = Field(
        default=None, alias="timeout", description="After which a transaction is given up; 0: never"
    )
    echo_timeout_ps: PositiveTimePs | None = Field(
        default=None,
        alias="echo_timeout",
        description="From the loss of a packet, or of its echo, by a fault until its sender forgets it",
    )
    restart_ps: PositiveTimePs | None = Field(
        default=None, alias="restart", description="From the repair of what failed until its ring runs again"
    )
    close_after: Annotated[int, Field(ge=0, le=10**6)] | None = Field(
        default=None,
        description="After this many time-outs in a row a terminal closes its route to another one; 0: never",
    )
    closed_for_ps: PositiveTimePs | None = Field(
        default=None,
        alias="closed_for",
        description="For how long; what its source makes for that one meanwhile is lost at once",
    )
    fault_stops: RingFaultStops | None = Field(
        default=None,
        description="What is down when a link fails. ring: all links of its ring; link: this one alone",
    )
    bus: Bus = Field(default=Bus(), description="The bus between the ports of a switch")
    memory: Memory = Field(default=Memory(), description="What a terminal does with a packet")

    def overrides(self) -> dict[str, Any]:
        """Settings that differ from the preset, under their names with units, a dot as an underscore."""
        found: dict[str, Any] = {}
        for name, value in self.model_dump(exclude={"preset"}, exclude_none=True).items():
            inner = {f"{name}_{key}": each for key, each in value.items()} if isinstance(value, dict) else {}
            found |= inner if isinstance(value, dict) else {name: value}
        return found
