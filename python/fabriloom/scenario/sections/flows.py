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
    setting,
)

FlowName = Annotated[str, Field(min_length=1, max_length=200)]


class Flow(Section):
    """The packets from one terminal to another. Give a rate, a period, or a count alone: then all packets are
    created at once.
    """

    source: Terminal = setting('The sender; of a range such as "0..39", each sends')
    target: Terminal = setting("The receiver; of a range, each receives from each sender")
    length_bytes: PayloadBytes | None = setting("Payload of a packet; if not given, that of [traffic]", None)
    rate: OfferedRate | None = setting(
        "Rate of payload, such as 40 Mbit/s or 5 MB/s, or of packets, such as 2000 packets/s. "
        "arrivals decides when packets are created: poisson, constant or together",
        None,
    )
    period_ps: PositiveTimePs | None = setting("Time from one packet to the next", None)
    phase_ps: TimePs | None = setting(
        "Time of the first packet; if not given, a random time within one period", None
    )
    jitter_ps: TimePs | None = setting(
        "Each packet is late by a random time up to this one, at most the period",
        None,
    )
    packets: Annotated[int, Field(ge=1, le=2**24)] | None = setting(
        "Packets created at once each time; 1 if not given", None
    )
    start_ps: TimePs | None = setting(
        "Time from which on packets are created; 0 if not given. A phase is counted from it", None
    )
    stop_ps: PositiveTimePs | None = setting(
        "Time from which on no packets are created; at the end of the run if not given", None
    )
    count: Annotated[int, Field(ge=1, le=2**24)] | None = setting(
        "Number of packets in all; without a limit if not given", None
    )
    name: FlowName | None = setting("Name in tables; source -> target if not given", None)
    requirement_ps: PositiveTimePs | None = setting(
        "Longest time that a packet may take from its creation to its delivery",
        None,
    )
    shaper_rate: OfferedRate | None = setting(
        "Token bucket: rate of its tokens, as a rate. Packets that find too few wait at the source; without "
        "a shaper, they do not",
        None,
    )
    shaper_burst_bytes: PositiveBytes | None = setting(
        "Token bucket: tokens that it holds, at least a packet; one packet if not given", None
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
    path: FileName | None = setting("CSV or Parquet file, relative to the scenario", None)
    flows: Annotated[list[Flow], Field(min_length=1, max_length=2**16)] | None = setting(
        "The flows, each a table [[traffic.pattern.flows]]", None
    )
    requirements: Annotated[list[Requirement], Field(min_length=1, max_length=2**12)] | None = setting(
        "Requirements that are not written with their flows, each a table [[traffic.pattern.requirements]]",
        None,
    )
    sha256: Sha256 | None = setting("Checksum that the file must have; filled in when resolved", None)
