"""``[program]``: what terminals do, operation by operation, instead of ``[traffic]``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabriloom.scenario.fields import (
    Count,
    EventRateMilliHz,
    FileName,
    MessageBytes,
    PositiveTimePs,
    Section,
    Sha256,
    Terminal,
    TimePs,
)

Rounds = Annotated[int, Field(ge=0, le=10**9)]
Several = Annotated[list[Terminal], Field(min_length=1, max_length=2**20)]
Terminals = Literal["auto", "all"] | Count | Several
Pair = Annotated[list[Terminal], Field(min_length=2, max_length=2)]

_SOURCES = (
    "Who sends. auto: the terminals that can send, in networks without such roles the first half; a number: "
    "the first ones; all; or a list"
)
_TARGETS = (
    "Who receives. auto: the terminals that can receive, in networks without such roles the second half; a "
    "number: the last ones; all; or a list"
)


def _rounds(default: int = 100) -> int:
    return Field(default=default, description="How often; 0: for ever")


def _size() -> int:
    return Field(alias="size", description="Bytes of a message")


class PingPong(Section):
    """Pairs of terminals send one message to and fro. Marks say when each round began."""

    kind: Literal["ping-pong"]
    size_bytes: MessageBytes = _size()
    rounds: Rounds = _rounds()
    pairs: Count | Annotated[list[Pair], Field(min_length=1)] = Field(
        default=1,
        description='How many: i with the i-th of the second half; or a list such as [["n0", "n1"]]',
    )


class OutFarming(Section):
    """One terminal sends a message to each of the others in turn: a broadcast in software."""

    kind: Literal["out-farming"]
    size_bytes: MessageBytes = _size()
    rounds: Rounds = _rounds()
    source: Terminal = Field(default=0, description="Who sends, by number or name")
    targets: Literal["others"] | Several = Field(default="others", description="Who receives")


class FunnelIn(Section):
    """Several terminals send to one."""

    kind: Literal["funnel-in"]
    size_bytes: MessageBytes = _size()
    rounds: Rounds = _rounds()
    target: Terminal = Field(default=0, description="Who receives, by number or name")
    sources: Literal["others"] | Several = Field(default="others", description="Who sends")


class AllToAll(Section):
    """Every terminal sends to every other, then takes what was sent to it, round by round."""

    kind: Literal["all-to-all"]
    size_bytes: MessageBytes = _size()
    rounds: Rounds = _rounds()
    terminals: Literal["all"] | Count | Several = Field(
        default="all", description="Who takes part: all, a number of the first terminals, or a list"
    )
    order: Literal["rotating", "same", "random"] = Field(
        default="random",
        description="random: each has an order of its own, drawn before the run; rotating: each begins with "
        "its neighbour, so that no two ever send to the same; same: all begin with the first",
    )
    barrier: bool = Field(default=False, description="Whether all wait for each other between rounds")


class LogP(Section):
    """What host and link parameters are found from: ping-pong, single messages, trains, one to many.

    Marks: 0 rounds of ping-pong; 1 to 2 a send; 3 to 4 a receive of what has come; 5 to 6 a train,
    7 to 8 one of twice as many, each answered by a message of 1 B; 9 to 10 and 11 to 12 the same to all
    targets in turn.
    """

    kind: Literal["logp"]
    size_bytes: MessageBytes = _size()
    rounds: Annotated[int, Field(ge=1, le=10**6)] = Field(default=100, description="How often each")
    train: Annotated[int, Field(ge=1, le=2**16)] = Field(default=32, description="Messages of a train")
    pause_ps: TimePs = Field(
        default=1_000_000_000,
        alias="pause",
        description="Before the receive of what should have come: longer than a round",
    )
    source: Terminal = Field(default=0, description="Who measures, by number or name")
    targets: Literal["others"] | Several = Field(
        default="others", description="Who answers; the first is the pair"
    )


class FixedPairs(Section):
    """The i-th source sends to the i-th target."""

    kind: Literal["fixed-pairs"]
    size_bytes: MessageBytes = _size()
    rounds: Rounds = _rounds()
    sources: Terminals = Field(default="auto", description=_SOURCES)
    targets: Terminals = Field(default="auto", description=_TARGETS)


class RandomPairs(Section):
    """Every message of a source goes to a random target, drawn before the run."""

    kind: Literal["random-pairs"]
    size_bytes: MessageBytes = _size()
    messages: Count = Field(default=1000, description="Targets drawn for each source")
    rounds: Rounds = _rounds(1)
    sources: Terminals = Field(default="auto", description=_SOURCES)
    targets: Terminals = Field(default="auto", description=_TARGETS)


class Events(Section):
    """What all event building has."""

    events: Count = Field(default=1000, description="How many events")
    rate_millihz: EventRateMilliHz | None = Field(
        default=None,
        alias="rate",
        description="Attempted events per second; as fast as they can be sent if not given",
    )
    arrivals: Literal["constant", "random"] = Field(
        default="constant",
        description="With a rate: events are due at equal intervals, or at random moments",
    )
    sources: Terminals = Field(default="auto", description=_SOURCES)
    targets: Terminals = Field(default="auto", description=_TARGETS)


class Credit(Section):
    """What a supervisor and its targets say to each other."""

    supervisor: Terminal | None = Field(
        default=None, description="The terminal of the supervisor; the first that is neither if not given"
    )
    credits: Annotated[int, Field(ge=1, le=2**16)] = Field(
        default=2, description="Assignments that a target may have at a time"
    )
    credit_bytes: MessageBytes = Field(
        default=8, alias="credit", description="Bytes of the message that gives a credit"
    )
    assignment_bytes: MessageBytes = Field(
        default=8, alias="assignment", description="Bytes of the message that names a target to a source"
    )


class Level2(Events, Credit):
    """Regions of interest: an event is some blocks, each from one or more sources to one target."""

    kind: Literal["level-2"]
    block_bytes: MessageBytes = Field(
        alias="block", description="Bytes of a block, which its sources share equally"
    )
    blocks_per_event: Count = Field(default=3, description="Blocks of an event")
    sources_per_block: Count = Field(default=1, description="Sources of a block")
    source_choice: Literal["random", "round-robin"] = Field(
        default="random",
        description="Which sources an event has; round-robin: block after block the next sources in turn",
    )
    target_choice: Literal["round-robin", "random", "supervisor"] = Field(
        default="round-robin",
        description="Where a block goes; supervisor: to a target that has given it credit",
    )


class Level3(Events):
    """Complete events: many sources send a fragment each to one target per event."""

    kind: Literal["level-3"]
    fragment_bytes: MessageBytes = Field(
        alias="fragment", description="Bytes that a source sends for an event"
    )
    sources_per_event: Literal["all"] | Count = Field(default="all", description="Sources of an event")
    source_choice: Literal["random", "round-robin"] = Field(
        default="random",
        description="Which sources an event has, when not all; round-robin: the next sources in turn",
    )
    target_choice: Literal["round-robin", "random"] = Field(
        default="round-robin", description="Where an event goes"
    )


class PullLevel3(Events):
    """The same, pulled: a target asks the sources for one event after the other."""

    kind: Literal["pull-level-3"]
    fragment_bytes: MessageBytes = Field(alias="fragment", description="Bytes that a source answers with")
    request_bytes: MessageBytes = Field(default=8, alias="request", description="Bytes of a request")
    requests_at_once: Literal["all"] | Count = Field(
        default="all", description="Requests that a target has made and that are not answered yet"
    )
    sources_per_event: Literal["all"] | Count = Field(default="all", description="Sources of an event")
    source_choice: Literal["random", "round-robin"] = Field(
        default="random",
        description="Which sources an event has, when not all; round-robin: the next sources in turn",
    )
    target_choice: Literal["round-robin", "random"] = Field(
        default="round-robin", description="Who builds an event"
    )


class BarrelShifter(Section):
    """Event building in time slots: in each, every source sends to another target."""

    kind: Literal["barrel-shifter"]
    fragment_bytes: MessageBytes = Field(
        alias="fragment", description="Bytes that a source sends for an event"
    )
    events: Count = Field(default=1000, description="How many events")
    slot_ps: TimePs = Field(
        alias="slot",
        description="Length of a time slot; an event is due in each, source i sends its part i slots later",
    )
    sources: Terminals = Field(default="auto", description=_SOURCES)
    targets: Terminals = Field(default="auto", description=_TARGETS)


class CreditBuilding(Events, Credit):
    """Event building by credit: a supervisor gives each event to a target that has asked for one."""

    kind: Literal["credit"]
    fragment_bytes: MessageBytes = Field(
        alias="fragment", description="Bytes that a source sends for an event"
    )


class DescriptorMessages(Section):
    """Lists of messages per terminal: source, target, length, wait after the message was handed over."""

    kind: Literal["descriptors"]
    path: FileName = Field(description="CSV or Parquet file, relative to the scenario")
    repeat: bool = Field(default=False, description="Whether a list starts again after its end")
    sha256: Sha256 | None = Field(
        default=None, description="Checksum that the file must have; filled in when resolved"
    )


class GoalTrace(Section):
    """A trace in GOAL, LogGOPSim's language, as text: the list of each rank, which is the "
    "terminal of its number."""

    kind: Literal["goal"]
    path: FileName = Field(description="File in GOAL, relative to the scenario")
    sha256: Sha256 | None = Field(
        default=None, description="Checksum that the file must have; filled in when resolved"
    )


