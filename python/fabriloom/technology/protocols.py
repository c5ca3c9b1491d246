"""What stands between a message and its packets, as presets with a source for every number.

How these numbers are used is on the page ``docs/background/programs.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabriloom import units
from fabriloom.technology import clocks
from fabriloom.technology.errors import TechnologyError
from fabriloom.technology.model import Ps, Rate, Technology, at_most
from fabriloom.technology.presets import Preset, read, values_of

Settings = Mapping[str, Any]
_MOST_ERRORS = 0.01


def _check(given: Settings) -> None:
    """Refuse what contradicts itself, and what is beyond counting."""
    at_most("packet", given["packet_bytes"], 2**24, "bytes")
    for name in ("small_below", "ahead", "eager_limit", "unexpected_buffer"):
        at_most(name, given[f"{name}_bytes"], 2**31, "bytes")
    errors, packet, small = given["bit_error_rate"], given["packet_bytes"], given["small_packet_bytes"]
    if errors > _MOST_ERRORS:
        message = f"bit_error_rate is {errors}: hardly a message would ever be right"
        raise TechnologyError(message, "bit_error_rate", f"the most is {_MOST_ERRORS}")
    if small > packet:
        message = f"small packets of {small} B are larger than the others"
        raise TechnologyError(message, "small_packet", f'write at most "{packet} B"')
    _of_packets(given, "receive_at_once", given["receive_at_once"])
    _of_packets(given, "receive_gap_time", given["receive_gap_time_ps"])
    _of_packets(given, "acknowledge_from", given["acknowledge_from"] == "head")
    if errors and not given["check_time_ps"]:
        message = "errors have no effect without a check"
        raise TechnologyError(message, "bit_error_rate", "give a check_time, or remove it")
    if given["unexpected_buffer_bytes"]:
        _check_unexpected(given)
    if given["resend_after_ps"]:
        _check_resends(given)


def _of_packets(given: Settings, name: str, is_set: object) -> None:
    """Refuse a setting that needs an acknowledgement of every packet where there is none."""
    if is_set and given["acknowledge"] != "packet":
        message = f'{name} has no effect with acknowledge = "{given["acknowledge"]}"'
        raise TechnologyError(message, name, 'write acknowledge = "packet", or remove it')


def _check_unexpected(given: Settings) -> None:
    """Refuse a limit where a receiver cannot stop its senders, or what it holds back comes again."""
    _of_packets(given, "unexpected_buffer", True)
    for name in ("check_time", "resend_after"):
        if given[f"{name}_ps"]:
            message = f"unexpected_buffer does not go with {name}"
            raise TechnologyError(message, "unexpected_buffer", "remove one of them")


def _check_resends(given: Settings) -> None:
    """Refuse a time-out where a sender cannot tell what has come."""
    _of_packets(given, "resend_after", True)
    at_head = 'a packet acknowledged from its head may be cut behind it; write "end"'
    held = "a receiver that holds acknowledgements back has packets sent again; write 0"
    checked = "messages that fail a check are sent again already; write 0 ns"
    for name, is_set, why in (
        ("acknowledge_from", given["acknowledge_from"] == "head", at_head),
        ("receive_at_once", given["receive_at_once"], held),
        ("check_time", given["check_time_ps"], checked),
    ):
        if is_set:
            raise TechnologyError(f"resend_after does not go with {name}", "resend_after", why)


def protocols() -> Mapping[str, Preset]:
    return read("protocols.toml")


def protocol(preset: str, overrides: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the checked numbers of a preset under their names with units: ``packet_bytes``, …

    Some may be replaced; a value of None leaves the preset's. Windows of 0 are without limit.
    """
    values = values_of(protocols()[preset])
    given = {name: value for name, value in (overrides or {}).items() if value is not None}
    if "packet_bytes" in given and "small_packet_bytes" not in given:
        alike = values["small_packet_bytes"] == values["packet_bytes"]
        small = given["packet_bytes"] if alike else values["small_packet_bytes"]
        given["small_packet_bytes"] = min(small, given["packet_bytes"])
    found = {"preset": preset, **values, **given}
    _check(found)
    return found


DELAYS = {"transmit": "tx", "receive": "rx", "time_code_transmit": "tx", "time_code_receive": "rx"}
"""Delays of an interface chip, with the clock of its link that each may count."""


_SPACING_PS = 1000
"""Spacings are whole multiples of this."""


