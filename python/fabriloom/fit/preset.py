"""Write the model as a preset file for scenarios: every number with its source."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..results.figures import figures
from .lines import Curve, Line
from .model import Model
from .samples import QUANTITIES

KIND = "measured"
_NOISY = 0.3
_LONG = re.compile(r"\d{4,}")


def to_toml(model: Model, version: str) -> str:
    """Return the text of a preset file: tables ``[technology]`` and ``[protocol]`` with value, kind and
    source.
    """
    return "".join(_text(model, version))


def _text(model: Model, version: str) -> Iterator[str]:
    where = "; ".join(model.samples.sources)
    yield f"# Written by fabriloom {version}: fit of {where}.\n"
    yield '# In a scenario: preset_file = "fitted.toml" in [technology] and in [protocol].\n'
    yield from (f"# {line}\n" for line in told(model))
    sections = model.sections()
    yield "\n[technology]\n"
    source = (
        f"G = {figures_text(model.byte_ns, 5)} ns a byte, the best rate seen in trains, and L = "
        f"{figures_text(model.latency_ns)} ns: {where}"
    )
    for name, value in sections["technology"].items():
        yield _entry(name, value, _sources(name, source))
    yield "\n[protocol]\n"
    yield _entry("preset", "raw", "A message is a packet")
    yield _entry(
        "packet", sections["protocol"]["packet"], "A message is a packet, up to the largest there is"
    )
    source = f"Half rounds, sends, receives and trains by size, cut where a line ends: {where}"
    yield _entry("by_size", sections["protocol"]["by_size"], source)


def _sources(name: str, link: str) -> str:
    if name in ("cycle", "flit", "link_cycles"):
        return link
    if name.endswith("_flits"):
        return "Enough to keep the link busy"
    return "That of an ideal crossbar: what switches there are is in L"


def _entry(name: str, value: Any, source: str) -> str:
    kind = KIND if source.startswith(("G =", "Half")) else "assumed"
    return (
        f"{name} = {{ value = {_toml(value)}, kind = {json.dumps(kind)}, source = {json.dumps(source)} }}\n"
    )


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[\n" + "".join(f"    {_toml(inner)},\n" for inner in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def told(model: Model) -> list[str]:
    """Return the parameters as lines of text."""
    found = [
        f"L = {figures_text(model.latency_ns)} ns, "
        f"G = {figures_text(model.byte_ns, 5)} ns per byte of the link"
    ]
    for name, curve in model.curves.items():
        found.append(f"{QUANTITIES[name]}: {pieces(curve)}")
        for low, high, step in curve.jumps():
            sign = "-" if step < 0 else "+"
            found.append(
                f"  between {low:,.0f} and {high:,.0f} B it jumps by {sign}{figures_text(abs(step))} ns"
            )
    if model.receiver_limits:
        found.append("a train is held up by its receiver: to several targets in turn messages go faster")
    sizes, values, tolerances = model.samples.columns("half_round")
    if (noisy := int((tolerances > _NOISY * values).sum())) > 0:
        found.append(f"noisy: at {noisy} of {len(sizes)} sizes half a round is known within 30 % at best")
    left = [
        (row.size, row.left) for row in model.rows if row.left > 0.05 * (row.send + row.packet + row.receive)
    ]
    if left:
        size, most = max(left, key=lambda pair: pair[1])
        found.append(f"not in the model: up to {figures_text(most)} ns of half a round, at {size:,} B")
    return found


def figures_text(value: float, digits: int = 4) -> str:
    """Format a number with thousands separators and without an exponent."""
    whole, dot, rest = figures(value, digits).partition(".")
    return _LONG.sub(lambda found: f"{int(found[0]):,}", whole) + dot + rest


def pieces(curve: Curve) -> str:
    """Return the lines of a curve as text."""
    lines = [line for line in curve.lines if not line.is_table]
    kept = sum(line.points for line in curve.lines if line.is_table)
    texts = [f"{_line(line)} from {line.first:,.0f} to {line.last:,.0f} B" for line in lines]
    return ", then ".join(texts) + (f"{'; ' if texts else ''}{kept} sizes kept as a table" if kept else "")


def _line(line: Line) -> str:
    """Return a line as text; a slope below a nanosecond in total is omitted."""
    slope = f" {'-' if line.slope < 0 else '+'} {figures_text(abs(line.slope))} ns/B"
    return f"{figures_text(line.base)} ns{slope if abs(line.slope) * line.last >= 1 else ''}"
