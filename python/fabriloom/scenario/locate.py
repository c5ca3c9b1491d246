"""From the errors of the other rooms to one message that points into the scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabriloom.scenario.errors import Path, Place, ScenarioError

if TYPE_CHECKING:
    from fabriloom.scenario.schema import Scenario


def located(scenario: Scenario, error: Exception, section: str, base: Path = ()) -> ScenarioError:
    """See :meth:`Scenario.located`."""
    if isinstance(error, ScenarioError):
        return error
    message = str(getattr(error, "message", "") or error)
    hint = str(getattr(error, "hint", "") or "")
    parameter = getattr(error, "parameter", None)
    path = _path(scenario, section, base, parameter)
    elsewhere = getattr(error, "place", None)
    if elsewhere is not None:
        place = Place(*elsewhere)
        return ScenarioError(message, path, hint, place)
    return scenario.error(message, path, hint)


def _path(scenario: Scenario, section: str, base: Path, parameter: Any) -> Path:
    """The dotted path of a parameter under its written name; the section if there is no such setting."""
    steps: tuple[Any, ...] = tuple(str(parameter).split(".")) if parameter else ()
    path: list[str | int] = [section]
    model: Any = getattr(scenario, section)
    for step in (*base, *steps):
        fields = getattr(type(model), "model_fields", {})
        name = next((n for n in fields if step in (n, fields[n].alias, _bare(n))), None)
        if name is None:
            if isinstance(model, list) and str(step).isdecimal():
                path.append(int(step))
            break
        path.append(fields[name].alias or name)
        model = getattr(model, name)
    return tuple(path)


def _bare(name: str) -> str:
    for ending in ("_bits_per_s", "_ps_per_m", "_bytes", "_ps", "_m"):
        if name.endswith(ending):
            return name.removesuffix(ending)
    return name
