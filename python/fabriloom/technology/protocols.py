"""What stands between a message and its packets, as presets with a source for every number.

How these numbers are used is on the page ``docs/background/programs.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabriloom.technology.errors import TechnologyError
from fabriloom.technology.model import at_most
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
    """Return all presets of protocols by name."""
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
