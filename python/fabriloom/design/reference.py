# ruff: noqa: E501  (a page of prose)
"""Write docs/reference/requirements.md, the sections of a requirements file, from the schema."""

from __future__ import annotations

from ..scenario.reference import property_table
from .families import SHAPES
from .schema import SCENARIO, Requirements

_HEAD = """# Requirements: every section and key

This page is written by `FABRILOOM_EXPECT=write pytest tests/design`; do not edit it.

A file of requirements is what `fabriloom design` reads; [Which fabric?](../guides/design.md) shows how it is used. Units are written as in a [scenario](scenario.md).
"""


def page() -> str:
    """Return the page."""
    schema = Requirements.model_json_schema(by_alias=True, mode="validation")
    definitions, properties = schema["$defs"], schema["properties"]
    lines = [_HEAD]
    own = {"require": "Require", "limits": "Limits", "cost": "Cost"}
    for name, title in own.items():
        model = definitions[title]
        lines += [f"## [{name}]", "", f"{properties[name]['description']}.", ""]
        lines += [*property_table(model["properties"], model.get("required", [])), ""]
    others = [name for name in properties if name not in own and name != "$schema"]
    rest = {name: properties[name] for name in others if name not in SCENARIO or name == "seed"}
    lines += ["## Other keys", "", *property_table(rest, []), ""]
    same = ", ".join(f"`[{name}]`" for name in SCENARIO if name != "seed")
    lines += [f"{same} are as in a [scenario](scenario.md); of traffic and program one, with a rate.", ""]
    lines += ["## Families", "", "Those with a star are considered only if they are named.", ""]
    lines += ["| family | its parameters |", "|---|---|"]
    lines += [
        f"| `{name}`{'' if family.usual else ' *'} | {', '.join(f'`{key}`' for key in family.parameters)} |"
        for name, family in SHAPES.items()
    ]
    return "\n".join(lines) + "\n"
