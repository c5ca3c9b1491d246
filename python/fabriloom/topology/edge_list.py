"""Graphs as a CSV edge list.

The first line names the columns; ``source`` and ``target`` are needed, the others may be left out:

``kind``             cable (the default: both directions), link (one direction), switch or terminal
``name``             of the link from source to target; ``reverse_name`` of the one back
``parallel``         number of equal cables, 1 if empty
``cable``            in lines of kind link: the same text in the two directions of a cable
``rate_bits_per_s``, ``length_m``, and in lines of kind switch ``x`` and ``y``

A line of kind terminal names a terminal (source) and, as a rule, the switch it is cabled to (target). A line
of kind switch names a switch; switches are also made where a cable first names them. Lines before the first
that begin with ``#`` are passed over.
"""

from __future__ import annotations

import csv
import difflib
import io
from typing import Any

from .graph import Graph
from .raw import (
    ATTRIBUTES,
    RawGraph,
    RawLink,
    RawVertex,
    cables_of,
    family_line,
    numbers_of,
    place_of,
    read_family,
    read_numbers,
)

COLUMNS = ("kind", "source", "target", "name", "reverse_name", "parallel", "cable", *ATTRIBUTES, "x", "y")
KINDS = ("cable", "link", "switch", "terminal")
FAMILY_MARK = "# fabriloom "


def read(raw: RawGraph, text: str) -> None:
    """Fill ``raw`` from CSV text; raises ``GraphError`` with the line at fault."""
    lines = text.splitlines(keepends=True)
    skipped = 0
    while skipped < len(lines) and (lines[skipped].startswith("#") or not lines[skipped].strip()):
        if lines[skipped].startswith(FAMILY_MARK):
            read_family(raw, lines[skipped][len(FAMILY_MARK) :])
        skipped += 1
    reader = csv.reader(iter(lines[skipped:]), strict=True)
    rows: list[tuple[str, dict[str, Any]]] = []
    try:
        columns = _columns(raw, next(reader, None), f"line {skipped + 1}")
        for cells in reader:
            where = f"line {skipped + reader.line_num}"
            if not cells:
                continue
            if len(cells) != len(columns):
                raw.fail(f"{len(cells)} values for {len(columns)} columns; is the line cut short?", where)
            rows.append((where, {key: cell.strip() for key, cell in zip(columns, cells, strict=True)}))
    except csv.Error as error:
        raw.fail(f"not CSV, or cut short: {error}", f"line {skipped + reader.line_num}")
    for where, row in rows:
        _declare(raw, row, where)
    for where, row in rows:
        _join(raw, row, where)
    raw.pair_links()


def _columns(raw: RawGraph, header: list[str] | None, where: str) -> list[str]:
    columns = [name.strip().lower() for name in header or []]
    for name in columns:
        if name not in COLUMNS:
            near = difflib.get_close_matches(name, COLUMNS, 1)
            hint = f' Did you mean "{near[0]}"?' if near else ""
            raw.fail(f'there is no column "{name}"; columns are {", ".join(COLUMNS)}.{hint}', where)
        if columns.count(name) > 1:
            raw.fail(f'two columns are named "{name}"', where)
    for name in ("source", "target"):
        if name not in columns:
            raw.fail(f'the column "{name}" is missing; the first line must name the columns', where)
    return columns


def _declare(raw: RawGraph, row: dict[str, Any], where: str) -> None:
    kind = row.get("kind") or "cable"
    if kind not in KINDS:
        raw.fail(f'kind is "{kind}"; it must be {", ".join(KINDS[:-1])} or {KINDS[-1]}', where)
    if not row["source"]:
        raw.fail("the source is empty", where)
    if kind == "switch" and row["target"]:
        raw.fail("a line of kind switch has no target; for a cable leave the kind out", where)
    if kind in ("switch", "terminal"):
        place = read_numbers(raw, row, ("x", "y"), where)
        raw.add_vertex(RawVertex(row["source"], kind == "terminal", where, place.get("x"), place.get("y")))


def _join(raw: RawGraph, row: dict[str, Any], where: str) -> None:
    kind = row.get("kind") or "cable"
    if kind == "switch" or (kind == "terminal" and not row["target"]):
        return
    if not row["target"]:
        raw.fail("the target is empty", where)
    for end in (row["source"], row["target"]):
        if end not in raw.vertices:
            raw.add_vertex(RawVertex(end, False, where))
    numbers = read_numbers(raw, row, ATTRIBUTES, where)
    link = RawLink(
        row["source"], row["target"], row.get("name") or None, row.get("cable") or None, where, numbers
    )
    parallel = row.get("parallel") or "1"
    if not parallel.isascii() or not parallel.isdigit() or len(parallel) > 9:
        raw.fail(f'parallel is "{parallel}"; it must be a whole number', where)
    if kind == "link":
        if parallel != "1":
            raw.fail("parallel is for cables; repeat the line of kind link instead", where)
        raw.links.append(link)
    else:
        raw.add_cable(link, row.get("reverse_name") or None, int(parallel))


def write(graph: Graph) -> str:
    """Return the graph as CSV text; reading it gives the same graph."""
    out = io.StringIO()
    family = family_line(graph)
    if family:
        out.write(f"{FAMILY_MARK}{family}\n")
    columns = [column for column in COLUMNS if column != "parallel" and _used(graph, column)]
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for vertex in range(graph.switches + graph.terminals):
        kind = "switch" if vertex < graph.switches else "terminal"
        writer.writerow({"kind": kind, "source": graph.vertex_name(vertex), **place_of(graph, vertex)})
    link = 0
    cables = cables_of(graph)
    while link < graph.links:
        row: dict[str, Any] = {
            "kind": "link",
            "source": graph.vertex_name(int(graph.link_source[link])),
            "target": graph.vertex_name(int(graph.link_target[link])),
            "name": graph.link_names[link],
            **numbers_of(graph, link),
        }
        together = graph.link_reverse[link] == link + 1 and numbers_of(graph, link) == numbers_of(
            graph, link + 1
        )
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
    return column not in ATTRIBUTES or column in graph.attributes
