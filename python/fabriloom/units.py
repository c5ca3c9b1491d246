"""Convert strings with units to integers and back: "100 Mbit/s", "2 us", "64 B", "5 ns/m".

Internally, times are whole picoseconds, cycles and rates exact fractions, and sizes whole bytes. Where the
field gives rates in bits, "100 MB/s" is refused and the message offers both readings. SCI rates, usually
given in bytes, are accepted in both units (:func:`parse_byte_rate_bits_per_s`). "Mb/s" is refused everywhere.
Numbers are read as exact fractions: "0.1 us" is exactly 100000 ps.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

TIME_PS: Final = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
BYTES: Final = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
RATE_BITS_PER_S: Final = {"bit/s": 1, "kbit/s": 10**3, "Mbit/s": 10**6, "Gbit/s": 10**9, "Tbit/s": 10**12}
EVENT_RATE_MILLIHZ: Final = {"mHz": 1, "Hz": 10**3, "kHz": 10**6, "MHz": 10**9, "1/s": 10**3}
FREQUENCY_MILLIHZ: Final = {"Hz": 10**3, "kHz": 10**6, "MHz": 10**9, "GHz": 10**12}
LENGTH_M: Final = {"mm": Fraction(1, 1000), "cm": Fraction(1, 100), "m": Fraction(1), "km": Fraction(1000)}
DELAY_PS_PER_M: Final = {"ps/m": 1, "ns/m": 10**3, "us/m": 10**6, "us/km": 10**3, "ns/km": 1}

BYTE_RATE_BITS_PER_S: Final = {
    "B/s": 8,
    "kB/s": 8 * 10**3,
    "MB/s": 8 * 10**6,
    "GB/s": 8 * 10**9,
    "TB/s": 8 * 10**12,
}
LONGEST_CABLE_M: Final = 10**6
"""The longest accepted cable, one fortieth of the circumference of the earth."""

_OTHER_WORDS: Final = {
    "target": "destination to receiver",
    "targets": "destinations builders receivers",
    "target_choice": "destination_choice",
    "source": "from sender",
    "sources": "senders readout readouts initiator initiators",
    "rate": "weight trigger_rate event_rate",
    "link_rate": "bandwidth speed data_rate bit_rate link_speed",
    "input_buffer": "buffer buffers buffer_size buffer_depth",
    "terminals": "hosts nodes endpoints",
    "switch_ports": "ports radix",
    "lanes": "vcs virtual_channels virtual_lanes vls",
    "length": "packet_size packet_length size",
    "fragment": "fragment_size fragment_length",
    "load": "injection_rate",
    "grid": "mesh mesh2d 2d_mesh",
    "crossbar": "switch single_switch single",
    "clos": "folded_clos leaf_spine spine_leaf",
    "banyan": "omega butterfly delta multistage",
    "hyperx": "flattened_butterfly generalized_hypercube",
    "uniform": "random uniform_random",
    "hot-spot": "incast many_to_one",
    "shift": "adversarial worst_case group_shift",
    "descriptors": "trace packet_list",
    "level-3": "event_building event_builder push",
    "pull-level-3": "pull",
    "dimension-order": "xy dor xyz",
    "minimal-layers": "nue deadlock_free",
    "lash": "dfsssp layered_shortest_path",
    "service_levels": "sl sls path_sl service_level",
    "shortest-path": "minimal ecmp sssp",
    "infiniband-4x-edr": "infiniband edr",
    "ethernet-100g": "ethernet roce 100gbe",
    "spacewire-200": "spacewire spw",
    "at": "time when",
    "lane_reserved": "reserved_bandwidth expected_bandwidth",
    "lane_priority": "virtual_channel_priority",
    "replications": "seeds repetitions repeats",
}
"""What other fields call our names, in lower case with underscores."""
_CALLED: Final = {word: name for name, words in _OTHER_WORDS.items() for word in words.split()}
PACKET_RATE_MILLIHZ: Final = {
    "packets/s": 10**3,
    "kpackets/s": 10**6,
    "Mpackets/s": 10**9,
    **EVENT_RATE_MILLIHZ,
}
_LARGEST: Final = 2**62
_MOST_COMPARED: Final = 5000
_LONGEST_COMPARED: Final = 64
"""Most names, and most characters per name, that :func:`nearest` compares; its cost is their product."""
_NUMBER: Final = re.compile(
    r"\s*([+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?(\d+))?)\s*(.*?)\s*", re.DOTALL | re.ASCII
)
MICRO_SIGNS: Final = "\u00b5\u03bc"
_MICRO: Final = re.compile(f"[{MICRO_SIGNS}](?=s)")
"""The micro sign and the Greek letter mu: keyboards have one or the other, and both are read as u."""
_SPACES: Final[dict[int, str]] = dict.fromkeys((0xA0, 0x2007, 0x2009, 0x202F), " ")
"""Spaces that word processors and spreadsheets put between a number and its unit."""
_MONTH: Final = (
    r"(?:jan|feb|mar|mär|mrz|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez|fév|avr|aoû|déc)[a-zéû]*"
)
_DATE: Final = re.compile(
    rf"\s*(?:\d{{1,4}}([-./])\d{{1,2}}\1\d{{1,4}}|\d{{1,2}}[-. /]+{_MONTH}\b|{_MONTH}[-. /]+\d{{1,4}})",
    re.IGNORECASE,
)
"""What a spreadsheet program makes of 10.3 or 3/4."""
_ALIKE: Final = {
    "usec": "us",
    "sec": "s",
    "seconds": "s",
    "byte": "B",
    "bytes": "B",
    "Byte": "B",
    "Bytes": "B",
    "b": "B",
    "KB": "kB",
    "bps": "bit/s",
    "kbps": "kbit/s",
    "Mbps": "Mbit/s",
    "Gbps": "Gbit/s",
    "b/s": "bit/s",
    "kb/s": "kbit/s",
    "Mb/s": "Mbit/s",
    "Gb/s": "Gbit/s",
    "Mbit": "Mbit/s",
    "Gbit": "Gbit/s",
    "bit": "bit/s",
    "hz": "Hz",
    "KHz": "kHz",
    "khz": "kHz",
    "meter": "m",
    "meters": "m",
    "metre": "m",
    "metres": "m",
}
"""Common spellings, and the one that is accepted. They are suggested, not accepted: Mb/s is ambiguous."""


class UnitError(ValueError):
    """A value without a unit, with a wrong unit, or out of range. ``hint`` says what to write instead."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


