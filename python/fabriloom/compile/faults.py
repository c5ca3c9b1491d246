"""The columns of faults."""

from __future__ import annotations

import numpy as np

from ..faults import FaultError, links_of, outages
from ..faults.outages import Outage, Rules
from ..scenario import Scenario
from ..technology import Technology
from ..topology import Graph
from .columns import Arrays, u32

NEVER_TICKS = 1 << 62
"""When a link runs again that never does; see ``crates/engine/src/fabric``."""


def fault_columns(scenario: Scenario, graph: Graph, technology: Technology, tick_ps: int) -> Arrays:
    """The outages of links. Raises ScenarioError for what is to fail and is not there."""
    grain_ticks = technology.grain_ps // tick_ps

    def moment(time_ps: int) -> int:
        return time_ps // technology.grain_ps * grain_ticks

    failures = []
    for place, fault in enumerate(scenario.fault):
        kind = fault.what[0]
        try:
            links = links_of(graph, kind, getattr(fault, kind))
        except FaultError as error:
            raise scenario.error(error.message, ("fault", place, kind), error.hint) from error
        repaired = None if fault.repaired_ps is None else moment(fault.repaired_ps)
        failures.append((links, moment(fault.at_ps), repaired))
    return _columns(outages(graph, failures, _rules(technology, tick_ps)))


def _rules(technology: Technology, tick_ps: int) -> Rules:
    """Durations rounded up to ticks, and at least one."""
    disconnect, restart = (
        max(1, -(-time_ps // tick_ps)) for time_ps in (technology.disconnect_ps, technology.restart_ps)
    )
    return Rules(disconnect, restart, technology.fault_stops == "cable")


def _columns(found: list[Outage]) -> Arrays:
    def u64(values: list[int]) -> np.ndarray:
        return np.array(values, np.uint64)

    return {
        "fault_link": u32([one.link for one in found]),
        "fault_down_ticks": u64([one.down for one in found]),
        "fault_ended_ticks": u64([one.ended for one in found]),
        "fault_up_ticks": u64([NEVER_TICKS if one.up is None else one.up for one in found]),
    }
