"""Translate the schema's errors to sentences with a place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError

from fabriloom import units
from fabriloom.scenario.errors import Path, ScenarioError
from fabriloom.scenario.fields import Later, OneOf
from fabriloom.scenario.in_flits import in_cycles
from fabriloom.scenario.schema import Scenario
from fabriloom.scenario.sections.routing import ALIASES
from fabriloom.scenario.source import OTHER_WORDS, SourceMap

_MOST_PLACED = 20
"""Most mistakes whose place is searched: each costs another reading, and three are shown."""
_TAGS = ("kind", "preset")
_SECTIONS = {
    "topology": '\n      kind = "grid"\n      shape = [4, 4]',
    "require": "\n      terminals = 64",
    "cost": "\n      switch = 100\n      cable = 5",
}
"""Minimal content of a section."""
_OTHER_FILES = {
    "require": "this file has requirements: give it to `fabriloom design`, which finds networks",
    "topology": "this file is a scenario: use `fabriloom run`; requirements have [require], not a network",
}
"""What a file is that has a section of the other kind of files."""
_TYPES = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "a string in quotes",
    "bool_type": "true or false",
    "list_type": "a list in brackets",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "finite_number": "a finite number",
}
_BOUNDS = {
    "greater_than": ("gt", "above"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "below"),
    "less_than_equal": ("le", "at most"),
}


def translate(
    error: ValidationError, data: dict[str, Any], source: SourceMap, root: type[BaseModel] = Scenario
) -> ScenarioError:
    """Return one error for all mistakes that the schema ``root`` found, in the order of the file."""
    found: list[ScenarioError] = []
    paths: set[Path] = set()
    count = error.error_count()
    details = error.errors(include_url=False)[:_MOST_PLACED]
    unknown = {tuple(d["loc"]) for d in details if d["type"] == "extra_forbidden"}
    for detail in details:
        if detail["type"] == "missing" and _misspelt(detail["loc"], unknown):
            continue
        path, rest = _written(detail["loc"], data)
        # Each form that a value may have reports the value; the first is enough.
        where = (*path, rest) if rest is not None and detail["type"] == "missing" else path
        if where in paths:
            continue
        paths.add(where)
        found.append(_one(detail, path, rest, data, _Where(source, root)))
    found.sort(key=lambda e: (e.place is None, e.place.line if e.place else 0))
    first = found[0]
    first.others = tuple(found[1:])
    first.unplaced = count - len(details)
    if not first.place:
        first.in_file(source.file)
    for other in found[1:]:
        other.in_file(source.file)
    return first


def _misspelt(loc: tuple[Any, ...], unknown: set[tuple[Any, ...]]) -> bool:
    """Whether a missing key exists under a similar name; that name is reported instead."""
    return any(loc[:-1] == other[:-1] and units.nearest(str(other[-1]), [str(loc[-1])]) for other in unknown)


def _written(loc: tuple[Any, ...], data: Any) -> tuple[Path, str | None]:
    """Return the path as written, without the schema's own steps, and the last step if it does not exist."""
    path: list[str | int] = []
    for index, written in enumerate(loc):
        step: Any = written
        if isinstance(data, dict) and step not in data:
            step = next((word for word, name in OTHER_WORDS.items() if name == step and word in data), step)
        inside = isinstance(data, list) and isinstance(step, int) and step < len(data)
        if isinstance(data, dict) and step in data and _is_kind(step, data, loc[index + 1 :]):
            continue
        if inside or (isinstance(data, dict) and step in data):
            data = data[step]
            path.append(step)
        elif index == len(loc) - 1 and isinstance(step, str) and isinstance(data, dict | str) and index > 0:
            return tuple(path), None if step in _tags_of(data) else step
        elif index == 0:
            return (), str(step)
    return tuple(path), None


def _is_kind(step: Any, data: dict[str, Any], rest: tuple[Any, ...]) -> bool:
    """Whether a step is the kind of a table, which a key of the table happens to be called, too."""
    below = data[step]
    return (
        step in _tags_of(data)
        and bool(rest)
        and isinstance(rest[0], str)
        and not (isinstance(below, dict) and rest[0] in below)
    )


def _tags_of(data: Any) -> list[Any]:
    return [data.get(tag) for tag in _TAGS] if isinstance(data, dict) else [data]


