"""Format numbers in the same way for terminals, reports and notebooks."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

_HALF_DIGITS = 2
_MOST_DECIMALS = 6
ROUNDING = 1e-12
"""A half-width below this part of its value is the rounding of sums of equal times."""


def figures(value: float | None, digits: int = 4, none: str = "-") -> str:
    """Format a number with ``digits`` significant digits, without an exponent where possible."""
    if value is None or value != value:
        return none
    size = abs(value)
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value) or (size and size < 1e-6) or size >= 1e15:
        return f"{value:.{digits}g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(size))) if size else 0
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def moment(value_ns: float) -> str:
    """Format a time of a run, in ms or, below that, in µs."""
    return f"{value_ns / 1e6:.6g} ms" if value_ns >= 1e6 else f"{value_ns / 1e3:.6g} µs"


def measured(value: float | None, half: float | None = None, none: str = "-") -> str:
    """Format a number with the half-width of its interval: two digits of the half-width, equal decimals."""
    if half is not None and value and 0 < half < ROUNDING * abs(value):
        half = 0.0
    if value is None or half is None or not (math.isfinite(value) and math.isfinite(half)) or half <= 0:
        text = figures(value, none=none)
        return text if value is None or half is None else f"{text} ± {figures(half, _HALF_DIGITS)}"
    decimals = _HALF_DIGITS - 1 - math.floor(math.log10(half))
    if decimals > _MOST_DECIMALS or half < 1e-4 * abs(value) < 1:
        return f"{value:#.4g} ± {figures(half, _HALF_DIGITS)}"
    decimals = max(0, decimals)
    return f"{value:.{decimals}f} ± {half:.{decimals}f}"


def in_percent(share: float | None, digits: int = 3) -> str:
    """Format a share as a percentage; a share below 1 is never "100 %"."""
    if share is None or math.isnan(share):
        return figures(None)
    text = figures(100 * share, digits)
    return f"{'99.9' if share < 1 and float(text) >= 100 else text} %"


def deviation(part: float | None, none: str = "-") -> str:
    """Format a deviation as a percentage with its sign."""
    if part is None:
        return none
    if abs(part) < 5e-4:
        return "0 %"
    return f"{100 * part:+.1f} %" if abs(part) < 0.0995 else f"{100 * part:+.0f} %"


def settings_text(settings: Mapping[str, Any]) -> str:
    """Format varied settings: ``load 0.5, length 64 B``; for compared scenarios the name only."""
    return ", ".join(
        value_text(value)
        if path == "scenario"
        else f"{path.rsplit('.', 1)[-1].replace('_', ' ')} {value_text(value)}"
        for path, value in settings.items()
    )


def value_text(value: Any) -> str:
    """Format the value of a setting as in a scenario."""
    if isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False)
    return f"{value:g}" if isinstance(value, float) else str(value)
