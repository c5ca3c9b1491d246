"""``[run]`` and ``[output]``: duration, precision, and the tables that are kept."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabriloom.scenario.fields import AutoTimePs, PositiveTimePs, Section


class Run(Section):
    """The end of a run."""

    duration_ps: PositiveTimePs = Field(
        default=10_000_000_000,
        alias="duration",
        description="Limit of the simulated time, including the warm-up; 1 s for programs if not given",
    )
    warmup_ps: AutoTimePs = Field(
        default="auto",
        alias="warmup",
        description="Time that is not measured. auto: until a steady state is detected. 0 for programs if "
        "not given",
    )
    precision: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.01,
        description="The run ends when the 95 % half-widths of throughput, mean network latency and mean "
        "total latency are below this fraction of their values; 0: never, the default for programs",
    )
    precision_of: Literal["all", "throughput"] = Field(
        default="all",
        description="What has to be that precise. all: throughput and both latencies; throughput: throughput "
        "alone, once it is known whether packets pile up. `fabriloom saturate` sets throughput",
    )
    packets: Annotated[int, Field(ge=0, le=2**62)] = Field(
        default=0, description="The run ends when this many packets have been delivered; 0: no limit"
    )
    drain: bool = Field(
        default=False,
        description="After the duration, create no more packets but deliver those that exist",
    )


class Output(Section):
    """The tables of a run that are kept."""

    links: bool = Field(default=True, description="Table of links")
    flows: Literal["auto"] | bool = Field(
        default="auto", description="Table of flows; auto: unless there are too many"
    )
    trace: bool = Field(default=False, description="Table of all delivered packets")
    messages: bool = Field(default=False, description="Table of all messages of a program")