@dataclass(frozen=True)
class _Where:
    """The schema of a file and the places of its values."""

    source: SourceMap
    root: type[BaseModel]

    @property
    def what(self) -> str:
        """Name of this kind of file."""
        return "a scenario" if self.root is Scenario else "the requirements"


def _one(detail: Any, path: Path, rest: str | None, data: dict[str, Any], where: _Where) -> ScenarioError:
    kind, ctx = detail["type"], detail.get("ctx", {})
    value = _at(data, path)
    if kind == "extra_forbidden":
        return _unknown(path, data, where)
    if kind == "missing":
        return _missing(path, str(rest), data, where)
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return _tag(kind, path, value, ctx, data, where)
    message, hint = message_of(detail, value, path)
    return ScenarioError(message, path, hint, where.source.place(path))


def message_of(detail: Any, value: Any, path: Path) -> tuple[str, str]:
    """Return what is wrong with a value, and what to write instead; ``detail``: one of pydantic's errors."""
    kind, ctx, name = detail["type"], detail.get("ctx", {}), _dotted(path)
    if isinstance(ctx.get("error"), units.UnitError):
        return f"{name}: {ctx['error'].message}", ctx["error"].hint
    if kind in _TYPES:
        return f"{name} must be {_TYPES[kind]}, found {_show(value)}", _unquote(kind, value, path)
    if kind in _BOUNDS:
        key, words = _BOUNDS[kind]
        message = f"{name} is {_show(value)}, it must be {words} {_number(ctx[key])}"
        if path[-1:] == ("load",):
            return (
                message,
                "1 is the most that the link of a terminal can carry (100 %); write a fraction such as 0.5",
            )
        number = "" if words.startswith("at ") else "a number "
        return message, f"write {number}{words} {_number(ctx[key])}"
    if kind in ("literal_error", "enum"):
        if value == []:
            return f"{name} is an empty list", "name at least one, or leave it out"
        if isinstance(value, str) and (several := units.as_range(value)):
            return f"{name} cannot be {_show(value)}", f'write ["{several}"], a list with this range'
        expected = ctx["expected"].replace("'", '"').replace("True", "true").replace("False", "false")
        choices = [word.strip(' "') for word in expected.replace(" or ", ",").split(",")]
        near = units.nearest(str(value), choices) if isinstance(value, str) else None
        hint = (f'did you mean "{near}"? ' if near else "") + "choices: " + expected
        return f"{name} cannot be {_show(value)}", hint
    if kind == "string_unicode":
        return f"{name} holds half of a character (a lone surrogate)", "write the whole character"
    if kind == "too_short":
        least = ctx["min_length"]
        entries = "entry" if least == 1 else "entries"
        return f"{name} needs at least {least} {entries}, found {ctx['actual_length']}", "add some"
    if kind == "too_long":
        return f"{name} may have at most {ctx['max_length']} entries", "shorten it"
    if kind == "string_pattern_mismatch":
        return f"{name} is {_show(value)}, not a checksum of 64 hexadecimal digits", "leave it out"
    return f"{name}: {detail['msg'][:1].lower()}{detail['msg'][1:]}, found {_show(value)}", ""


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(int(value))


def _unquote(kind: str, value: Any, path: Path) -> str:
    if kind == "bool_type":
        return "write true or false, without quotes"
    if kind.startswith(("int", "float")) and isinstance(value, str):
        if path[-1:] == ("load",) and re.search(r"[A-Za-z]/s|Hz", value):
            return f'a load is a fraction of what a link carries, such as 0.5; write rate = "{_short(value)}"'
        if "%" in value:
            return "write a fraction, such as 0.5 for 50 %"
        if re.search(r"\d\s*[A-Za-z]", value) and not re.search(r"\de[+-]?\d", value):
            of_load = "a load is a fraction of what a link carries, such as 0.5"
            return of_load if path[-1:] == ("load",) else "write a number without a unit"
        return "write it without quotes" if re.search(r"\d", value) else "write digits, without quotes"
    if kind == "int_type" and isinstance(value, float):
        return "write it without a fraction"
    tables = isinstance(value, dict), isinstance(value, list) and bool(value) and isinstance(value[0], dict)
    if any(tables) and all(isinstance(step, str) for step in path):
        if kind == "list_type" and tables[0]:
            return f"write [[{_dotted(path)}]], in double brackets"
        if kind != "list_type" and tables[1]:
            return f"write [{_dotted(path)}], in single brackets"
    if kind == "list_type" and isinstance(value, str) and ".." in value:
        return f'write ["{_short(value)}"], in brackets'
    fixed = {
        "finite_number": "write a number such as 0.5",
        "list_type": "write a list such as [8, 8]",
        "string_type": "write it in quotes",
    }
    if kind in fixed:
        return fixed[kind]
    if kind.startswith("model") and len(path) == 1:
        return f"write a section [{path[0]}]"
    return "see `fabriloom schema` for the settings" if isinstance(value, dict | list) else ""


