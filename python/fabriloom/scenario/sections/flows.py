"""The pattern ``flows`` of ``[traffic]``: one entry per instrument, board or camera and its destination."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabriloom.scenario.fields import (
    FileName,
    OfferedRate,
    PayloadBytes,
    PositiveBytes,
    PositiveTimePs,
    Section,
    Sha256,
    Terminal,
    TimePs,
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
        "Number of packets in all; without a limit if not given"
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
    flows: Annotated[list[Flow], Field(min_length=1, max_length=2**16)] | None = optional(
        "The flows, each a table [[traffic.pattern.flows]]"
    )
    requirements: Annotated[list[Requirement], Field(min_length=1, max_length=2**12)] | None = optional(
        "Requirements that are not written with their flows, each a table [[traffic.pattern.requirements]]"
    )
    sha256: Sha256 | None = optional("Checksum that the file must have; filled in when resolved")
