"""What stands between a message and its packets, as presets with a source for every number.

How these numbers are used is on the page ``docs/background/programs.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fabriloom.technology.errors import TechnologyError
from fabriloom.technology.model import at_most
from fabriloom.technology.presets import Preset, read, values_of

Acknowledge = Literal["none", "packet", "response"]
Layer = Literal["none", "control-word"]
_MOST_ERRORS = 0.01


@dataclass(frozen=True)
class Protocol:
    """A message protocol and the host that runs it. Windows of 0 are without limit."""

    preset: str
    packet_bytes: int
    small_packet_bytes: int
    small_below_bytes: int
    messages_at_once: int
    channels_at_once: int
    packets_per_channel: int
    packets_at_once: int
    receive_at_once: int
    channels_limit: int
    """Channels that a program may use per terminal; checked before the run."""
    acknowledge: Acknowledge
    acknowledge_from: Literal["end", "head"]
    programmed: bool
    """Whether the program's own processor fills packets."""
    ahead_bytes: int
    send_time_ps: int
    receive_time_ps: int
    packet_time_ps: int
    byte_time_ps: int
    bus_packet_time_ps: int
    bus_byte_time_ps: int
    send_gap_time_ps: int
    receive_gap_time_ps: int
    ack_time_ps: int
    resume_time_ps: int
    check_time_ps: int
    bit_error_rate: float
    eager_limit_bytes: int
    """Longer messages are announced; 0: none is."""
    announcement_bytes: int
    unexpected_buffer_bytes: int
    """Limit of the bytes that no receive has asked for; 0: none."""
    resend_after_ps: int
    resend_limit: int
    resend_backoff: int
    layer: Layer
    control_word_bytes: int
    next_address_bytes: int

    def __post_init__(self) -> None:
        """Refuse what contradicts itself, and what is beyond counting."""
        at_most("packet", self.packet_bytes, 2**24, "bytes")
        at_most("small_below", self.small_below_bytes, 2**31, "bytes")
        at_most("ahead", self.ahead_bytes, 2**31, "bytes")
        at_most("eager_limit", self.eager_limit_bytes, 2**31, "bytes")
        at_most("unexpected_buffer", self.unexpected_buffer_bytes, 2**31, "bytes")
        if self.bit_error_rate > _MOST_ERRORS:
            message = f"bit_error_rate is {self.bit_error_rate}: hardly a message would ever be right"
            raise TechnologyError(message, "bit_error_rate", f"the most is {_MOST_ERRORS}")
        if self.small_packet_bytes > self.packet_bytes:
            message = f"small packets of {self.small_packet_bytes} B are larger than the others"
            raise TechnologyError(message, "small_packet", f'write at most "{self.packet_bytes} B"')
        if self.receive_at_once and self.acknowledge != "packet":
            message = f'receive_at_once has no effect with acknowledge = "{self.acknowledge}"'
            raise TechnologyError(message, "receive_at_once", 'write acknowledge = "packet", or remove it')
        if self.receive_gap_time_ps and self.acknowledge != "packet":
            message = f'receive_gap_time has no effect with acknowledge = "{self.acknowledge}"'
            raise TechnologyError(message, "receive_gap_time", 'write acknowledge = "packet", or remove it')
        if self.acknowledge_from == "head" and self.acknowledge != "packet":
            message = f'acknowledge_from has no effect with acknowledge = "{self.acknowledge}"'
            raise TechnologyError(message, "acknowledge_from", 'write acknowledge = "packet", or remove it')
        if self.bit_error_rate and not self.check_time_ps:
            message = "errors have no effect without a check"
            raise TechnologyError(message, "bit_error_rate", "give a check_time, or remove it")
        if self.unexpected_buffer_bytes:
            self._check_unexpected()
        if self.resend_after_ps:
            self._check_resends()

    def _check_unexpected(self) -> None:
        """Refuse a limit where a receiver cannot stop its senders, or what it holds back comes again."""
        if self.acknowledge != "packet":
            message = f'unexpected_buffer has no effect with acknowledge = "{self.acknowledge}"'
            raise TechnologyError(message, "unexpected_buffer", 'write acknowledge = "packet", or remove it')
        for name, is_set in (("check_time", self.check_time_ps), ("resend_after", self.resend_after_ps)):
            if is_set:
                message = f"unexpected_buffer does not go with {name}"
                raise TechnologyError(message, "unexpected_buffer", "remove one of them")

    def _check_resends(self) -> None:
        """Refuse a time-out where a sender cannot tell what has come."""
        if self.acknowledge != "packet":
            message = f'resend_after has no effect with acknowledge = "{self.acknowledge}"'
            raise TechnologyError(message, "resend_after", 'write acknowledge = "packet", or remove it')
        for name, is_set, why in (
            (
                "acknowledge_from",
                self.acknowledge_from == "head",
                'a packet acknowledged from its head may be cut behind it; write "end"',
            ),
            (
                "receive_at_once",
                self.receive_at_once > 0,
                "a receiver that holds acknowledgements back has packets sent again; write 0",
            ),
            (
                "check_time",
                self.check_time_ps > 0,
                "messages that fail a check are sent again already; write 0 ns",
            ),
        ):
            if is_set:
                raise TechnologyError(f"resend_after does not go with {name}", "resend_after", why)


def protocols() -> Mapping[str, Preset]:
    """Return all presets of protocols by name."""
    return read("protocols.toml")


def protocol_settings(preset: str) -> dict[str, Any]:
    """Return the numbers of a preset under their names with units: ``packet_bytes``, ``send_time_ps``, …"""
    return values_of(protocols()[preset])


def protocol(preset: str, overrides: Mapping[str, Any] | None = None) -> Protocol:
    """Return a preset with some of its settings replaced; a value of None leaves the preset's."""
    values = protocol_settings(preset)
    given = {name: value for name, value in (overrides or {}).items() if value is not None}
    if "packet_bytes" in given and "small_packet_bytes" not in given:
        alike = values["small_packet_bytes"] == values["packet_bytes"]
        small = given["packet_bytes"] if alike else values["small_packet_bytes"]
        given["small_packet_bytes"] = min(small, given["packet_bytes"])
    return Protocol(preset=preset, **{**values, **given})
