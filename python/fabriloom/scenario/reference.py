"""Write the reference pages of scenarios and technology presets from the schema and the presets.

``python -m fabriloom.scenario.reference docs/reference`` writes them; a test compares.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fabriloom import units
from fabriloom.scenario import json_schema
from fabriloom.technology import Preset, presets, ring_technology, technology
from fabriloom.technology.presets import Entry, is_ring
from fabriloom.technology.protocols import interfaces, protocols

_UNITS = (
    (
        "time",
        units.TIME_PS,
        "`2 us`; in a run, its traffic, programs and faults also `500 cycles`, where links count in flits",
    ),
    (
        "size",
        units.BYTES,
        "`64 B`; kB is 1000 bytes, KiB 1024. Of packets also `5 flits` where links count in flits",
    ),
    ("rate", units.RATE_BITS_PER_S, "`100 Mbit/s`, always in bits"),
    ("rate of a ring", units.BYTE_RATE_BITS_PER_S, "`500 MB/s`, or in bits"),
    ("frequency", units.EVENT_RATE_MILLIHZ, "`45 kHz`"),
    ("length", units.LENGTH_M, "`2 m`"),
    ("delay of a cable", units.DELAY_PS_PER_M, "`5 ns/m`"),
)

_HEAD = """# Scenarios

Written by `python -m fabriloom.scenario.reference docs/reference`; do not edit it.

A scenario describes a network, its traffic and how to run it. It is a TOML file; YAML and JSON of the same
structure are accepted as well. Only `[topology]` is required. Unknown keys are refused. Paths are relative
to the folder of the scenario. `fabriloom schema` prints the JSON Schema for editors. `fabriloom check FILE
--resolved` prints the resolved form, in which every default is filled in; it is a scenario itself, and its
SHA-256 is in every result.

`--set path=value` changes a setting from the command line. The path is dotted (`traffic.load`,
`topology.shape.0`); the value is read as TOML or, if it is not TOML, as a string.

In the tables *name* is a terminal or a switch, by its number or its name, and a value with a unit is a
string. Mb/s, MB/s for the rate of links other than SCI, and numbers without a unit are refused, because they
are ambiguous. `1…8` is a whole number from 1 to 8, `0…` one from 0 on; *number* 0…1 may have a fraction.
*Default* is the value if none is given. `flows[].rate` is a key of each table of a list, which is written
inline or as `[[traffic.pattern.flows]]`. A heading like `cable` is a value of `kind`, or of `preset`.
Beside the `path` of a file, `sha256` is the checksum that it must have; resolving fills it in.

| value | units | such as |
|---|---|---|
"""


_QUANTITY = {
    "64 B": "size",
    "2 us": "time",
    "2 ms": "time",
    "1 ns": "time or frequency",
    "45 kHz": "frequency",
    "2 m": "length",
    "5 ns/m": "delay",
}
"""What a setting with a unit is called, by its example; all others are rates."""
_NUMBER_OR_NAME = {"integer", "string"}
"""Types of a field that names a terminal or a switch."""
_CODES = "[time-codes and interrupts](../guides/spacewire-hardware.md#time-codes-and-interrupts)"
_SEE = {
    "interface": "[interface chips](../background/wormhole-model.md#interface-chips)",
    "fault": "[faults](faults.md)",
    "time_code": _CODES,
    "interrupt": _CODES,
    "broadcast": "[broadcasts](../guides/spacefibre.md#broadcasts)",
}
"""The page that explains each list of tables."""


def scenario_page() -> str:
    schema = json_schema()
    definitions: dict[str, Any] = schema["$defs"]  # type: ignore[assignment]
    properties: dict[str, Any] = schema["properties"]  # type: ignore[assignment]
    for model in definitions.values():
        model.get("properties", {}).pop("sha256", None)  # said once, at the head
    lines = [_HEAD.rstrip("\n")]
    lines += [f"| {what} | {', '.join(names)} | {example} |" for what, names, example in _UNITS]
    lines += ["", "## At the top", ""]
    tables = ("topology", "technology", "routing", "ports", "congestion_control", "traffic")
    tables, lists = (*tables, "protocol", "program", "run", "output", "study"), tuple(_SEE)
    lines += property_table({k: v for k, v in properties.items() if k not in (*tables, *lists)}, [])
    for name in tables:
        lines += ["", f"## [{name}]", ""]
        lines += _section(name, _given(properties[name]), definitions)
    for name in lists:
        see = _SEE[name]
        lines += ["", f"## [[{name}]]", "", f"{properties[name]['description']}. See {see}.", ""]
        [entry] = _entries(properties[name], definitions)
        lines += property_table(entry["properties"], entry.get("required", []))
    return "\n".join(lines) + "\n"


def _given(field: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an optional section without the alternative that it is missing."""
    options = [option for option in field.get("anyOf", []) if option.get("type") != "null"]
    return {**options[0], "description": field["description"]} if options else field