def _unknown(path: Path, data: dict[str, Any], where: _Where) -> ScenarioError:
    name, above = str(path[len(path) - 1]), path[:-1]
    allowed = keys_at(above, data, where.root)
    longer = [key for key in allowed if name in key.split("_")]
    alone = longer[0] if len(longer) == 1 else None
    near = units.nearest(name, allowed) or alone
    hint = f'did you mean "{near}"?' if near else "known keys: " + ", ".join(allowed)
    sections = (
        [] if above else [section for section in allowed if name in keys_at((section,), data, where.root)]
    )
    if sections:
        hint = " or ".join(f"{section}.{name}" for section in sections)
        hint = f"write {hint}: it is a key of [{'] and ['.join(sections)}]"
    meant = name if _elsewhere(above, name, data, where.root) else units.called_here(name)
    if meant not in allowed and (others := _elsewhere(above, meant, data, where.root)):
        written = f': write kind = "{others[0]}" beside it' if "kind" in allowed else ""
        hint = f'did you mean "{alone}"? ' if alone else ""
        hint += (
            f'"{meant}" is a setting of {", ".join(others[:4])}{written}; or choose from {", ".join(allowed)}'
        )
        hint = in_cycles(meant, data.get(str(above[0])), name) or hint
    if not above and name == ("require" if where.root is Scenario else "topology"):
        hint = _OTHER_FILES[name]
    inside = f"in [{_dotted(above)}]" if above else f"at the top of {where.what}"
    place = where.source.place(path, key=True)
    error = ScenarioError(f'unknown key "{_short(name)}" {inside}', path, hint, place)
    error.unknown_key = True
    return error


def _elsewhere(path: Path, name: str, data: Any, root: type[BaseModel]) -> list[str]:
    """Return the other kinds of the table at ``path`` that have this key."""
    if not path:
        return []
    models = _models(_field(_model(path[:-1], data, root), path[len(path) - 1]))
    having = [m for m in models if any(name in (n, f.alias) for n, f in m.model_fields.items())]
    table = _at(data, path)
    own = str(table.get("kind", "")).split("-")[0] if isinstance(table, dict) else ""
    found = [str(tag) for model in having for tag in _tag_values(model)]
    return sorted(found, key=lambda kind: kind.split("-")[0] != own)  # those of its kind first


def _missing(path: Path, name: str, data: dict[str, Any], where: _Where) -> ScenarioError:
    if not path:
        inside = _SECTIONS.get(name, "")
        hint = f"add a section such as\n      [{name}]{inside}"
        return ScenarioError(f"the section [{name}] is missing", (name,), hint, file=where.source.file)
    table = _at(data, path)
    what = f"[{_dotted(path)}]"
    if isinstance(table, dict) and any(tag in table for tag in _TAGS):
        what += f" of kind {_show(next(table[tag] for tag in _TAGS if tag in table))}"
    elif isinstance(table, str):
        what = f"{_dotted(path)} {_show(table)}"
    about = _description(path, name, data, where.root)
    first = about if about[1:2].isupper() else about[:1].lower() + about[1:]  # CSV stays CSV
    hint = f"{name}: {first}" if about else f"add {name}"
    if isinstance(table, str):
        hint += f'; write {path[len(path) - 1]} = {{ kind = "{_short(table)}", {name} = … }}'
    return ScenarioError(f'{what} lacks "{name}"', (*path, name), hint, where.source.place(path))


