"""``[[interface]]``: interface chips of terminals; ``[[time_code]]``, ``[[interrupt]]``, ``[[broadcast]]``:
what they send besides packets."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from fabriloom.codes import FIRST_BROADCAST
from fabriloom.scenario.fields import (
    ByteRateBitsPerS,
    EventRateMilliHz,
    PositiveBytes,
    PositiveTimePs,
    RateBitsPerS,
    Section,
    Terminal,
    TimePs,
    optional,
    setting,
)

_MOST_NUMBER = FIRST_BROADCAST - 1


class TimeCode(Section):
    """A terminal that sends time-codes: a time master."""

    master: Terminal = setting("The terminal; it sends by all its ports")
    every_ps: PositiveTimePs = setting("Time from one time-code to the next")
    first_ps: TimePs | None = optional("Time of the first time-code; if not given, one interval")
    until_ps: PositiveTimePs | None = optional(
        "The terminal sends no time-code from this time on, so that another one can be the master; "
        "if not given, it sends to the end of the run"
    )


class Interrupt(Section):
    """A terminal that sends a distributed interrupt, once or periodically."""

    source: Terminal = setting("The terminal; it sends by all its ports")
    number: Annotated[int, Field(ge=0, le=_MOST_NUMBER)] = setting("Number of the interrupt")
    first_ps: TimePs = setting("Time of the first interrupt", 0)
    every_ps: PositiveTimePs | None = optional("Time from one interrupt to the next; if not given, one only")


class Broadcast(Section):
    """A terminal that sends SpaceFibre's broadcast messages, once or periodically."""

    source: Terminal = setting("The terminal; it sends by all its ports")
    channel: Annotated[int, Field(ge=0, le=_MOST_NUMBER)] = setting("Broadcast channel")
    first_ps: TimePs = setting("Time of the first message", 0)
    every_ps: PositiveTimePs | None = optional("Time from one message to the next; if not given, one only")

    @property
    def number(self) -> int:
        """Return the engine's number: those of interrupts come first."""
        return FIRST_BROADCAST + self.channel


Latency = Annotated[str, Field(max_length=100)]


class Interface(Section):
    """The interface chip of some terminals."""

    preset: Literal["external-port", "plain", "shimafuji-codec", "spacewire-light"] = setting(
        "Named set of values for all settings below", "plain"
    )
    terminals: Annotated[list[Terminal], Field(min_length=1)] | None = optional(
        "The terminals; if not given, all that no other table names"
    )
    clock_millihz: EventRateMilliHz | None = optional("System clock of the chip: sys in its delays")
    transmit: Latency | None = optional(
        "Delay from a character being written to its first bit out, such as "
        '"7 sys + 30 ns + 4 tx", where tx is two bit periods of the link'
    )
    receive: Latency | None = optional(
        'Delay from the last bit of a character in until it can be read, such as "4 sys + 2 rx"'
    )
    time_code_transmit: Latency | None = optional("transmit for time-codes")
    time_code_receive: Latency | None = optional("receive for time-codes")
    receive_buffer_bytes: PositiveBytes | None = optional(
        "The receive FIFO; characters into a small one are spaced by its credit"
    )
    read_rate_bits_per_s: ByteRateBitsPerS | None = optional(
        "Rate at which the logic behind the chip reads, if that is slower than its link"
    )
    highest_rate_bits_per_s: RateBitsPerS | None = optional("Highest rate of a link of the chip")

    external: bool | None = optional(
        "The terminal is wired to an external (parallel) port of its router, without a SpaceWire link"
    )

    def overrides(self) -> dict[str, Any]:
        """Return the settings that differ from the preset, by their names with units."""
        return self.written("preset", "terminals")
