"""Graphs as a CSV edge list.

The first line names the columns; ``source`` and ``target`` (or ``from`` and ``to``) are required, the
others are optional:

``kind``             cable (the default: both directions), link (one direction), switch or terminal
``name``             of the link from source to target; ``reverse_name`` of the one back
``parallel``         number of equal cables, 1 if empty
``cable``            in lines of kind link: the same text in the two directions of a cable
``rate``             such as "100 Mbit/s", or whole bits per second in a column ``rate_bits_per_s``
``length``           such as "2 m", or metres in a column ``length_m``
``delay``            such as "10 ns", instead of a length; or picoseconds in a column ``delay_ps``
``technology``       of a cable between a terminal and a switch of SpaceFibre: spacewire-200
``buffer``           input buffer at the end of a link, "64 B" or whole flits; in lines of kind switch of all
                     its inputs
``lanes``            of a link; in lines of kind switch of all its inputs
``source_port``,     port of the switch at either end; a preset says which there are
``target_port``
``x``, ``y``         in lines of kind switch
``address``          in lines of kind terminal: its logical address; in lines of kind cable that of
                     the terminal's port at this cable

Other words such as ``Port from`` or ``Speed (Mbps)`` are read too, and ``node`` and ``router`` as kinds.
Other columns are ignored with a remark; those whose names begin with an underscore are the user's own. As
spreadsheet programs write it, a file may have semicolons or tabs between columns, a first line such as
``sep=;``, decimal commas, a byte-order mark, and blank lines.

A line of kind terminal names a terminal (source) and, usually, the switch it is cabled to (target). A line
of kind switch names a switch; in a file without such lines a cable creates the switches that it names. Lines
before the first that begin with ``#`` are skipped.
"""

from __future__ import annotations

import csv
import io
from typing import Any

from .. import reading
from ..reading import ReadError
from . import attributes, doubtful, foreign
from .graph import Graph
from .raw import ATTRIBUTES, CABLE, CYCLE, RawGraph, read_family, turned
from .written import address_of, cables_of, family_line, numbers_of, of_vertex

OF_LINKS = tuple(name for name in attributes.OF_LINKS if name not in ("index", "address"))
COLUMNS = ("kind", "source", "target", *OF_LINKS, "x", "y", *attributes.CLOCK, "address")
WRITTEN = (
    *("kind", "source", "target", "name", "reverse_name", "cable"),
    *ATTRIBUTES,
    *(CABLE, "x", "y", CYCLE, "address"),
)
KINDS = ("cable", "link", "switch", "terminal")
_NUMBERS = ("rate", "length", "delay", "buffer", *ATTRIBUTES, "x", "y", *attributes.CLOCK)
_WORDS = {
    **dict.fromkeys(COLUMNS, ()),
    "kind": ("type",),
    "source": ("end a", "node a", "device a", "unit", "node", "instrument", "equipment"),
    "target": ("end b", "node b", "device b", "router", "connected to"),
    "source_port": ("port from", "from port", "port a"),
    "target_port": ("port", "router port", "port to", "to port", "destination port", "port b"),
    "address": ("logical address",),
    "rate": ("speed", "link speed", "link rate", "line rate", "data rate"),
    "length": ("cable", "cable length", "harness length"),
}
"""Columns, each with the words that spreadsheets have for it."""
_OF_UNIT = ("rate", "length", "delay")
"""Without a unit in its name, a column of numbers under another word is not read."""
FAMILY_MARK = "# fabriloom "


def read(raw: RawGraph, text: str) -> None:
    """Fill ``raw`` from CSV text; raises ``GraphError`` with the line at fault."""
    lines = text.splitlines(keepends=True)
    skipped = 0
    while skipped < len(lines) and (lines[skipped].startswith("#") or not lines[skipped].strip()):
        if lines[skipped].startswith(FAMILY_MARK):
            read_family(raw, lines[skipped][len(FAMILY_MARK) :])
        skipped += 1
    body = "".join(lines[skipped:])
    found = reading.records(body, raw.origin, comments=False, strict=True)
    decimals = reading.Decimals.of(body)
    numbers = {*_NUMBERS, *raw.foreign.names(foreign.OF_LINKS)}
    rows: list[tuple[str, dict[str, Any]]] = []
    try:
        first, header = next(found, (1, None))
        columns = _columns(raw, header, f"line {skipped + first}")
        for line, cells in found:
            where = f"line {skipped + line}"
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(columns):
                raw.fail(f"{len(cells)} values for {len(columns)} columns; is the line cut short?", where)
            row = {one.name: cell.strip() for one, cell in zip(columns, cells, strict=True)}
            row = {one.name: _cell(raw, row, one, decimals, numbers, where) for one in columns}
            rows.append((where, {**row, "kind": _kind(row.get("kind"))}))
    except ReadError as error:
        line = skipped + (error.place[1] if error.place else 1)
        raw.fail(f"{error.message}; {error.hint}", f"line {line}")
    for where, row in rows:
        _declare(raw, row, where)
    declared = any(row.get("kind") == "switch" for _, row in rows)
    for where, row in rows:
        _join(raw, row, where, declared)
    raw.pair_links()


def _cell(
    raw: RawGraph,
    row: dict[str, str],
    column: reading.Heading,
    decimals: reading.Decimals,
    numbers: set[str],
    where: str,
) -> str:
    """Return a cell; if it is a number, with a decimal point, and the unit of its column."""
    key = column.name
    if key not in numbers:
        return row[key]
    try:
        return column.with_unit(decimals.with_point(row[key]))
    except ReadError as error:
        raw.fail(f"{key}: {error.message}; {error.hint}", where, key)