def parse_time_ps(value: object, *, positive: bool = False) -> int:
    """Parse a duration such as "2 us" to whole picoseconds. ``positive``: zero is refused. Raises
    UnitError.
    """
    return _parse(value, "a time", TIME_PS, "2 us", positive)


def parse_bytes(value: object, *, positive: bool = False) -> int:
    """Parse a size such as "64 B" to whole bytes. ``positive``: zero is refused. Raises UnitError."""
    return _parse(value, "a size in bytes", BYTES, "64 B", positive)


def parse_rate_bits_per_s(value: object, *, positive: bool = True) -> int | Fraction:
    """Parse a rate such as "100 Mbit/s" to bits per second. ``positive``: zero is refused. Raises
    UnitError.
    """
    return _parse_exact(value, "a rate in bits per second", RATE_BITS_PER_S, "100 Mbit/s", positive)


def parse_byte_rate_bits_per_s(value: object, *, positive: bool = True) -> int | Fraction:
    """Parse a rate in bytes or bits, "500 MB/s" or "4 Gbit/s", to bits per second. Raises UnitError."""
    units = {**BYTE_RATE_BITS_PER_S, **RATE_BITS_PER_S}
    return _parse_exact(value, "a rate", units, "500 MB/s", positive)


def parse_cycle_ps(value: object) -> int | Fraction:
    """Parse the length of a cycle, "769.2 ps", or its frequency, "1.3 GHz", to picoseconds. Raises
    UnitError.
    """
    if isinstance(value, str) and value.rstrip().endswith("Hz"):
        frequency = _parse_exact(value, "a frequency", FREQUENCY_MILLIHZ, "1.3 GHz", True)
        return _whole(10**15 / Fraction(frequency))
    return _parse_exact(value, "a time or a frequency", TIME_PS, "1 ns", True)


