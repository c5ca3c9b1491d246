"""Packs a scenario for the engine in a browser: its arrays and options, once for each setting of its sliders.

Combinations of the sliders are compiled here, by the one compiler; a page only chooses between them.
Columns that are equal in several combinations are stored once. ``crates/web/src/wire.rs`` says their form.
"""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import math
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import clocks
import numpy as np
from fabriloom import Scenario, _native
from fabriloom.compile import Compiled, compile
from fabriloom.page.choices import controls, put
from fabriloom.page.recording import names_of
from fabriloom.reading import UserError
from fabriloom.scenario.load import build
from fabriloom.scenario.source import SourceMap
from fabriloom.simulate import options_of, rows_of
from fabriloom.studies.curves import LOAD, SCALE
from fabriloom.studies.verdict import waits_for_its_packets
from numpy.typing import NDArray

MOST_BYTES = 8_000_000
"""A page holds no more of one scenario; packed it is a small part of that."""
_MOST = (1200, 400, 130, 54)
"""Combinations: as many as fit."""
_STEPS = {True: (6, 6, 11), False: (2, 3, 3)}
"""Options of the first slider, which is the load, and of others, as long as there is room."""
_OWN = {"Arbiter": "switch_arbiter"}
"""Controls that set a column, and do nothing else."""
_TYPES = ("S1", "<u1", "<u4", "<u8", "<i8", "<f8")
_KINDS = {"u8": 1, "u32": 2, "u64": 3, "i64": 4, "f64": 5}
_ONE = 16


def column(name: str, kind: str, value: Any) -> bytes:
    """Return a column, or a single number, as bytes."""
    rows, one = np.atleast_1d(np.asarray(value)).astype(_TYPES[_KINDS[kind]]), np.ndim(value) == 0
    head = struct.pack("<IIQ", len(name), _KINDS[kind] + _ONE * one, len(rows))
    return head + _filled(name.encode()) + _filled(rows.tobytes())


