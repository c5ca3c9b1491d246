"""``[[interface]]``: the interface chips of terminals, as their data sheets describe them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from fabriloom.scenario.fields import (
    ByteRateBitsPerS,
    EventRateMilliHz,
    PositiveBytes,
    RateBitsPerS,
    Section,
    Terminal,
)

Latency = Annotated[str, Field(max_length=100)]


class Interface(Section):
    """The interface chip of some terminals."""

    preset: Literal["external-port", "plain", "shimafuji-codec", "spacewire-light"] = Field(
        default="plain", description="Named set of values for all settings below"
    )
    terminals: Annotated[list[Terminal], Field(min_length=1)] | None = Field(
        default=None, description="The terminals; if not given, all that no other table names"
    )
    clock_millihz: EventRateMilliHz | None = Field(
        default=None, alias="clock", description="System clock of the chip: sys in its delays"
    )
    transmit: Latency | None = Field(
        default=None,
        description="Delay from a character being written to its first bit out, such as "
        '"7 sys + 30 ns + 4 tx", where tx is two bit periods of the link',
    )
    receive: Latency | None = Field(
        default=None,
        description='Delay from the last bit of a character in until it can be read, such as "4 sys + 2 rx"',
    )
    time_code_transmit: Latency | None = Field(default=None, description="transmit for time-codes")
    time_code_receive: Latency | None = Field(default=None, description="receive for time-codes")
    receive_buffer_bytes: PositiveBytes | None = Field(
        default=None,
        alias="receive_buffer",
        description="Size of the receive FIFO; characters into a small one are spaced by its credit",
    )
    read_rate_bits_per_s: ByteRateBitsPerS | None = Field(
        default=None,
        alias="read_rate",
        description="Rate at which the logic behind the chip reads, if that is slower than its link",
    )
    highest_rate_bits_per_s: RateBitsPerS | None = Field(
        default=None, alias="highest_rate", description="Highest rate of a link of the chip"
    )

    external: bool | None = Field(
        default=None,
        description="Whether the terminal is wired to an external (parallel) port of its router, without a "
        "SpaceWire link",
    )

    def overrides(self) -> dict[str, Any]:
        """Return the settings that differ from the preset, by their names with units."""
        return self.written("preset", "terminals")
