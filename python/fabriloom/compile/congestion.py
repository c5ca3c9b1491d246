"""Congestion control: its columns, and where it is refused."""

from __future__ import annotations

import numpy as np

from .. import _native
from ..scenario import Scenario, ScenarioError
from ..technology import Technology
from ..technology.model import Ps
from .columns import Arrays

STEPS = 16
"""Parts of an input buffer by which ``threshold`` counts."""


def columns_of(scenario: Scenario, technology: Technology, tick_ps: Ps) -> Arrays:
    """Return the columns of congestion control, times rounded up to ticks; none without it."""
    own = scenario.congestion_control
    if own is None:
        return {}
    table = list(range(own.ccti_limit + 1)) if own.cct is None else own.cct[: own.ccti_limit + 1]
    return {
        "mark_above_chars": technology.input_buffer_chars * (STEPS - own.threshold) // STEPS,
        "mark_rate": own.marking_rate,
        "mark_victims": int(own.victim_mask == "all"),
        "becn_ticks": int(-(-own.becn_delay_ps // tick_ps)),
        "ccti_increase": own.ccti_increase,
        "ccti_timer_ticks": int(-(-own.ccti_timer_ps // tick_ps)),
        "cct_eighths": np.array([round(8 * delay) for delay in table], np.uint32),
    }


def check(scenario: Scenario, arrays: Arrays) -> None:
    """Raise ScenarioError for a network in which queues and credit are not counted, and for a wrong table."""
    own = scenario.congestion_control
    if own is None:
        return
    if scenario.fault or len(arrays["link_pause_above"]):
        what = "faults" if scenario.fault else "switches that pause senders"
        raise _refused(scenario, f"is not simulated together with {what}", "leave one of them out")
    if not _native.is_by_packet(arrays):
        hint = 'write switching = "virtual-cut-through", lane_sharing = "packet" and crossbar = "fast", '
        hint += "without a watchdog, or links into a switch that are slower than those out of it"
        raise _refused(scenario, "is of packets that pass whole", hint)
    if not arrays["output_queues"]:
        hint = 'write technology.input_queues = "per-output"'
        raise _refused(scenario, "counts what waits for an output, and a fifo has it in one queue", hint)
    if own.cct is not None:
        _check_table(scenario, own.cct, own.ccti_limit)


def _check_table(scenario: Scenario, table: list[float], limit: int) -> None:
    path = ("congestion_control", "cct")
    if len(table) <= limit:
        message = f"a table of {len(table)} entries has none for the index {limit}"
        raise scenario.error(message, path, f"write ccti_limit = {len(table) - 1}, or more entries")
    for place, delay in enumerate(table):
        if 8 * delay % 1:
            message = (
                f"{delay:g} packet times are no multiple of an eighth, which is the finest step of the table"
            )
            raise scenario.error(message, (*path, place), f"write {round(8 * delay) / 8:g}")


def _refused(scenario: Scenario, why: str, hint: str) -> ScenarioError:
    return scenario.error(f"congestion control {why}", ("congestion_control",), hint, key=True)
