"""``[technology]``: rates, buffers and delays of links and switches. The preset gives the defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field

from fabriloom.scenario.fields import (
    Bytes,
    CyclePs,
    DelayPsPerM,
    EventRateMilliHz,
    FileName,
    Later,
    LengthM,
    OneOf,
    PositiveBytes,
    PositiveTimePs,
    RateBitsPerS,
    Section,
    TimePs,
    optional,
    setting,
    tables,
    with_tag,
)
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
from fabriloom.topology.kinds import LINKS, NetworkKind

Bits = Annotated[int, Field(ge=1, le=4096)]
Number = Annotated[int, Field(ge=0, le=2**16 - 1)]
LaneTable = Annotated[str, Field(max_length=1024)]
Priorities = Annotated[list[Annotated[int, Field(ge=0, le=255)]], Field(max_length=16)]
Slots = Annotated[list[Annotated[str, Field(max_length=256)]], Field(max_length=16)]
Shares = Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(max_length=16)]


class AnyTechnology(Section):
    """Settings that all technologies share."""

    network_kind: ClassVar[NetworkKind] = LINKS
    """Whether these are links of rings."""

    crossbar: Crossbar | None = optional(
        "When characters cross a switch. fast: as soon as the output buffer has room; link-rate: one per "
        "character time; clock: one per period of router_clock"
    )
    arbiter: Arbiter | None = optional(
        "Which of the packets that wait for the same group of links is served first"
    )
    group_choice: GroupChoice | None = optional(
        "Which free link of a group a packet takes; drawn: each draws one, free or not, and waits for "
        "it; source: the same with one by the number of its source (s-mod-k in a fat tree)"
    )

    preset_file: FileName | None = optional(
        "File of fabriloom fit whose table [technology] gives the settings that are not written here"
    )

    def overrides(self) -> dict[str, Any]:
        """Return the settings that differ from the preset, by their names with units."""
        return self.written("preset", "preset_file")


class SwitchedLinks(AnyTechnology):
    """Settings of all links between switches."""

    fault_stops: FaultStops | None = optional(
        "What stops when a link fails. cable: both directions; link: the failed direction only"
    )
    first_port: Number | None = optional("Lowest number of a switch's port")
    last_port: Number | None = optional("Highest number of a switch's port")
    first_address: Number | None = optional("Lowest logical address of a terminal")
    last_address: Number | None = optional("Highest logical address of a terminal")


class CharacterLinks(SwitchedLinks):
    """Links that send characters: DS-Link and SpaceWire."""

    preset: Literal[
        "ds-link-c104", "ds-link-c104-32-32", "ds-link-c104-70", "hs-link-1g", "shimafuji-router",
        "spacewire-200", "spw-10x", "t9000-c104",
    ] = setting("Named set of values for all settings below", "ds-link-c104")  # fmt: skip
    link_rate_bits_per_s: RateBitsPerS | None = optional("Bit rate on the wire")
    data_bits: Bits | None = optional("Bits of a data character on the wire")
    end_bits: Bits | None = optional("Bits of the end of packet on the wire")
    flow_control_bits: Bits | None = optional("Bits of a flow-control character")
    cable_length_m: LengthM | None = optional("Length of every cable")
    cable_delay_ps_per_m: DelayPsPerM | None = optional("Propagation delay of a cable per length")
    input_buffer_bytes: PositiveBytes | None = optional("The input buffer at the end of every link")
    credit_limit_bytes: PositiveBytes | None = optional(
        "SpaceWire: most characters granted and not received yet, for any size of the buffer"
    )
    output_buffer_bytes: PositiveBytes | None = optional(
        "The output buffer at the start of every link that leaves a switch"
    )
    credit_quantum_bytes: PositiveBytes | None = optional("Characters that one flow-control character grants")
    header_bytes: Bytes | None = optional("The routing header of every packet")
    via_header_bytes: Bytes | None = optional(
        "The additional header that leads to a random intermediate switch"
    )
    delete_header: bool | None = optional("Links into terminals delete the header")
    decode_latency_ps: TimePs | None = optional(
        "From the whole header being at the front of its buffer to its request for an output"
    )
    forward_latency_ps: TimePs | None = optional(
        "From a character leaving the input buffer until it is ready for the wire"
    )
    router_latency: Annotated[str, Field(max_length=100)] | None = optional(
        "Delay of a switch from last bit in to last bit out, as data sheets give it, such as "
        '"5 rx + 8 sys + 23 tx": rx is two bit periods of the incoming link, sys one period of router_clock, '
        "tx two bit periods of the outgoing link; a time such as 60 ns may be beside them. Instead of "
        "decode_latency and forward_latency"
    )
    router_clock_millihz: EventRateMilliHz | None = optional(
        "System clock of a switch: sys in router_latency"
    )
    router_switching: Annotated[str, Field(max_length=100)] | None = optional(
        'Part of router_latency in which a switch chooses an output, such as "4 sys"; if not given, none'
    )
    router_receive: Annotated[str, Field(max_length=100)] | None = optional(
        'Part of router_latency in which a SpaceWire port of a switch receives, such as "4 sys", '
        "beside its rx; external ports do not have it"
    )
    receiver_latency_ps: TimePs | None = optional(
        "From the end of a character on the wire until it can be used"
    )
    turn_around_ps: TimePs | None = optional(
        "From a place in the buffer becoming free to the start of its flow-control character"
    )
    handover_ps: PositiveTimePs | None = optional(
        "From the end of packet leaving an input buffer until its output is free and the next header is "
        "read; at least the time to cross the switch"
    )
    flow_control: FlowControl | None = optional(
        "Link time of flow-control characters. average: their full share, as on cables busy in both "
        "directions; matched: in proportion to the load of the opposite direction, which a short run "
        "measures first; ignored: none"
    )
    disconnect_ps: PositiveTimePs | None = optional(
        "From the failure of a link until its receiver detects it"
    )
    restart_ps: PositiveTimePs | None = optional("From the repair of a link until it runs again")
    start_rate_bits_per_s: RateBitsPerS | None = optional(
        "SpaceWire: rate of the characters with which a link starts after restart"
    )
    time_code_bits: Bits | None = optional("SpaceWire: bits of a time-code or an interrupt on the wire")
    time_code_latency: Annotated[str, Field(max_length=100)] | None = optional(
        "Delay of a time-code through a switch, as data sheets give it, such as "
        '"5 rx + 6 sys + 16 tx", in the units of router_latency. Instead of time_code_forward'
    )
    time_code_jitter: Annotated[str, Field(max_length=100)] | None = optional(
        "Part of time_code_latency by which a time-code can be earlier, by how clocks are "
        'aligned, such as "2 sys": drawn for every code and switch; if not given, none'
    )
    time_code_forward_ps: TimePs | None = optional(
        "From the arrival of a time-code at a switch until it is ready for the wires"
    )
    interrupt_hold_ps: TimePs | None = optional(
        "Time for which switches and terminals ignore an interrupt number after accepting it"
    )
    watchdog_ps: TimePs | None = optional(
        "A switch ends a packet that holds an output and has not moved for this time; 0 ns: never"
    )


class Generic(SwitchedLinks):
    """Links that send one flit per cycle, with credits; a packet of L flits takes L cycles of a link."""

    preset: Literal[
        "generic", "infiniband-4x-edr", "infiniband-4x-fdr", "infiniband-4x-hdr", "infiniband-4x-ndr",
        "ethernet-100m", "ethernet-1g", "ethernet-10g", "ethernet-100g", "ethernet-400g", "ethernet-800g",
        "ethernet-1600g", "spacefibre-2g5", "spacefibre-6g25",
    ]  # fmt: skip
    cycle_ps: CyclePs | None = optional('Length of a cycle, or its frequency, such as "1.3 GHz"')
    flit_bytes: PositiveBytes | None = optional("Payload bytes of one flit")
    mtu_bytes: Bytes | None = optional(
        "Payload of the longest packet; messages are cut into packets of this size, and packets "
        "have it, unless a length is written; 0 B: any length"
    )
    overhead_bytes: Bytes | None = optional(
        "Headers, check sums and gaps of a packet, which fill flits together with its payload"
    )
    least_bytes: Bytes | None = optional(
        "Shorter packets, overhead included, are filled up to this", alias="shortest_packet"
    )
    router_cycles: Annotated[int, Field(ge=0, le=10**6)] | None = optional(
        "From a head flit reaching the front of its buffer to its request for an output; the next packet "
        "waits for them"
    )
    input_cycles: Annotated[int, Field(ge=0, le=10**6)] | None = optional(
        "From the end of link_cycles at a switch until a flit can leave its buffer, which has a place for it "
        "meanwhile: a stage that every flit passes"
    )
    forward_cycles: Annotated[int, Field(ge=0, le=10**6)] | None = optional(
        "From a flit leaving its input buffer until it is ready for the wire: a pipeline, in which no flit "
        "waits for another"
    )
    link_cycles: Annotated[int, Field(ge=1, le=10**6)] | None = optional(
        "From the start of a flit on a link until it can be used at its end"
    )
    cable_length_m: LengthM | None = optional("Length of every cable, whose delay is added")
    cable_delay_ps_per_m: DelayPsPerM | None = optional("Propagation delay of a cable per length")
    turn_around_cycles: Annotated[int, Field(ge=0, le=10**6)] | None = optional(
        "From a place in the buffer becoming free to the start of its credit, which takes link_cycles and "
        "the delay of the cable to the sender"
    )
    handover_cycles: Annotated[int, Field(ge=1, le=10**6)] | None = optional(
        "From a tail flit leaving its buffer until its output can serve another packet"
    )
    next_head_cycles: Annotated[int, Field(ge=0, le=10**6)] | None = optional(
        "From a tail flit leaving its buffer until the next head is at the front and router_cycles begin"
    )
    input_buffer_flits: Annotated[int, Field(ge=1, le=2**20)] | None = optional(
        "The input buffer at the end of every link, in flits"
    )
    output_buffer_flits: Annotated[int, Field(ge=1, le=2**20)] | None = optional(
        "The output buffer at the start of every link, in flits"
    )
    credit_quantum_flits: Annotated[int, Field(ge=1, le=2**20)] | None = optional(
        "Flits that one credit grants"
    )
    lanes: Annotated[int, Field(ge=1, le=16)] | None = optional(
        "Lanes (virtual channels) of every link; each has its own buffers"
    )
    lane_sharing: LaneSharing | None = optional(
        "How lanes share a link. flit: flits of several packets may alternate; packet: a packet is sent "
        "without interruption; frame: a lane sends up to frame_flits as long as it has some, and credit"
    )
    lane_arbiter: LaneArbiter | None = optional(
        "Which lane that can send is served first. round-robin: each in turn; fixed: the lowest; reserved: "
        "the one that has used least of lane_reserved; weighted: by the tables lane_high and lane_low"
    )
    frame_flits: Annotated[int, Field(ge=0, le=2**20)] | None = optional(
        "Most flits of a frame, of any packets of a lane; 0: there are no frames"
    )
    frame_start_flits: Annotated[int, Field(ge=0, le=2**10)] | None = optional(
        "Times of a flit for which the beginning of a frame occupies the link"
    )
    frame_end_flits: Annotated[int, Field(ge=0, le=2**10)] | None = optional("The same of its end")
    physical_lanes: Annotated[int, Field(ge=1, le=16)] | None = optional(
        "Wires of each link that carry its frames together, a flit each in a cycle; not to be confused with "
        "lanes. Frames begin and end with whole columns of flits, one on each"
    )
    spare_physical_lanes: Annotated[int, Field(ge=0, le=16)] | None = optional(
        "Further ones, each of which replaces one that has failed"
    )
    realign_cycles: Annotated[int, Field(ge=0, le=10**6)] | None = optional(
        "From the failure or repair of a physical lane until the link goes on with those it has then"
    )
    lane_priority: Priorities | None = optional(
        "Priority of each lane (virtual channel), the lowest number first: a lane sends only "
        "when none of higher priority can; []: all alike"
    )
    lane_reserved: Shares | None = optional(
        "Bandwidth reservation of each lane, as part of the link from 0 to 1, beginnings and "
        "ends of frames included"
    )
    lane_credit_limit_flits: Annotated[int, Field(ge=0, le=2**20)] | None = optional(
        "Most flits that a lane may have saved of its reservation, or overdrawn (bandwidth credit)"
    )
    lane_slots: Slots | None = optional(
        "Time-slots of each lane, of 64, in which it may begin a frame (packet, flit), "
        'such as "0-15,40"; []: any time'
    )
    lane_slot_cycles: Annotated[int, Field(ge=0, le=2**30)] | None = optional(
        "Cycles of a time-slot; all links out of switches begin slot 0 at time 0"
    )
    lane_high: LaneTable | None = optional(
        'Table of high priority: lanes with weights in 64 B, such as "0:4,1:64"; rows in turn'
    )
    lane_low: LaneTable | None = optional("The same of low priority")
    lane_high_limit: Annotated[int, Field(ge=0, le=255)] | None = optional(
        "After this many times 4096 B of high priority one packet of low priority is sent, if "
        "there is one; 0: after each packet; 255: no limit"
    )
    switching: Switching | None = optional(
        "wormhole: each flit needs credit; virtual-cut-through: a packet starts once there is credit for all "
        "of it; store-and-forward: so too, and a switch receives all of it before its head is routed"
    )
    input_queues: InputQueues | None = optional(
        "fifo: an input buffer is one queue per lane; per-output: one queue per group of output "
        "links (virtual output queues; output-queued with crossbar = fast), not with wormhole"
    )
    pause_above_flits: Annotated[int, Field(ge=0, le=2**20)] | None = optional(
        "An input buffer that holds more flits of complete packets pauses its sender, which learns it after "
        "turn_around_cycles, link_cycles and the delay of the cable; 0: packets wait for credit"
    )
    pause_until_flits: Annotated[int, Field(ge=0, le=2**20)] | None = optional(
        "When the buffer holds no more than this, the sender goes on, as much later"
    )
    drop_when_full: bool | None = optional(
        "A packet that finds no room in an input buffer is dropped there: with pause_above_flits where "
        "that pauses too late, with 0 instead of waiting for credit"
    )
    shared_buffer_flits: Annotated[int, Field(ge=0, le=2**28)] | None = optional(
        "The memory of a switch, which its ports share, reserves and headroom included: then input buffers "
        "have no size, and pauses no fixed thresholds, of which only whether pause_above_flits is 0 counts; "
        "0: every lane has its own input buffer, of which congestion_control counts parts in any case"
    )
    shared_buffer_alpha: Annotated[float, Field(gt=0, le=16)] | None = optional(
        "What a lane of a port may have of the shared memory beyond its reserve, times what is free there"
    )
    shared_buffer_reserved_flits: Annotated[int, Field(ge=0, le=2**20)] | None = optional(
        "What each lane of each port has of it for itself alone"
    )
    shared_buffer_headroom_flits: Annotated[int, Field(ge=0, le=2**20)] | None = optional(
        "The same for what comes after a pause"
    )
    shared_buffer_offset_flits: Annotated[int, Field(ge=0, le=2**20)] | None = optional(
        "A paused sender goes on when its lane has this much less than it may have"
    )
    disconnect_cycles: Annotated[int, Field(ge=1, le=10**9)] | None = optional(
        "From the failure of a link until its receiver detects it"
    )
    restart_cycles: Annotated[int, Field(ge=1, le=10**9)] | None = optional(
        "From the repair of a link until it runs again"
    )
    broadcast_flits: Annotated[int, Field(ge=0, le=2**10)] | None = optional(
        "Flits of a broadcast message between a beginning and an end as those of a frame; 0: there are none"
    )
    broadcast_cycles: Annotated[int, Field(ge=0, le=10**6)] | None = optional(
        "From the arrival of a broadcast at a switch until it is ready for the other links"
    )
    broadcast_hold_cycles: Annotated[int, Field(ge=0, le=10**9)] | None = optional(
        "A switch or a terminal that has accepted a broadcast drops further ones of its channel for this long"
    )
    watchdog_cycles: Annotated[int, Field(ge=0, le=10**12)] | None = optional(
        "A switch ends a packet that holds an output and has not moved for this many cycles; 0: never"
    )


RingPreset = Literal[
    "scinet", "sci-retry", "sci-1000", "sci-lc2", "scinet-dmove", "sci-lx-d310", "sci-bx-d321",
    "sci-lc1-alpha", "sci-testbed-1", "sci-testbed-2", "rpr-10g", "noc-ring", "fddi",
]  # fmt: skip

if TYPE_CHECKING:
    from fabriloom.scenario.sections.ring_technology import RingLinks

    Technology = CharacterLinks | Generic | RingLinks
else:
    _TABLES = {
        **tables(CharacterLinks, "preset"),
        **tables(Generic, "preset"),
        **dict.fromkeys(get_args(RingPreset), Later.of("ring_technology", "RingLinks")),
    }
    Technology = Annotated[Any, OneOf("preset", _TABLES), with_tag("preset", "ds-link-c104")]

RING_PRESET = "sci-lc2"
"""The default preset of networks of rings: the hardware with the most published data."""