def format_cycle(cycle_ps: int | Fraction) -> str:
    """Format a cycle exactly: as a time, or else as the frequency that has a finite number of digits."""
    text = format_time_ps(cycle_ps)
    return text if "/" not in text else _format(_whole(10**15 / Fraction(cycle_ps)), FREQUENCY_MILLIHZ)


def parse_offered_rate(value: object) -> tuple[int | Fraction, bool]:
    """Parse an offered rate such as "120 Mbit/s", "15 MB/s" or "20000 packets/s". Raises UnitError.

    Returns payload bits per second and False, or thousandths of a packet per second and True.
    """
    parse = _parse_exact
    bits = {**RATE_BITS_PER_S, **BYTE_RATE_BITS_PER_S}
    unit = str(value).split()[-1:] if isinstance(value, str) else []
    if unit and unit[0] in PACKET_RATE_MILLIHZ:
        packets = {"mHz": 1, **PACKET_RATE_MILLIHZ}
        return parse(value, "a rate of packets", packets, "20000 packets/s", True), True
    if unit and unit[0] in bits:
        return parse(value, "a rate", bits, "120 Mbit/s", True), False
    return parse(value, "a rate", {**bits, **PACKET_RATE_MILLIHZ}, "120 Mbit/s", True), False


def format_offered_rate(amount: int | Fraction, of_packets: bool) -> str:
    """Format an offered rate in its canonical form: "120 Mbit/s", "20000 packets/s"."""
    return f"{float(amount) / 1000:.15g} packets/s" if of_packets else format_rate_bits_per_s(amount)


def parse_event_rate_millihz(value: object, *, positive: bool = True) -> int:
    """Parse an event rate such as "45 kHz" to whole thousandths of an event per second. Raises UnitError."""
    return _parse(value, "a rate of events", EVENT_RATE_MILLIHZ, "45 kHz", positive)


def parse_delay_ps_per_m(value: object) -> int:
    """Parse a cable delay such as "5 ns/m" to whole picoseconds per metre. Raises UnitError."""
    return _parse(value, "a delay per length", DELAY_PS_PER_M, "5 ns/m", positive=False)


def parse_length_m(value: object) -> float:
    """Parse a cable length such as "2 m" to metres. Raises UnitError."""
    amount = _amount(value, "a length", LENGTH_M, "2 m", positive=False)
    if amount > LONGEST_CABLE_M:
        longest = format_length_m(LONGEST_CABLE_M)
        raise UnitError(f"{_quote(value)} is too long for a cable", f"the most is {longest}")
    return float(amount)


def format_time_ps(time_ps: int | Fraction) -> str:
    """Format in the shortest exact form: 2000000 is "2 us"."""
    return _format(time_ps, TIME_PS)


def format_bytes(size_bytes: int) -> str:
    """Format in the shortest exact form in decimal units: 64 is "64 B"."""
    return _format(size_bytes, {name: size for name, size in BYTES.items() if "i" not in name})


def format_rate_bits_per_s(rate_bits_per_s: int | Fraction) -> str:
    """Format in the shortest exact form: 100000000 is "100 Mbit/s"."""
    return _format(rate_bits_per_s, RATE_BITS_PER_S)


def format_byte_rate(rate_bits_per_s: int | Fraction) -> str:
    """Format in bytes, in the shortest exact form: 4000000000 is "500 MB/s"; in bits if the bytes are not
    whole.
    """
    whole = rate_bits_per_s % 8 == 0
    return _format(rate_bits_per_s, BYTE_RATE_BITS_PER_S if whole else RATE_BITS_PER_S)


def format_event_rate(rate_millihz: int) -> str:
    """Format in the shortest exact form: 45000000 is "45 kHz"."""
    return _format(rate_millihz, {name: size for name, size in EVENT_RATE_MILLIHZ.items() if "/" not in name})


def format_delay_ps_per_m(delay_ps_per_m: int) -> str:
    """Format in the shortest exact form: 5000 is "5 ns/m"."""
    return _format(delay_ps_per_m, {"ps/m": 1, "ns/m": 10**3, "us/m": 10**6})


