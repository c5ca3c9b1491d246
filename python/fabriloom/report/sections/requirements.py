"""Requirements in the report of a run: a bar per flow, the table, and what blocks the worst flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...process.libraries import pl
from ...results.figures import in_percent
from ...results.requirements import GUARANTEED, MISSED, UNKNOWN, counted, losses, said, without, worst_first
from ...topology import Graph
from ..drawing import fabric_svg
from ..drawing.plan import is_large
from ..drawing.style import FONT, INK, PAPER, SOFT, label, number, text_width, title
from ..page import Cell, Drawing, Table, Text, micros
from ..page import number as typeset

if TYPE_CHECKING:
    from ...bounds.calculus import Blocking, Line

MOST_BARS = 60
_ROW, _TOP, _NAMES, _BAR, _WORDS = 22, 34, 210, 410, 280
_SHOWN = 1.25
"""End of the axis, as a multiple of the requirement."""
_TIMES = ("requirement_ns", "total_latency_ns_p99_99", "total_latency_ns_max")
_BOUND, _SEEN, _LATE = "#d3dce1", "#2f6f8f", "#cd4d45"


def requirements(table: pl.DataFrame, blocking: Blocking | None, graph: Graph | None) -> list[Any]:
    """Return the sections on requirements, if there are any. ``graph`` shows where the worst waits."""
    rows = table.to_dicts()
    if not rows:
        return []
    shown = sorted(rows, key=worst_first)[:MOST_BARS]
    note = f"{said(counted(table))}. Each bar is a share of its requirement, which is the vertical line."
    if len(rows) > len(shown):
        note += f" The {len(shown)} that are worst off."
    found: list[Any] = [Drawing("Requirements", _bars(shown), note), _table(rows)]
    if blocking is None:
        return found
    others = _left_out(sum(row["bound_ns"] is None for row in rows))
    return [*found, *_where(blocking, graph, others), _tree(blocking.flow, blocking.lines, others)]


def _left_out(count: int) -> str:
    """Return a sentence on flows without a bound: any of them may be worse off than all others."""
    if not count:
        return ""
    return f" {count} {'flow has' if count == 1 else 'flows have'} no guarantee and may be later."


def _where(blocking: Blocking, graph: Graph | None, others: str) -> list[Drawing]:
    """Return the network with the links on which a flow waits."""
    if graph is None or is_large(graph):
        return []

    svg = fabric_svg(graph, blocking.links, blocking.about)
    note = "The flow with the smallest guaranteed margin: its links, by what can be in its way there."
    note += others
    return [Drawing(f"The path of {blocking.flow} in the worst case", svg, note)]


def _bars(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a bar per flow as SVG: dark: observed delay, pale: guarantee, line: requirement."""
    width, height = _NAMES + _BAR + _WORDS, _TOP + _ROW * len(rows) + 40
    limit = _NAMES + _BAR / _SHOWN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="{FONT}" '
        f'role="img" aria-label="Requirements">',
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
        *(label(f"{share:.0%}", _at(share), _TOP - 10, 11, "middle", SOFT) for share in (0, 0.25, 0.5, 0.75)),
        label("required", limit, _TOP - 10, 11, "middle", INK, ' font-weight="600"'),
    ]
    for place, row in enumerate(rows):
        parts += _bar(row, _TOP + _ROW * place)
    bottom = _TOP + _ROW * len(rows)
    parts.append(_rect(limit - 1, _TOP - 4, 2, bottom - _TOP + 8, INK))
    parts += _legend(bottom + 24)
    return "".join([*parts, "</svg>"])