def _filled(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


def columns_of(data: bytes) -> dict[str, Any]:
    """Return what :func:`column` has put behind each other: numbers, words and columns by name."""
    found: dict[str, Any] = {}
    at = 0
    while at < len(data):
        length, kind, count = struct.unpack_from("<IIQ", data, at)
        dtype = np.dtype(_TYPES[kind % _ONE])
        name = data[at + 16 : at + 16 + length].decode()
        at += 16 + length + -length % 8
        rows: NDArray[Any] = np.frombuffer(data, dtype, count, at)
        found[name] = rows.tobytes().decode() if kind == 0 else rows[0].item() if kind >= _ONE else rows
        at += count * dtype.itemsize + -(count * dtype.itemsize) % 8
    return found


def packed(compiled: Compiled, **more: Any) -> list[bytes]:
    """Return the columns and options of one run, without what is empty or 0. ``more``: further options."""
    found = [
        column(name, kind, compiled.arrays[name]) for name, kind in _native.scalars() if compiled.arrays[name]
    ]
    found += [
        column(name, kind, compiled.arrays[name])
        for name, kind in _native.columns()
        if len(compiled.arrays[name])
    ]
    return found + list(_options({**options_of(compiled), **rows_of(compiled)[0], **more}))


def _options(options: dict[str, Any]) -> Iterator[bytes]:
    for name, value in options.items():
        if value is not None:  # None: until the run is steady
            yield _option(name, value)


def _option(name: str, value: Any) -> bytes:
    kind = "u32" if isinstance(value, list) else "f64" if name == "precision" else "u64"
    return column(f"run.{name}", kind, np.ravel(value) if isinstance(value, list) else value)


def laboratory(
    scenario: Scenario, beside: Mapping[str, Any] | None = None, choice: Sequence[str] = ()
) -> dict[str, Any] | None:
    """Return a scenario for a page, with the sliders that it has there; None if it is too large. A second
    fabric begins with the settings ``beside``: those that sliders have, or all of them as one ``choice``,
    which is its label and the texts without and with them.

    ``bytes``: the columns, packed; ``starts``: where each begins, and at last their end; ``common``: the
    columns of all variants; ``variants``: of each combination of the sliders without columns of their own,
    its other columns, a list for each tick, with the number of its clock; ``clocks``: what
    :func:`clocks.fabrics` says besides; ``sliders``: their names, options, the present one, and of some the
    column of each option, which replaces that of the variant; ``loads``: the values of the first slider, or
    None if it is no load; ``waits``: whether sources wait for their packets; ``seed``: None if more than one
    number follows from it; ``beside``: the sliders that a second fabric moves, each with the number of its
    option; ``faults``: those of the file; and what :func:`clocks.failing` says.
    """
    compiled = compile(scenario)
    given = controls(scenario)
    if choice and beside:
        given.append(_choice(choice, beside))
    moves = dict(_moves(given, beside or {}))
    for most in _MOST:
        sliders = _sliders(given, most, moves)
        if (found := _variants(scenario, sliders)) is not None:
            break
    else:
        return None
    return {
        "seed": scenario.seed if _is_only_a_number(compiled) else None,
        "names": names_of(compiled.graph, compiled.target_names()),
        "terminals": compiled.graph.terminal_names,
        "rings": compiled.graph.network_kind.buses,
        "loads": _loads(sliders),
        "waits": waits_for_its_packets(scenario),
        "beside": _moves(sliders, beside or {}),
        "faults": scenario.raw.get("fault", []),
        **clocks.failing(compiled, lambda settings: _with(scenario, settings)),
        "sliders": [_told(one, found.columns.get(number)) for number, one in enumerate(sliders)],
        **found.told(),
    }


def _choice(choice: Sequence[str], beside: Mapping[str, Any]) -> dict[str, Any]:
    """Return the control of settings that no other one has."""
    label, *texts = choice
    options = [{"text": text, "settings": way} for text, way in zip(texts, ({}, dict(beside)), strict=True)]
    return {"label": label, "part": "fabric", "ordered": False, "at": 0, "options": options}


@dataclass
class _Found:
    """The columns of some combinations, each once, in the order of their numbers."""

    store: dict[bytes, int] = field(default_factory=dict)
    variants: dict[str, Any] = field(default_factory=dict)
    columns: dict[int, list[int]] = field(default_factory=dict)
    clocks: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, parts: Iterable[bytes]) -> list[int]:
        """Keep columns, and return their numbers. Raises OverflowError if that is too much for a page."""
        numbers = [self.store.setdefault(part, len(self.store)) for part in parts]
        if sum(map(len, self.store)) > MOST_BYTES:
            raise OverflowError
        return numbers

    def add_variant(self, key: str, compiled: Compiled) -> None:
        """Keep the columns of a combination, for each tick, and its clocks once."""
        made = []
        for one in clocks.fabrics(compiled, packed, _option, _column, self.add):
            columns, told = one.pop("columns"), json.dumps(one)
            self.clocks.setdefault(told, {**one, "number": len(self.clocks)})
            made.append({"columns": columns, "clock": self.clocks[told]["number"]})
        self.variants[key] = made

    def told(self) -> dict[str, Any]:
        """Return them for a page."""
        every = [one for made in self.variants.values() for one in made]
        common = set.intersection(*(set(one["columns"]) for one in every))
        for one in every:
            one["columns"] = [number for number in one["columns"] if number not in common]
        return {
            "common": sorted(common),
            "variants": self.variants,
            "clocks": list(self.clocks.values()),
            "starts": [0, *itertools.accumulate(map(len, self.store))],
            "bytes": base64.b64encode(gzip.compress(b"".join(self.store), mtime=0)).decode(),
        }


def _variants(scenario: Scenario, sliders: Sequence[dict[str, Any]]) -> _Found | None:
    """Compile all combinations; None if they are too much for a page."""
    found, own = _Found(), {at: one["column"] for at, one in enumerate(sliders) if "column" in one}
    try:
        for number, name in own.items():
            compiled = [compile(_with(scenario, one["settings"])) for one in sliders[number]["options"]]
            found.columns[number] = found.add(_column(name, one.arrays[name]) for one in compiled)
        places = [range(len(one["options"])) for at, one in enumerate(sliders) if at not in own]
        others = [one for at, one in enumerate(sliders) if at not in own]
        for choice in itertools.product(*places):
            settings: dict[str, Any] = {}
            for one, at in zip(others, choice, strict=True):
                settings |= one["options"][at]["settings"]
            try:
                made = compile(_with(scenario, settings))
            except UserError:
                continue  # settings that exclude each other have no variant
            found.add_variant(",".join(map(str, choice)), made)
    except OverflowError:
        return None
    return found


