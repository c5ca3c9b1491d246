"""The pattern ``flows`` of ``[traffic]``: what each instrument, board or camera sends, one by one."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabriloom.scenario.fields import (
    Bytes,
    FileName,
    OfferedRate,
    PositiveTimePs,
    Section,
    Sha256,
    Terminal,
    TimePs,
)

FlowName = Annotated[str, Field(min_length=1, max_length=200)]


class Flow(Section):
    """Packets from one terminal to another at moments of their own. Give a rate or a period."""

    source: Terminal = Field(description="Who sends, by number or name")
    target: Terminal = Field(description="Who receives")
    length_bytes: Bytes | None = Field(
        default=None, alias="length", description="Payload of a packet; that of [traffic] if not given"
    )
    rate: OfferedRate | None = Field(
        default=None,
        description="Payload as in 40 Mbit/s or 5 MB/s, or packets/s; packets come as the arrivals say: "
        "poisson, constant or together",
    )
    period_ps: PositiveTimePs | None = Field(
        default=None, alias="period", description="From one packet to the next"
    )
    phase_ps: TimePs | None = Field(
        default=None,
        alias="phase",
        description="The first packet of a period; at random within one if not given",
    )
    jitter_ps: TimePs | None = Field(
        default=None,
        alias="jitter",
        description="Each packet of a period is late by a random time up to this; at most the period, "
        "none if not given",
    )
    packets: Annotated[int, Field(ge=1, le=2**24)] | None = Field(
        default=None,
        description="Packets made at once each time, as of a picture that is cut into packets; 1 if not "
        "given",
    )
    name: FlowName | None = Field(
        default=None, description="What it is called in tables; source -> target if not given"
    )
    requirement_ps: PositiveTimePs | None = Field(
        default=None,
        alias="requirement",
        description="No packet may take longer, from its making at the source to its delivery; a run, "
        "fabriloom bound and the report say whether that is kept",
    )


class Requirement(Section):
    """How long the packets of a flow may take, from their making at the source to their delivery."""

    flow: FlowName = Field(
        description='Name of a flow, or its two ends: "camera:memory", which is all flows between them'
    )
    within_ps: PositiveTimePs = Field(alias="within", description="No packet may take longer")


class Flows(Section):
    """Flows one by one, each with its own target, length, rate or period, whatever the network does.

    Give path, or a list of flows. A file has a line for each flow and the same names as columns.
    """

    kind: Literal["flows"]
    path: FileName | None = Field(default=None, description="CSV or Parquet file, relative to the scenario")
    flows: Annotated[list[Flow], Field(min_length=1, max_length=2**16)] | None = Field(
        default=None, description="The flows, as [[traffic.pattern.flows]] one after the other"
    )
    requirements: Annotated[list[Requirement], Field(min_length=1, max_length=2**12)] | None = Field(
        default=None,
        description="Requirements apart from the flows, as [[traffic.pattern.requirements]] one after the "
        "other",
    )
    sha256: Sha256 | None = Field(
        default=None, description="Checksum that the file must have; filled in when resolved"
    )
