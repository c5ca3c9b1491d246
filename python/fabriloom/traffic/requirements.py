"""Requirements: the longest delay allowed per flow, given with the flow or in a separate list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fabriloom import units
from fabriloom.traffic.errors import TrafficError
from fabriloom.traffic.names import Targets

if TYPE_CHECKING:
    from fabriloom.traffic.flows import Flow

_LISTED = 8
"""Most flows that a message lists."""
MOST = 4096
"""Most flows with a requirement: all delays of each are kept."""


def required(flows: Sequence[Flow], terminals: Targets, pattern: Mapping[str, Any]) -> list[Flow]:
    """Return the flows with the requirements of ``pattern["requirements"]``, by name or ``source:target``.

    Raises:
        TrafficError: a requirement names a flow that does not exist or already has a requirement.
    """
    found, places = list(flows), _places(flows, terminals, bool(pattern.get("flows")))
    for number, asked in enumerate(pattern.get("requirements") or []):
        where, key = f"pattern.requirements.{number}", asked["flow"]
        if key not in places:
            raise TrafficError(f'there is no flow "{key[:60]}"', f"{where}.flow", _hint(key, list(places)))
        for place in places[key]:
            if found[place].requirement_ps is not None:
                message = f'the flow "{key[:60]}" has a requirement already'
                raise TrafficError(message, f"{where}.flow", "keep one")
            found[place] = replace(found[place], requirement_ps=asked["within_ps"])
    if sum(flow.requirement_ps is not None for flow in found) > MOST:
        message = f"more than {MOST:,} flows have a requirement"
        raise TrafficError(message, "pattern", "give one to those that matter")
    return found


def _places(flows: Sequence[Flow], terminals: Targets, in_scenario: bool) -> dict[str, list[int]]:
    """Return the indices of flows by name and by their two ends. Raises TrafficError for a duplicate name."""
    found: dict[str, list[int]] = {}
    for place, flow in enumerate(flows):
        if flow.name:
            if flow.name in found:
                message = f'two flows are called "{flow.name[:60]}"'
                parameter = f"pattern.flows.{place}.name" if in_scenario else "pattern.path"
                raise TrafficError(message, parameter, "give each a name of its own")
            found[flow.name] = [place]
    for place, flow in enumerate(flows):
        ends = f"{terminals.names[flow.source]}:{terminals.name(flow.target)}"
        found.setdefault(ends, []).append(place)
    return found


def _hint(key: str, known: list[str]) -> str:
    turned = ":".join(reversed(key.split(":")))
    near = turned if turned in known else units.nearest(key, known[:20_000])
    if near:
        return f'did you mean "{near}"?'
    listed = ", ".join(f'"{name[:60]}"' for name in known[:_LISTED])
    more = ", …" if len(known) > _LISTED else ""
    return f"flows go by their name, or by source:target; there are {listed}{more}"