def _column(name: str, value: Any) -> bytes:
    return column(name, dict(_native.columns())[name], value)


def _loads(sliders: Sequence[dict[str, Any]]) -> list[float] | None:
    settings = [option["settings"] for option in sliders[0]["options"]] if sliders else [{}]
    path = next((path for path in (LOAD, SCALE) if path in settings[0]), None)
    return path and [one[path] for one in settings]


def _moves(sliders: Sequence[dict[str, Any]], settings: Mapping[str, Any]) -> list[list[int]]:
    """Return which of the sliders have other settings, each with the number of its option."""
    found = []
    for number, one in enumerate(sliders):
        every = [option["settings"] for option in one["options"]]
        now = {path: every[one["at"]].get(path) for way in every for path in way}
        wanted = {path: settings.get(path, value) for path, value in now.items()}
        found += [[number, at] for at, way in enumerate(every) if now != wanted == {**now, **way}]
    return found


def _told(slider: dict[str, Any], columns: list[int] | None) -> dict[str, Any]:
    """Return a slider for a page."""
    texts = [option["text"] for option in slider["options"]]
    own = {} if columns is None else {"columns": columns}
    return {**{name: slider[name] for name in ("label", "part", "ordered", "at")}, "texts": texts, **own}


def _is_only_a_number(compiled: Compiled) -> bool:
    """Whether another seed changes nothing but itself: nothing is drawn before the run."""
    scenario = compiled.scenario
    other = packed(compile(_with(scenario, {"seed": scenario.seed + 1})))
    seed = [column("seed", "u64", one) for one in (scenario.seed, scenario.seed + 1)]
    return set(packed(compiled)) - {seed[0]} == set(other) - {seed[1]}


def _with(scenario: Scenario, settings: dict[str, Any]) -> Scenario:
    data = json.loads(json.dumps(scenario.raw))
    for path, value in settings.items():
        put(data, path.split("."), value)
    return build(data, SourceMap(), scenario.base_dir)


def _sliders(given: Sequence[dict[str, Any]], most: int, moves: Mapping[int, int]) -> list[dict[str, Any]]:
    """Return some options of each control, as many as fit into a number of combinations; first of those that
    a second fabric moves, with the option to which it does.

    A setting that is a column alone makes no combinations.
    """
    own = {at: _OWN[one["label"]] for at, one in enumerate(given) if one["label"] in _OWN}
    sizes = [1] * len(given)
    order = sorted(set(range(len(given))) - set(own), key=lambda at: at not in moves)
    for step, at in itertools.product(range(len(_STEPS[True])), order):
        options = len(given[at]["options"])
        # What has no order is there as a whole or not at all.
        size = min(options, _STEPS[at == 0][step]) if given[at]["ordered"] else options
        larger = [*sizes[:at], size, *sizes[at + 1 :]]
        if math.prod(larger) <= most:
            sizes = larger
    found = []
    for at, one in enumerate(given):
        needed = [one["at"], *([moves[at]] if at in moves and sizes[at] > 1 else [])]
        some = [*range(len(one["options"]))] if at in own else _some(len(one["options"]), sizes[at], needed)
        if len(some) > 1:
            column = {"column": own[at]} if at in own else {}
            options = [one["options"][place] for place in some]
            found.append({**one, "options": options, "at": some.index(one["at"]), **column})
    return found


def _some(options: int, most: int, needed: Sequence[int]) -> list[int]:
    """Return the numbers of the options that are needed and of others, evenly spread."""
    spread = np.unique(np.linspace(0, options - 1, max(1, most)).round().astype(int)).tolist()
    for at in needed:
        if at not in spread:
            others = [place for place, one in enumerate(spread) if one not in needed]
            spread[min(others, key=lambda place: abs(spread[place] - at))] = at
    return sorted(spread)
