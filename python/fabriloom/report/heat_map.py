"""A sweep over two settings as a map: one coloured and numbered cell per pair of values."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from ..results.shown import of_programs, program_latency
from .drawing.style import INK, PAPER, ramp, scale_of
from .page import Drawing, HeatMap, micro, number

_CELL_W, _CELL_H, _LEFT, _TOP, _LETTER = 92, 34, 30, 46, 7.2
_MOST = 40
"""With more values of a setting than this, cells are unreadable."""


def maps(points: Sequence[Any], varied: Sequence[str], text: Any) -> list[Drawing]:
    """Return throughput and latency as maps, if exactly two settings have several values."""
    if len(varied) != 2:
        return []
    values = [list(dict.fromkeys(text(point.settings.get(path)) for point in points)) for path in varied]
    if not all(2 <= len(one) <= _MOST for one in values):
        return []
    found = []
    for title, unit, value in _KINDS:
        cells = np.full((len(values[0]), len(values[1])), np.nan)
        for point in points:
            place = [
                one.index(text(point.settings.get(path))) for one, path in zip(values, varied, strict=True)
            ]
            known = value(point.summary)
            cells[place[0], place[1]] = np.nan if known is None else known
        if np.isfinite(cells).any():
            found.append(drawn(f"{title} over both settings ({unit})", _NOTE, cells, values, varied))
    return found


_NOTE = "An empty cell was not measured."


def drawn(
    title: str, note: str, cells: np.ndarray, values: Sequence[Sequence[str]], varied: Sequence[str]
) -> Drawing:
    """Draw a map of numbers over the values of two settings; NaN is an empty cell."""
    rows = [[None if np.isnan(cell) else float(cell) for cell in row] for row in cells]
    kept = HeatMap(title, varied[0], values[0], varied[1], values[1], rows)
    note = f"{varied[0]} downwards, {varied[1]} to the right. {note}"
    return Drawing(title, _svg(cells, values, varied), note, heat_map=kept)


def _accepted(summary: dict[str, Any]) -> float | None:
    return summary["messages"]["mbytes_per_s"] if "messages" in summary else summary["accepted_mbytes_per_s"]


def _latency_us(summary: dict[str, Any]) -> float | None:
    return micro((program_latency(summary) if of_programs(summary) else summary["latency_ns"])["mean"])


_KINDS = (("Throughput", "MB/s", _accepted), ("Mean latency", "µs", _latency_us))


def _svg(cells: np.ndarray, values: Sequence[Sequence[str]], varied: Sequence[str]) -> str:
    """Return the map as SVG; names of settings and values are escaped."""
    longest = max(len(one) for one in (*values[0], varied[0]))
    left = _LEFT + _LETTER * longest
    width, height = left + _CELL_W * len(values[1]) + 10, _TOP + _CELL_H * len(values[0]) + 10
    top = scale_of(cells.ravel(), "").top
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" font-family="sans-serif" font-size="13" role="img">',
        _text(left - 10, 32, varied[0], "end"),
        _text(left + _CELL_W * len(values[1]) / 2, 14, varied[1], "middle"),
    ]
    for at, name in enumerate(values[1]):
        parts.append(_text(left + _CELL_W * (at + 0.5), 34, name, "middle"))
    for row, name in enumerate(values[0]):
        y = _TOP + _CELL_H * row
        parts.append(_text(left - 10, y + 22, name, "end"))
        parts += [_cell(left + _CELL_W * at, y, float(value), top) for at, value in enumerate(cells[row])]
    return "".join([*parts, "</svg>"])


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="currentColor">{escape(text)}</text>'


def _cell(x: float, y: float, value: float, top: float) -> str:
    box = f'x="{x + 1:.1f}" y="{y + 1:.1f}" width="{_CELL_W - 2}" height="{_CELL_H - 2}" rx="3"'
    if not np.isfinite(value):
        return f'<rect {box} fill="none" stroke="currentColor" stroke-opacity="0.3"/>'
    share = min(1.0, value / top)
    ink = PAPER if share > 0.45 else INK
    place = f'x="{x + _CELL_W / 2:.1f}" y="{y + 22:.1f}" text-anchor="middle"'
    label = f'<text {place} fill="{ink}" pointer-events="none">'
    return f'<rect {box} fill="{ramp(share)}" data-share="{share:.3g}"/>{label}{number(value)}</text>'
