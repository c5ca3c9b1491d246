"""Load requirements: file, schema, and checks across settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from .. import units
from ..scenario.errors import ScenarioError
from ..scenario.load import overridden, put
from ..scenario.read import read
from ..scenario.source import SourceMap
from ..scenario.translate import message_of, translate
from ..topology import FAMILIES
from .candidates import check_networks
from .families import SHAPES
from .schema import PERCENTILES, Requirements


def load(path: Path | str, overrides: Iterable[str] = ()) -> Requirements:
    """Read a file of requirements; ``overrides``: ``path=value`` strings. Raises ScenarioError."""
    file = Path(path)
    data, source = overridden(*read(file), overrides)
    return build(data, source, file.parent)


def from_dict(data: Mapping[str, Any], base_dir: Path | str = ".") -> Requirements:
    """Make requirements from a dictionary of the same form as a file. Raises ScenarioError."""
    return build(dict(data), SourceMap(), Path(base_dir))


def build(data: dict[str, Any], source: SourceMap, base_dir: Path) -> Requirements:
    """Make requirements from data and the source that gives their places. Raises ScenarioError."""
    try:
        found = Requirements.model_validate(data)
    except ValidationError as error:
        raise translate(error, data, source, Requirements) from None
    found._read_from(data, source, base_dir)
    if float(found.require.percentile) not in PERCENTILES:
        hint = f"there are {', '.join(f'{one:g}' for one in PERCENTILES)}"
        message = f"the {found.require.percentile:g} % percentile is not measured"
        raise found.error(message, ("require", "percentile"), hint)
    _check_traffic(found)
    _check_families(found)
    check_networks(found)
    for name, values in found.what_if.items():
        for index, value in enumerate(values):
            try:
                changed(found, name, value)
            except ScenarioError as mistake:
                path = ("what-if", name) if mistake.unknown_key else ("what-if", name, index)
                raise found.error(mistake.message, path, mistake.hint, mistake.unknown_key) from None
    return found


def changed(requirements: Requirements, path: str, value: Any) -> Requirements:
    """Return the requirements with another value at a path, without ``[what-if]``. Raises ScenarioError."""
    data = {name: part for name, part in requirements.raw.items() if name != "what-if"}
    return build(*put(data, requirements.source, path, value, "[what-if] "), requirements.base_dir)


def _check_traffic(found: Requirements) -> None:
    if found.program is not None:
        if found.traffic is not None:
            message = "there is either traffic or a program"
            raise found.error(message, ("traffic",), "remove one of the two sections", key=True)
        if getattr(found.program, "rate_millihz", None) is None:
            hint = 'write rate = "10 kHz" under [program]'
            message = "it is not said how many events a second are built"
            raise found.error(message, ("program",), hint, key=True)
        return
    if found.traffic is None or not found.traffic.is_rated():
        message = "it is not said how much every terminal sends"
        hint = 'write rate = "4 MB/s" under [traffic]; a load would be another rate for every technology'
        path = ("traffic", "load") if found.traffic is not None and found.traffic.load else ("traffic",)
        raise found.error(message, path, hint, key=True)


def _check_families(found: Requirements) -> None:
    for name, table in found.families.items():
        if name not in SHAPES:
            near = units.nearest(name, list(SHAPES))
            hint = f'did you mean "{near}"?' if near else f"there are {', '.join(SHAPES)}"
            raise found.error(f'no networks of a family "{name}" are made', ("families", name), hint, True)
        known = SHAPES[name].parameters
        for key in table:
            if "." not in key and key not in known:
                near = units.nearest(key, known)
                hint = f"did you mean {near}?" if near else f"there are {', '.join(known)}"
                path = ("families", name, key)
                raise found.error(f"{name} has no parameter {key}", path, f"{hint}; or a dotted path", True)
        _check_parameters(found, name, {key: values for key, values in table.items() if "." not in key})


def _check_parameters(found: Requirements, family: str, table: Mapping[str, Sequence[Any]]) -> None:
    """Raise ScenarioError for a value that the parameter of a family cannot have."""
    hints = get_type_hints(FAMILIES[family].build, include_extras=True) if table else {}
    for key, values in table.items():
        allowed = TypeAdapter(hints[key], config=ConfigDict(strict=True, allow_inf_nan=False))
        for index, value in enumerate(values):
            try:
                allowed.validate_python(value)
            except ValidationError as error:
                detail = error.errors(include_url=False)[0]
                path: list[str | int] = ["families", family, key, index]
                for step in detail["loc"]:
                    if not isinstance(value, list) or not isinstance(step, int) or step >= len(value):
                        break
                    path.append(step)
                    value = value[step]
                message, hint = message_of(detail, value, tuple(path))
                raise found.error(message, tuple(path), hint) from None
