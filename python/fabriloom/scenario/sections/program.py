"""``[program]``: the operations of the terminals, instead of ``[traffic]``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabriloom.scenario.fields import (
    Count,
    EventRateMilliHz,
    FileName,
    MessageBytes,
    OneOf,
    PositiveTimePs,
    Section,
    Sha256,
    Terminal,
    TimePs,
    optional,
    setting,
)

Rounds = Annotated[int, Field(ge=0, le=10**9)]
Several = Annotated[list[Terminal], Field(min_length=1, max_length=2**20)]
Terminals = Literal["auto", "all"] | Count | Several
Pair = Annotated[list[Terminal], Field(min_length=2, max_length=2)]

_SOURCES = (
    "Terminals that send. auto: those with the role of a sender or, in networks without roles, the first "
    "half; a number: this many, from the first on"
)
_TARGETS = (
    "Terminals that receive. auto: those with the role of a receiver or, in networks without roles, the "
    "second half; a number: this many, up to the last"
)


def _rounds(default: int = 100) -> int:
    return Field(default=default, description="Rounds; 0: without end")


def _size() -> int:
    return Field(alias="size", description="Size of a message")


class Clocks(Section):
    """The clocks of the terminals: what each program does at a time, or waits for, is by the one of its own.

    Terminals draw them before the run. When events are due is by the time of the run.
    """

    start_ps: TimePs = setting("Latest start: each program starts up to this time after the run", 0)
    drift_ppm: Annotated[float, Field(ge=0, le=10_000)] = setting(
        "Most by which a clock is fast or slow, in parts per million", 0.0
    )


class Clocked(Section):
    """Programs by clocks that may differ."""

    clocks: Clocks | None = optional("Clocks that drift and starts that differ; if not given, all are exact")


class PingPong(Section):
    """Pairs of terminals send one message back and forth. A mark records the start of each round."""

    kind: Literal["ping-pong"]
    size_bytes: MessageBytes = _size()
    rounds: Rounds = _rounds()
    pairs: Count | Annotated[list[Pair], Field(min_length=1)] = setting(
        'Pairs: terminal i with the i-th terminal of the second half; or a list such as [["n0", "n1"]]', 1
    )


class OutFarming(Section):
    """One terminal sends a message to each other terminal in turn: a broadcast in software."""

    kind: Literal["out-farming"]
    size_bytes: MessageBytes = _size()
    rounds: Rounds = _rounds()
    source: Terminal = setting("The sender", 0)
    targets: Literal["others"] | Several = setting("The receivers", "others")


class FunnelIn(Clocked):
    """Several terminals send to one terminal."""

    kind: Literal["funnel-in"]
    size_bytes: MessageBytes = _size()
    rounds: Rounds = _rounds()
    target: Terminal = setting("The receiver", 0)
    sources: Literal["others"] | Several = setting("The senders", "others")


class AllToAll(Clocked):
    """In each round, every terminal sends to every other terminal and then receives what was sent to it."""

    kind: Literal["all-to-all"]
    size_bytes: MessageBytes = _size()
    rounds: Rounds = _rounds()
    terminals: Literal["all"] | Count | Several = setting(
        "Terminals that take part: all, this many from the first on, or a list", "all"
    )
    order: Literal["rotating", "same", "random"] = setting(
        "Order of the receivers. random: each sender has its own order, drawn before the run; "
        "rotating: each sender begins with the terminal after it, so that no two send to the same one; "
        "same: all begin with the first",
        "random",
    )
    barrier: bool = setting("All terminals wait for each other between rounds", False)


class LogP(Section):
    """Measurements from which host and link parameters are fitted: ping-pong, single messages, message
    trains, and trains to several targets.

    Marks: 0 starts a round of ping-pong; 1 to 2 is a send; 3 to 4 is a receive of a message that has
    arrived; 5 to 6 is a train and 7 to 8 a train of twice the length, each answered by a message of 1 B;
    9 to 10 and 11 to 12 are the same trains to all targets in turn.
    """

    kind: Literal["logp"]
    size_bytes: MessageBytes = _size()
    rounds: Annotated[int, Field(ge=1, le=10**6)] = setting("Repetitions of each measurement", 100)
    train: Annotated[int, Field(ge=1, le=2**16)] = setting("Messages of a train", 32)
    pause_ps: TimePs = setting(
        "Wait before the receive of a message that should have arrived: longer than a round", 1_000_000_000
    )
    source: Terminal = setting("Terminal that measures", 0)
    targets: Literal["others"] | Several = setting(
        "Terminals that answer; the first is the partner of the ping-pong", "others"
    )


class FixedPairs(Clocked):
    """The i-th source sends to the i-th target."""

    kind: Literal["fixed-pairs"]
    size_bytes: MessageBytes = _size()
    rounds: Rounds = _rounds()
    sources: Terminals = setting(_SOURCES, "auto")
    targets: Terminals = setting(_TARGETS, "auto")


class RandomPairs(Clocked):
    """Each message of a source goes to a random target, drawn before the run."""

    kind: Literal["random-pairs"]
    size_bytes: MessageBytes = _size()
    messages: Count = setting("Targets drawn for each source", 1000)
    rounds: Rounds = _rounds(1)
    sources: Terminals = setting(_SOURCES, "auto")
    targets: Terminals = setting(_TARGETS, "auto")


class Events(Clocked):
    """Settings that all event building shares."""

    events: Count = setting("Events", 1000)
    rate_millihz: EventRateMilliHz | None = optional(
        "Attempted events per second; if not given, as fast as they can be sent"
    )
    arrivals: Literal["constant", "random"] = setting(
        "With a rate. constant: events are due at equal intervals; random: at random times", "constant"
    )
    sources: Terminals = setting(_SOURCES, "auto")
    targets: Terminals = setting(_TARGETS, "auto")


class Credit(Section):
    """The messages between a supervisor, its targets and the sources."""

    supervisor: Terminal | None = optional(
        "The supervisor; if not given, the first terminal that is neither source nor target"
    )
    credits: Annotated[int, Field(ge=1, le=2**16)] = setting(
        "Most assignments that a target holds at the same time", 2
    )
    credit_bytes: MessageBytes = setting("The message that gives a credit", 8)
    assignment_bytes: MessageBytes = setting("The message that tells a source its target", 8)


class Level2(Events, Credit):
    """Regions of interest: an event consists of blocks, each sent by one or more sources to one target."""

    kind: Literal["level-2"]
    block_bytes: MessageBytes = setting("Size of a block; each of its sources sends an equal part")
    blocks_per_event: Count = setting("Blocks per event", 3)
    sources_per_block: Count = setting("Sources per block", 1)
    source_choice: Literal["random", "round-robin"] = setting(
        "round-robin: each block takes the next sources in turn", "random"
    )
    target_choice: Literal["round-robin", "random", "supervisor"] = setting(
        "How the target of a block is chosen. supervisor: a target that has given it credit", "round-robin"
    )


class Level3(Events):
    """Complete events: for each event, many sources send one fragment each to the same target."""

    kind: Literal["level-3"]
    fragment_bytes: MessageBytes = setting("Bytes that a source sends for an event")
    sources_per_event: Literal["all"] | Count = setting("Sources of an event", "all")
    source_choice: Literal["random", "round-robin"] = setting(
        "Which sources an event has, when not all; round-robin: the next sources in turn", "random"
    )
    target_choice: Literal["round-robin", "random"] = setting(
        "How the target of an event is chosen", "round-robin"
    )
    order: Literal["same", "rotating", "random"] = setting(
        "Order in which a source sends its fragments. same: of the events; rotating, random: of "
        "each group of as many events as there are targets, each source begins with another one, or has an "
        "order of its own, drawn before the run",
        "same",
    )


class PullLevel3(Events):
    """Complete events, pulled: a target requests the fragments of one event after another."""

    kind: Literal["pull-level-3"]
    fragment_bytes: MessageBytes = setting("Size of a fragment")
    request_bytes: MessageBytes = setting("Size of a request", 8)
    requests_at_once: Literal["all"] | Count = setting(
        "Most requests of a target that are not answered yet", "all"
    )
    sources_per_event: Literal["all"] | Count = setting("Sources of an event", "all")
    source_choice: Literal["random", "round-robin"] = setting(
        "Which sources an event has, when not all; round-robin: the next sources in turn", "random"
    )
    target_choice: Literal["round-robin", "random"] = setting(
        "How the target that builds an event is chosen", "round-robin"
    )


class BarrelShifter(Clocked):
    """Event building in time slots: in each slot, every source sends to a different target."""

    kind: Literal["barrel-shifter"]
    fragment_bytes: MessageBytes = setting("Bytes that a source sends for an event")
    events: Count = setting("Events", 1000)
    slot_ps: TimePs = setting(
        "Length of a time slot. An event is due in each slot; source i sends its fragment i slots later"
    )
    sources: Terminals = setting(_SOURCES, "auto")
    targets: Terminals = setting(_TARGETS, "auto")


class CreditBuilding(Events, Credit):
    """Event building by credit: a supervisor assigns each event to a target that has given it credit."""

    kind: Literal["credit"]
    fragment_bytes: MessageBytes = setting("Bytes that a source sends for an event")


class DescriptorMessages(Section):
    """Lists of messages per terminal: source, target, length, and the wait after the message is handed
    over.
    """

    kind: Literal["descriptors"]
    path: FileName = setting("CSV or Parquet file, relative to the scenario")
    repeat: bool = setting("Whether a list starts again after its end", False)
    sha256: Sha256 | None = optional("Checksum that the file must have; filled in when resolved")


class GoalTrace(Section):
    """A trace in GOAL, the language of LogGOPSim; the number of a rank is that of its terminal."""

    kind: Literal["goal"]
    path: FileName = setting("The GOAL file, relative to the scenario")
    sha256: Sha256 | None = optional("Checksum that the file must have; filled in when resolved")


Operation = Annotated[str, Field(min_length=1, max_length=400)]


class TerminalProgram(Section):
    """The operations of one terminal, or of several that do the same."""

    terminal: Terminal | Several = setting("A terminal, or a list of terminals")
    stream: Annotated[int, Field(ge=0, le=255)] = setting(
        "The stream that does them: a terminal may do several lists at a time, like threads", 0
    )
    do: Annotated[list[Operation], Field(min_length=1, max_length=2**20)] = setting(
        'Operations, such as ["send n1 1 kB", "receive any"]'
    )


class Operations(Clocked):
    """Your own programs, operation by operation; terminals without a program do nothing."""

    kind: Literal["operations"]
    terminals: Annotated[list[TerminalProgram], Field(min_length=1, max_length=2**20)] = setting(
        "The programs"
    )
    events: Annotated[int, Field(ge=0, le=2**20)] = setting(
        "Number of events; a tag below it is the number of a message's event", 0
    )
    rate_millihz: EventRateMilliHz | None = optional(
        "Rate at which events are due; event latencies count from there"
    )


class Rmap(Clocked):
    """Initiators read and write the memories of targets by RMAP (ECSS-E-ST-50-52C), byte for byte.

    Sources are the initiators. In each round, one sends a command to each of its targets in turn. A target
    executes one command at a time. A mark records the start of each round.
    """

    kind: Literal["rmap"]
    command: Literal["write", "read", "read-modify-write"] = setting("What initiators ask for")
    data_bytes: MessageBytes = setting("Size of the data of a command; a mask has the same size")
    acknowledged: bool = setting("For writes: whether the target replies", True)
    rounds: Rounds = _rounds()
    outstanding: Count = setting(
        "Most transactions that an initiator has open at the same time, each with a different target", 1
    )
    target_time_ps: TimePs = setting("From the arrival of a command to its reply", 0)
    retry_after_ps: PositiveTimePs | None = optional(
        "A command is sent again if its reply has not arrived after this time; if not given, never"
    )
    retries: Annotated[int, Field(ge=0, le=64)] | None = optional(
        "Most repetitions of a command, 3 if not given; then the initiator continues without the reply"
    )
    reply_address_bytes: Literal[0, 4, 8, 12] = setting(
        "Bytes of reply address in the header of a command; path addressing needs them",
        0,
        alias="reply_address_bytes",
    )
    sources: Terminals = setting(_SOURCES, "auto")
    targets: Terminals = setting(_TARGETS, "auto")


class Ccsds(Clocked):
    """The i-th source sends CCSDS packets to the i-th target (ECSS-E-ST-50-53C), byte for byte."""

    kind: Literal["ccsds"]
    packet_bytes: MessageBytes = setting("Size of a CCSDS packet")
    rounds: Rounds = _rounds()
    sources: Terminals = setting(_SOURCES, "auto")
    targets: Terminals = setting(_TARGETS, "auto")


class SlotEntry(Section):
    """The RMAP transactions of an initiator in one time-slot."""

    slot: Annotated[int, Field(ge=0, le=63)] = setting("Number of the slot in its epoch")
    initiator: Terminal = setting("Terminal that may start transactions in the slot")
    target: Terminal = setting("Target of the transactions")
    command: Literal["write", "read", "read-modify-write"] = setting(
        "The command; writes are acknowledged", "read"
    )
    data_bytes: MessageBytes = setting("Size of the data of each transaction")
    transactions: Count = setting("Transactions, one after another", 1)


class SpaceWireD(Section):
    """RMAP in time-slots (SpaceWire-D): an initiator starts transactions only in its slots of a schedule.

    A schedule in which two initiators may use the same link in the same slot is refused before the run. The
    results give the slack of each entry: the time from its last reply to the end of its slot. Slots begin
    at exact times; the time-codes that mark them are not sent.
    """

    kind: Literal["spacewire-d"]
    slot_ps: PositiveTimePs = setting("Length of a slot; 64 slots are an epoch")
    schedule: Annotated[list[SlotEntry], Field(min_length=1, max_length=4096)] = setting("The entries")
    epochs: Count = setting("Epochs", 1)
    target_time_ps: TimePs = setting("Time from the arrival of a command to its reply", 0)
    reply_address_bytes: Literal[0, 4, 8, 12] = setting(
        "Bytes of reply address in the header of a command; path addressing needs them",
        0,
        alias="reply_address_bytes",
    )


Program = Annotated[
    PingPong
    | OutFarming
    | FunnelIn
    | AllToAll
    | FixedPairs
    | LogP
    | RandomPairs
    | Rmap
    | Ccsds
    | SpaceWireD
    | Level2
    | Level3
    | PullLevel3
    | BarrelShifter
    | CreditBuilding
    | DescriptorMessages
    | GoalTrace
    | Operations,
    OneOf("kind"),
]
