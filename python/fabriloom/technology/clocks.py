"""Delays of routers and interface chips in clocks, as data sheets give them: ``5 rx + 8 sys + 23 tx``.

``sys`` counts periods of the chip's own clock, ``rx`` and ``tx`` times of two bits on the link by which a
character comes and on the one by which it leaves. What other clocks take is a time: ``60 ns``. The delay of a
router is from the last bit in to the last bit out, so the character's own bits on the way out are in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from fabriloom import units
from fabriloom.technology.errors import TechnologyError

BITS = 2
"""Of a link, in one rx or tx."""
_TERM = re.compile(r"\s*(\d{1,6}(?:\.\d{1,6})?)\s*([A-Za-z]+)\s*")
_PS_PER_S = 10**12
_EXAMPLE = 'write it such as "5 rx + 8 sys + 23 tx"'
_TIMES = {"ps": 1, "ns": 1000, "us": 10**6}
"""Units of a time, in ps."""


@dataclass(frozen=True)
class Delay:
    """Periods of each clock, and a time in ps beside them."""

    rx: Fraction = Fraction(0)
    sys: Fraction = Fraction(0)
    tx: Fraction = Fraction(0)
    ps: Fraction = Fraction(0)

    def of_ps(self, rate_bits_per_s: int | Fraction, clock_millihz: int | None) -> int:
        """Return the delay at a link of this rate, in ps."""
        bits = (self.rx + self.tx) * BITS * Fraction(_PS_PER_S, rate_bits_per_s)
        return round(bits + self.sys * _period_ps(clock_millihz) + self.ps)


def parse(text: str, parameter: str) -> Delay:
    """Return a sum of periods and times. Raises TechnologyError."""
    found: dict[str, Fraction] = {}
    for part in text.split("+"):
        term = _TERM.fullmatch(part)
        if term is None:
            message = f'"{part.strip()[:40]}" is no number of periods of a clock'
            raise TechnologyError(message, parameter, _EXAMPLE)
        count, clock = Fraction(term[1]), term[2].lower()
        if clock in _TIMES:
            count, clock = count * _TIMES[clock], "ps"
        elif clock not in ("rx", "sys", "tx"):
            near = units.nearest(clock, ["rx", "sys", "tx"])
            hint = f'did you mean "{near}"?' if near else "the clocks are rx, sys and tx"
            raise TechnologyError(f'there is no clock "{clock[:40]}"', parameter, hint)
        if clock in found:
            what = "a time" if clock == "ps" else clock
            raise TechnologyError(f"{what} is there twice", parameter, "add the two up")
        found[clock] = count
    return Delay(**found)


def settings(
    latency: str,
    clock_millihz: int | None,
    parts: Mapping[str, str | None],
    character_bits: int,
    crosses_in_period: bool,
) -> dict[str, object]:
    """Return the delays of a technology whose routers have this latency.

    ``parts``: the parts of its own clock in which the router chooses an output, which the header of the next
    packet waits for (``router_switching``), and in which it receives a character of a SpaceWire link
    (``router_receive``). ``crosses_in_period``: a character crosses to its port in the last period of the
    switching. Raises TechnologyError.
    """
    whole = _whole(latency, "router_latency", character_bits, clock_millihz)
    left = whole.sys
    taken = {"router_switching": Fraction(0), "router_receive": Fraction(0)}
    for name, text in parts.items():
        part = parse(text, name) if text else Delay()
        if part.rx or part.tx or part.ps or part.sys > left:
            what = "choosing an output" if name == "router_switching" else "receiving a character"
            message = f"{what} takes some of the {float(left):g} sys of router_latency"
            raise TechnologyError(message, name, 'write it such as "4 sys"')
        taken[name] = part.sys
        left -= part.sys
    period_ps = _period_ps(clock_millihz)
    crossing_ps = round(period_ps) if crosses_in_period else 0
    if crosses_in_period and taken["router_switching"] < 1:
        message = "with crossbar = clock a character crosses in the last period of the switching"
        raise TechnologyError(message, "router_switching", 'write it such as "4 sys", with a router_clock')
    return {
        "crossing_ps": crossing_ps,
        "decode_latency_ps": round(taken["router_switching"] * period_ps) - crossing_ps,
        "forward_latency_ps": round(left * period_ps + whole.ps),
        "receive_bits": whole.rx * BITS,
        "receive_ps": round(taken["router_receive"] * period_ps),
        "transmit_bits": whole.tx * BITS - character_bits,
    }


def code_settings(
    latency: str, jitter: str | None, clock_millihz: int | None, code_bits: int
) -> dict[str, object]:
    """Return the delays of time-codes in a technology whose routers have this latency for them.

    ``jitter``: by how much codes can be earlier, by how their clocks are aligned to the router's. Raises
    TechnologyError.
    """
    whole = _whole(latency, "time_code_latency", code_bits, clock_millihz)
    early = parse(jitter, "time_code_jitter") if jitter else Delay()
    if early.rx or early.tx or early.sys > whole.sys or early.ps > whole.ps:
        message = (
            f"clocks that are not aligned take some of the {float(whole.sys):g} sys of time_code_latency"
        )
        raise TechnologyError(message, "time_code_jitter", 'write it such as "2 sys"')
    return {
        "code_forward_ps": round(whole.sys * _period_ps(clock_millihz) + whole.ps),
        "code_jitter_ps": round(early.sys * _period_ps(clock_millihz) + early.ps),
        "code_receive_bits": whole.rx * BITS,
        "code_transmit_bits": whole.tx * BITS - code_bits,
    }


def _whole(latency: str, parameter: str, bits: int, clock_millihz: int | None) -> Delay:
    """Return the delay up to the last bit out of a character of this many bits."""
    whole, own = parse(latency, parameter), Fraction(bits, BITS)
    if whole.tx < own:
        message = f"{parameter} ends with the last bit out, so it has at least {float(own):g} tx"
        raise TechnologyError(message, parameter, "count the bits of the character, two to a tx")
    if whole.sys and clock_millihz is None:
        message = f"{parameter} counts periods of the router's clock, and there is none"
        raise TechnologyError(message, parameter, 'write router_clock = "30 MHz" beside it')
    return whole


def _period_ps(clock_millihz: int | None) -> Fraction:
    return Fraction(1000 * _PS_PER_S, clock_millihz or 1)