def _section(section: str, field: dict[str, Any], definitions: dict[str, Any]) -> list[str]:
    if "$ref" not in field:
        return [f"{field['description']}.", *_kinds(field, definitions, "###")]
    model = _of(field, definitions)
    lines = [model["description"], "", *property_table(model["properties"], model.get("required", []))]
    for key, inner in model["properties"].items():
        choice = next((c for c in inner.get("anyOf", []) if "discriminator" in c), None)
        if choice:
            lines += ["", f"### {key}", *_kinds(choice, definitions, "####")]
        lines += _inner(f"{section}.{key}", inner, definitions)
    return lines


def _inner(name: str, field: dict[str, Any], definitions: dict[str, Any]) -> list[str]:
    """Return the section of an optional table within a table, and the keys of the tables in it by name."""
    [option] = [option for option in field.get("anyOf", []) if "$ref" in option][:1] or [None]
    if option is None:
        return []
    model = _of(option, definitions)
    lines = ["", f"### [{name}]", "", model["description"], ""]
    lines += property_table(model["properties"], model.get("required", []))
    for key, inner in model["properties"].items():
        entry = inner.get("additionalProperties", {})
        if "$ref" in entry:
            each = _of(entry, definitions)
            lines += ["", f"Each entry of `{key}`:", ""]
            lines += property_table(each["properties"], each.get("required", []))
    return lines


def _kinds(field: dict[str, Any], definitions: dict[str, Any], level: str) -> list[str]:
    tag, lines = field["discriminator"]["propertyName"], []
    seen: dict[str, list[str]] = {}
    for kind, reference in field["discriminator"]["mapping"].items():
        seen.setdefault(reference, []).append(kind)
    models = [_of(option, definitions) for option in field["oneOf"]]
    common, without = _common(models)
    if common:
        kept = "" if without is None else f" but {_first(seen, field['oneOf'][without])}"
        lines += ["", f"With every {tag}{kept}:", "", *_table_of(common, definitions)]
    shared = _shared(models, {tag, *common})
    if shared:
        lines += ["", "Of several, which say *also*:", "", *_table_of(shared, definitions)]
    for option, model in zip(field["oneOf"], models, strict=True):
        own = {
            k: v for k, v in _marked(model).items() if k != tag and common.get(k) != model["properties"][k]
        }
        lines += ["", f"{level} {_names(seen, option)}", "", model["description"]]
        also = [key for key, value in own.items() if shared.get(key) == value]
        if len(also) < len(own):
            rows = _opened({k: v for k, v in own.items() if k not in also}, definitions)
            known = _opened(common, definitions)
            lines += ["", *property_table({k: v for k, v in rows.items() if known.get(k) != v}, [])]
        if also:
            lines += ["", f"Also {', '.join(f'`{key}`' for key in also)}."]
    return lines


def _marked(model: dict[str, Any]) -> dict[str, Any]:
    """Return the properties of a model, each with whether it is needed."""
    needed = set(model.get("required", []))
    return {key: {**field, "needed": key in needed} for key, field in model["properties"].items()}


def _shared(models: list[dict[str, Any]], without: set[str]) -> dict[str, Any]:
    """Return the properties that at least two models have alike."""
    found: dict[str, list[Any]] = {}
    for model in models:
        for key, field in _marked(model).items():
            found.setdefault(key, []).append(field)
    best = {key: max(fields, key=fields.count) for key, fields in found.items() if key not in without}
    alike = {key: field for key, field in best.items() if found[key].count(field) > 1}
    few = sum(found[key].count(field) for key, field in alike.items()) < 3
    return {} if few else alike


def _table_of(properties: dict[str, Any], definitions: dict[str, Any]) -> list[str]:
    return property_table(_opened(properties, definitions), [])


def _names(seen: dict[str, list[str]], option: dict[str, Any]) -> str:
    return ", ".join(f"`{name}`" for name in seen[option["$ref"]])


def _first(seen: dict[str, list[str]], option: dict[str, Any]) -> str:
    """Name what a model is for by the first of it, as the heading of its table has them all."""
    names = seen[option["$ref"]]
    return f"`{names[0]}`" + (" and those of its table" if len(names) > 1 else "")


def _common(models: list[dict[str, Any]]) -> tuple[dict[str, Any], int | None]:
    """Return the most properties that all models share, or all but one, and the index of that one."""
    best: tuple[dict[str, Any], int | None] = {}, None
    for without in (None, *range(len(models) if len(models) > 2 else 0)):
        others = [model["properties"] for number, model in enumerate(models) if number != without]
        shared = {k: v for k, v in others[0].items() if all(inner.get(k) == v for inner in others)}
        if len(shared) > len(best[0]):
            best = shared, without
    return best


