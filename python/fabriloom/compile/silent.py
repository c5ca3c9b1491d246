"""Settings that a user wrote and that change nothing: each is left out in turn, and the arrays compared.

The engine knows nothing but these arrays, so a setting without which they are the same cannot matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..reading import UserError
from ..scenario import Scenario
from . import Compiled, compile
from .drawn import ONE_EACH

SECTIONS = ("technology", "routing", "traffic", "protocol", "ports")
MOST_LINKS = 2048
"""Larger networks are not compiled once more for every setting."""
_ELSEWHERE = {
    "kind": "chooses what the other settings are",
    "preset": "chooses what the other settings are",
    "name": "a name",
    "root": "may name the switch that is chosen anyway",
    "flow_control": "read when a run begins",
    "first_port": "a limit of what files may give, as the next three",
    "last_port": "",
    "first_address": "",
    "last_address": "",
    "credit_limit": "a limit of what chips may grant",
    "mtu": "a limit of lengths",
    "channels_limit": "a limit of programs",
    "interval_labelling": "a limit of routings",
    "requirements": "compared with what is simulated",
    "weights": "equal ones hold anyway",
}
"""Settings that work without the engine's arrays, and why."""


def silent_settings(compiled: Compiled) -> list[str]:
    """Return a warning for each written setting that changes nothing in this network; none for large ones."""
    scenario = compiled.scenario
    # What changes nothing here may matter for a value that is tried.
    if compiled.graph.links > MOST_LINKS or scenario.sweep or scenario.variants:
        return []
    return [
        *_needless_dateline(scenario),
        *(
            f"{'.'.join(path)} changes nothing in this network: without it, the same is simulated"
            for path in written_settings(scenario.raw)
            if _is_silent(compiled, path)
        ),
    ]


def _needless_dateline(scenario: Scenario) -> list[str]:
    """Return a warning where lanes are divided although packets could not wait for each other anyway."""
    choice = (scenario.raw.get("routing") or {}).get("lane_choice")
    if not str(choice).endswith("dateline"):
        return []
    try:
        if compile(_without(scenario, ("routing", "lane_choice"))).deadlock.any_cycle:
            return []
    except UserError:
        return []
    shorter = scenario.parameters("routing").get("variant") != "minimal"
    or_else = ', or add variant = "minimal" for the shortest ways round rings' if shorter else ""
    said = f'lane_choice = "{choice}" divides the lanes, and without it packets cannot wait in a cycle either'
    return [f"{said}: leave it out{or_else}"]


def written_settings(raw: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the settings that were written, those inside of kinds, too.

    A choice of one link each has a warning of its own, in large networks, too.
    """
    for section in SECTIONS:
        for name, value in (raw.get(section) or {}).items():
            if isinstance(value, Mapping):
                yield from ((section, name, inner) for inner in value if inner not in _ELSEWHERE)
            elif name not in _ELSEWHERE and not (name == "group_choice" and value in ONE_EACH):
                yield section, name


def _is_silent(compiled: Compiled, path: tuple[str, ...]) -> bool:
    try:
        other = _without(compiled.scenario, path)
        # Who writes down what holds anyway has said nothing wrong.
        if other.sha256 == compiled.scenario.sha256:
            return False
        changed = compile(other)
    except UserError:  # what is left may need the setting
        return False
    return equal(compiled.arrays, changed.arrays) and equal(compiled.sources.given, changed.sources.given)


def _without(scenario: Scenario, path: tuple[str, ...]) -> Scenario:
    *above, name = path
    data: dict[str, Any] = dict(scenario.raw)
    inner = data
    for step in above:
        inner[step] = dict(inner[step])
        inner = inner[step]
    del inner[name]
    return Scenario.from_dict(data, scenario.base_dir)


def equal(one: Mapping[str, Any], two: Mapping[str, Any]) -> bool:
    return one.keys() == two.keys() and all(
        np.array_equal(np.asarray(one[name]), np.asarray(two[name])) for name in one
    )
