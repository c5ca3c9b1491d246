"""The choices on the page: a scenario, its changed settings, and what a request asks for, as plain data."""

from __future__ import annotations

import copy
import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

from starlette.requests import Request

from .. import units
from ..results.columns import flatten
from ..scenario import Scenario, ScenarioError
from ..scenario.load import FILE_KEYS, build
from ..scenario.read import KINDS, parse, read
from ..scenario.sections.study import OTHERS
from ..scenario.sections.topology import structure_of
from ..scenario.source import SourceMap
from ..technology.model import Arbiter
from ..topology.family import usual_routing
from . import limits, shelf
from .limits import Refusal

_LONGEST_MS = 1e9
_SPEC = {"shelf", "file", "text"}
_MOST_FILES = 16
_DEEPEST = 4
"""Levels of lists and tables within the value of a setting."""
_NAME = re.compile(r"[\w. ()+,=@-]{1,120}")


class BadRequest(Exception):
    """A request that our page never makes; its text is the message."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


async def body_of(request: Request) -> dict[str, Any]:
    """Return the JSON table of a request. Raises BadRequest, immediately if it is longer than allowed."""
    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > limits.BODY_BYTES:
            most = limits.BODY_BYTES // 1000
            raise BadRequest(f"This is longer than {most} kB, the most that the page accepts.", 413)
    try:
        body = json.loads(content)
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise BadRequest("A character in this request is incomplete.") from None
    except (ValueError, RecursionError):
        raise BadRequest("This request is not JSON.") from None
    if not isinstance(body, dict):
        raise BadRequest("This request is not a table of JSON.")
    return body


def sides(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the one or two scenarios that a request names. Raises BadRequest."""
    first, beside = body.get("first"), body.get("beside")
    return {"first": _spec(first), "beside": None if beside is None else _spec(beside)}


def _spec(value: Any) -> dict[str, Any]:
    """Return ``{"shelf": name}`` or ``{"file": name, "text": text}``, with ``settings`` and ``files``."""
    if not isinstance(value, dict) or not ("shelf" in value or "text" in value):
        raise BadRequest("There is no scenario in this request.")
    named = {name: value[name] for name in _SPEC if name in value}
    if not all(isinstance(text, str) for text in named.values()):
        raise BadRequest("The name and the text of a scenario are texts.")
    return {**named, "settings": _settings(value.get("settings")), "files": _files(value.get("files"))}


def _files(value: Any) -> dict[str, str]:
    """Return the files sent with a scenario, by names without a folder, under which they are stored."""
    files = {} if value is None else value
    if not isinstance(files, dict) or len(files) > _MOST_FILES:
        raise BadRequest(f"The files of a scenario are a table of names and texts, {_MOST_FILES} at most.")
    for name, text in files.items():
        if not isinstance(text, str) or not _NAME.fullmatch(name) or name.startswith("."):
            raise BadRequest("A file that comes with a scenario has a plain name, and is text.")
    return files


def _settings(value: Any) -> dict[str, Any]:
    settings = {} if value is None else value
    if not isinstance(settings, dict) or not all(map(_is_setting, settings.values())):
        raise BadRequest("Settings are a table of paths and values.")
    if not all(all(path.split(".")) for path in settings):
        raise BadRequest("The path of a setting is words with dots between them.")
    return settings


def _is_setting(value: Any, depth: int = 0) -> bool:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return depth < _DEEPEST and all(_is_setting(one, depth + 1) for one in inner)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, bool | int | str)


def moment(body: Mapping[str, Any]) -> float | None:
    """Return the start of the replay in ms of the run, or None for its end. Raises BadRequest."""
    value = body.get("from_ms")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LONGEST_MS:
        raise BadRequest("The time from which packets are replayed must be 0 ms or more.")
    return float(value)


FABRIC = ("topology", "technology", "routing")
"""Sections that describe the fabric; the others describe its traffic."""


@dataclass(frozen=True)
class Chosen:
    """A scenario with the settings of the controls."""

    scenario: Scenario
    written: dict[str, Any]
    """Data of the file, with the settings."""
    text: str
    """Text of the file, without the settings."""


