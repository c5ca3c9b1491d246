"""``[traffic]``: who sends how much to whom."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from fabriloom.scenario.fields import (
    Bytes,
    FileName,
    Fraction,
    Section,
    Sha256,
    Shorthand,
    Terminal,
    TimePs,
    Whole,
)


class Uniform(Section):
    """Every packet to any other terminal that receives, all equally likely."""

    kind: Literal["uniform"]


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
    path: FileName | None = Field(
        default=None, description="CSV file with the columns source and destination"
    )
    random: Literal[True] | None = Field(
        default=None, description="A random one, without a terminal to itself"
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = Field(
        default=None, description="Seed of the random one; the seed of the scenario if not given"
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
    """Destinations by weights from a file: terminals x terminals, or source, destination, weight."""

    kind: Literal["matrix"]
    path: FileName = Field(description="CSV or Parquet file, relative to the scenario")
    rows: Literal["equal", "proportional"] = Field(
        default="equal",
        description="equal: every sender offers the load; proportional: the busiest offers the load, "
        "the others by the sums of their rows",
    )
    sha256: Sha256 | None = Field(
        default=None, description="Checksum that the file must have; filled in when resolved"
    )


class Descriptors(Section):
    """Lists of packets per terminal: source, destination, length, wait after the packet has gone."""

    kind: Literal["descriptors"]
    path: FileName = Field(description="CSV or Parquet file, relative to the scenario")
    repeat: bool = Field(default=True, description="Whether a list starts again after its end")
    sha256: Sha256 | None = Field(
        default=None, description="Checksum that the file must have; filled in when resolved"
    )


class FixedLength(Section):
    """Every packet the same."""

    kind: Literal["fixed"] = "fixed"
    value_bytes: Bytes = Field(alias="value", description="Payload of a packet")


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
    "local",
    "hot-spot",
    "matrix",
    "descriptors",
)
ARRIVALS = ("poisson", "constant", "together", "wait", "random-wait", "backlog", "on-off")

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
    | Local
    | HotSpot
    | Matrix
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
    Poisson | Constant | Together | Wait | RandomWait | Backlog | OnOff,
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
        "packets (0.5 if not given); not for backlog, descriptors and an explicit wait",
    )
    source_queue: Whole | Literal["none"] | None = Field(
        default=None,
        description="Packets that may wait at a source, more are refused. 0: any number, as in networks of "
        "links if not given; none: what is made while its station has no place is refused, as in networks of "
        "rings if not given",
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

    def needs_load(self) -> bool:
        """Whether a load decides how often packets are made."""
        closed = isinstance(self.arrivals, Backlog | Wait | RandomWait)
        explicit = isinstance(self.arrivals, Backlog) or (closed and self.arrivals.wait_ps is not None)  # type: ignore[union-attr]
        return not explicit and not isinstance(self.pattern, Descriptors)


DEFAULT_LOAD = 0.5
