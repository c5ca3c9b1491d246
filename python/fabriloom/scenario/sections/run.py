"""``[run]`` and ``[output]``: how long, how exact, and what is kept."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabriloom.scenario.fields import AutoTimePs, PositiveTimePs, Section


class Run(Section):
    """When a run ends."""

    duration_ps: PositiveTimePs = Field(
        default=10_000_000_000,
        alias="duration",
        description="Limit of the simulated time, warm-up included; of a program 1 s if not given",
    )
    warmup_ps: AutoTimePs = Field(
        default="auto",
        alias="warmup",
        description="Time that is not measured; auto: until it has settled; with a program none if not given",
    )
    precision: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.01,
        description="Stop when the 95 % half-widths of throughput, mean network latency and mean total "
        "latency are below this fraction of them; 0: never, as with a program if not given",
    )
    packets: Annotated[int, Field(ge=0, le=2**62)] = Field(
        default=0, description="Stop when this many packets have been delivered; 0: no limit"
    )
    drain: bool = Field(
        default=False, description="Make no packets after the duration, but deliver those that have been made"
    )


class Output(Section):
    """What is kept of a run."""

    links: bool = Field(default=True, description="A table of the links")
    flows: Literal["auto"] | bool = Field(
        default="auto", description="A table of the flows; auto: when there are not too many"
    )
    trace: bool = Field(default=False, description="Every packet")
    messages: bool = Field(default=False, description="Every message of a program")
