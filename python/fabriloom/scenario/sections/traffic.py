"""``[traffic]``: who sends how much to whom."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from fabriloom.scenario.fields import (
    Bytes,
    FileName,
    Fraction,
    OfferedRate,
    PositiveTimePs,
    Section,
    Sha256,
    Shorthand,
    Terminal,
    TimePs,
    Whole,
)
from fabriloom.scenario.sections.flows import Flows

RateUnit = Literal[
    "bit/s",
    "kbit/s",
    "Mbit/s",
    "Gbit/s",
    "B/s",
    "kB/s",
    "MB/s",
    "GB/s",
    "packets/s",
    "kpackets/s",
    "Mpackets/s",
]


class Uniform(Section):
    """Every packet to any other terminal that receives, all equally likely."""

    kind: Literal["uniform"]
    include_self: Literal[True] | None = Field(
        default=None,
        description="Packets go to the sender itself as often as to any other terminal, by way of its "
        "switch; not in networks of rings",
    )


class Shift(Section):
    """Terminal i sends to terminal i + by, counted around."""

    kind: Literal["shift"]
    by: Annotated[int, Field(ge=-(2**20), le=2**20)] = Field(description="How many terminals further")


class Transpose(Section):
    """Row and column exchanged: of the switch on a square grid, else of the terminal's number."""

    kind: Literal["transpose"]


class BitReverse(Section):
    """To the terminal whose number has the bits in the opposite order."""

    kind: Literal["bit-reverse"]


class BitComplement(Section):
    """To the terminal whose number has every bit inverted."""

    kind: Literal["bit-complement"]


class PointMirror(Section):
    """To the terminal opposite to the centre of the network."""

    kind: Literal["point-mirror"]


class AxisMirror(Section):
    """To the terminal at the mirror image along one dimension."""

    kind: Literal["axis-mirror"]
    axis: Annotated[int, Field(ge=0, le=31)] = Field(default=0, description="The dimension that is mirrored")


class NearestNeighbour(Section):
    """Fixed pairs of terminals at neighbouring switches, one pair per link as far as there are terminals."""

    kind: Literal["nearest-neighbour"]