Operation = Annotated[str, Field(min_length=1, max_length=400)]


class TerminalProgram(Section):
    """The operations of one terminal, or of several that do the same."""

    terminal: Terminal | Several = Field(description="Which, by number or name; or a list of them")
    do: Annotated[list[Operation], Field(min_length=1, max_length=2**20)] = Field(
        description='Operations, such as ["send n1 1 kB", "receive any"]'
    )


class Operations(Section):
    """Programs of your own, operation by operation; terminals without one do nothing."""

    kind: Literal["operations"]
    terminals: Annotated[list[TerminalProgram], Field(min_length=1, max_length=2**20)] = Field(
        description="One table [[program.terminals]] for each"
    )
    events: Annotated[int, Field(ge=0, le=2**20)] = Field(
        default=0, description="Messages whose tag is below this are fragments of the event of that number"
    )
    rate_millihz: EventRateMilliHz | None = Field(
        default=None, alias="rate", description="Events per second that are due, for their latency"
    )


class Rmap(Section):
    """Initiators read and write the memories of targets by RMAP (ECSS-E-ST-50-52C), byte for byte.

    Each sends a command to its targets in turn; a target does one after the other. Marks say when each round
    began: a command to every target.
    """

    kind: Literal["rmap"]
    command: Literal["write", "read", "read-modify-write"] = Field(description="What is asked of the target")
    data_bytes: MessageBytes = Field(
        alias="data", description="Data of a command; of as many bytes is a mask"
    )
    acknowledged: bool = Field(default=True, description="Of a write, whether the target replies")
    rounds: Rounds = _rounds()
    outstanding: Count = Field(
        default=1, description="Transactions of an initiator under way at a time, each with another target"
    )
    target_time_ps: TimePs = Field(
        default=0,
        alias="target_time",
        description="From the arrival of a command to its reply: authorisation, check of the data, access to "
        "memory",
    )
    retry_after_ps: PositiveTimePs | None = Field(
        default=None,
        alias="retry_after",
        description="From a command to its being sent again if its reply has not come; never if not given",
    )
    retries: Annotated[int, Field(ge=0, le=64)] | None = Field(
        default=None,
        description="How often at most, 3 if not given; then the initiator goes on without the reply",
    )
    reply_address_bytes: Literal[0, 4, 8, 12] = Field(
        default=0, description="Reply address in the header of a command, which path addressing needs"
    )
    sources: Terminals = Field(default="auto", description="Initiators. " + _SOURCES)
    targets: Terminals = Field(default="auto", description="Targets. " + _TARGETS)


