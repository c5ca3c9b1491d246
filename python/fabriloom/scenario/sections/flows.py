"""The pattern ``flows`` of ``[traffic]``: one entry per instrument, board or camera and its destination."""

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
    """The packets from one terminal to another. Give a rate, a period, or a count alone: then all packets are
    created at once.
    """

    source: Terminal = Field(description='The sender; of a range such as "0..39", each sends')
    target: Terminal = Field(description="The receiver; of a range, each receives from each sender")
    length_bytes: Bytes | None = Field(
        default=None, alias="length", description="Payload of a packet; if not given, that of [traffic]"
    )
    rate: OfferedRate | None = Field(
        default=None,
        description="Rate of payload, such as 40 Mbit/s or 5 MB/s, or of packets, such as 2000 packets/s. "
        "arrivals decides when packets are created: poisson, constant or together",
    )
    period_ps: PositiveTimePs | None = Field(
        default=None, alias="period", description="Time from one packet to the next"
    )
    phase_ps: TimePs | None = Field(
        default=None,
        alias="phase",
        description="Time of the first packet; if not given, a random time within one period",
    )
    jitter_ps: TimePs | None = Field(
        default=None,
        alias="jitter",
        description="Each packet is late by a random time up to this one, at most the period; no jitter if "
        "not given",
    )
    packets: Annotated[int, Field(ge=1, le=2**24)] | None = Field(
        default=None,
        description="Packets created at once each time, such as those of one picture; 1 if not given",
    )
    start_ps: TimePs | None = Field(
        default=None,
        alias="start",
        description="Time from which on packets are created; 0 if not given. A phase is counted from it",
    )
    stop_ps: PositiveTimePs | None = Field(
        default=None,
        alias="stop",
        description="Time from which on no packets are created; at the end of the run if not given",
    )
    count: Annotated[int, Field(ge=1, le=2**24)] | None = Field(
        default=None, description="Number of packets in all; without a limit if not given"
    )
    name: FlowName | None = Field(default=None, description="Name in tables; source -> target if not given")
    requirement_ps: PositiveTimePs | None = Field(
        default=None,
        alias="requirement",
        description="Longest time that a packet may take from its creation at the source to its delivery; "
        "a run, fabriloom bound and the report check it",
    )


class Requirement(Section):
    """The longest time that packets of a flow may take from their creation at the source to their
    delivery.
    """

    flow: FlowName = Field(
        description='Name of a flow, or its two ends: "camera:memory" means all flows between them'
    )
    within_ps: PositiveTimePs = Field(alias="within", description="The longest time")


class Flows(Section):
    """Open loop: a list of flows, each with its own destination, length, and rate or period.

    Give path, or a list of flows. A file has one line per flow; its columns have the names of these settings.
    """

    kind: Literal["flows"]
    path: FileName | None = Field(default=None, description="CSV or Parquet file, relative to the scenario")
    flows: Annotated[list[Flow], Field(min_length=1, max_length=2**16)] | None = Field(
        default=None, description="The flows, each a table [[traffic.pattern.flows]]"
    )
    requirements: Annotated[list[Requirement], Field(min_length=1, max_length=2**12)] | None = Field(
        default=None,
        description="Requirements that are not written with their flows, each a table "
        "[[traffic.pattern.requirements]]",
    )
    sha256: Sha256 | None = Field(
        default=None, description="Checksum that the file must have; filled in when resolved"
    )
