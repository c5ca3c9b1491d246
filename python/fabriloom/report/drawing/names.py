"""Place the names of terminals so that they cover nothing, as near to their usual place as possible."""

from __future__ import annotations

from .layout import Points
from .plan import Plan
from .ports import with_address
from .style import SOFT, label, text_width

NAME_PX = 9.5
_ASIDE_PX = 8.0
_ROW_PX = 11.0
_GAP_PX = 3.0
"""Between two names in a row."""
_ROWS = (0, -1, 1, -2, 2, -3, 3)
"""Rows above and below that are tried."""

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""
_Place = tuple[float, float, str, Box]
"""The anchor of a text, its alignment, and the area that it covers."""


def write_names(plan: Plan, names: list[tuple[int, Points, Points]]) -> None:
    """Write the names of terminals at points, on the side away from their switches.

    ``names``: terminal, its point, and the direction of its link.
    """
    taken = [_around(x, y, plan.box[0] / 2, plan.box[1] / 2) for x, y in plan.places.tolist()]
    taken += [_around(float(place[0]), float(place[1]), 5.0, 5.0) for _, place, _ in names]
    for terminal, place, away in names:
        name = with_address(plan.graph, terminal)
        found = _places(name, float(place[0]), float(place[1]), float(away[0]), float(away[1]))
        x, y, anchor, box = min(found, key=lambda one: sum(_shared(one[3], other) for other in taken))
        taken.append(box)
        plan.corners += [(box[0], box[1]), (box[2], box[3])]
        plan.over.append(label(name, x, y, NAME_PX, anchor, SOFT))


def _around(x: float, y: float, wide: float, high: float) -> Box:
    return x - wide, y - high, x + wide, y + high


def _shared(one: Box, other: Box) -> float:
    """Return the area that two boxes share."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return across * down if across > 0 and down > 0 else 0.0


def _places(name: str, x: float, y: float, across: float, down: float) -> list[_Place]:
    """Return the places for a name beside a point, the usual one first: beside a horizontal link."""
    wide = text_width(name, NAME_PX)
    right, left = (1.0, "start"), (-1.0, "end")
    sides = [right, left] if across > 0 else [left, right]
    aside = [
        _place(x + way * _ASIDE_PX, y + 3.4 + row * _ROW_PX, anchor, wide)
        for way, anchor in sides
        for row in _ROWS
    ]
    over = [_place(x, y - 8.5 - row * _ROW_PX, "middle", wide) for row in range(4)]
    under = [_place(x, y + 15.5 + row * _ROW_PX, "middle", wide) for row in range(4)]
    over = [*under, *over] if down > 0 else [*over, *under]
    return [*aside, *over] if abs(across) > 0.45 * abs(down) else [over[0], *aside[:1], *over[1:], *aside[1:]]


def _place(x: float, y: float, anchor: str, wide: float) -> _Place:
    before = {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * wide
    return x, y, anchor, (x - before - _GAP_PX, y - 8.0, x - before + wide + _GAP_PX, y + 3.0)