def _bar(row: Mapping[str, Any], top: float) -> list[str]:
    middle, late = top + _ROW / 2, row["verdict"] == MISSED
    bound, most, longest = (_share(row, key) for key in ("bound_ns", *_TIMES[1:]))
    parts = [label(_short(row["flow"]), _NAMES - 10, middle + 4, 12, "end")]
    if bound is not None:
        parts.append(_rect(_at(0), top + 3, _at(bound) - _at(0), _ROW - 6, _BOUND))
    if longest is not None:
        colour = _LATE if late else _SEEN
        parts.append(_rect(_at(0), top + 7, max(1.0, _at(longest) - _at(0)), _ROW - 14, colour))
    if most is not None:
        parts.append(_rect(_at(most) - 1, top + 5, 2, _ROW - 10, INK))
    words = f"{typeset(row['requirement_ns'] / 1e3)} µs: {row['verdict'].upper() if late else row['verdict']}"
    words += ", no bound" if bound is None else ""
    beyond = max((share for share in (bound, longest) if share is not None), default=0.0)
    if beyond > _SHOWN:
        words += f", {'seen' if longest is not None and longest > _SHOWN else 'bound'} {beyond:.3g} ×"
    doubtful = late or (bound is not None and bound > 1)
    parts.append(label(words, _NAMES + _BAR + 8, middle + 4, 12, "start", _LATE if doubtful else INK))
    return [f"<g>{title(_said(row))}", *parts, "</g>"]


def _said(row: Mapping[str, Any]) -> str:
    bound = "none" if row["bound_ns"] is None else f"{typeset(row['bound_ns'] / 1e3)} µs"
    longest = row["total_latency_ns_max"]
    seen = "nothing arrived" if longest is None else f"longest {typeset(longest / 1e3)} µs"
    return f"{row['flow']}: required {typeset(row['requirement_ns'] / 1e3)} µs, guaranteed {bound}, {seen}"


def _share(row: Mapping[str, Any], key: str) -> float | None:
    return None if row[key] is None else row[key] / row["requirement_ns"]


def _at(share: float) -> float:
    return _NAMES + _BAR * min(share, _SHOWN) / _SHOWN


def _rect(x: float, y: float, width: float, height: float, colour: str) -> str:
    size = f'width="{number(width)}" height="{number(height)}"'
    return f'<rect x="{number(x)}" y="{number(y)}" {size} fill="{colour}"/>'


def _short(name: str) -> str:
    while text_width(name, 12) > _NAMES - 14:
        name = name.removesuffix("…")[:-1] + "…"
    return name


def _legend(y: float) -> list[str]:
    parts, x = [], float(_NAMES)
    for colour, words, wide in (
        (_BOUND, "guaranteed: no packet takes longer", 18),
        (_SEEN, "longest of this run", 18),
        (INK, "99.99 %", 2),
    ):
        parts += [_rect(x, y - 9, wide, 11, colour), label(words, x + wide + 6, y, 11, "start", SOFT)]
        x += wide + 6 + text_width(words, 11) + 22
    return parts


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    marks = {GUARANTEED: "good", MISSED: "bad", UNKNOWN: "quiet"}
    cells = [
        [
            Cell(row["flow"], below=f"{row['packet_bytes']} B"),
            *(micros(row[key]) for key in _TIMES),
            _margin(row["margin"]),
            micros(row["bound_ns"]),
            _margin(row["bound_margin"]),
            Cell(row["verdict"], None, None, marks.get(row["verdict"], "")),
        ]
        for row in rows
    ]
    head = ["Flow", "Required (µs)", "99.99 % (µs)", "Longest (µs)", "Margin seen"]
    head += ["Guaranteed (µs)", "Margin guaranteed", "Verdict"]
    note = (
        "From the creation of a packet to its delivery. A margin is what is left of the requirement: by the "
        "longest packet seen, or by what is guaranteed for any run."
    )
    note = " ".join([note, *losses(rows), *without((row["flow"], row["no_bound"]) for row in rows)])
    return Table("Requirements in numbers", head, cells, [False, *[True] * 6, False], note)


def _margin(share: float | None) -> Cell:
    if share is None:
        return Cell("–", None, -1e9)
    return Cell(in_percent(share), None, share, "bad" if share < 0 else "")


def _tree(flow: str, lines: Sequence[Line], others: str) -> Text:
    """Return who blocks whom, as an indented list."""
    times = [typeset(line.time_ns / 1e3) for line in lines]
    width = max((len(time) for time in times), default=0)
    text = "\n".join(
        f"{'    ' * line.depth}{time:>{width}} µs  {line.words}"
        for line, time in zip(lines, times, strict=True)
    )
    note = (
        "The flow that is guaranteed least of its requirement. Lines that are set in say what the packet "
        f"above them waits for itself.{others}"
    )
    return Text(f"Who delays {flow} in the worst case", text, note)
