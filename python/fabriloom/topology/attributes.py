"""The attributes of switches, terminals and cables, for all formats of graph files.

Attributes of drawing programs, and names that begin with an underscore, are ignored. Other unknown attributes
are ignored with one remark, unless they are nearly one of ours: a misspelt rate would otherwise become the
default rate.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from .. import units
from . import foreign
from .graph import MAX_LINKS
from .port_addresses import LAST_NUMBER, PORTS, Number, keep_extremes
from .raw import (
    CABLE,
    CABLES,
    LARGEST_RATE_BITS_PER_S,
    LONGEST_CYCLE_PS,
    LONGEST_DELAY_PS,
    MOST_BUFFER,
    MOST_LANES,
    SMALLEST_RATE_BITS_PER_S,
    RawGraph,
    RawLink,
    RawVertex,
)

Values = Mapping[str, Any]

SIZES = ("buffer", "buffer_chars", "buffer_bytes", "lanes")
"""Of links, and of switches for the links that lead to them."""
CLOCK = ("cycle", "cycle_ps")
"""Of switches and terminals, for themselves and the links that leave them."""
OF_VERTICES = ("kind", "x", "y", "address", *SIZES, *CLOCK)
OF_LINKS = (
    "name", "reverse_name", "parallel", "cable", "rate", "length", "rate_bits_per_s", "length_m", CABLE,
    "delay", "delay_ps", *SIZES, "source_port", "target_port", "address", "index",
)  # fmt: skip
DRAWN = ("label", "description", "comment", "color", "colour", "style", "r", "g", "b")
DRAWN_VERTICES = (*DRAWN, "pos", "shape", "size", "width", "height", "bipartite", "subset")
"""Attributes of networkx, Graphviz, Gephi and yEd for drawing, or for the two sides of a bipartite graph."""
ALIKE = {
    **dict.fromkeys(
        ("host", "server", "node", "end node", "endpoint", "unit", "instrument", "memory", "computer"),
        "terminal",
    ),
    "router": "switch",
}
"""Words of files for the kinds of vertices."""
_LONGEST_NUMBER = 400
_HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]{1,15}")


def is_passed_over(name: str, drawn: Iterable[str] = ()) -> bool:
    """Whether an attribute is ignored: the user's own, or one for drawing."""
    return name.startswith("_") or name.lower() in drawn


def known_only(
    raw: RawGraph, values: Values, known: Iterable[str], what: str, where: str, drawn: Iterable[str]
) -> dict[str, Any]:
    """Return the attributes that have a meaning. Raises GraphError for one that is nearly known."""
    found = {}
    for key, value in values.items():
        name = str(key)
        if name in known:
            found[name] = value
        elif name.strip() and name not in raw.foreign.ignored and not is_passed_over(name, drawn):
            refuse_misspelt(raw, name, known, what, where)
            raw.foreign.ignored.setdefault(name)
    return found


def refuse_misspelt(raw: RawGraph, name: str, known: Iterable[str], what: str, where: str) -> None:
    """Raise GraphError for a name that is nearly a known one."""
    if near := foreign.misspelt(name, known):
        hint = f'did you mean "{near}"? A name of your own begins with "_"'
        raw.fail(f'unknown {what} "{name[:60]}"; {hint}', where, name)


def add_vertex(raw: RawGraph, name: str, values: Values, where: str, cell: str = "source") -> None:
    """Add a switch or a terminal with its attributes."""
    values = raw.foreign.translated(values, foreign.OF_NODES)
    known, what = (*OF_VERTICES, *foreign.OF_NODES), "attribute of a switch or terminal"
    values = known_only(raw, values, known, what, where, DRAWN_VERTICES)
    kind = _plain(values.get("kind"))
    kind = ALIKE.get(kind, kind) if isinstance(kind, str) else kind
    if kind not in (None, "", "switch", "terminal"):
        raw.fail(f"kind is {_shown(kind)}; it must be switch or terminal", where, "kind")
    x, y = (_number(raw, values, key, where) for key in ("x", "y"))
    address = _named(raw, values, "address", where)
    if address is not None and kind != "terminal":
        raw.fail("a logical address is of a terminal; a switch has none", where, "address")
    label = _text(raw, values, "node_name", where)
    numbers = {**_sizes(raw, values, where), "cycle_ps": _cycle(raw, values, where)}
    numbers = {key: value for key, value in numbers.items() if value is not None}
    raw.add_vertex(RawVertex(name, kind == "terminal", where, x, y, address, cell, label, numbers))


