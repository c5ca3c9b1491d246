"""The requirements file: required performance, limits, costs, and the networks to consider."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ..scenario.fields import Count, LengthM, PositiveTimePs, Section
from ..scenario.sections.ports import Ports
from ..scenario.sections.program import Program
from ..scenario.sections.protocol import Protocol
from ..scenario.sections.routing import Routing
from ..scenario.sections.run import Run
from ..scenario.sections.study import Values
from ..scenario.sections.technology import Technology
from ..scenario.sections.traffic import Traffic
from ..scenario.written import Written
from ..topology import MOST_PORTS

SCENARIO = ("technology", "routing", "traffic", "protocol", "program", "run", "seed")
"""Sections with the same meaning as in a scenario, which every candidate's scenario gets; ``ports`` is passed
on to networks whose terminals have several."""
PERCENTILES = {50.0: "p50", 99.0: "p99", 99.9: "p99_9", 99.99: "p99_99"}
Money = Annotated[float, Field(ge=0, le=1e15)]
Faults = Annotated[int, Field(ge=0, le=16)]
Counts = Annotated[list[Annotated[int, Field(ge=1, le=MOST_PORTS)]], Field(min_length=1, max_length=16)]


class Require(Section):
    """The required performance."""

    terminals: Count = Field(description="Terminals for which there have to be places")
    margin: Annotated[float, Field(ge=1, le=100)] = Field(
        default=1.0, description="It has to carry this many times the traffic without anything piling up"
    )
    latency_ps: PositiveTimePs | None = Field(
        default=None,
        alias="latency",
        description="Longest time from the creation of a packet (of a program: of an event) to its "
        "arrival, at the traffic as it is, without the margin; any if not given",
    )
    percentile: Annotated[float, Field(gt=0, lt=100)] = Field(
        default=99.0,
        description="The percentage of packets or events that have to be in time: 50, 99, 99.9 or 99.99",
    )
    survive_links: Faults = Field(
        default=0, description="Cables between switches that may fail, any, while all terminals stay joined"
    )
    survive_switches: Faults = Field(
        default=0,
        description="Switches that may fail, any, while the terminals of all others stay joined; those of "
        "several ports stay joined, too, whichever of their switches fail",
    )
    after_failure: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None,
        description="This share of the packets has to arrive after any single failure with routing tables as "
        "they are: of a cable between switches or of a switch (packets of its own terminals are left out); "
        "in networks of rings of any cable, which stops its ring with all terminals on it, or of a switch; "
        "of those kinds that are to be survived, if any are. The worst one is simulated too",
    )
    growth: Annotated[int, Field(ge=1, le=64)] = Field(
        default=1,
        description="There has to be a network of the same family for this multiple of the terminals, which "
        "passes everything but simulation; limits grow as much",
    )


class Limits(Section):
    """Limits on parts, summed over all networks of a candidate."""

    switch_ports: Annotated[int, Field(ge=2, le=4096)] = Field(default=32, description="Ports of a switch")
    switches: Count | None = Field(default=None, description="Switches at most")
    cables: Count | None = Field(default=None, description="Cables at most, those of terminals included")
    cost: Money | None = Field(default=None, description="Most that it may cost, in the unit of [cost]")


class Cost(Section):
    """Costs of parts, in any common unit."""

    switch: Money = Field(description="Of a switch")
    cable: Money = Field(description="Of a cable, whatever its length; for rings of a link")
    port: Money = Field(default=0.0, description="Of a port of a switch that is used")
    terminal: Money = Field(default=0.0, description="Of a terminal's port on a network, such as an adapter")
    metre: Money = Field(default=0.0, description="Of a metre of cable between switches")
    pitch_m: LengthM = Field(
        default=1.0,
        alias="pitch",
        description="How far neighbouring switches are apart where they stand as they are drawn; cables run "
        "along rows and columns",
    )
    unit: Annotated[str, Field(max_length=12)] = Field(default="", description="Such as CHF")


class Requirements(Written):
    """The requirements, and the networks to consider."""

    schema_address: str | None = Field(default=None, alias="$schema", exclude=True)
    name: Annotated[str, Field(max_length=200)] = Field(default="", description="A short name")
    description: str = Field(default="", description="What this is about")
    seed: Annotated[int, Field(ge=0, lt=2**62)] = Field(default=1, description="Start of every random stream")
    require: Require = Field(description="What the network has to do")
    traffic: Traffic | None = Field(default=None, description="As in a scenario, with a rate")
    technology: Technology | None = Field(default=None, description="As in a scenario")
    routing: Routing | None = Field(default=None, description="As in a scenario")
    protocol: Protocol | None = Field(default=None, description="As in a scenario")
    program: Program | None = Field(default=None, description="As in a scenario, with a rate")
    run: Run | None = Field(default=None, description="As in a scenario")
    limits: Limits = Field(default=Limits(), description="What it may have")
    cost: Cost = Field(description="What things cost")
    ports: Ports | None = Field(
        default=None, description="As in a scenario, for networks whose terminals have several"
    )
    networks: Counts = Field(
        default=[1],
        description="How many equal networks, each of which every terminal has a port in; every number is "
        "looked at",
    )
    terminal_ports: Counts | None = Field(
        default=None,
        description="Ports of a terminal, divided evenly among the networks; every number is looked at. If "
        "not given, one in each network",
    )
    families: Annotated[dict[str, dict[str, Values]], Field(max_length=32)] = Field(
        default={},
        description="Families that are looked at, all that suit if none is named; a table may list values of "
        "the family's parameters, and of other settings for it by dotted paths",
    )
    vary: Annotated[dict[str, Values], Field(max_length=8)] = Field(
        default={},
        description='Settings of which every value is looked at, such as "routing.adaptive" or '
        '"traffic.length"',
    )
    what_if: Annotated[dict[str, Values], Field(max_length=8)] = Field(
        default={},
        alias="what-if",
        description="Settings of this file and other values of them, for each of which the answer is found "
        "again",
    )