def format_length_m(length_m: float) -> str:
    """Format a length in metres: 2.0 is "2 m"."""
    return f"{length_m:.15g} m" if length_m != int(length_m) else f"{int(length_m)} m"


def called_here(word: str) -> str:
    """Return our name for a word of another field; the word itself if there is none."""
    return _CALLED.get(word.lower().replace("-", "_").replace(" ", "_"), word)


def as_range(text: str) -> str:
    """Return a range of numbers, such as 0-39, as it is to be written: "0..39"; empty for anything else."""
    found = re.fullmatch(r"\s*(\d{1,9})\s*(?:\.\.+|-|–|:|to)\s*(\d{1,9})\s*", text)
    return f"{found[1]}..{found[2]}" if found and int(found[1]) <= int(found[2]) else ""


def nearest(word: str, choices: list[str] | tuple[str, ...], likeness: float = 0.55) -> str | None:
    """Return the choice most similar to ``word``, or None if its similarity is below ``likeness`` (0 to
    1).
    """
    lower = {choice.lower(): choice for choice in reversed(choices)}
    for same in (word.lower(), called_here(word)):
        if same in lower:
            return lower[same]
    tried = [choice for choice in itertools.islice(lower, _MOST_COMPARED) if len(choice) <= _LONGEST_COMPARED]
    found = difflib.get_close_matches(word[:_LONGEST_COMPARED].lower(), tried, n=1, cutoff=likeness)
    return lower[found[0]] if found else None


def choose(word: str, known: Iterable[str]) -> str:
    """Return the end of a message about a word that is not known: the nearest one, or all."""
    near = difflib.get_close_matches(word, list(known), 1)
    return f'; did you mean "{near[0]}"?' if near else f"; choose from {', '.join(known)}"


def _parse(value: object, what: str, units: dict[str, int], example: str, positive: bool) -> int:
    amount = _amount(value, what, {name: Fraction(size) for name, size in units.items()}, example, positive)
    smallest = next(name for name, size in units.items() if size == 1)
    if amount.denominator != 1:
        raise UnitError(
            f"{_quote(value)} is not a whole number of {smallest}", f'write {what} such as "{example}"'
        )
    if amount > _LARGEST:
        largest, size = max(units.items(), key=lambda unit: unit[1])
        raise UnitError(f"{_quote(value)} is too large", f"the most is {_LARGEST // size} {largest}")
    return int(amount)


def looks_like_date(text: str) -> bool:
    """Whether a text is a date, such as a spreadsheet program makes of 10.3."""
    return _DATE.match(text[:40]) is not None


A_DATE: Final = "if a spreadsheet program took a number such as 10.3 for a date, make its cells text"
"""What to do about a date where a number was meant."""


def _parse_exact(
    value: object, what: str, units: dict[str, int], example: str, positive: bool
) -> int | Fraction:
    """Parse a quantity that need not be whole."""
    amount = _amount(value, what, {name: Fraction(size) for name, size in units.items()}, example, positive)
    if amount > _LARGEST:
        largest, size = max(units.items(), key=lambda unit: unit[1])
        raise UnitError(f"{_quote(value)} is too large", f"the most is {_LARGEST // size} {largest}")
    return _whole(amount)


def _whole(amount: Fraction) -> int | Fraction:
    return amount.numerator if amount.denominator == 1 else amount


def _amount(value: object, what: str, units: dict[str, Fraction], example: str, positive: bool) -> Fraction:
    if not isinstance(value, str):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            offer = f'"{value} {example.split()[1]}"'
            raise UnitError(
                f"{value} has no unit; expected {what}",
                f"write it as a string with its unit, such as {offer}",
            )
        raise UnitError(f"expected {what}, found {_quote(value)}", f'write a string such as "{example}"')
    if looks_like_date(value):
        raise UnitError(f"{_quote(value)} is a date, not {what}", A_DATE)
    value = value.translate(_SPACES)
    match = _NUMBER.fullmatch(value) if len(value) <= 100 else None
    if match is None or len(match[2] or "") > 3:
        raise UnitError(f"{_quote(value)} is not {what}", f'write a number and a unit, such as "{example}"')
    number, unit = match[1], _MICRO.sub("u", match[3])
    try:
        amount = Fraction(number)
    except ValueError:
        raise UnitError(
            f"{_quote(value)} is not {what}", f'write a number and a unit, such as "{example}"'
        ) from None
    if unit not in units:
        raise _wrong_unit(value, number, unit, what, units, example)
    if amount < 0 or (positive and amount == 0):
        least = "above zero" if positive else "zero or more"
        raise UnitError(
            f"{_quote(value)} is {'negative' if amount < 0 else 'zero'}", f"{what} must be {least}"
        )
    return amount * units[unit]


