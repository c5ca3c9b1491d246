"""``[technology]``: what links and switches are made of. Everything but the preset is optional."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from fabriloom.scenario.fields import (
    Bytes,
    DefaultTag,
    DelayPsPerM,
    EventRateMilliHz,
    FileName,
    LengthM,
    PositiveBytes,
    PositiveTimePs,
    RateBitsPerS,
    Section,
    TimePs,
)
from fabriloom.scenario.sections.ring_technology import RingLinks
from fabriloom.technology.model import (
    Arbiter,
    Crossbar,
    FaultStops,
    FlowControl,
    GroupChoice,
    InputQueues,
    LaneArbiter,
    LaneSharing,
    Switching,
)

Bits = Annotated[int, Field(ge=1, le=4096)]


class AnyTechnology(Section):
    """What all technologies share."""

    crossbar: Crossbar | None = Field(
        default=None,
        description="fast: characters cross a switch as soon as there is room; "
        "link-rate: one per character time",
    )
    arbiter: Arbiter | None = Field(
        default=None, description="Which of the packets that wait for a group of links goes first"
    )
    group_choice: GroupChoice | None = Field(
        default=None, description="Which of the free links of a group a packet takes"
    )

    preset_file: FileName | None = Field(
        default=None,
        description="File with a preset such as fabriloom fit writes: its table [technology] holds what is "
        "not "
        "written here",
    )

    def overrides(self) -> dict[str, Any]:
        """Settings that differ from the preset, under their names with units."""
        return self.model_dump(exclude={"preset", "preset_file"}, exclude_none=True)


class SwitchedLinks(AnyTechnology):
    """What links between switches share."""

    fault_stops: FaultStops | None = Field(
        default=None,
        description="What stops when a link fails. cable: the other direction falls silent too; link: this "
        "direction alone",
    )


class CharacterLinks(SwitchedLinks):
    """Links that send characters: DS-Link and SpaceWire."""

    preset: Literal[
        "ds-link-c104", "ds-link-c104-32-32", "ds-link-c104-70", "spacewire-200", "spw-10x", "t9000-c104"
    ] = Field(default="ds-link-c104", description="Where the numbers come from")
    link_rate_bits_per_s: RateBitsPerS | None = Field(
        default=None, alias="link_rate", description="Bits per second on the wire"
    )
    data_bits: Bits | None = Field(default=None, description="Bits of a data character on the wire")
    end_bits: Bits | None = Field(default=None, description="Bits of the end of packet on the wire")
    flow_control_bits: Bits | None = Field(default=None, description="Bits of a flow-control character")
    cable_length_m: LengthM | None = Field(
        default=None, alias="cable_length", description="Length of every cable"
    )
    cable_delay_ps_per_m: DelayPsPerM | None = Field(
        default=None, alias="cable_delay", description="Delay of a cable per length"
    )
    input_buffer_bytes: PositiveBytes | None = Field(
        default=None, alias="input_buffer", description="Buffer behind every link, where it enters a switch"
    )
    credit_limit_bytes: PositiveBytes | None = Field(
        default=None,
        alias="credit_limit",
        description="SpaceWire: most characters promised and not received yet, however large the buffer",
    )
    output_buffer_bytes: PositiveBytes | None = Field(
        default=None, alias="output_buffer", description="Buffer in front of every link that leaves a switch"
    )
    credit_quantum_bytes: PositiveBytes | None = Field(
        default=None, alias="credit_quantum", description="Characters that one flow-control character grants"
    )
    header_bytes: Bytes | None = Field(
        default=None, alias="header", description="Routing header of every packet"
    )
    via_header_bytes: Bytes | None = Field(
        default=None, alias="via_header", description="Additional header to a random intermediate switch"
    )
    delete_header: bool | None = Field(
        default=None, description="Whether links into terminals delete the header"
    )
    decode_latency_ps: TimePs | None = Field(
        default=None,
        alias="decode_latency",
        description="From the header standing whole at the front of its buffer to its request for a link",
    )
    forward_latency_ps: TimePs | None = Field(
        default=None,
        alias="forward_latency",
        description="From a character leaving the input buffer to its being ready for the wire",
    )
    router_latency: Annotated[str, Field(max_length=100)] | None = Field(
        default=None,
        description="Delay of a switch from the last bit in to the last bit out as data sheets give it, such "
        'as "5 rx + 8 sys + 23 tx": periods of two bits of the link in, of router_clock, and of two bits of '
        "the link out. Instead of decode_latency and forward_latency",
    )
    router_clock_millihz: EventRateMilliHz | None = Field(
        default=None,
        alias="router_clock",
        description="Clock of a switch, whose periods router_latency counts",
    )
    router_switching: Annotated[str, Field(max_length=100)] | None = Field(
        default=None,
        description='Part of router_latency in which a switch chooses an output, such as "4 sys"; nothing if '
        "not given",
    )
    receiver_latency_ps: TimePs | None = Field(
        default=None,
        alias="receiver_latency",
        description="From the end of a character on the wire to its being usable",
    )
    turn_around_ps: TimePs | None = Field(
        default=None,
        alias="turn_around",
        description="From a place becoming free to the start of the flow-control character",
    )
    handover_ps: PositiveTimePs | None = Field(
        default=None,
        alias="handover",
        description="From an end of packet leaving an input buffer until its output is free again and the "
        "next header is looked at; at least as long as it takes to cross",
    )
    flow_control: FlowControl | None = Field(
        default=None,
        description="What characters pay for flow-control characters. average: their full share, as on "
        "cables that are busy both ways; matched: as much of it as the opposite directions are busy, found "
        "by a short run first; ignored: nothing",
    )
    disconnect_ps: PositiveTimePs | None = Field(
        default=None,
        alias="disconnect",
        description="From the failure of a link until its receiver takes it for disconnected",
    )
    restart_ps: PositiveTimePs | None = Field(
        default=None, alias="restart", description="From the repair of a link until it runs again"
    )
    time_code_bits: Bits | None = Field(
        default=None, description="SpaceWire: bits of a time-code or an interrupt on the wire"
    )
    time_code_latency: Annotated[str, Field(max_length=100)] | None = Field(
        default=None,
        description="Delay of a time-code through a switch as data sheets give it, such as "
        '"5 rx + 6 sys + 16 tx", in the clocks of router_latency. Instead of time_code_forward',
    )
    time_code_forward_ps: TimePs | None = Field(
        default=None,
        alias="time_code_forward",
        description="From the arrival of a time-code at a switch until it is ready for the wires",
    )
    interrupt_hold_ps: TimePs | None = Field(
        default=None,
        alias="interrupt_hold",
        description="For how long switches and terminals ignore an interrupt number after they have "
        "accepted it",
    )
    watchdog_ps: TimePs | None = Field(
        default=None,
        alias="watchdog",
        description="Time after which a switch ends a packet that has an output and does not move; "
        "0 ns: never",
    )


class Generic(SwitchedLinks):
    """One flit a cycle, credits of n flits; a packet of L flits takes L cycles of a link."""

    preset: Literal["generic", "infiniband-4x-edr"]
    cycle_ps: PositiveTimePs | None = Field(default=None, alias="cycle", description="One cycle")
    flit_bytes: PositiveBytes | None = Field(
        default=None, alias="flit", description="Payload bytes of one flit"
    )
    router_cycles: Annotated[int, Field(ge=0, le=10**6)] | None = Field(
        default=None, description="Cycles from a head flit at the front of its buffer to its request"
    )
    link_cycles: Annotated[int, Field(ge=1, le=10**6)] | None = Field(
        default=None, description="Cycles from the start of a flit on a link until it can be used"
    )
    turn_around_cycles: Annotated[int, Field(ge=1, le=10**6)] | None = Field(
        default=None,
        description="Cycles from a place becoming free until its credit starts back to the sender, which "
        "takes link_cycles",
    )
    handover_cycles: Annotated[int, Field(ge=1, le=10**6)] | None = Field(
        default=None,
        description="Cycles from a tail flit leaving its buffer until another packet can have its output",
    )
    next_head_cycles: Annotated[int, Field(ge=0, le=10**6)] | None = Field(
        default=None,
        description="Cycles from a tail flit leaving its buffer until the head behind it is at the front and "
        "begins with router_cycles",
    )
    input_buffer_flits: Annotated[int, Field(ge=1, le=2**20)] | None = Field(
        default=None, description="Flits of the buffer behind every link"
    )
    output_buffer_flits: Annotated[int, Field(ge=1, le=2**20)] | None = Field(
        default=None, description="Flits of the buffer in front of every link"
    )
    credit_quantum_flits: Annotated[int, Field(ge=1, le=2**20)] | None = Field(
        default=None, description="Flits that one credit grants"
    )
    lanes: Annotated[int, Field(ge=1, le=16)] | None = Field(
        default=None, description="Lanes (virtual channels) of every link, each with these buffers of its own"
    )
    lane_sharing: LaneSharing | None = Field(
        default=None,
        description="In what portions lanes share a link. flit: flits of several packets follow each other; "
        "packet: a packet is sent from head to tail",
    )
    lane_arbiter: LaneArbiter | None = Field(
        default=None, description="Which of the lanes that could send goes first; fixed: the lowest"
    )
    switching: Switching | None = Field(
        default=None,
        description="wormhole: a flit is sent with credit for it; virtual-cut-through: a packet is sent once "
        "there is credit for all of it",
    )
    input_queues: InputQueues | None = Field(
        default=None,
        description="fifo: an input buffer is one queue per lane; per-output: one for each group of links "
        "(virtual output queues), with virtual-cut-through only",
    )
    disconnect_cycles: Annotated[int, Field(ge=1, le=10**9)] | None = Field(
        default=None, description="Cycles from the failure of a link until its receiver notices"
    )
    restart_cycles: Annotated[int, Field(ge=1, le=10**9)] | None = Field(
        default=None, description="Cycles from the repair of a link until it runs again"
    )
    watchdog_cycles: Annotated[int, Field(ge=0, le=10**12)] | None = Field(
        default=None,
        description="Cycles after which a switch ends a packet that has an output and does not move; "
        "0: never",
    )


Technology = Annotated[
    CharacterLinks | Generic | RingLinks, Field(discriminator="preset"), DefaultTag("preset", "ds-link-c104")
]

RING_PRESET = "sci-lc2"
"""The preset of a network of rings that names none: the hardware of which most is known."""