def _opened(properties: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Return properties with those of inner tables as dotted names, and with those of lists of tables."""
    found: dict[str, Any] = {}
    for name, field in properties.items():
        inner = _of(field, definitions)["properties"] if "$ref" in field else None
        found |= {name: field} if inner is None else {f"{name}.{key}": each for key, each in inner.items()}
        for model in _entries(field, definitions):
            needed = model.get("required", [])
            each = {key: {**own, "needed": key in needed} for key, own in model["properties"].items()}
            found |= {f"{name}[].{key}": own for key, own in each.items()}
    return found


def _entries(field: dict[str, Any], definitions: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the schema of the tables if a field is a list of tables."""
    lists = [option.get("items", {}) for option in [field, *field.get("anyOf", [])]]
    return [_of(item, definitions) for item in lists if "$ref" in item]


def property_table(properties: dict[str, Any], required: list[str]) -> list[str]:
    """Return the lines of a Markdown table of keys, by their JSON Schema; of one or two a sentence each."""
    rows: list[tuple[str, str, str, str]] = []
    for name, field in sorted(properties.items(), key=lambda item: not _is_first(*item, required)):
        text = str(field.get("description", "")).replace("|", "\\|")
        told = None if _default(field) else _IF_NOT_GIVEN.search(text)
        text = text if told is None else _IF_NOT_GIVEN.sub("", text)
        default = (told[1] or told[2]) if told else _default(field)
        default = "required" if name in required or field.get("needed") else default
        rows.append((f"`{name}`", _type(field), default, text))
    if len(rows) < 3:
        mark = "* " if len(rows) > 1 else ""
        return [f"{mark}{key}, {kind}{_in_brackets(default)}: {text}" for key, kind, default, text in rows]
    return ["| key | value | default | |", "|---|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]


def _in_brackets(default: str) -> str:
    return default and f" ({'' if default == 'required' else 'default: '}{default})"


def _is_first(name: str, field: dict[str, Any], required: list[str]) -> bool:
    return name in required or (bool(field.get("needed")) and "[]" not in name)


_IF_NOT_GIVEN = re.compile(r"(?:[;.,] [Ii]f not given, ([^;.]+?)|[;.,] ([^;.,]+) if not given)(?=\.|$)")


def _default(field: dict[str, Any]) -> str:
    default = field.get("default")
    if default in (None, "", {}):
        return ""
    if isinstance(default, dict):
        default = default.get("value", default.get("kind", default.get("preset")))
    return f"`{default}`" if isinstance(default, str) else f"`{json.dumps(default)}`"


def _type(field: dict[str, Any]) -> str:
    """Describe the values that a field accepts."""
    options = [option for option in field.get("anyOf", []) if option.get("type") != "null"]
    has_words = any("const" in option or "enum" in option for option in options)
    if {option.get("type") for option in options} == _NUMBER_OR_NAME and not has_words:
        return "name"
    if has_words and any("discriminator" in option for option in options):
        return "kind or table, see below"
    if options:
        return " or ".join(dict.fromkeys(_type(option) for option in options))
    if "enum" in field or "const" in field:
        return ", ".join(f"`{json.dumps(v)}`" for v in field.get("enum", [field.get("const")]))
    if "discriminator" in field:
        return "table, see below"
    if "$ref" in field:
        return "table"
    if field.get("type") == "array":
        return "list of tables" if "$ref" in field["items"] else f"list of {_plural(_type(field['items']))}"
    kind, example = field.get("type", ""), field.get("examples")
    if kind in ("integer", "number"):
        return _number(field)
    if kind == "string":
        return _QUANTITY.get(str(example[0]), "rate") if example else "string"
    return {"boolean": "boolean", "object": "table"}.get(kind, "value")


def _plural(what: str) -> str:
    """Return what :func:`_type` says of one value, for several."""
    return re.sub(r"\b(number|name|string|list|table)\b", r"\1s", what)


def _number(field: dict[str, Any]) -> str:
    """Return the range of a number, such as 1…8; whole numbers have no word before it."""
    low, above = field.get("minimum"), field.get("exclusiveMinimum")
    high, below = field.get("maximum"), field.get("exclusiveMaximum")
    first = f"above {above:.12g}" if above is not None else "" if low is None else f"{low:.12g}"
    last = ""
    if high is not None and high < 2**40:
        last = f"{high:.12g}"
    elif below is not None and below < 2**40:
        last = f"below {below:.12g}"
    span = f"{first}…{last}" if first or last else ""
    return span if span and field["type"] == "integer" else f"number {span}".rstrip()


def _of(field: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    return definitions[field["$ref"].rpartition("/")[2]]


_PRESETS = """# Technology presets

Written by `python -m fabriloom.scenario.reference docs/reference`; do not edit it.

Rates, buffers and delays of links and switches. `preset` in `[technology]` chooses a set of values, each of
which can be changed beside it. A value is *given* (printed in its source), *counted* (in clock cycles of the
published hardware description, whose files the source names), *calibrated* (fitted to a published result) or
*assumed* (none of these; the source gives the reason). [technologies.csv](technologies.csv) lists every value
of every preset with its source, with section or page; what a preset shares with the one that it is based on
stands there once.

Every character takes the time of its own bits and, with `flow_control = "average"`, of its share of a
flow-control character for the opposite direction: for a DS-Link 10 + 4/8 bits, hence 9.52 MB/s on a cable
that is busy in both directions. [The model](../background/wormhole-model.md#flow-control-characters)
explains this and `"matched"`, and [how times are rounded](../background/wormhole-model.md#ticks-and-grains).

What only [faults](faults.md), or [time-codes and
interrupts](../guides/spacewire-hardware.md#time-codes-and-interrupts), need is not in the resolved form
without them.

Presets of rings have other settings: packets of symbols, stations with queues, buses. [The ring
model](../background/ring-model.md) explains them. A load of 1 means requests of the transaction, with their
idle symbols, back to back on the sender's link.
"""


_INTERFACES = """
# Presets of interface chips

What is between a terminal and its SpaceWire link; `preset` in [`[[interface]]`](scenario.md#interface)
chooses a set of values. [The model](../background/wormhole-model.md#interface-chips) says how they are used.
"""

_PROTOCOLS = """
# Presets of protocols

How the messages of a [program](scenario.md#program) become packets; `preset` in `[protocol]` chooses a set
of values. [Programs and messages](../background/programs.md) explains the settings.
"""


def presets_page() -> str:
    lines = [_PRESETS.rstrip("\n"), "", *_derived_links(), "", *_derived_rings(), *_preset_lists(presets())]
    lines += [_INTERFACES.rstrip("\n"), *_preset_lists(interfaces())]
    lines += [_PROTOCOLS.rstrip("\n"), *_preset_lists(protocols())]
    return "\n".join(lines) + "\n"


def _own(preset: Preset, found: Mapping[str, Preset]) -> dict[str, Entry]:
    """Return what a preset has otherwise than the one it is based on."""
    base = found[preset.base].entries if preset.base else {}
    return {key: entry for key, entry in preset.entries.items() if base.get(key) != entry}


def _preset_lists(found: Mapping[str, Preset]) -> list[str]:
    """Return what each preset is, and which one it is based on."""
    lines: list[str] = []
    for preset in found.values():
        told = not preset.base or f"s {preset.base}" in preset.about
        based = "" if told else f" Otherwise as `{preset.base}`."
        lines += ["", f"## {preset.name}", "", f"**{preset.title}.** {preset.about}{based}"]
    return lines


def presets_table() -> str:
    """Return ``docs/reference/technologies.csv``: every value of every preset with its source."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["preset", "setting", "value", "known as", "source"])
    for found in (presets(), interfaces(), protocols()):
        for preset in found.values():
            for key, entry in _own(preset, found).items():
                shown = entry.value if isinstance(entry.value, str) else json.dumps(entry.value)
                writer.writerow([preset.name, key, shown, entry.kind, entry.source])
    return text.getvalue()


def _derived_rings() -> list[str]:
    lines = [
        "| preset of rings | symbol, ns | 64 B request, idles, ns | payload so, MB/s | on a bus, ns |",
        "|---|---|---|---|---|",
    ]
    for name in filter(is_ring, presets()):
        ring = ring_technology(name)
        times = (ring.symbol_ps(), ring.packet_ps(64), ring.bus_transfer_ps(int(ring.request_bytes(64))))
        symbol, unit, bus = (f"{float(time) / 1000:g}" for time in times)
        lines.append(f"| `{name}` | {symbol} | {unit} | {ring.payload_bytes_per_s(64) / 1e6:.5g} | {bus} |")
    return lines


def _derived_links() -> list[str]:
    lines = [
        "| preset | character, ns | end, ns | 64 B packet, ns | payload so, MB/s | in an endless one, MB/s |",
        "|---|---|---|---|---|---|",
    ]
    for name in presets():
        if is_ring(name):
            continue
        link = technology(name)
        times = (link.character_ps(), link.end_ps(), link.packet_ps(64))
        rates = (link.payload_bytes_per_s(64), link.data_bytes_per_s())
        cells = [f"{float(time) / 1000:g}" for time in times]
        cells += [f"{rate / 1e6:.{5 if rate < 1e11 else 7}g}" for rate in rates]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return lines


PAGES: dict[str, Callable[[], str]] = {
    "scenario.md": scenario_page,
    "technologies.md": presets_page,
    "technologies.csv": presets_table,
}
"""Each page by name, with the function that returns its text."""


def write(folder: Path) -> None:
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