def chosen(spec: Mapping[str, Any], traffic: Chosen | None = None) -> Chosen:
    """Return the scenario of ``{"shelf": name}`` or ``{"file": name, "text": text}``, with its ``settings``.

    With ``traffic``, only the fabric is used; traffic, run and seed are those of ``traffic``. Raises
    ScenarioError, with the place in the file, and Refusal.
    """
    source, folder = _source(spec)
    data = parse(source)
    if "text" in spec:
        _refuse_files(data, source, folder)
    for name in OTHERS:
        data.pop(name, None)
    if traffic is not None:
        fabric = {name: copy.deepcopy(data[name]) for name in FABRIC if name in data}
        others = {name: value for name, value in traffic.written.items() if name not in FABRIC}
        name = str(data.get("name") or spec.get("file") or "second")
        data = {**copy.deepcopy(others), **fabric, "name": name}
        folder = folder or traffic.scenario.base_dir
    for path, value in dict(spec.get("settings") or {}).items():
        steps = str(path).split(".")
        if any(_file_keys({steps[-1]: value})):
            raise Refusal(f"{path} cannot be set from the page.")
        put(data, steps, value)
    if traffic is not None and data["name"] == traffic.written.get("name"):
        data["name"] = f"{data['name']}, {_different(data, traffic.written)}"
    scenario = build(data, source if traffic is None else SourceMap(), folder or Path())
    return Chosen(scenario, data, source.text)


def _source(spec: Mapping[str, Any]) -> tuple[SourceMap, Path | None]:
    if "path" in spec:
        path = Path(spec["path"])
        return read(path)[1], path.parent
    if "shelf" in spec:
        path = shelf.path_of(str(spec["shelf"]))
        return SourceMap(path.name, path.read_text(encoding="utf-8"), "toml"), path.parent
    name, text = spec.get("file"), spec.get("text")
    if not isinstance(name, str) or not isinstance(text, str):
        raise Refusal("There is no scenario in this request.")
    name = Path(name.replace("\\", "/")).name[:200] or "scenario.toml"
    kind = KINDS.get(Path(name).suffix.lower())
    if kind is None:
        hint = "a scenario is a .toml, .yaml or .json file"
        raise ScenarioError(f'"{Path(name).suffix}" is not a kind of scenario file', None, hint, file=name)
    folder = Path(spec["folder"]) if "folder" in spec else None
    return SourceMap(name, text.removeprefix("\ufeff"), kind), folder


def _refuse_files(data: Any, source: SourceMap, folder: Path | None) -> None:
    """Refuse scenarios from the browser that name files other than those sent with them."""
    for here, value in _file_keys(data):
        # A file that was sent with the scenario lies in its folder.
        if folder is None or Path(str(value)).name != value or value not in os.listdir(folder):
            message = "the page does not have this file"
            hint = "drop it together with the scenario, or start the page with both: fabriloom page FILE"
            raise ScenarioError(message, here, hint, source.place(here), source.file)


