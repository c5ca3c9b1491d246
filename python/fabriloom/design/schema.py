"""The requirements file: required performance, limits, costs, and the networks to consider."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ..scenario.fields import Count, LengthM, PositiveTimePs, Section, Written, optional, setting
from ..scenario.reference import property_table
from ..scenario.sections.program import Program
from ..scenario.sections.protocol import Protocol
from ..scenario.sections.routing import Routing
from ..scenario.sections.run import Ports, Run
from ..scenario.sections.study import Values
from ..scenario.sections.technology import Technology
from ..scenario.sections.traffic import Traffic
from ..topology import MOST_PORTS
from .families import SHAPES

SCENARIO = ("technology", "routing", "traffic", "protocol", "program", "run", "seed")
"""Sections with the same meaning as in a scenario, which every candidate's scenario gets; ``ports`` is passed
on to networks whose terminals have several."""
PERCENTILES = {50.0: "p50", 99.0: "p99", 99.9: "p99_9", 99.99: "p99_99"}
Money = Annotated[float, Field(ge=0, le=1e15)]
Faults = Annotated[int, Field(ge=0, le=16)]
Counts = Annotated[list[Annotated[int, Field(ge=1, le=MOST_PORTS)]], Field(min_length=1, max_length=16)]


class Require(Section):
    """The required performance."""

    terminals: Count = setting("Number of terminals that the network must have room for")
    margin: Annotated[float, Field(ge=1, le=100)] = setting(
        "The network must carry this multiple of the traffic without growing queues", 1.0
    )
    latency_ps: PositiveTimePs | None = optional(
        "Longest time from the creation of a packet (with a program: of an event) to "
        "its arrival, at the given traffic without the margin; if not given, any"
    )
    percentile: Annotated[float, Field(gt=0, lt=100)] = setting(
        "The percentage of packets or events that must meet `latency`: 50, 99, 99.9 or 99.99", 99.0
    )
    survive_links: Faults = setting(
        "Cables between switches, whichever they are, that may fail while all terminals stay connected", 0
    )
    survive_switches: Faults = setting(
        "Switches, whichever they are, that may fail while the terminals of all others "
        "stay connected; terminals with several ports must stay connected in every case",
        0,
    )
    after_failure: Annotated[float, Field(gt=0, le=1)] | None = optional(
        "Share of the packets that must arrive after any single failure, with unchanged routing "
        "tables. Failures are those of a cable between switches and of a switch, whose own terminals "
        "do not count; in networks of rings, those of any cable, which stops its ring with all its "
        "terminals, and of a switch. If one of `survive_links` and `survive_switches` is given, only "
        "failures of that kind count. The worst failure is simulated too"
    )
    growth: Annotated[int, Field(ge=1, le=64)] = setting(
        "A network of the same family for this multiple of the terminals must exist and "
        "pass every test but simulation; the limits are multiplied too",
        1,
    )


class Limits(Section):
    """Limits on parts, summed over all networks of a candidate."""

    switch_ports: Annotated[int, Field(ge=2, le=4096)] = setting("Most ports of a switch", 32)
    switches: Count | None = optional("Most switches")
    cables: Count | None = optional("Most cables, including those of terminals")
    cost: Money | None = optional("Highest total cost, in the unit of [cost]")


class Cost(Section):
    """Costs of parts, in any common unit."""

    switch: Money = setting("Cost of a switch")
    cable: Money = setting("Cost of a cable of any length; in networks of rings, of a link")
    port: Money = setting("A used port of a switch", 0.0)
    terminal: Money = setting("Cost of a terminal's port on a network, such as an adapter", 0.0)
    metre: Money = setting("A metre of cable between switches", 0.0)
    pitch_m: LengthM = setting(
        "Distance between neighbouring switches of the drawing; cables run along rows and columns", 1.0
    )
    unit: Annotated[str, Field(max_length=12)] = setting("Unit of all costs, such as CHF", "")


class Requirements(Written):
    """The requirements, and the networks to consider."""

    schema_address: str | None = Field(default=None, alias="$schema", exclude=True)
    name: Annotated[str, Field(max_length=200)] = setting("A short name", "")
    description: str = setting("What the file is for", "")
    seed: Annotated[int, Field(ge=0, lt=2**62)] = setting("Start of every random stream", 1)
    require: Require = setting("The required performance")
    traffic: Traffic | None = optional("As in a scenario, with a rate")
    technology: Technology | None = optional("As in a scenario")
    routing: Routing | None = optional("As in a scenario")
    protocol: Protocol | None = optional("As in a scenario")
    program: Program | None = optional("As in a scenario, with a rate")
    run: Run | None = optional("As in a scenario")
    limits: Limits = setting("Limits on parts", Limits())
    cost: Cost = setting("Costs of parts, in any common unit")
    ports: Ports | None = optional("As in a scenario, for networks whose terminals have several ports")
    networks: Counts = setting(
        "Numbers of equal networks to consider; every terminal has a port in each network", [1]
    )
    terminal_ports: Counts | None = optional(
        "Numbers of ports of a terminal to consider, divided evenly among the networks; if not "
        "given, one port in each network"
    )
    families: Annotated[dict[str, dict[str, Values]], Field(max_length=32)] = setting(
        "Families to consider, or all that are suitable if none is named; the table of "
        "a family may list values of its parameters, and of other settings by dotted paths",
        {},
    )
    vary: Annotated[dict[str, Values], Field(max_length=8)] = setting(
        'Settings to vary, such as "routing.adaptive" or "traffic.length": every '
        "combination of the listed values is considered",
        {},
    )
    what_if: Annotated[dict[str, Values], Field(max_length=8)] = setting(
        "Settings of this file and other values for them; the answer is computed again for each value",
        {},
        alias="what-if",
    )


# ruff: noqa: E501  (a page of prose)


_HEAD = """# Requirements: every section and key

Written by `FABRILOOM_EXPECT=write pytest tests/design`; do not edit it.

A file of requirements is what `fabriloom design` reads; [Which fabric?](../guides/design.md) shows how it is used. Units are written as in a [scenario](scenario.md).
"""


def page() -> str:
    """Return the page."""
    schema = Requirements.model_json_schema(by_alias=True, mode="validation")
    definitions, properties = schema["$defs"], schema["properties"]
    lines = [_HEAD]
    own = {"require": "Require", "limits": "Limits", "cost": "Cost"}
    for name, title in own.items():
        model = definitions[title]
        lines += [f"## [{name}]", "", f"{properties[name]['description']}.", ""]
        lines += [*property_table(model["properties"], model.get("required", [])), ""]
    others = [name for name in properties if name not in own and name != "$schema"]
    rest = {name: properties[name] for name in others if name not in SCENARIO or name == "seed"}
    lines += ["## Other keys", "", *property_table(rest, []), ""]
    same = ", ".join(f"`[{name}]`" for name in SCENARIO if name != "seed")
    lines += [f"{same} are as in a [scenario](scenario.md); of traffic and program one, with a rate.", ""]
    lines += ["## Families", "", "Those with a star are considered only if they are named.", ""]
    lines += ["| family | its parameters |", "|---|---|"]
    lines += [
        f"| `{name}`{'' if family.usual else ' *'} | {', '.join(f'`{key}`' for key in family.parameters)} |"
        for name, family in SHAPES.items()
    ]
    return "\n".join(lines) + "\n"