def add_links(raw: RawGraph, source: str, target: str, values: Values, where: str, *, one_way: bool) -> None:
    """Add ``parallel`` cables or one-way links with their attributes."""
    values = raw.foreign.translated(values, foreign.OF_LINKS)
    values = known_only(raw, values, OF_LINKS, "attribute of a cable", where, DRAWN)
    numbers = {
        "rate_bits_per_s": _rate(raw, values, where),
        "length_m": _length(raw, values, where),
        "delay_ps": _delay(raw, values, where),
        **_sizes(raw, values, where),
        CABLE: _cable(raw, values, where),
        **{key: _named(raw, values, key, where) for key in PORTS},
    }
    link = RawLink(
        source,
        target,
        _text(raw, values, "name", where),
        _text(raw, values, "cable", where),
        where,
        {key: value for key, value in numbers.items() if value is not None},
        _number(raw, values, "index", where),
        _named(raw, values, "address", where),
    )
    back = _text(raw, values, "reverse_name", where)
    parallel = _parallel(raw, values, where)
    if parallel > 1 and (link.address is not None or any(key in link.numbers for key in PORTS)):
        raw.fail("parallel cables are at ports of their own; give each its own line", where, "parallel")
    if one_way:
        if back is not None:
            raw.fail("reverse_name is for cables; a one-way link has no way back", where, "reverse_name")
        raw.add_links(link, parallel)
    else:
        if link.cable is not None:
            message = "cable is for one-way links; without a direction this is a cable already"
            raw.fail(message, where, "cable")
        raw.add_cable(link, back, parallel)


def _plain(value: Any) -> Any:
    """Convert a value from NumPy's types."""
    return value.item() if hasattr(value, "item") and not isinstance(value, str) else value


def _given(values: Values, key: str) -> Any:
    """Return the value of a name; None for an empty text and for NaN."""
    value = _plain(values.get(key))
    if isinstance(value, str):
        return value.strip() or None
    return None if isinstance(value, float) and math.isnan(value) else value


def _shown(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**60:
        return "a huge number"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _text(raw: RawGraph, values: Values, key: str, where: str) -> str | None:
    value = _given(values, key)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | float) or not isinstance(value, int):
        raw.fail(f"{key} is {_shown(value)}; it must be a text", where, key)
    return _shown(value)


def _number(raw: RawGraph, values: Values, key: str, where: str) -> float | None:
    value = _given(values, key)
    if value is None:
        return None
    if key == "address" and isinstance(value, str) and _HEXADECIMAL.fullmatch(value.strip()):
        value = int(value, 16)
    try:
        number = float(value) if len(str(value)) <= _LONGEST_NUMBER else math.nan
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number):
        raw.fail(f"{key} is {_shown(value)}; {_number_wanted(value)}", where, key)
    return number


def _number_wanted(value: Any) -> str:
    """Say what to write instead of a value that is not a number."""
    if isinstance(value, str) and units.looks_like_date(value):
        return f"it is a date, not a number; {units.A_DATE}"
    if isinstance(value, str) and _HEXADECIMAL.fullmatch(value.strip()):
        return f"numbers are decimal: write {int(value, 16)}"
    return "it must be a number"


def _whole(raw: RawGraph, values: Values, key: str, least: int, most: int, where: str) -> int | None:
    """Return a whole number in a closed range."""
    value = _number(raw, values, key, where)
    if value is None:
        return None
    if value != int(value) or not least <= value <= most:
        raw.fail(f"{key} is {_shown(_given(values, key))}; it goes from {least} to {most}", where, key)
    return int(value)


def _named(raw: RawGraph, values: Values, key: str, where: str) -> int | None:
    """Return a port or an address; which of them a technology has is checked later."""
    value = _whole(raw, values, key, 0, LAST_NUMBER, where)
    if value is not None:
        keep_extremes(raw.extremes, Number(key, value, _shown(_given(values, key)), raw.origin, where))
    return value


def _parallel(raw: RawGraph, values: Values, where: str) -> int:
    value = _given(values, "parallel")
    if value is None:
        return 1
    number = _number(raw, values, "parallel", where) or 0.0
    if number != int(number):
        raw.fail(f"parallel is {_shown(value)}; it must be a whole number", where, "parallel")
    if number < 1:
        raw.fail(f"parallel is {_shown(value)}; it must be 1 or more", where, "parallel")
    if number > MAX_LINKS // 2 - len(raw.links):
        message = f"parallel is {_shown(value)}; a network has at most {MAX_LINKS:,} links in all"
        raw.fail(message, where, "parallel")
    return int(number)


def _rate(raw: RawGraph, values: Values, where: str) -> float | None:
    """Return the rate in bits per second: ``rate`` has a unit, ``rate_bits_per_s`` has none."""
    found = _quantity(raw, values, ("rate", "rate_bits_per_s"), units.parse_rate_bits_per_s, where)
    if found is None:
        return None
    key, rate = found
    if rate != int(rate) or not SMALLEST_RATE_BITS_PER_S <= rate <= LARGEST_RATE_BITS_PER_S:
        least, most = (
            units.format_rate_bits_per_s(bits) for bits in (SMALLEST_RATE_BITS_PER_S, LARGEST_RATE_BITS_PER_S)
        )
        shown = _shown(_given(values, key))
        message = f"{key} is {shown}; the rate of a link is from {least} to {most}, in whole bit/s"
        raw.fail(message, where, key)
    return rate


