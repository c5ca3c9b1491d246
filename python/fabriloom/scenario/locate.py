"""Convert errors of other rooms to a message that points into the scenario."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from fabriloom import reading
from fabriloom.scenario.errors import Path, Place, ScenarioError
from fabriloom.scenario.fields import bare
from fabriloom.scenario.schema import Scenario

_LINE = re.compile(
    r"(?:[^\n:]*: )?line (?P<line>\d{1,9})(?:, column (?P<column>\d{1,9}))?: (?P<rest>.*)", re.DOTALL
)


def located(scenario: Scenario, error: Exception, section: str, base: Path = ()) -> ScenarioError:
    """See :meth:`Scenario.located`."""
    if isinstance(error, ScenarioError):
        return error
    message = str(getattr(error, "message", "") or error)
    hint = str(getattr(error, "hint", "") or "")
    parameter = getattr(error, "parameter", None)
    path = _path(scenario, section, base, parameter)
    beside = getattr(error, "beside", None)
    if beside is not None and not _is_written(scenario, path):
        path = _path(scenario, section, base, beside)
    elsewhere = getattr(error, "place", None)
    if elsewhere is not None:
        place = Place(*elsewhere)
        return ScenarioError(message, path, hint, place)
    if path[-1:] == ("path",) and (found := _in_named_file(scenario, path, message, error)):
        return ScenarioError(found[1], path, hint, found[0])
    return _narrowed(scenario.error(message, path, hint), error, scenario)


def _in_named_file(
    scenario: Scenario, path: Path, message: str, error: Exception
) -> tuple[Place, str] | None:
    """Return the line or cell of a named file in a message, and the message without the line."""
    match = _LINE.match(message)
    if match is None:
        return None
    model: Any = scenario
    for step in path:
        model = model[step] if isinstance(step, int) else getattr(model, step)
    file = scenario.base_dir / str(model)
    try:
        content = reading.text_of(file.read_bytes(), str(file))
    except (OSError, ValueError):
        return None
    lines = content.split("\n")
    number = int(match["line"])
    if not 0 < number <= len(lines):
        return None
    cell = getattr(error, "cell", None)
    if cell and file.suffix.lower() == ".csv":
        return Place(*reading.named_place(content, str(file), number, cell)), match["rest"]
    text = lines[number - 1].rstrip("\r")
    column = int(match["column"] or 1)
    return Place(str(file), number, column, 1 if match["column"] else max(1, len(text)), text), match["rest"]


def _path(scenario: Scenario, section: str, base: Path, parameter: Any) -> Path:
    """Return the path of a parameter by its written name; of the section if there is no such setting."""
    steps: tuple[Any, ...] = tuple(str(parameter).split(".")) if parameter else ()
    path: list[str | int] = [section]
    model: Any = getattr(scenario, section)
    for step in (*base, *steps):
        if isinstance(model, list) and str(step).isdecimal() and int(step) < len(model):
            path.append(int(step))
            model = model[int(step)]
            continue
        if isinstance(model, dict) and step in model:
            path.append(step)
            model = model[step]
            continue
        fields = getattr(type(model), "model_fields", {})
        name = next((n for n in fields if step in (n, fields[n].alias, bare(n.removesuffix("_flits")))), None)
        if name is None:
            break
        path.append(fields[name].alias or name)
        model = getattr(model, name)
    return tuple(path)


def _is_written(scenario: Scenario, path: Path) -> bool:
    """Whether the scenario gives this setting itself."""
    value: Any = scenario.raw
    for step in path:
        if isinstance(value, dict) and step not in value:
            return False
        value = value[step]
    return True


def _narrowed(found: ScenarioError, error: Exception, scenario: Scenario) -> ScenarioError:
    """Return the error with a place that covers only the part of a string at fault."""
    span, place = getattr(error, "span", None), found.place
    if span is None or place is None or not place.line:
        return found
    value: Any = scenario.raw
    for step in found.path or ():
        value = value[step]
    start = place.text.find(str(value), place.column - 1)
    if 0 <= start < place.column + 3:
        found.place = replace(place, column=start + 1 + span[0], length=span[1])
    return found
