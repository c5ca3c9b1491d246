"""Rings of the user's own: names in order, from the scenario or from a file.

A CSV file has the columns ``ring`` and ``vertex``, one line per station in the order of its ring, and
``buses``: a number for a switch (on one of its lines at least), nothing for a terminal. A JSON file is
``{"rings": …, "switches": …}`` with both as in the scenario; ``rings`` may also be an object by name.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from .file import content_of
from .graph import Graph, GraphError
from .ring_graph import check_buses, ring_graph

COLUMNS = ("ring", "vertex", "buses")


def sci_rings(
    rings: Sequence[Sequence[str]] | Mapping[str, Sequence[str]] | None = None,
    switches: Sequence[str] | Mapping[str, int] | None = None,
    path: str | Path | None = None,
    sha256: str | None = None,
) -> Graph:
    """Build a network from rings of names; a name that is not among the switches is a terminal.

    ``switches``: names, or numbers of buses by name. ``path``: a CSV or JSON file in place of both;
    ``sha256``: checksum that it must have. Raises ``GraphError``.
    """
    parameter = "rings"
    if path is not None:
        if rings is not None or switches is not None:
            raise GraphError("rings and switches are in the file; leave them out, or leave out path", "path")
        rings, switches, parameter = *_read(Path(path), sha256), "path"
    if rings is None:
        raise GraphError('sci-rings needs "rings", or the "path" of a file with them', "rings")
    named, buses = _checked_rings(rings, parameter), _checked_switches(switches, parameter)
    for name in buses:
        if not any(name in ring for ring in named.values()):
            raise GraphError(
                f'switch "{name}" is on no ring; its bus joins two ports or more',
                _blame(parameter, "switches"),
            )
    layout = {"parameters": {"rings": [list(ring) for ring in named.values()], "switches": dict(buses)}}
    try:
        return ring_graph("sci-rings", named, buses, layout, parameter=parameter)
    except GraphError as error:
        if path is None:
            raise
        raise GraphError(f"{path}: {error}", "path") from None


def _blame(parameter: str, inline: str) -> str:
    return parameter if parameter == "path" else inline


def _checked_rings(rings: Any, parameter: str) -> dict[str, list[str]]:
    if isinstance(rings, Mapping):
        named = dict(rings)
    elif isinstance(rings, Sequence) and not isinstance(rings, str):
        named = {f"ring({number})": ring for number, ring in enumerate(rings)}
    else:
        named = {}
    if not named:
        raise GraphError("rings must be a list of rings, each a list of names", parameter)
    for ring, names in named.items():
        if isinstance(names, str) or not isinstance(names, Sequence):
            raise GraphError(f"{ring} is {names!r}; it must be a list of names", parameter)
        for name in names:
            if not isinstance(name, str) or not name:
                raise GraphError(f"{ring} has {name!r} on it; a station is named by a text", parameter)
    return {str(ring): list(names) for ring, names in named.items()}


def _checked_switches(switches: Any, parameter: str) -> dict[str, int]:
    blame = _blame(parameter, "switches")
    if switches is None:
        return {}
    if isinstance(switches, str) or not isinstance(switches, Mapping | Sequence):
        raise GraphError("switches must be a list of names, or numbers of buses by name", blame)
    buses = switches if isinstance(switches, Mapping) else dict.fromkeys(switches, 1)
    if len(buses) < len(switches):
        twice = next(name for name in switches if list(switches).count(name) > 1)
        raise GraphError(f'switches has "{twice}" twice', blame)
    for name, count in buses.items():
        if not isinstance(name, str) or not name:
            raise GraphError(f"switches has {name!r}; a switch is named by a text", blame)
        check_buses(count, blame)
    return dict(buses)


def _read(path: Path, sha256: str | None) -> tuple[Any, Any]:
    content = content_of(path, sha256)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        _fail(path, f"line {line}", "not UTF-8 text")
    if path.suffix.lower() == ".json":
        return _read_json(path, text)
    if path.suffix.lower() == ".csv":
        return _read_csv(path, text)
    raise GraphError(f'{path}: the extension "{path.suffix}" says no format; formats are csv, json', "path")


def _read_json(path: Path, text: str) -> tuple[Any, Any]:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        _fail(path, f"line {error.lineno}, column {error.colno}", f"not JSON, or cut short: {error.msg}")
    except RecursionError:
        _fail(path, "", "not rings: nested too deeply")
    if not isinstance(data, dict) or "rings" not in data:
        _fail(path, "", 'the file must be an object with "rings" and "switches"')
    return data["rings"], data.get("switches")


def _read_csv(path: Path, text: str) -> tuple[dict[str, list[str]], dict[str, int]]:
    reader = csv.DictReader(io.StringIO(text, newline=""))
    header = list(reader.fieldnames or [])
    for column in ("ring", "vertex"):
        if column not in header:
            _fail(path, "line 1", f'the column "{column}" is missing; columns are {", ".join(COLUMNS)}')
    for column in header:
        if column not in COLUMNS:
            _fail(path, "line 1", f'unknown column "{column}"; columns are {", ".join(COLUMNS)}')
    rings: dict[str, list[str]] = {}
    switches: dict[str, int] = {}
    for row in reader:
        where = f"line {reader.line_num}"
        ring, vertex, buses = ((row.get(column) or "").strip() for column in COLUMNS)
        if not ring or not vertex or None in row:
            _fail(path, where, "a line is the name of a ring and of a switch or terminal on it")
        rings.setdefault(ring, []).append(vertex)
        if buses:
            if not buses.isdecimal() or switches.get(vertex, int(buses)) != int(buses):
                _fail(
                    path,
                    where,
                    f'buses is "{buses}"; it must be a number, the same on every line of a switch',
                )
            switches[vertex] = int(buses)
    return rings, switches


def _fail(path: Path, where: str, message: str) -> NoReturn:
    raise GraphError(": ".join(part for part in (str(path), where, message) if part), "path")
