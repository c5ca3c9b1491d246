"""Packs a scenario for the engine in a browser: its arrays and options, once for each setting of its sliders.

Every combination of the sliders is compiled here, by the one compiler; a page only chooses between them.
Columns that are equal in several combinations are stored once. ``crates/web/src/wire.rs`` says their form.
"""

from __future__ import annotations

import base64
import itertools
import json
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from fabriloom import Scenario, _native
from fabriloom.compile import Compiled, compile
from fabriloom.page.choices import controls, put
from fabriloom.page.recording import around, names_of
from fabriloom.reading import UserError
from fabriloom.scenario.load import build
from fabriloom.scenario.source import SourceMap
from fabriloom.simulate import matched, options_of, rows_of
from numpy.typing import NDArray

MOST_BYTES = 1_000_000
"""A page holds no more of one scenario."""
_FIRST, _FEW, _OTHERS, _MOST = 6, 4, 3, 54
"""Options of the first slider, the load, of those that are not thinned, of the others; combinations."""
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
        if value is None:  # until the run is steady
            continue
        kind = "u32" if isinstance(value, list) else "f64" if name == "precision" else "u64"
        yield column(f"run.{name}", kind, np.ravel(value) if isinstance(value, list) else value)


def laboratory(scenario: Scenario) -> dict[str, Any] | None:
    """Return a scenario for a page, with the sliders that it has there; None if it is too large.

    ``bytes``: the columns; ``starts``: where each begins, and at last their end; ``variants``: of each
    combination, its columns and the time to fill a buffer; ``sliders``: their names, options and the present
    one; ``seed``: None if more than one number follows from it.
    """
    sliders = _sliders(scenario)
    store: dict[bytes, int] = {}
    variants: dict[str, Any] = {}
    for choice in itertools.product(*(range(len(one["options"])) for one in sliders)):
        settings: dict[str, Any] = {}
        for one, at in zip(sliders, choice, strict=True):
            settings |= one["options"][at]["settings"]
        try:
            compiled = compile(_with(scenario, settings))
        except UserError:
            continue  # settings that exclude each other have no variant
        columns = [store.setdefault(part, len(store)) for part in packed(matched(compiled))]
        variants[",".join(map(str, choice))] = {"columns": columns, **around(compiled)}
        if sum(map(len, store)) > MOST_BYTES:
            return None
    compiled = compile(scenario)
    return {
        "seed": scenario.seed if _is_only_a_number(compiled) else None,
        "names": names_of(compiled.graph, compiled.target_names()),
        "terminals": compiled.graph.terminal_names,
        "rings": compiled.graph.network_kind.buses,
        "sliders": [
            {"label": one["label"], "texts": [option["text"] for option in one["options"]], "at": one["at"]}
            for one in sliders
        ],
        "variants": variants,
        "starts": [0, *itertools.accumulate(map(len, store))],
        "bytes": base64.b64encode(b"".join(store)).decode(),
    }


def _is_only_a_number(compiled: Compiled) -> bool:
    """Whether another seed changes nothing but itself: no pilot run, and nothing drawn before the run."""
    scenario = compiled.scenario
    other = packed(compile(_with(scenario, {"seed": scenario.seed + 1})))
    seed = [column("seed", "u64", one) for one in (scenario.seed, scenario.seed + 1)]
    same = set(packed(compiled)) - {seed[0]} == set(other) - {seed[1]}
    return same and matched(compiled) is compiled


def _with(scenario: Scenario, settings: dict[str, Any]) -> Scenario:
    data = json.loads(json.dumps(scenario.raw))
    for path, value in settings.items():
        put(data, path.split("."), value)
    return build(data, SourceMap(), scenario.base_dir)


def _sliders(scenario: Scenario) -> list[dict[str, Any]]:
    """Return some options of each control, as many as fit: the load, then what has few options."""
    given, left = controls(scenario), _MOST
    found: dict[int, dict[str, Any]] = {}
    for number in sorted(range(len(given)), key=lambda at: (at > 0, len(given[at]["options"]) > _FEW, at)):
        one = given[number]
        few = len(one["options"]) <= _FEW
        some = _some(
            one["options"], one["at"], min(_FIRST if number == 0 else _FEW if few else _OTHERS, left)
        )
        if len(some) > 1 and not (few and len(some) < len(one["options"])):
            left //= len(some)
            found[number] = {
                **one,
                "options": [one["options"][at] for at in some],
                "at": some.index(one["at"]),
            }
    return [one for _, one in sorted(found.items())]


def _some(options: Sequence[Any], at: int, most: int) -> list[int]:
    """Return the numbers of the present option and of others, evenly spread."""
    spread = np.unique(np.linspace(0, len(options) - 1, max(1, most)).round().astype(int)).tolist()
    if at not in spread:
        spread[int(np.argmin([abs(one - at) for one in spread]))] = at
    return sorted(spread)
