"""The scenario: the one schema, its files, and its errors."""

import re
from collections.abc import Mapping

from fabriloom import units
from fabriloom.scenario.errors import Place, ScenarioError
from fabriloom.scenario.load import load
from fabriloom.scenario.schema import Scenario
from fabriloom.topology import Graph

__all__ = ["Place", "Scenario", "ScenarioError", "json_schema", "load", "scenario_of"]


def scenario_of(given: object) -> Scenario:
    """Return a scenario, also of a dictionary as :meth:`Scenario.from_dict` takes it.

    Raises TypeError for anything else, such as the name of a file, and says how to make a scenario.
    """
    if isinstance(given, Scenario):
        return given
    if isinstance(given, Mapping):
        return Scenario.from_dict(given)
    how = 'Scenario.from_dict({"topology": graph, …})' if isinstance(given, Graph) else "load(…)"
    raise TypeError(f"this takes a Scenario, not a {type(given).__name__}; make one by fabriloom.{how}")


def json_schema() -> dict[str, object]:
    """Return the JSON Schema of a scenario file, for editors; its ``$id`` names the version of ours."""
    from .._native import __version__  # type: ignore[attr-defined]

    schema = Scenario.model_json_schema(by_alias=True, mode="validation")
    # Inside, defaults are whole picoseconds and bytes; a file has them with their unit.
    run = schema["properties"]["run"]["default"]
    for name, field in schema["$defs"]["Run"]["properties"].items():
        field["default"] = run[name]
    for model in schema["$defs"].values():
        for field in model.get("properties", {}).values():
            if field.get("type") == "string" and isinstance(field.get("default"), int):
                texts = (units.format_time_ps(field["default"]), units.format_bytes(field["default"]))
                field["default"] = next(text for text in texts if re.match(field["pattern"], text))
    number = f"urn:fabriloom:scenario:{__version__}"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": number, **schema}
