"""``[traffic]``: sources, destinations, lengths and rates of packets."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from fabriloom.scenario.fields import (
    FileName,
    Fraction,
    OfferedRate,
    OneOf,
    PayloadBytes,
    PositiveBytes,
    PositiveTimePs,
    Section,
    Sha256,
    Shorthand,
    Terminal,
    TimePs,
    Whole,
    optional,
    setting,
)

FlowName = Annotated[str, Field(min_length=1, max_length=200)]


class Flow(Section):
    """The packets from one terminal to another. Give a rate, a period, or a count alone: then all packets are
    created at once.
    """

    source: Terminal = setting('The sender; of a range such as "0..39", each sends')
    target: Terminal = setting("The receiver; of a range, each receives from each sender")
    length_bytes: PayloadBytes | None = optional("Payload of a packet; if not given, that of [traffic]")
    rate: OfferedRate | None = optional(
        "Rate of payload, such as 40 Mbit/s or 5 MB/s, or of packets, such as 2000 packets/s. "
        "arrivals decides when packets are created: poisson, constant or together"
    )
    period_ps: PositiveTimePs | None = optional("Time from one packet to the next")
    phase_ps: TimePs | None = optional(
        "Time of the first packet; if not given, a random time within one period"
    )
    jitter_ps: TimePs | None = optional(
        "Each packet is late by a random time up to this one, at most the period"
    )
    packets: Annotated[int, Field(ge=1, le=2**24)] | None = optional(
        "Packets created at once each time; 1 if not given"
    )
    start_ps: TimePs | None = optional(
        "Time from which on packets are created; 0 if not given. A phase is counted from it"
    )
    stop_ps: PositiveTimePs | None = optional(
        "Time from which on no packets are created; at the end of the run if not given"
    )
    count: Annotated[int, Field(ge=1, le=2**24)] | None = optional(
        "Packets in all; without a limit if not given"
    )
    name: FlowName | None = optional("Name in tables; source -> target if not given")
    requirement_ps: PositiveTimePs | None = optional(
        "Longest time that a packet may take from its creation to its delivery"
    )
    shaper_rate: OfferedRate | None = optional(
        "Token bucket: rate of its tokens, as a rate. Packets that find too few wait at the source; without "
        "a shaper, they do not"
    )
    shaper_burst_bytes: PositiveBytes | None = optional(
        "Token bucket: tokens that it holds, at least a packet; one packet if not given"
    )


class Requirement(Section):
    """The longest time that packets of a flow may take from their creation at the source to their
    delivery.
    """

    flow: FlowName = setting('Name of a flow, or its two ends: "camera:memory" means all flows between them')
    within_ps: PositiveTimePs = setting("The longest time")


class Flows(Section):
    """Open loop: a list of flows, each with its own destination, length, and rate or period.

    Give path, or a list of flows. A file has one line per flow; its columns have the names of these settings.
    """

    kind: Literal["flows"]
    path: FileName | None = optional("CSV or Parquet file, relative to the scenario")
    flows: Annotated[list[Flow], Field(min_length=1, max_length=2**16)] | None = optional("The flows")
    requirements: Annotated[list[Requirement], Field(min_length=1, max_length=2**12)] | None = optional(
        "Requirements that are not written with their flows"
    )
    sha256: Sha256 | None = optional("Checksum that the file must have; filled in when resolved")


RateUnit = Literal[
    "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "B/s", "kB/s", "MB/s", "GB/s", "packets/s", "kpackets/s",
    "Mpackets/s",
]  # fmt: skip


class Uniform(Section):
    """Each packet goes to a random receiver other than its sender."""

    kind: Literal["uniform"]
    include_self: Literal[True] | None = optional(
        "true: the sender itself is as likely as any other terminal; its packets pass its "
        "switch. Not in networks of rings"
    )


class Shift(Section):
    """Terminal i sends to terminal i + by, modulo the number of terminals."""

    kind: Literal["shift"]
    by: Annotated[int, Field(ge=-(2**20), le=2**20)] = setting("The distance in terminal numbers")


class Transpose(Section):
    """Row and column of the destination are exchanged: on a square grid those of the switch, elsewhere those
    of the terminal's number."""

    kind: Literal["transpose"]


