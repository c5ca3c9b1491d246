"""The scenario: the one schema, its files, and its errors."""

import re

from fabriloom import units
from fabriloom.scenario.errors import Place, ScenarioError
from fabriloom.scenario.load import load
from fabriloom.scenario.schema import Scenario

__all__ = ["Place", "Scenario", "ScenarioError", "json_schema", "load", "needed"]


def needed(scenario: object) -> None:
    """Raise TypeError for anything but a scenario, such as the name of a file, and say how to make one."""
    if isinstance(scenario, Scenario):
        return
    how = "Scenario.from_dict(…)" if isinstance(scenario, dict) else "load(…)"
    raise TypeError(f"this takes a Scenario, not a {type(scenario).__name__}; make one by fabriloom.{how}")


def json_schema() -> dict[str, object]:
    """Return the JSON Schema of a scenario file, for editors."""
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
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