class Ccsds(Section):
    """The i-th source sends CCSDS packets to the i-th target (ECSS-E-ST-50-53C), byte for byte."""

    kind: Literal["ccsds"]
    packet_bytes: MessageBytes = Field(alias="packet", description="Bytes of a CCSDS packet")
    rounds: Rounds = _rounds()
    sources: Terminals = Field(default="auto", description=_SOURCES)
    targets: Terminals = Field(default="auto", description=_TARGETS)


class SlotEntry(Section):
    """RMAP transactions of an initiator in a time-slot."""

    slot: Annotated[int, Field(ge=0, le=63)] = Field(description="Which slot of an epoch, 0 to 63")
    initiator: Terminal = Field(description="Who may start transactions in it")
    target: Terminal = Field(description="With whom")
    command: Literal["write", "read", "read-modify-write"] = Field(
        default="read", description="What is asked of the target; a write is acknowledged"
    )
    data_bytes: MessageBytes = Field(alias="data", description="Data of each transaction")
    transactions: Count = Field(default=1, description="How many, one after the other")


class SpaceWireD(Section):
    """RMAP in time-slots (SpaceWire-D): initiators start transactions only in the slots of a schedule.

    Two initiators that may use one link in the same slot are refused before the run. After it each entry of
    the schedule has its slack: what is left of its slot behind its last reply. Slots begin at exact moments;
    the time-codes that mark them are not sent.
    """

    kind: Literal["spacewire-d"]
    slot_ps: PositiveTimePs = Field(alias="slot", description="Length of a slot; 64 of them are an epoch")
    schedule: Annotated[list[SlotEntry], Field(min_length=1, max_length=4096)] = Field(
        description="The entries, as [[program.schedule]] one after the other"
    )
    epochs: Count = Field(default=1, description="How many epochs are run")
    target_time_ps: TimePs = Field(
        default=0, alias="target_time", description="From the arrival of a command to its reply"
    )
    reply_address_bytes: Literal[0, 4, 8, 12] = Field(
        default=0, description="Reply address in the header of a command, which path addressing needs"
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
    Field(discriminator="kind"),
]
