"""Units are read exactly, printed exactly, and never confused."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from fractions import Fraction

import pytest
from fabriloom import units
from fabriloom.units import UnitError
from hypothesis import given
from hypothesis import strategies as st

READ = [
    (units.parse_time_ps, "2 us", 2_000_000),
    (units.parse_time_ps, "2 \u00b5s", 2_000_000),
    (units.parse_time_ps, "2\u03bcs", 2_000_000),
    (units.parse_delay_ps_per_m, "1 \u00b5s/km", 1000),
    (units.parse_time_ps, "0.1us", 100_000),
    (units.parse_time_ps, " 1.5e-3 ms ", 1_500_000),
    (units.parse_time_ps, "0 s", 0),
    (units.parse_time_ps, "3 ps", 3),
    (units.parse_bytes, "64 B", 64),
    (units.parse_bytes, "1.2 kB", 1200),
    (units.parse_bytes, "16_384 B", 16384),
    (units.parse_bytes, "4 KiB", 4096),
    (units.parse_rate_bits_per_s, "100 Mbit/s", 100_000_000),
    (units.parse_rate_bits_per_s, "2.5Gbit/s", 2_500_000_000),
    (units.parse_byte_rate_bits_per_s, "500 MB/s", 4_000_000_000),
    (units.parse_byte_rate_bits_per_s, "1.6 GB/s", 12_800_000_000),
    (units.parse_byte_rate_bits_per_s, "4 Gbit/s", 4_000_000_000),
    (units.parse_event_rate_millihz, "45 kHz", 45_000_000),
    (units.parse_event_rate_millihz, "0.5 Hz", 500),
    (units.parse_event_rate_millihz, "100 1/s", 100_000),
    (units.parse_delay_ps_per_m, "5 ns/m", 5000),
    (units.parse_length_m, "2 m", 2.0),
    (units.parse_length_m, "30 cm", 0.3),
]


@pytest.mark.parametrize(("parse", "text", "value"), READ)
def test_reads_exactly(parse: Callable[[object], float], text: str, value: float) -> None:
    assert parse(text) == value


REFUSED = [
    (
        units.parse_rate_bits_per_s,
        "100 MB/s",
        '"800 Mbit/s" for the same rate, "100 Mbit/s" if bits were meant',
    ),
    (units.parse_rate_bits_per_s, "1 kB/s", '"8 kbit/s"'),
    (units.parse_rate_bits_per_s, "100 Mb/s", 'did you mean "100 Mbit/s"?'),
    (units.parse_rate_bits_per_s, "100 Mbps", 'did you mean "100 Mbit/s"?'),
    (units.parse_rate_bits_per_s, "100 mbit/s", 'did you mean "100 Mbit/s"?'),
    (units.parse_rate_bits_per_s, "0 Mbit/s", "is zero"),
    (units.parse_rate_bits_per_s, "-1 Mbit/s", "is negative"),
    (units.parse_rate_bits_per_s, 100_000_000, "has no unit"),
    (units.parse_byte_rate_bits_per_s, "500 Mb/s", '"500 MB/s" if bytes are meant, "500 Mbit/s" if bits'),
    (units.parse_byte_rate_bits_per_s, "500", 'write for example "500 MB/s"'),
    (units.parse_byte_rate_bits_per_s, "0 MB/s", "is zero"),
    (units.parse_time_ps, "2 MS", 'did you mean "2 ms"?'),
    (units.parse_time_ps, "2", "has no unit"),
    (units.parse_time_ps, "us", "is not a time"),
    (units.parse_time_ps, "", "is not a time"),
    (units.parse_time_ps, "0.3 ps", "not a whole number of ps"),
    (units.parse_time_ps, "1e300 s", "too large"),
    (units.parse_time_ps, "1e999999999 s", "is not a time"),
    (units.parse_time_ps, "64 B", "expected a time"),
    (units.parse_time_ps, None, "expected a time"),
    (units.parse_time_ps, True, "expected a time"),
    (units.parse_bytes, "64 b", 'did you mean "64 B"?'),
    (units.parse_bytes, "32 kbit", 'write "4000 B" for the same size, "32 kB" if bytes were meant'),
    (units.parse_bytes, "64 MBit", 'did you mean "64 MB"?'),
    (units.parse_bytes, "-1 B", "negative"),
    (units.parse_length_m, "2 ns", "expected a length"),
]


@pytest.mark.parametrize(("parse", "value", "words"), REFUSED)
def test_refuses_and_offers(parse: Callable[[object], float], value: object, words: str) -> None:
    with pytest.raises(UnitError) as caught:
        parse(value)
    assert words in str(caught.value)


def test_zero_is_refused_where_asked() -> None:
    assert units.parse_time_ps("0 us") == 0
    with pytest.raises(UnitError, match="must be above zero"):
        units.parse_time_ps("0 us", positive=True)


@given(st.integers(0, 2**62))
def test_there_and_back(amount: int) -> None:
    assert units.parse_time_ps(units.format_time_ps(amount)) == amount
    assert units.parse_bytes(units.format_bytes(amount)) == amount
    assert units.parse_delay_ps_per_m(units.format_delay_ps_per_m(amount)) == amount
    assert units.parse_event_rate_millihz(units.format_event_rate(amount), positive=False) == amount
    assert units.parse_rate_bits_per_s(units.format_rate_bits_per_s(amount), positive=False) == amount
    assert units.parse_byte_rate_bits_per_s(units.format_byte_rate(amount), positive=False) == amount


@pytest.mark.parametrize(
    ("time_ps", "text"), [("1/3", "1/3 ps"), ("1/2", "0.5 ps"), ("7/2", "3.5 ps"), ("4000/3", "4/3 ns")]
)
def test_fractions_are_written_exactly(time_ps: str, text: str) -> None:
    """A tick may be less than the smallest unit."""
    assert units.format_time_ps(Fraction(time_ps)) == text


@given(st.floats(0, 1e6))
def test_lengths_there_and_back(length_m: float) -> None:
    assert units.parse_length_m(units.format_length_m(length_m)) == pytest.approx(length_m, rel=1e-12)


@given(st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.booleans(), st.lists(st.integers())))
def test_anything_else_is_a_unit_error(value: object) -> None:
    for parse in (units.parse_time_ps, units.parse_bytes, units.parse_rate_bits_per_s, units.parse_length_m):
        with contextlib.suppress(UnitError):
            assert parse(value) >= 0


@pytest.mark.parametrize("space", ["\u00a0", "\u202f", "\u2009"])
def test_spaces_of_spreadsheets_stand_before_a_unit(space):
    assert units.parse_rate_bits_per_s(f"100{space}Mbit/s") == 10**8
    assert units.parse_offered_rate(f"100{space}packets/s") == (100_000, True)


@pytest.mark.parametrize("text", ["10. Mrz", "10-Mar", "Mar-25", "3/4/2025", "2025-03-10", "10.3.2025"])
def test_a_date_is_called_a_date(text):
    with pytest.raises(units.UnitError, match="is a date, not a time"):
        units.parse_time_ps(text)


@pytest.mark.parametrize("text", ["10.3 us", "10 ms", "3 ms", "1e3 ns"])
def test_a_number_is_no_date(text):
    assert units.parse_time_ps(text) > 0


def test_a_space_in_a_number_is_named():
    with pytest.raises(units.UnitError, match='write "10000 B"'):
        units.parse_bytes("10 000 B")