def _file_keys(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield path and value of every key that names a file."""
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inner:
        here = (*path, key)
        if str(key).split(".")[-1] in FILE_KEYS:
            yield here, value
        yield from _file_keys(value, here)


def put(data: dict[str, Any], steps: list[str], value: Any) -> None:
    """Set a value at a path; the short form of a table becomes that table. ``None`` removes the value."""
    table = data
    for step in steps[:-1]:
        inner = table.get(step)
        table[step] = inner if isinstance(inner, dict) else {} if inner is None else {"kind": inner}
        table = table[step]
    if value is None:
        table.pop(steps[-1], None)
    else:
        table[steps[-1]] = value


def _different(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Return the differences of two fabrics as a short text."""
    ours, theirs = (
        {path: value for path, value in flatten(data).items() if path.partition(".")[0] in FABRIC}
        for data in (one, other)
    )
    words = [
        f"{path.rpartition('.')[2]} = {_word(value)}"
        for path, value in ours.items()
        if theirs.get(path) != value
    ]
    return ", ".join(words[:2]) or "second"


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_LINK_LENGTHS = tuple(f"{size} B" for size in (8, 16, 32, 64, 128, 256, 512, 1024))
_RING_LENGTHS = {"lock": ("16 B",), "": ("16 B", "64 B", "256 B")}
_BUFFERS = tuple(f"{size} B" for size in (16, 32, 43, 64, 128, 256, 512))
_MESSAGES = tuple(f"{size} B" for size in (64, 128, 256, 512, 1024, 2048, 4096))
_RATES = tuple(f"{rate} kHz" for rate in (1, 2, 5, 10, 15, 20, 30, 40, 60))
_FLITS = (1, 2, 4, 8, 16, 32, 64)
_PLACES = (1, 2, 4, 8, 16, 32)
_SCALES = (
    ("Input buffer", "input_buffer", _BUFFERS),
    ("Input buffer (flits)", "input_buffer_flits", _FLITS),
    ("Places to receive", "requests_in", _PLACES),
)
"""Settings of a technology, if it has them."""
_FACTORS = (Fraction(1, 4), Fraction(1, 2), 1, 2, 4)
"""Rates of links, as parts of the present one."""
_DELAYS = ("1 ns", *(f"{100 * 2**n} ns" for n in range(8)))

Settings = dict[str, Any]


def controls(scenario: Scenario) -> list[dict[str, Any]]:
    """Return the controls in order: ``{label, part, ordered, options: [{text, settings}], at}``.

    ``at`` is the current option; ``part`` is ``fabric``, or ``traffic``, which two fabrics share; ``ordered``
    says whether the options are values of a scale.
    """
    resolved = scenario.resolve()
    program = resolved.get("program")
    found = [*(_traffic(scenario, resolved["traffic"]) if program is None else _program(program))]
    found += _technology(resolved["technology"])
    return [*found, *_routing(scenario, resolved["routing"])]


def _control(
    label: str, part: str, options: Sequence[tuple[str, Settings]], at: int, ordered: bool = False
) -> dict[str, Any]:
    return {
        "label": label,
        "part": part,
        "ordered": ordered,
        "at": at,
        "options": [{"text": text, "settings": settings} for text, settings in options],
    }


def _scale(label: str, part: str, path: str, values: Sequence[Any], now: Any) -> dict[str, Any]:
    """Return a slider over values, which include the current one."""
    values = list(values)
    if now not in values:
        values = sorted([*values, now], key=_size)
    options = [(_text(value), {path: value}) for value in values]
    return _control(label, part, options, values.index(now), ordered=True)


def _size(value: Any) -> float:
    if not isinstance(value, str):
        return float(value)
    if value.endswith("B"):
        return float(units.parse_bytes(value))
    if value.endswith("Hz"):
        return float(units.parse_event_rate_millihz(value))
    return float(units.parse_time_ps(value))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return "none" if value.startswith("0 ") else value
    return f"{value:g}"


def _traffic(scenario: Scenario, traffic: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if scenario.traffic.needs_load():
        loads = [*(n / 100 for n in (1, 2, 3, 4, 6, 8)), *(n / 20 for n in range(2, 21))]
        yield _percentages("Offered load", "traffic.load", loads, traffic["load"])
    if scenario.traffic.is_rated():
        scales = (0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.5, 1.7, 2.0, 2.5, 3.0, 5.0)
        yield _scale("Rates multiplied by", "traffic", "traffic.scale", scales, traffic["scale"])
    length, pattern = traffic["length"], traffic["pattern"]
    if length["kind"] == "fixed" and pattern["kind"] not in ("descriptors", "flows"):
        lengths = _LINK_LENGTHS
        if "transaction" in traffic:
            lengths = _RING_LENGTHS.get(traffic["transaction"], _RING_LENGTHS[""])
        if len(lengths) > 1:
            yield _scale("Packet length", "traffic", "traffic.length", lengths, length["value"])
    if pattern["kind"] in ("local", "hot-spot"):
        yield _share(pattern)


def _program(program: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if isinstance(program.get("rate"), str):
        now = program["rate"]
        faster = [units.format_event_rate(units.parse_event_rate_millihz(now) * times) for times in (2, 4, 8)]
        rates = sorted({*_RATES, now, *faster}, key=_size)
        yield _scale("Events attempted", "traffic", "program.rate", rates, now)
    for name, label in (("block", "Block of data"), ("fragment", "Fragment"), ("size", "Message")):
        if isinstance(program.get(name), str):
            yield _scale(label, "traffic", f"program.{name}", _MESSAGES, program[name])


def _share(pattern: dict[str, Any]) -> dict[str, Any]:
    local = pattern["kind"] == "local"
    shares = [n / 10 for n in range(0 if local else 1, 11)]
    label = "Locality" if local else "Share to the hot spot"
    return _percentages(label, "traffic.pattern.share", shares, pattern["share"])


def _percentages(label: str, path: str, values: Sequence[float], now: float) -> dict[str, Any]:
    found = _scale(label, "traffic", path, values, now)
    for option in found["options"]:
        option["text"] = f"{100 * option['settings'][path]:.3g} %"
    return found


def _technology(technology: dict[str, Any]) -> Iterator[dict[str, Any]]:
    def scale(label: str, name: str, values: Sequence[Any], now: Any) -> dict[str, Any]:
        return _scale(label, "fabric", f"technology.{name}", values, now)

    for label, name, values in _SCALES:
        if name in technology:
            now = technology[name]
            large = isinstance(now, int) and now > _FLITS[-1]
            yield scale(label, name, [now * factor for factor in (1, 2, 4)] if large else values, now)
    for label, name in (("Link rate", "link_rate"), ("Cycle", "cycle")):
        if name in technology:
            yield scale(label, name, _multiples(technology[name]), technology[name])
    if "arbiter" in technology:
        words = get_args(Arbiter)
        options = [(word, {"technology.arbiter": word}) for word in words]
        yield _control("Arbiter", "fabric", options, words.index(technology["arbiter"]))
    if "retry" in technology:
        yield scale("Retry delay", "retry.delay", _DELAYS, technology["retry"]["delay"])
    for label, name in (("Bandwidth allocation", "bandwidth_allocation"), ("Phases", "phases")):
        if name in technology:
            now = technology[name]
            values = {"off": False, "on": True} | ({now: now} if isinstance(now, str) else {})
            settings = [(text, {f"technology.{name}": value}) for text, value in values.items()]
            yield _control(label, "fabric", settings, [*values.values()].index(now))


def _multiples(now: str) -> list[str]:
    """Return a rate, or the length of a cycle, with multiples of it."""
    if not now.endswith("/s"):
        parse, write = units.parse_cycle_ps, units.format_cycle
    else:
        parse = units.parse_byte_rate_bits_per_s
        write = units.format_byte_rate if now.endswith("B/s") else units.format_rate_bits_per_s
    return [now if factor == 1 else write(parse(now) * factor) for factor in _FACTORS]


def _routing(scenario: Scenario, routing: dict[str, Any]) -> Iterator[dict[str, Any]]:
    ways = _ways(structure_of(scenario.topology))
    if not ways:
        return
    now = {f"routing.{name}": value for name, value in routing.items()}
    # A setting of None must be absent.
    found = [at for at, (_, way) in enumerate(ways) if all(now.get(path) == way[path] for path in way)]
    if not found:
        ways = [("as in the file", {}), *ways]
    yield _control("Routing", "fabric", ways, found[0] if found else 0)


def _ways(kind: str) -> list[tuple[str, Settings]]:
    """Return the routings of a topology, each with all its settings, so that one replaces another."""

    def way(kind: str, adaptive: bool = True, universal: bool = False, **more: Any) -> Settings:
        given = {"kind": kind, "adaptive": adaptive, "universal": universal, "spread": None, **more}
        return {f"routing.{name}": value for name, value in given.items()}

    if kind in ("torus", "ring"):
        order = "dimension-order"
        return [
            ("dimension order, as the lanes allow", way("auto", variant=None)),
            ("shorter direction (can deadlock)", way(order, variant="minimal")),
            ("no transit over the edges", way(order, variant="no-edge-transit")),
            ("up*/down*", way("up-star-down-star", variant=None)),
        ]
    usual = usual_routing(kind)
    if usual not in ("dimension-order", "up-down"):
        return []
    ways = [
        ("adaptive within groups", way(usual)),
        ("deterministic", way(usual, adaptive=False)),
        ("universal (random intermediate switch)", way(usual, universal=True)),
    ]
    return ways if usual == "up-down" else [*ways, ("up*/down*", way("up-star-down-star"))]