@dataclass(frozen=True)
class Interface:
    """An interface chip between a terminal and its link."""

    preset: str
    clock_millihz: int | None
    transmit: str
    """From a character being written to its first bit out."""
    receive: str
    """From the last bit of a character in until it can be read."""
    time_code_transmit: str
    time_code_receive: str
    receive_buffer_bytes: int
    highest_rate_bits_per_s: int
    read_rate_bits_per_s: int | None = None
    """Rate at which the logic behind the chip reads, in bits of payload; None: as fast as they come."""
    external: bool = False
    """Whether the terminal is wired to a parallel port of its router, without a SpaceWire link."""

    def __post_init__(self) -> None:
        """Refuse a delay that counts a clock which is not there."""
        for name, delay in self._delays.items():
            other = "rx" if DELAYS[name] == "tx" else "tx"
            if getattr(delay, other):
                message = f"{name} has {other}, and is a delay on the other side of the chip"
                raise TechnologyError(message, name, f"count {DELAYS[name]}, sys and ns")
            if delay.sys and self.clock_millihz is None:
                message = f"{name} counts periods of the chip's clock, and there is none"
                raise TechnologyError(message, name, 'write clock = "50 MHz" beside it')

    @cached_property
    def _delays(self) -> dict[str, clocks.Delay]:
        return {name: clocks.parse(getattr(self, name), name) for name in DELAYS}

    def delay_ps(self, name: str, rate_bits_per_s: Rate) -> int:
        """Return one of the delays at a link of this rate, in ps."""
        return self._delays[name].of_ps(rate_bits_per_s, self.clock_millihz)

    def check_link(self, tech: Technology, rate_bits_per_s: Rate | None, length_m: float | None) -> None:
        """Raise TechnologyError for a link that is too fast for the chip, or that never has credit."""
        rate = tech.link_rate_bits_per_s if rate_bits_per_s is None else rate_bits_per_s
        if rate > self.highest_rate_bits_per_s:
            highest = units.format_rate_bits_per_s(self.highest_rate_bits_per_s)
            message = f"a link of {units.format_rate_bits_per_s(rate)} is too fast for this interface chip, "
            message += f"which can do {highest}"
            raise TechnologyError(message, "highest_rate", f'give its cable a rate of "{highest}" at most')
        if self._credit_chars(tech) < tech.credit_quantum_chars:
            message = f"a receive_buffer of {self.receive_buffer_bytes} B is less than a flow-control "
            message += "character grants: nothing could ever be sent to it"
            least = tech.credit_quantum_chars * tech.character_bytes
            raise TechnologyError(message, "receive_buffer", f'give it at least "{least} B"')

    def _credit_chars(self, tech: Technology) -> int:
        """Return the characters that may be on their way to the chip."""
        chars = self.receive_buffer_bytes // tech.character_bytes
        return chars if tech.credit_limit_chars is None else min(chars, tech.credit_limit_chars)

    def spacing_ps(self, tech: Technology, rate_bits_per_s: Rate | None, length_m: float | None) -> int:
        """Return the time from one character to the next at which a link into the chip never waits, in ps; 0
        if it is no longer than a character.
        """
        read = self.read_rate_bits_per_s
        read_ps = 0 if read is None else -(-8 * tech.character_bytes * 10**12 // read)
        found = max(
            read_ps, 0 if self.external else self._credit_ps(tech, rate_bits_per_s, length_m, read_ps)
        )
        return -(-found // _SPACING_PS) * _SPACING_PS

    def _credit_ps(
        self, tech: Technology, rate_bits_per_s: Rate | None, length_m: float | None, read_ps: Ps
    ) -> Ps:
        """Return the same for the credit of the receive FIFO alone."""
        rate = tech.link_rate_bits_per_s if rate_bits_per_s is None else rate_bits_per_s
        quantum, chars = tech.credit_quantum_chars, self._credit_chars(tech)
        loop_ps = tech.arrival_ps(rate, length_m) - tech.receiver_latency_ps + tech.credit_ps(rate, length_m)
        loop_ps += self.delay_ps("receive", rate)
        shortest = -(-(loop_ps * rate) // (10**12 * min(tech.data_bits, tech.end_bits)))
        character_ps = tech.character_ps(rate)
        if chars >= quantum * -(-(shortest + quantum - 1) // quantum) and read_ps <= character_ps:
            return 0
        # A group of characters is sent when the first of those that are on their way has been read.
        group_ps = (quantum - 1) * max(character_ps, read_ps) + loop_ps
        return max(tech.alone.character_ps(rate), -(-group_ps // (quantum * (chars // quantum))))


def interfaces() -> Mapping[str, Preset]:
    """Return all presets of interface chips by name."""
    return read("interfaces.toml")


def interface_settings(preset: str) -> dict[str, Any]:
    """Return the values of a preset under their names with units: ``clock_millihz``, ``transmit``, …"""
    return values_of(interfaces()[preset])


def interface(preset: str, overrides: Mapping[str, Any] | None = None) -> Interface:
    """Return a preset with some of its settings replaced; a value of None leaves the preset's."""
    given = {name: value for name, value in (overrides or {}).items() if value is not None}
    return Interface(preset=preset, **{"clock_millihz": None, **interface_settings(preset), **given})
