"""The columns of faults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np

from ..codes import number
from ..faults import Outage, Rules, drawn, mtbf_of_bits_ps, outages
from ..scenario import Scenario
from ..scenario.sections.fault import Fault
from ..technology import RingTechnology, Technology
from ..technology.model import Ps, Rate
from ..topology import Graph
from ..topology.named import UnknownPartError, each_of
from .columns import Arrays, rate_of, u32
from .networks import Network

NEVER_TICKS = 1 << 62
"""The repair time of a link that is never repaired; see ``crates/engine/src/fabric``."""
MOST_FAILURES = 100_000
"""A scenario cannot have more random failures than this."""


def fault_columns(scenario: Scenario, network: Network, tick_ps: Ps) -> Arrays:
    """Return the outages of links. Raises ScenarioError for a fault whose target does not exist."""
    graph, technology = network.graph, network.technology
    grain_ticks = technology.grain_ps // tick_ps

    def moment(time_ps: int) -> int:
        return time_ps // technology.grain_ps * grain_ticks

    failures, stuck, errors, wrong = [], [], [], []
    for place, fault in enumerate(scenario.fault):
        for links, at_ps, repaired_ps in _failures(scenario, network, place):
            at, repaired = moment(at_ps), None if repaired_ps is None else moment(repaired_ps)
            if fault.stops:
                stuck.append((links, at, repaired))
            elif fault.bit_error_rate is not None and network.sends_when_asked:
                kind = "replay" if fault.replay else "loss"
                wrong.append(_wrong(graph, cast("Technology", technology), tick_ps, at_ps, links[0], kind))
            elif fault.bit_error_rate is not None and not graph.network_kind.bit_errors_disconnect:
                errors.append((links, at))
            else:
                failures.append((network.down_with(links), at, repaired))
    rules = _rules(technology, tick_ps)
    found = outages(graph, failures, rules, stuck, errors, wrong, apart=not graph.network_kind.cables)
    return _columns(found) | network.fault_columns(scenario, tick_ps)


def _wrong(graph: Graph, technology: Technology, tick_ps: Ps, at_ps: int, link: int, kind: str) -> Outage:
    """Return the ticks in which a character starts that is on the wire when a bit is wrong."""
    tick = at_ps // tick_ps
    occupied = technology.character_ps(_rates(graph, technology, [link])[0]) // tick_ps
    return Outage(max(0, tick - occupied + 1), link, tick + 1, tick + 2, kind)


def _failures(
    scenario: Scenario, network: Network, place: int
) -> Iterator[tuple[list[int], int, int | None]]:
    """Yield, for one ``[[fault]]``, the links that fail together, the time, and the time of repair."""
    fault, graph, technology = scenario.fault[place], network.graph, network.technology
    kind, sends = fault.what[0], set(graph.terminal_out_links.tolist())
    apart = fault.bit_error_rate is not None and network.sends_when_asked
    try:
        things = each_of(graph, kind, getattr(fault, kind), into=fault.stuck or fault.bus is not None)
    except UnknownPartError as error:
        raise scenario.error(error.message, ("fault", place, kind), error.hint) from error
    if fault.silent:
        things = [(name, [link for link in links if link in sends]) for name, links in things]
    elif apart:
        things = [(graph.link_names[link], [link]) for _, links in things for link in links]
    for name, links in things:
        if fault.at_ps is not None:
            yield links, fault.at_ps, fault.repaired_ps
            continue
        mtbf_ps, mttr_ps = _rate(fault, graph, technology, links)
        expected = len(things) * scenario.run.duration_ps / mtbf_ps
        if expected > MOST_FAILURES:
            message = f"about {expected:,.0f} failures in the run are more than {MOST_FAILURES:,}"
            path = ("fault", place, fault.when[0])
            raise scenario.error(message, path, "let it fail less often, or run.duration be shorter")
        seed = f"{scenario.seed}/{place}/{name}"
        lasts_ps = 0 if fault.stops or apart else technology.running_ps + 2 * technology.disconnect_ps
        for at_ps, repaired_ps in drawn(seed, scenario.run.duration_ps, mtbf_ps, mttr_ps, lasts_ps):
            yield links, at_ps, repaired_ps


def _rate(
    fault: Fault, graph: Graph, technology: Technology | RingTechnology, links: list[int]
) -> tuple[float, float | None]:
    """Return the mean times between failures and to repair, in ps."""
    if fault.mtbf_ps is not None:
        return float(fault.mtbf_ps), None if fault.mttr_ps is None else float(fault.mttr_ps)
    rates = _rates(graph, technology, links)
    return mtbf_of_bits_ps(float(fault.bit_error_rate or 0), float(sum(rates))), 0.0


def _rates(graph: Graph, technology: Technology | RingTechnology, links: list[int]) -> list[Rate]:
    given = graph.attributes.get("rate_bits_per_s")
    usual = technology.link_rate_bits_per_s
    return [usual if given is None else rate_of(float(given[link])) or usual for link in links]


def _rules(technology: Technology | RingTechnology, tick_ps: Ps) -> Rules:
    """Return the durations, rounded up to ticks, at least one tick."""
    times_ps = (technology.disconnect_ps, technology.running_ps)
    disconnect, restart = (max(1, -(-time_ps // tick_ps)) for time_ps in times_ps)
    return Rules(disconnect, restart, technology.fault_stops == "cable")


def _columns(found: list[Outage]) -> Arrays:
    def u64(values: list[int]) -> np.ndarray:
        return np.array(values, np.uint64)

    return {
        "fault_link": u32([one.link for one in found]),
        "fault_down_ticks": u64([one.down for one in found]),
        "fault_ended_ticks": u64([one.ended for one in found]),
        "fault_up_ticks": u64([NEVER_TICKS if one.up is None else one.up for one in found]),
        "fault_kind": np.array([number("fault_kind", one.kind) for one in found], np.uint8),
    }