def _tag(kind: str, path: Path, value: Any, ctx: Any, data: dict[str, Any], where: _Where) -> ScenarioError:
    source = where.source
    tag = ctx["discriminator"].strip("'")
    models = _models(_field(_model(path[:-1], data, where.root), path[-1]))
    choices = [str(tag) for model in models for tag in _tag_values(model)]
    if kind == "union_tag_not_found":
        if isinstance(value, dict):
            hint = "choose one of " + ", ".join(choices)
            return ScenarioError(f'[{_dotted(path)}] lacks "{tag}"', (*path, tag), hint, source.place(path))
        message = f"{_dotted(path)} must be a table, found {_show(value)}"
        hint = f'write {{ {tag} = "{choices[0]}", … }}'
        if path == ("topology",) and hasattr(value, "nodes"):
            hint = "write fabriloom.topology.from_networkx(graph, terminals_per_switch=1)"
        return ScenarioError(message, path, hint, source.place(path))
    word = value.get(tag) if isinstance(value, dict) else value
    if isinstance(word, dict | list):
        inner = next((str(word[one]) for one in _TAGS if isinstance(word, dict) and one in word), choices[0])
        shown = inner if inner in choices else choices[0]
        what = _show(word)
        message = f"{_dotted((*path, tag))} is a word, not {what}"
        hint = f'write {tag} = "{shown}" in [{_dotted(path)}], and the other settings beside it'
        return ScenarioError(message, (*path, tag), hint, source.place((*path, tag)))
    full = (*path, tag) if isinstance(value, dict) and tag in value else path
    near = units.nearest(word, choices) if isinstance(word, str) else None
    hint = (f'did you mean "{near}"? ' if near else "") + "choices: " + ", ".join(choices)
    if path[:1] == ("traffic",) and not near and isinstance(word, str):
        models = _models(_field(Scenario, "program"))
        kinds = [str(tag) for model in models for tag in _tag_values(model)]
        if ready := units.nearest(word, kinds, 0.9):
            hint = f'"{ready}" is a program: write [program] with kind = "{ready}" instead of [traffic]'
    return ScenarioError(f"unknown {tag} {_show(word)} of {_dotted(path)}", full, hint, source.place(full))


def keys_at(path: Path, data: Any, root: type[BaseModel] = Scenario) -> list[str]:
    """Return the keys that the schema allows in the table at ``path``."""
    model = _model(path, data, root)
    return [field.alias or name for name, field in model.model_fields.items()] if model else []


def _description(path: Path, name: str, data: Any, root: type[BaseModel]) -> str:
    model = _model(path, data, root)
    fields = model.model_fields if model else {}
    field = next((field for known, field in fields.items() if name in (known, field.alias)), None)
    words = get_args(field.annotation) if field and get_origin(field.annotation) is Literal else ()
    about = (field.description or "") if field else ""
    return f"{about}: {', '.join(map(_show, words))}" if words else about


def _model(path: Path, data: Any, root: type[BaseModel]) -> type[BaseModel] | None:
    """Return the schema of the table at ``path``; of several kinds, that of the written kind."""
    model: type[BaseModel] | None = root
    for step in path:
        if isinstance(step, int):  # an entry of a list has the schema of all of them
            data = data[step] if isinstance(data, list) and step < len(data) else None
            continue
        data = data.get(step) if isinstance(data, dict) else None
        models = _models(_field(model, step))
        if len(models) > 1:
            words = {ALIASES.get(tag, tag) for tag in _tags_of(data) if isinstance(tag, str)}
            usual = models[0] if isinstance(data, dict) and not set(_TAGS) & set(data) else None
            model = next((m for m in models if words & set(_tag_values(m))), usual)
        else:
            model = models[0] if models else None
    return model


def _field(model: type[BaseModel] | None, step: Any) -> Any:
    for name, field in model.model_fields.items() if model else ():
        if step in (name, field.alias):
            return Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    return None


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if isinstance(annotation, Later):
        return _models(annotation.made)
    if isinstance(annotation, OneOf):
        tables = dict.fromkeys((annotation.tables or {}).values())
        return [model for table in tables for model in _models(table)]
    return [model for inner in get_args(annotation) for model in _models(inner)]


def _tag_values(model: type[BaseModel]) -> tuple[Any, ...]:
    field = next((model.model_fields[tag] for tag in _TAGS if tag in model.model_fields), None)
    return get_args(field.annotation) if field else ()


def _at(data: Any, path: Path) -> Any:
    for step in path:
        data = data[step]
    return data


def _dotted(path: Path) -> str:
    return ".".join(_short(step) for step in path)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _show(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    try:
        return f'"{_short(value)}"' if isinstance(value, str) else _short(value)
    except ValueError:
        return "a huge number"