def _kind(word: str | None) -> str:
    """Return the kind of a line, as we call it."""
    plain = (word or "").lower()
    plain = attributes.ALIKE.get(plain, plain)
    return plain if plain in KINDS else word or ""


def _columns(raw: RawGraph, header: list[str] | None, where: str) -> list[reading.Heading]:
    mapped = raw.foreign.names(foreign.MEANINGS)
    columns = [
        reading.Heading(name.strip()) if name.strip() in mapped else one
        for name, one in zip(header or [], reading.headings(header or [], _WORDS, _OF_UNIT), strict=True)
    ]
    for other, name in (("from", "source"), ("to", "target"), ("destination", "target")):
        if name not in (one.name for one in columns):
            columns = [reading.Heading(name) if one.name.lower() == other else one for one in columns]
    names = [one.name for one in columns]
    if len(names) == 1 and "|" in names[0]:
        raw.fail("the columns are separated by bars; save the file with commas or semicolons", where)
    others = {name: None for name in names if name not in mapped}
    for name in (*attributes.known_only(raw, others, COLUMNS, "column", where, attributes.DRAWN), *mapped):
        if names.count(name) > 1:
            raw.fail(f'two columns are named "{name}"', where, name)
    for name in ("source", "target"):
        if name not in names:
            also = ", ".join(_WORDS[name])
            raw.fail(f'the column "{name}" is missing; the first line must name it so, or {also}', where)
    return columns


def _declare(raw: RawGraph, row: dict[str, Any], where: str) -> None:
    kind = row.get("kind") or "cable"
    if kind not in KINDS:
        raw.fail(f'kind is "{kind}"; it must be {", ".join(KINDS[:-1])} or {KINDS[-1]}', where, "kind")
    if not row["source"]:
        raw.fail("the source is empty", where, "source")
    if kind == "switch" and row["target"]:
        raw.fail("a line of kind switch has no target; for a cable leave the kind out", where, "target")
    joins = kind in ("cable", "link") or bool(row["target"])
    own = attributes.SIZES if kind == "switch" else ()
    links = [name for name in OF_LINKS if name not in own]
    senseless = ("x", "y", *attributes.CLOCK) if kind in ("cable", "link") else () if joins else links
    for name in senseless:
        if row.get(name):
            without = "" if row["target"] else " without target"
            raw.fail(f"{name} has no meaning in a line of kind {kind}{without}", where, name)
    if kind in ("switch", "terminal"):
        others = attributes.SIZES if kind == "terminal" else ()
        own = [name for name in attributes.OF_VERTICES if name not in others]
        own += raw.foreign.names(foreign.OF_NODES)
        attributes.add_vertex(raw, row["source"], {key: row.get(key) for key in own}, where)


def _join(raw: RawGraph, row: dict[str, Any], where: str, declared: bool) -> None:
    """Add what a line joins; ``declared``: the file has lines of switches, so all of them are there."""
    kind = row.get("kind") or "cable"
    if kind == "switch" or (kind == "terminal" and not row["target"]):
        return
    if not row["target"]:
        raw.fail("the target is empty", where, "target")
    for cell in ("source", "target"):
        if row[cell] not in raw.vertices:
            if declared:
                doubtful.refuse_undeclared(raw, row[cell], where, cell)
            raw.implied[row[cell]] = None
            attributes.add_vertex(raw, row[cell], {}, where, cell)
    own = OF_LINKS if kind == "terminal" else (*OF_LINKS, "address")
    own = (*own, *raw.foreign.names(foreign.OF_LINKS))
    values = {key: row[key] for key in own if key in row}
    attributes.add_links(raw, row["source"], row["target"], values, where, one_way=kind == "link")


def write(graph: Graph) -> str:
    """Return the graph as CSV text; reading it gives the same graph."""
    out = io.StringIO()
    family = family_line(graph)
    if family:
        out.write(f"{FAMILY_MARK}{family}\n")
    columns = [column for column in WRITTEN if _used(graph, column)]
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for vertex in range(graph.switches + graph.terminals):
        writer.writerow({"source": graph.vertex_name(vertex), **of_vertex(graph, vertex)})
    link = 0
    cables = cables_of(graph)
    while link < graph.links:
        row: dict[str, Any] = {
            "kind": "link",
            "source": graph.vertex_name(int(graph.link_source[link])),
            "target": graph.vertex_name(int(graph.link_target[link])),
            "name": graph.link_names[link],
            **numbers_of(graph, link),
            **address_of(graph, link),
        }
        back = graph.link_reverse[link] == link + 1
        together = back and numbers_of(graph, link) == turned(numbers_of(graph, link + 1))
        if together:
            row |= {"kind": "cable", "reverse_name": graph.link_names[link + 1]}
        elif cables[link] >= 0:
            row["cable"] = cables[link]
        writer.writerow(row)
        link += 2 if together else 1
    return out.getvalue()


def _used(graph: Graph, column: str) -> bool:
    if column in ("x", "y"):
        return graph.positions is not None
    if column == "address":
        return bool(graph.layout.get("addresses") or graph.layout.get("link_addresses"))
    return column not in (*ATTRIBUTES, CABLE, CYCLE) or column in graph.attributes