_BITS = {"bit": 1, "kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9}


def _wrong_unit(
    value: str, number: str, unit: str, what: str, units: dict[str, Fraction], example: str
) -> UnitError:
    names = ", ".join(units)
    if re.match(r",\d", unit):
        digits, rest = re.match(r",(\d+)(.*)", unit).groups()  # type: ignore[union-attr]
        offer = f'"{number}.{digits}{rest}", or "{number}{digits}{rest}" without a decimal point'
        if "." in number:  # which stands between thousands
            offer = f'"{number.replace(".", "")}.{digits}{rest}"'
        return UnitError(f"{_quote(value)} has a comma", f"write {offer}")
    if re.match(r"\d{3}(?!\d)", unit):
        return UnitError(f"{_quote(value)} has a space in its number", f'write "{number}{unit}"')
    if not unit:
        offer = f'"{number} {example.split()[1]}"'
        return UnitError(
            f"{_quote(value)} has no unit; expected {what}", f"write for example {offer}; units: {names}"
        )
    if "bit/s" in units and unit in BYTE_RATE_BITS_PER_S:
        bits = format_rate_bits_per_s(int(abs(Fraction(number)) * BYTE_RATE_BITS_PER_S[unit]))
        message = f"{_quote(value)} is in bytes per second; expected {what}"
        return UnitError(
            message,
            f'write "{bits}" for the same rate, "{number} {unit.replace("B", "bit")}" if bits were meant',
        )
    if "B" in units and unit in _BITS:
        size = Fraction(number) * _BITS[unit] / 8
        same = f'"{size} B" for the same size, ' if size.denominator == 1 else ""
        offer = f'write {same}"{number} {unit.replace("bit", "B")}" if bytes were meant'
        return UnitError(f"{_quote(value)} is in bits; expected {what}", offer)
    near = _ALIKE.get(unit)
    near = near if near in units else nearest(unit, list(units))
    offer = f'did you mean "{number} {near}"? ' if near else ""
    if near and unit in _ALIKE and (in_bytes := near.replace("bit", "B")) != near and in_bytes in units:
        offer = f'write "{number} {in_bytes}" if bytes are meant, "{number} {near}" if bits. '
    return UnitError(
        f'unknown unit "{unit[:40]}" in {_quote(value)}; expected {what}', f"{offer}units: {names}"
    )


def _format(amount: int | Fraction, units: dict[str, int]) -> str:
    if amount == 0:
        return f"0 {next(iter(units))}"
    if amount.denominator != 1:
        below = max(amount, min(units.values()))  # less than the smallest unit is a part of it
        name, size = max(((n, s) for n, s in units.items() if s <= below), key=lambda pair: pair[1])
        return f"{_digits(Fraction(amount) / size)} {name}"
    name, size = max(((n, s) for n, s in units.items() if amount % s == 0), key=lambda pair: pair[1])
    return f"{amount // size} {name}"


def _digits(number: Fraction) -> str:
    """Return a number with all its digits, or as a fraction if they never end."""
    places = next((n for n in range(60) if 10**n % number.denominator == 0), None)
    if places is None:
        return f"{number.numerator}/{number.denominator}"
    whole, rest = divmod(number.numerator * (10**places // number.denominator), 10**places)
    return f"{whole}.{rest:0{places}}" if places else str(whole)


def _quote(value: object) -> str:
    try:
        text = value if isinstance(value, str) else str(value)
    except ValueError:  # whole numbers of thousands of digits are not printed
        text = "a huge number"
    text = text if len(text) <= 60 else text[:57] + "..."
    return f'"{text}"' if isinstance(value, str) else text
