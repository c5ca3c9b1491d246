"""Colours, numbers and small shapes of the drawn fabric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

PAPER, INK, SOFT, LINE, BOX, BOX_EDGE = "#ffffff", "#1c2428", "#5c676d", "#8b989f", "#f4f6f7", "#5c676d"
FONT = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"

# Lightness is monotonic, so the order shows in grey and to every kind of colour vision.
RAMP = ("#dcd9cf", "#f3c98b", "#ec9150", "#cd4d45", "#8b1d52", "#3c0f43")
NO_VALUE = "#b9c2c7"


@dataclass(frozen=True)
class Scale:
    """Colours and texts of values from 0 to ``top``."""

    top: float
    percent: bool
    label: str

    def share(self, value: float) -> float:
        """Return a value as a fraction of the top, 0 for no value."""
        return 0.0 if value != value else min(max(value / self.top, 0.0), 1.0)

    def colour(self, value: float) -> str:
        """Return the colour of a value; grey for none."""
        return NO_VALUE if value != value else ramp(self.share(value))

    def mark(self, value: float) -> str:
        """Return the attribute by which a page colours a shape for the dark; nothing for no value."""
        return "" if value != value else f' data-share="{self.share(value):.3g}"'

    def text(self, value: float) -> str:
        """Return a value as a text with its unit."""
        if value != value:
            return "no value"
        return f"{100 * value:.3g} %" if self.percent else f"{value:.3g}"


def scale_of(values: NDArray[np.float64], label: str) -> Scale:
    """Return the scale for values: from 0 to a round number; values up to 1 are shown in per cent."""
    finite = values[np.isfinite(values)]
    most = float(finite.max()) if finite.size else 0.0
    if most <= 0:
        return Scale(1.0, True, label)
    return Scale(round_above(most), most <= 1, label)


def round_above(value: float) -> float:
    """Return the round number at or above a positive one."""
    power = 10.0 ** math.floor(math.log10(value))
    steps = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
    return next(step * power for step in steps if step * power >= value * 0.999999)


def ramp(share: float) -> str:
    """Return the colour at a place of the ramp, 0 to 1."""
    place = share * (len(RAMP) - 1)
    low = min(int(place), len(RAMP) - 2)
    one, two = (bytes.fromhex(colour[1:]) for colour in RAMP[low : low + 2])
    mixed = (round(a * (1 - place + low) + b * (place - low)) for a, b in zip(one, two, strict=True))
    return f"#{bytes(mixed).hex()}"


def number(value: float) -> str:
    """Return a coordinate with one decimal, without trailing zeros."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def counted(count: int, what: str, plural: str = "s") -> str:
    """Return a number with its noun, in the plural if needed."""
    return f"{count:,} {what}{'' if count == 1 else plural}"


def marks(links: list[int], along: bool = True) -> str:
    """Return the attributes that identify the links of a shape, and their direction along it, to a script."""
    numbers = " ".join(map(str, links))
    return f' data-links="{numbers}"' + ("" if along else ' data-way="back"')


def arrowhead(
    at: NDArray[np.float64], way: NDArray[np.float64], size: tuple[float, float], which: str, colour: str
) -> str:
    """Return a small arrowhead; ``way``: of length 1; ``size``: how far it goes ahead and aside."""
    (ahead, aside), side = size, np.array([-way[1], way[0]])
    corners = at + ahead * way, at - 3 * way + aside * side, at - 3 * way - aside * side
    points = " ".join(f"{number(x)},{number(y)}" for x, y in corners)
    return f'<polygon points="{points}"{which} fill="{colour}" stroke="none"/>'


def title(text: str) -> str:
    return f"<title>{escape(text, quote=False)}</title>"


def label(
    text: str, x: float, y: float, size: float, anchor: str = "middle", colour: str = INK, more: str = ""
) -> str:
    return (
        f'<text x="{number(x)}" y="{number(y)}" font-size="{number(size)}" text-anchor="{anchor}" '
        f'fill="{colour}"{more}>'
        f"{escape(text, quote=False)}</text>"
    )


def text_width(text: str, size: float) -> float:
    """Return the approximate width of a text in pixels."""
    return 0.58 * size * len(text)


def legend(
    scale: Scale | None, notes: list[str], left: float, y: float, width: float
) -> tuple[list[str], float]:
    """Return the legend as SVG, and its height."""
    parts: list[str] = []
    if scale is not None:
        parts.append(label(scale.label, left, y + 12, 12, "start", INK, ' data-legend="label"'))
        start = left + text_width(scale.label, 12) + 14
        bar, steps = min(220.0, max(120.0, width - (start - left) - 60)), 44
        for step in range(steps):
            share = (step + 0.5) / steps
            x = start + bar * step / steps
            cell = (
                f'<rect x="{number(x)}" y="{number(y + 2)}" width="{number(bar / steps + 0.4)}" height="11"'
            )
            parts.append(f'{cell} fill="{ramp(share)}" data-share="{share:.3g}"/>')
        for share in (0, 0.5, 1):
            shown = "0" if share == 0 else scale.text(share * scale.top)
            mark = f' data-legend="{share:g}"'
            parts.append(label(shown, start + share * bar, y + 27, 11, "middle", SOFT, mark))
        y += 34
    height = 34.0 if scale is not None else 0.0
    for note in notes:
        for line in _lines(note, width, 11):
            parts.append(label(line, left, y + 13, 11, "start", SOFT))
            y, height = y + 15, height + 15
    return parts, height + 4


def _lines(text: str, width: float, size: float) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if text_width(longer, size) > width and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
