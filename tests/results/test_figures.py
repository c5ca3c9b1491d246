"""Numbers for reading: significant digits, intervals, no exponents."""

from __future__ import annotations

import re

import pytest
from fabriloom.results.figures import figures, in_percent, measured
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (17570.4, "17570"),
        (17.574, "17.57"),
        (0.00123456, "0.001235"),
        (80.29, "80.29"),
        (7, "7"),
        (None, "-"),
        (float("nan"), "-"),
        (-3.14159, "-3.142"),
        (999.96, "1000"),
    ],
)
def test_four_figures(value: float | None, text: str) -> None:
    assert figures(value) == text


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (13.5, 0.12, "13.50 ± 0.12"),
        (1103.2, 9.8, "1103.2 ± 9.8"),
        (17570.4, 123.0, "17570 ± 123"),
        (381.0, 0.0, "381 ± 0"),
        (1.9003, 3.8e-05, "1.900 ± 0.000038"),
        (2.0, None, "2"),
    ],
)
def test_a_value_has_the_decimals_of_its_interval(value: float, half: float | None, text: str) -> None:
    assert measured(value, half) == text


def test_what_is_less_than_all_is_not_100_percent() -> None:
    assert [in_percent(share) for share in (1.0, 0.99996, 0.0345678, 0.0)] == [
        "100 %",
        "99.9 %",
        "3.46 %",
        "0 %",
    ]


@given(st.floats(1e-4, 1e14), st.one_of(st.none(), st.floats(1e-4, 1e14)))
def test_never_an_exponent_and_never_far_off(value: float, half: float | None) -> None:
    text = measured(value, half)
    assert re.fullmatch(r"[0-9.]+( ± [0-9.]+)?", text)
    shown = float(text.split(" ")[0])
    assert abs(shown - value) <= max(6e-4 * value, 0.06 * (half or 0.0))