class BitReverse(Section):
    """Each terminal sends to the terminal whose number has its bits in the reverse order."""

    kind: Literal["bit-reverse"]


class BitComplement(Section):
    """Each terminal sends to the terminal whose number has every bit inverted."""

    kind: Literal["bit-complement"]


class Shuffle(Section):
    """Each terminal sends to the terminal whose number has its bits rotated up by one (perfect shuffle)."""

    kind: Literal["shuffle"]


class Tornado(Section):
    """Each terminal sends nearly half way round: ceil(k / 2) - 1 switches along every dimension of k. Without
    coordinates the k terminals are one dimension."""

    kind: Literal["tornado"]


class PointMirror(Section):
    """Each terminal sends to its mirror image about the centre of the network."""

    kind: Literal["point-mirror"]


class AxisMirror(Section):
    """Each terminal sends to its mirror image along one dimension."""

    kind: Literal["axis-mirror"]
    axis: Annotated[int, Field(ge=0, le=31)] = setting("The dimension that is mirrored", 0)


class NearestNeighbour(Section):
    """Fixed pairs of terminals at neighbouring switches, one pair per link as long as terminals remain."""

    kind: Literal["nearest-neighbour"]


class Permutation(Section):
    """Each terminal sends to one terminal and receives from one. Give one of map, path and random."""

    kind: Literal["permutation"]
    map: list[Terminal] | None = optional("Destination of each terminal")
    path: FileName | None = optional("CSV file with the columns source and target")
    random: Literal[True, "pairs"] | None = optional(
        "true: a random permutation in which no terminal sends to itself; "
        '"pairs": random pairs that send to each other; if the number of terminals is odd, one is left out'
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = optional(
        "Seed of the random permutation; if not given, the seed of the scenario"
    )
    sha256: Sha256 | None = optional("Checksum that the file must have; filled in when resolved")


class Map(Section):
    """Each terminal sends to one fixed terminal; several may send to the same. Give one of map, path and
    random."""

    kind: Literal["map"]
    map: list[Terminal] | None = optional("Destination of each terminal")
    path: FileName | None = optional("CSV file with the columns source and target")
    random: Literal[True] | None = optional("true: a random destination for each terminal, never itself")
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = optional(
        "Seed of the random destinations; if not given, the seed of the scenario"
    )
    sha256: Sha256 | None = optional("Checksum that the file must have; filled in when resolved")


class Local(Section):
    """A share of a sender's packets goes to its partner, the rest to the other receivers.

    The partner is the receiver on the same ring in a network of long rings, or is given here. On
    `sci-rings` the senders and the receivers of a ring are partners in their order, and so are two terminals
    with both roles.
    """

    kind: Literal["local"]
    share: Annotated[float, Field(ge=0, le=1)] = setting("Share of the packets that go to the partner", 1.0)
    map: list[Terminal] | None = optional(
        "Partner of each terminal that can send, or of each of `senders`, in their order"
    )
    random: Literal[True] | None = optional("true: random partners, all different")
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = optional(
        "Seed of the random partners; if not given, the seed of the scenario"
    )


class HotSpot(Section):
    """A share of all packets goes to one terminal; the other packets are uniform."""

    kind: Literal["hot-spot"]
    target: Terminal = setting("The hot spot")
    share: Fraction = setting("Share of the packets that go to it")


class Matrix(Section):
    """Proportions or rates between all pairs of terminals, from a file.

    The file has terminals x terminals numbers, one row per sender, or the columns source, target and weight
    (with a unit: rate).
    """

    kind: Literal["matrix"]
    path: FileName = setting("CSV or Parquet file, relative to the scenario")
    rows: Literal["equal", "proportional"] = setting(
        "equal: every sender offers the load; proportional: senders offer in proportion to the "
        "sums of their rows, and the busiest one offers the load",
        "equal",
    )
    unit: RateUnit | None = optional(
        "The numbers are rates of payload or of packets in this unit, instead of a load"
    )
    include_self: Literal[True] | None = optional(
        "true: terminals may send to themselves; not in networks of rings"
    )
    sha256: Sha256 | None = optional("Checksum that the file must have; filled in when resolved")


class Descriptors(Section):
    """Lists of packets per terminal: source, target, length, and a time (at, or cycle), or the wait after the
    packet has left.
    """

    kind: Literal["descriptors"]
    path: FileName = setting("CSV or Parquet file, relative to the scenario")
    repeat: bool | None = optional(
        "Whether a list starts again after its end; if not given, lists of waits do. Lists with "
        "times are sent once"
    )
    sha256: Sha256 | None = optional("Checksum that the file must have; filled in when resolved")


class FixedLength(Section):
    """All packets have the same length."""

    kind: Literal["fixed"] = "fixed"
    value_bytes: PayloadBytes = setting("Payload of a packet; 0 B: header and end of packet only")


class UniformLength(Section):
    """Any whole number of bytes in a range, all equally likely."""

    kind: Literal["uniform"]
    min_bytes: PayloadBytes = setting("Shortest payload")
    max_bytes: PayloadBytes = setting("Longest payload")


class TableLength(Section):
    """Given lengths with given weights."""

    kind: Literal["table"]
    lengths_bytes: Annotated[list[PayloadBytes], Field(min_length=1, max_length=65536)] = setting(
        'Payloads, such as ["16 B", "1 kB"]'
    )
    weights: list[Annotated[float, Field(ge=0, le=1e12)]] | None = optional(
        "Relative frequency of each length; if not given, all are equally frequent"
    )


class Poisson(Section):
    """Open loop: packets are created at random times (a Poisson process)."""

    kind: Literal["poisson"]


class Constant(Section):
    """Open loop: packets are created at equal intervals, from a random time on."""

    kind: Literal["constant"]


class Together(Section):
    """Open loop: packets are created at equal intervals, by all senders at the same times."""

    kind: Literal["together"]


class Wait(Section):
    """Closed loop: the next packet is sent a fixed time after the previous one has left."""

    kind: Literal["wait"]
    wait_ps: TimePs | None = optional("The time; if not given, the load determines it")


class RandomWait(Section):
    """Closed loop: the next packet is sent a random time (exponential) after the previous one has left."""

    kind: Literal["random-wait"]
    wait_ps: TimePs | None = optional("The mean time; if not given, the load determines it")


class Backlog(Section):
    """Infinite backlog: a packet is always waiting at the source."""

    kind: Literal["backlog"]


class Bernoulli(Section):
    """Open loop: in every time slot a packet is created with a fixed probability.

    Simulators of networks on chip do the same in each cycle.
    """

    kind: Literal["bernoulli"]
    slot_ps: PositiveTimePs | None = optional(
        "Length of a slot; if not given, the time of a character (a flit)"
    )


class Burst(Section):
    """All senders create packets at the same time, once or periodically. Give packets, or rate and lasts.

    By default, a run of a single burst has no warm-up and ends when all packets have arrived.
    """

    kind: Literal["burst"]
    packets: Annotated[int, Field(ge=1, le=10**9)] | None = optional(
        "Packets that every sender creates at once"
    )
    rate: OfferedRate | None = optional(
        "Instead of packets: the rate at which every sender creates packets in the burst, "
        "of payload such as 100 MB/s or of packets such as 2000 packets/s, at equal intervals"
    )
    lasts_ps: PositiveTimePs | None = optional("With rate: for how long a burst lasts")
    at_ps: TimePs = setting("Time of the first burst", 0)
    every_ps: PositiveTimePs | None = optional(
        "Time from one burst to the next; if not given, there is one burst"
    )


class OnOff(Section):
    """Open loop: bursts of packets with random pauses between them."""

    kind: Literal["on-off"]
    burst_packets: Annotated[float, Field(ge=1, le=1e9)] = setting("Mean number of packets per burst", 8.0)
    on_load: Fraction = setting("Load within a burst; 1: back to back", 1.0)


Pattern = Annotated[
    Uniform
    | Shift
    | Transpose
    | BitReverse
    | BitComplement
    | Shuffle
    | Tornado
    | PointMirror
    | AxisMirror
    | NearestNeighbour
    | Permutation
    | Map
    | Local
    | HotSpot
    | Matrix
    | Flows
    | Descriptors,
    OneOf("kind"),
    Shorthand("kind"),
]
Length = Annotated[FixedLength | UniformLength | TableLength, OneOf("kind"), Shorthand("value", kind="fixed")]
Arrivals = Annotated[
    Poisson | Constant | Together | Bernoulli | Wait | RandomWait | Backlog | OnOff | Burst,
    OneOf("kind"),
    Shorthand("kind"),
]


class Traffic(Section):
    """The packets that the terminals send."""

    pattern: Pattern = setting("Destinations", Uniform(kind="uniform"))
    length: Length = setting(
        "Payload of a packet", FixedLength.model_validate({"kind": "fixed", "value": "64 B"})
    )
    arrivals: Arrivals = setting("When packets are created", Poisson(kind="poisson"))
    load: Fraction | None = optional(
        "Offered load of every sender, as a fraction of the most that its link carries with "
        "these packets; 0.5 if not given. Not with a rate, flows, bursts, descriptors, a backlog or a given "
        "wait, which determine the load themselves"
    )
    rate: OfferedRate | None = optional(
        "Offered rate of every sender, instead of a load: payload, such as 120 Mbit/s or "
        "15 MB/s, or packets, such as 20000 packets/s. It may exceed the capacity of the link"
    )
    scale: Annotated[float, Field(ge=1e-6, le=1e6)] | None = optional(
        "Factor on a rate, on a matrix with a unit or on flows: all intervals, phases and "
        "jitters are divided by it. 1 if not given"
    )
    source_queue: Whole | Literal["none"] | None = optional(
        "Most packets that wait at a source; further packets are refused. 0: no limit, the "
        "default in networks of links and with rates, flows, bursts and lists; none: a packet is refused if "
        "its station has no free place, the default for loads in networks of rings"
    )
    senders: Literal["all"] | Annotated[list[Terminal], Field(min_length=1)] = setting(
        'Terminals that send; "0..39" is a range, as in all lists of terminals', "all"
    )
    transaction: Literal["nwrite", "dmove", "nread", "lock"] | None = optional(
        "In networks of rings, the transaction of a packet. nwrite (default): a request with "
        "data and an empty response; dmove: a request with data, no response; nread: an empty request and a "
        "response with data; lock: 16 B in both"
    )

    @model_validator(mode="before")
    @classmethod
    def _length_of_a_lock(cls, value: Any) -> Any:
        """Fill in the length of a lock, which is fixed."""
        if isinstance(value, dict) and value.get("transaction") == "lock":
            return {"length": "16 B", **value}
        return value

    def is_rated(self) -> bool:
        """Whether rates or flows determine how often packets are created; the scale then applies."""
        pattern = self.pattern
        return (
            self.rate is not None
            or isinstance(pattern, Flows)
            or (isinstance(pattern, Matrix) and pattern.unit is not None)
        )

    def is_open(self) -> bool:
        """Whether rates, flows or bursts determine when packets are created; any number of them may wait."""
        return self.is_rated() or isinstance(self.arrivals, Burst)

    def needs_load(self) -> bool:
        """Whether a load determines how often packets are created."""
        closed = isinstance(self.arrivals, Wait | RandomWait) and self.arrivals.wait_ps is not None
        explicit = closed or isinstance(self.arrivals, Backlog | Burst)
        return not explicit and not self.is_rated() and not isinstance(self.pattern, Descriptors)


DEFAULT_LOAD = 0.5
