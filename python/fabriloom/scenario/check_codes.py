"""Checks of ``[[time_code]]`` and ``[[interrupt]]`` against the other sections."""

from __future__ import annotations

from fabriloom import units
from fabriloom.scenario.errors import Path
from fabriloom.scenario.resolve import CODE_SETTINGS, has_codes
from fabriloom.scenario.schema import Scenario
from fabriloom.technology.presets import settings


def check_codes(scenario: Scenario) -> None:
    """Check that the technology has codes, that times are within the run, and that no setting is unused.
    Raises ScenarioError."""
    if not has_codes(scenario):
        for name in CODE_SETTINGS:
            if name in scenario.raw.get("technology", {}):
                message = f"technology.{name} has no effect: nothing sends time-codes or interrupts"
                hint = "add [[time_code]], or remove it"
                raise scenario.error(message, ("technology", name), hint, key=True)
        return
    first: Path = ("time_code",) if scenario.time_code else ("interrupt",)
    if not scenario.network_kind.codes:
        message = f"time-codes and interrupts are of SpaceWire, not of a {scenario.topology.kind}"
        raise scenario.error(message, first, "remove them", key=True)
    bits = getattr(scenario.technology, "time_code_bits", None)
    if not (bits or settings(scenario.technology.preset).get("time_code_bits")):
        message = f"links of {scenario.technology.preset} have no time-codes and interrupts"
        hint = 'write technology.preset = "spacewire-200", or that of a router such as "spw-10x"'
        raise scenario.error(message, first, hint, key=True)
    for place, one in enumerate(scenario.time_code):
        start_ps = one.every_ps if one.first_ps is None else one.first_ps
        _moment(scenario, ("time_code", place), start_ps, "every" if one.first_ps is None else "first")
        if one.until_ps is not None and one.until_ps <= start_ps:
            message = "it would send no time-code: the first one comes at "
            message += units.format_time_ps(start_ps)
            hint = "until is a moment of the run: make it later"
            raise scenario.error(message, ("time_code", place, "until"), hint)
    for place, other in enumerate(scenario.interrupt):
        _moment(scenario, ("interrupt", place), other.first_ps, "first")


def _moment(scenario: Scenario, path: Path, start_ps: int, key: str) -> None:
    if start_ps >= scenario.run.duration_ps:
        message = "the first one comes after the end of the run"
        raise scenario.error(message, (*path, key), "make run.duration longer, or send earlier")