class Permutation(Section):
    """Every terminal to one other, no two to the same. Give one of map, path and random."""

    kind: Literal["permutation"]
    map: list[Terminal] | None = Field(
        default=None, description="Destination of each terminal, by number or name"
    )
    path: FileName | None = Field(default=None, description="CSV file with the columns source and target")
    random: Literal[True, "pairs"] | None = Field(
        default=None,
        description='true: a random one, without a terminal to itself; "pairs": random pairs that send to '
        "each other, of an odd number of terminals one is left out",
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = Field(
        default=None, description="Seed of the random one; the seed of the scenario if not given"
    )
    sha256: Sha256 | None = Field(
        default=None, description="Checksum that the file must have; filled in when resolved"
    )


class Map(Section):
    """Every terminal to one fixed terminal, any number to the same. Give one of map, path and random."""

    kind: Literal["map"]
    map: list[Terminal] | None = Field(default=None, description="Target of each terminal, by number or name")
    path: FileName | None = Field(default=None, description="CSV file with the columns source and target")
    random: Literal[True] | None = Field(
        default=None, description="A target drawn at random for each, any but itself"
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = Field(
        default=None, description="Seed of the random ones; the seed of the scenario if not given"
    )
    sha256: Sha256 | None = Field(
        default=None, description="Checksum that the file must have; filled in when resolved"
    )


class Local(Section):
    """A share of a sender's packets to its partner, the others to the other receivers, all equally likely.

    Partners are the pairs of terminals that share a ring in a network of long rings, or are given here.
    """

    kind: Literal["local"]
    share: Annotated[float, Field(ge=0, le=1)] = Field(
        default=1.0, description="Share of the packets that go to the partner, 0 to 1"
    )
    map: list[Terminal] | None = Field(
        default=None, description="Partner of each sender, by number or name, in the order of the senders"
    )
    random: Literal[True] | None = Field(default=None, description="Random partners, no two the same")
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = Field(
        default=None, description="Seed of the random ones; the seed of the scenario if not given"
    )


class HotSpot(Section):
    """A share of all packets to one terminal, the others uniform."""

    kind: Literal["hot-spot"]
    target: Terminal = Field(description="The hot terminal, by number or name")
    share: Fraction = Field(description="Share of the packets that go there, above 0 and at most 1")


class Matrix(Section):
    """Who sends to whom in which proportion, or at which rate, from a file.

    The file has terminals x terminals numbers, a row per sender, or the columns source, target and weight
    (rate, if there is a unit).
    """

    kind: Literal["matrix"]
    path: FileName = Field(description="CSV or Parquet file, relative to the scenario")
    rows: Literal["equal", "proportional"] = Field(
        default="equal",
        description="equal: every sender offers the load of its link; proportional: senders offer by the "
        "sums of their rows, and the one that fills its link most offers the load",
    )
    unit: RateUnit | None = Field(
        default=None,
        description="The numbers are rates in this unit, of payload or of packets, instead of a load",
    )
    include_self: Literal[True] | None = Field(
        default=None, description="Allows numbers of a terminal to itself; not in networks of rings"
    )
    sha256: Sha256 | None = Field(
        default=None, description="Checksum that the file must have; filled in when resolved"
    )


class Descriptors(Section):
    """Lists of packets per terminal: source, target, length, wait after the packet has gone."""

    kind: Literal["descriptors"]
    path: FileName = Field(description="CSV or Parquet file, relative to the scenario")
    repeat: bool = Field(default=True, description="Whether a list starts again after its end")
    sha256: Sha256 | None = Field(
        default=None, description="Checksum that the file must have; filled in when resolved"
    )


class FixedLength(Section):
    """Every packet the same."""

    kind: Literal["fixed"] = "fixed"
    value_bytes: Bytes = Field(
        alias="value", description="Payload of a packet; 0 B is a packet of header and end alone"
    )


class UniformLength(Section):
    """Any whole number of bytes between two, all equally likely."""

    kind: Literal["uniform"]
    min_bytes: Bytes = Field(alias="min", description="The shortest payload")
    max_bytes: Bytes = Field(alias="max", description="The longest payload")


class TableLength(Section):
    """Given lengths with given weights."""

    kind: Literal["table"]
    lengths_bytes: Annotated[list[Bytes], Field(min_length=1, max_length=65536)] = Field(
        alias="lengths", description='Payloads, such as ["16 B", "1 kB"]'
    )
    weights: list[Annotated[float, Field(ge=0, le=1e12)]] | None = Field(
        default=None,
        description="How often each length occurs, relative to the others; equally often if not given",
    )


class Poisson(Section):
    """Packets are made at random moments, whatever the network does."""

    kind: Literal["poisson"]


class Constant(Section):
    """Packets are made at equal intervals, from a random moment on, whatever the network does."""

    kind: Literal["constant"]


class Together(Section):
    """Packets are made at equal intervals, by all senders at the same moments, whatever the network does."""

    kind: Literal["together"]


class Wait(Section):
    """The next packet is sent a fixed time after the previous one has gone."""

    kind: Literal["wait"]
    wait_ps: TimePs | None = Field(
        default=None, alias="wait", description="That time; by the load if not given"
    )


class RandomWait(Section):
    """The next packet is sent a random time (exponential) after the previous one has gone."""

    kind: Literal["random-wait"]
    wait_ps: TimePs | None = Field(
        default=None, alias="wait", description="Its mean; by the load if not given"
    )


class Backlog(Section):
    """A packet is always waiting."""

    kind: Literal["backlog"]


class Bernoulli(Section):
    """In every slot of time a packet or none, at random, whatever the network does.

    This is what simulators of networks on chip do in each cycle.
    """

    kind: Literal["bernoulli"]
    slot_ps: PositiveTimePs | None = Field(
        default=None,
        alias="slot",
        description="Length of a slot; the time of a character (a flit) if not given",
    )


class Burst(Section):
    """Packets made at once by all senders at one moment, then silence, or the same again and again.

    A run of a single burst has no warm-up and goes on until all has arrived, if nothing else is said.
    """

    kind: Literal["burst"]
    packets: Annotated[int, Field(ge=1, le=10**9)] = Field(
        description="Packets that every sender makes at once"
    )
    at_ps: TimePs = Field(default=0, alias="at", description="When, for the first time")
    every_ps: PositiveTimePs | None = Field(
        default=None, alias="every", description="From one burst to the next; there is one if not given"
    )


class OnOff(Section):
    """Bursts of packets and random silences between them, whatever the network does."""

    kind: Literal["on-off"]
    burst_packets: Annotated[float, Field(ge=1, le=1e9)] = Field(
        default=8, description="Mean packets of a burst"
    )
    on_load: Fraction = Field(default=1.0, description="Load within a burst; 1 is back to back")


PATTERNS = (
    "uniform",
    "shift",
    "transpose",
    "bit-reverse",
    "bit-complement",
    "point-mirror",
    "axis-mirror",
    "nearest-neighbour",
    "permutation",
    "map",
    "local",
    "hot-spot",
    "matrix",
    "flows",
    "descriptors",
)
ARRIVALS = (
    "poisson",
    "constant",
    "together",
    "bernoulli",
    "wait",
    "random-wait",
    "backlog",
    "on-off",
    "burst",
)

Pattern = Annotated[
    Uniform
    | Shift
    | Transpose
    | BitReverse
    | BitComplement
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
    Field(discriminator="kind"),
    Shorthand("kind", PATTERNS),
]
Length = Annotated[
    FixedLength | UniformLength | TableLength,
    Field(discriminator="kind"),
    Shorthand("value", kind="fixed"),
]
Arrivals = Annotated[
    Poisson | Constant | Together | Bernoulli | Wait | RandomWait | Backlog | OnOff | Burst,
    Field(discriminator="kind"),
    Shorthand("kind", ARRIVALS),
]


class Traffic(Section):
    """What the terminals send."""

    pattern: Pattern = Field(
        default=Uniform(kind="uniform"), description="To whom: a kind, or a table with its settings"
    )
    length: Length = Field(
        default=FixedLength.model_validate({"kind": "fixed", "value": "64 B"}),
        description="Payload of a packet: a size, or a table of kind fixed, uniform or table",
    )
    arrivals: Arrivals = Field(
        default=Poisson(kind="poisson"), description="When: a kind, or a table with its settings"
    )
    load: Fraction | None = Field(
        default=None,
        description="Offered by every sender, as a fraction of the most that its link can carry in such "
        "packets (0.5 if not given); not where a rate, flows, bursts, descriptors, a backlog or an explicit "
        "wait say when packets are sent",
    )
    rate: OfferedRate | None = Field(
        default=None,
        description="Offered by every sender, instead of a load: payload as in 120 Mbit/s or 15 MB/s, or "
        "20000 packets/s; may be more than its link can carry",
    )
    scale: Annotated[float, Field(ge=1e-6, le=1e6)] | None = Field(
        default=None,
        description="Factor on what is given as a rate, as a matrix with a unit or as flows: all intervals, "
        "phases and jitters are divided by it. 1 if not given",
    )
    source_queue: Whole | Literal["none"] | None = Field(
        default=None,
        description="Packets that may wait at a source, more are refused. 0: any number, as in networks of "
        "links, and for rates, flows and bursts, if not given; none: what is made while its station has no "
        "place is refused, as for loads in networks of rings if not given",
    )
    senders: Literal["all"] | Annotated[list[Terminal], Field(min_length=1)] = Field(
        default="all", description="Terminals that send, by number or name"
    )
    transaction: Literal["nwrite", "dmove", "nread", "lock"] | None = Field(
        default=None,
        description="In networks of rings, what a packet is: nwrite, data there and an empty response back; "
        "dmove, data without a response; nread, an empty request and data back; lock, 16 B there and back. "
        "nwrite if not given",
    )

    @model_validator(mode="before")
    @classmethod
    def _length_of_a_lock(cls, value: Any) -> Any:
        """A lock has one length, so it need not be said."""
        if isinstance(value, dict) and value.get("transaction") == "lock":
            return {"length": "16 B", **value}
        return value

    def is_rated(self) -> bool:
        """Whether rates or flows say how often packets are made, which a scale multiplies."""
        pattern = self.pattern
        return (
            self.rate is not None
            or isinstance(pattern, Flows)
            or (isinstance(pattern, Matrix) and pattern.unit is not None)
        )

    def is_open(self) -> bool:
        """Whether rates, flows or bursts say when packets are made, of which any number may wait."""
        return self.is_rated() or isinstance(self.arrivals, Burst)

    def needs_load(self) -> bool:
        """Whether a load decides how often packets are made."""
        closed = isinstance(self.arrivals, Wait | RandomWait) and self.arrivals.wait_ps is not None
        explicit = closed or isinstance(self.arrivals, Backlog | Burst)
        return not explicit and not self.is_rated() and not isinstance(self.pattern, Descriptors)


DEFAULT_LOAD = 0.5