def _length(raw: RawGraph, values: Values, where: str) -> float | None:
    """Return the length in metres: ``length`` has a unit, ``length_m`` has none."""
    found = _quantity(raw, values, ("length", "length_m"), units.parse_length_m, where)
    if found is None:
        return None
    key, length_m = found
    if not 0 <= length_m <= units.LONGEST_CABLE_M:
        most = units.format_length_m(units.LONGEST_CABLE_M)
        shown = _shown(_given(values, key))
        raw.fail(f"{key} is {shown}; a cable is from 0 m to {most} long", where, key)
    return length_m


def _delay(raw: RawGraph, values: Values, where: str) -> float | None:
    """Return the time of a signal on the cable in ps: ``delay`` has a unit, ``delay_ps`` has none."""
    found = _quantity(raw, values, ("delay", "delay_ps"), units.parse_time_ps, where)
    if found is None:
        return None
    key, delay_ps = found
    if not 0 <= delay_ps <= LONGEST_DELAY_PS:
        most = units.format_time_ps(LONGEST_DELAY_PS)
        shown = _shown(_given(values, key))
        raw.fail(f"{key} is {shown}; the delay of a cable is from 0 ps to {most}", where, key)
    for name in ("length", "length_m"):
        if _given(values, name) is not None:
            raw.fail(f"{name} and {key} both give the delay of the cable; keep one", where, key)
    return float(round(delay_ps))


def _cycle(raw: RawGraph, values: Values, where: str) -> float | None:
    """Return the cycle in ps: ``cycle`` has a unit, of time or of frequency, ``cycle_ps`` has none."""
    found = _quantity(raw, values, CLOCK, units.parse_cycle_ps, where)
    if found is None:
        return None
    key, cycle_ps = found
    if not 1 <= cycle_ps <= LONGEST_CYCLE_PS:
        most = units.format_time_ps(LONGEST_CYCLE_PS)
        raw.fail(f"{key} is {_shown(_given(values, key))}; a cycle is from 1 ps to {most} long", where, key)
    return cycle_ps


def _cable(raw: RawGraph, values: Values, where: str) -> int | None:
    """Return the place of the preset that a cable has instead of the network's."""
    name = _text(raw, values, CABLE, where)
    if name is None or name in CABLES:
        return None if name is None else CABLES.index(name)
    offer = f"a cable of another technology has {' or '.join(CABLES)}, at any rate"
    raw.fail(f"{CABLE} is {_shown(name)}; {offer}", where, CABLE)


def _sizes(raw: RawGraph, values: Values, where: str) -> dict[str, float | None]:
    """Return lanes and buffer: ``buffer`` is a size such as "64 B", or a number of flits or characters."""
    lanes = _whole(raw, values, "lanes", 1, MOST_LANES, where)
    given = {key: _given(values, key) for key in ("buffer", "buffer_chars", "buffer_bytes")}
    keys = [key for key, value in given.items() if value is not None]
    if len(keys) > 1:
        raw.fail(f"{keys[0]} and {keys[1]} say the same; keep one", where, keys[1])
    if not keys:
        return {"lanes": lanes}
    key, text = keys[0], given[keys[0]]
    if key == "buffer" and isinstance(text, str) and not text.replace(".", "", 1).isdecimal():
        try:
            return {"lanes": lanes, "buffer_bytes": units.parse_bytes(text, positive=True)}
        except units.UnitError as error:
            raw.fail(f"buffer: {error.message}; {error.hint}", where, key)
    found = _whole(raw, values, key, 1, MOST_BUFFER, where)
    return {"lanes": lanes, "buffer_bytes" if key == "buffer_bytes" else "buffer_chars": found}


def _quantity(
    raw: RawGraph, values: Values, keys: tuple[str, str], parse: Any, where: str
) -> tuple[str, float] | None:
    """Return a quantity and its name: the first name takes a text with a unit, the second a plain number."""
    with_unit, plain = keys
    text, number = _given(values, with_unit), _number(raw, values, plain, where)
    if text is not None and number is not None:
        raw.fail(f"{with_unit} and {plain} say the same; keep one", where, plain)
    if number is not None:
        return plain, number
    if text is None:
        return None
    try:
        return with_unit, float(parse(text))
    except units.UnitError as error:
        bare = str(text).strip().replace(".", "", 1).isdecimal()
        offer = f"give it a unit, or call it {plain}" if bare else error.hint
        raw.fail(f"{with_unit}: {error.message}; {offer}", where, with_unit)
