"""How bounds are computed, by kind of network, and how late packets are searched for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .. import _native
from ..arguments import whole
from ..codes import number
from ..compile import FEW_FLOWS, Compiled, compile
from ..compile.congestion import WHOLE, headroom
from ..scenario import Scenario, ScenarioError
from ..topology import LINKS, RINGS
from .calculus import worst
from .flows import PERIODS, WITHOUT, Network, by_ports, doubted, flows_of
from .found import Bounds, Promise, promises
from .periods import NONE
from .rings import check_rings, flows_on_rings
from .wires import STARVED

LESS = "make packets less often or shorter"
MOST_TRIES = 10**6
SEARCHED = 12
"""Number of flows, those with the largest bounds, for which late packets are searched."""


def bound(
    scenario: Scenario | Compiled, tries: int = 0, progress: Callable[[int, int], None] | None = None
) -> Bounds:
    """Compute an upper bound on the delay of every flow.

    Args:
        scenario: a network of links or of rings, with traffic of sources.
        tries: number of runs that search for late packets, for each of the 12 flows with the largest bounds.
        progress: called with the numbers of finished runs and of all runs.

    Raises:
        ScenarioError: there is no bound for this scenario; the message gives the reason and the place.
        ValueError: ``tries`` is negative.
    """
    whole("tries", tries, 0, MOST_TRIES)
    found = _bound(scenario if isinstance(scenario, Compiled) else compile(scenario))
    return _tried(found, tries, progress) if tries > 0 else found


def of_few_flows(compiled: Compiled) -> Bounds | str:
    """Return the bounds of all flows; a reason if there are more than ``FEW_FLOWS`` or no bounds."""
    if compiled.programs is None and not compiled.has_few_flows:
        return f"there are more than {FEW_FLOWS} flows: fabriloom bound says what is guaranteed"
    try:
        return _bound(compiled)
    except ScenarioError as error:
        return error.message


def promises_of(compiled: Compiled, found: Bounds | str) -> list[Promise]:
    """Return the flows with a requirement; in a network without bounds, with the reason."""
    if isinstance(found, Bounds):
        return found.promises
    return promises(compiled, [found] * len(compiled.arrays["flow_target"]))


def _bound(compiled: Compiled) -> Bounds:
    """Return the bounds of all flows. Raises ScenarioError if no flow has one."""
    _check(compiled)
    return _BOUNDS[compiled.graph.network_kind](compiled)


def _on_links(compiled: Compiled) -> Bounds:
    """Return the bounds of flows over links and switches. Raises ScenarioError if no flow has one."""
    _check_lanes(compiled)
    network = Network(compiled)
    doubt = doubted(network)
    flows, shortest = flows_of(compiled)
    longest = max((flow.characters for flow in flows), default=0)
    if lost := headroom(compiled.arrays, compiled.graph.link_names, longest):
        hint = "make room for what comes after a pause"
        message = f"there is no bound: {lost[0]}"
        raise compiled.scenario.error(message, ("technology", "pause_above_flits"), hint)
    found = worst(network, by_ports(compiled, flows), shortest)
    bounds = Bounds(compiled, found, {}, doubt=doubt.message if doubt else "")
    if any(bounds.most(flow) is not None for flow in range(len(flows))):
        return bounds
    first = "give the flow a lane of the highest priority, or"
    message, hint = f"there is no bound {WITHOUT}: {STARVED}", f"{first} {PERIODS}"
    if NONE in bounds.periods.totals:
        message, hint = f"there is no bound: {STARVED}, and {NONE}", f"{first} {LESS}"
    raise doubt or compiled.scenario.error(message, ("technology", "lane_arbiter"), hint)


def _on_rings(compiled: Compiled) -> Bounds:
    """Return the bounds of flows with periods on rings. Raises ScenarioError if there are none."""
    check_rings(compiled)
    bounds = Bounds(compiled, flows_on_rings(compiled), {}, doubt="on rings only periods give a bound")
    why = next((total for total in bounds.periods.totals if isinstance(total, str)), None)
    if why is not None:
        message = f"there is no bound on these rings: {why}"
        hint = f"{LESS}, or give queues more places"
        raise compiled.scenario.error(message, ("traffic", "pattern"), hint)
    return bounds


def _check(compiled: Compiled) -> None:
    """Raise ScenarioError for networks in which delays are unbounded."""
    refused = compiled.scenario.error
    if len(compiled.arrays["switch_timeout_ticks"]):
        message = "there is no bound for switches with a watchdog: it ends packets"
        raise refused(message, ("technology",), "remove the watchdog: packets that it spares keep the bound")
    if compiled.scenario.fault:
        message = "there is no bound for a network in which links fail; one without what fails has a bound"
        hint = "remove the faults; for the time after a failure, also remove from the network what fails"
        raise refused(message, ("fault",), hint)
    if compiled.arrays["drops"]:
        message = "there is no bound where full buffers drop packets"
        hint = "leave it out: with pauses that come in time nothing is dropped"
        raise refused(message, ("technology", "drop_when_full"), hint)
    if len(compiled.arrays["switch_pool_chars"]):
        message = (
            "there is no bound where ports share a memory: what a lane holds before it pauses its sender "
        )
        message += "depends on what all others hold"
        raise refused(message, ("technology", "shared_buffer_flits"), "give every lane its own buffer")
    if compiled.programs is not None:
        message = "there is no bound for programs: what they send depends on what they have received"
        raise refused(message, ("program",), "describe the same messages as [traffic], for example as flows")
    if len(compiled.arrays["lane_slots"]):
        message = "there is no bound for links with time-slots: the wait for a slot is not counted"
        hint = "remove them, or look at the largest delay of runs"
        raise refused(message, ("technology", "lane_slots"), hint)


def _check_lanes(compiled: Compiled) -> None:
    """Raise ScenarioError for links on which a packet can wait in ways that are not counted."""
    arrays = compiled.arrays
    several = arrays["lanes"] > 1
    by_packet = several and arrays["lane_sharing"] == number("sharing", "packet")
    crosses = arrays["switch_crossbar_ticks"].any() and (several or arrays["output_queues"])
    for path, refuses, message, hint in (
        (
            ("technology", "crossbar"),
            crosses,
            "where lanes or queues share a crossbar as fast as a link: a turn can be missed",
            'write crossbar = "fast", or one lane and input_queues = "fifo"',
        ),
        (
            ("technology", "lane_sharing"),
            by_packet and not _native.is_by_packet(arrays),
            "where a packet keeps a link from other lanes while it cannot move",
            f'{WHOLE}; or lane_sharing = "flit"',
        ),
        (
            ("technology", "group_choice"),
            several and len(arrays["group_part_start"]),
            "for packets that draw a link of several lanes",
            'write group_choice = "first"',
        ),
        (
            ("routing", "lane_choice"),
            arrays["grant_with_room"],
            "where a packet waits for room behind a lane: others can take it always",
            "choose another lane_choice",
        ),
        (
            ("congestion_control",),
            len(arrays["cct_eighths"]),
            "with congestion control: marks of others let a port rest",
            "leave it out",
        ),
    ):
        if refuses:
            raise compiled.scenario.error(f"there is no bound {message}", path, hint)


def _tried(found: Bounds, tries: int, progress: Callable[[int, int], None] | None) -> Bounds:
    """Add the longest delays of runs that search for late packets."""
    from .phases import LONGEST_GRAINS, Trials, latest_with_periods

    trials, grain = Trials(found.compiled, found.worst.flows), int(found.compiled.arrays["grain_ticks"])
    order = [flow for flow in found.order() if found.sent(flow) is not None][:SEARCHED]
    has_periods = any(isinstance(total, float) for total in found.periods.totals)
    count, done = tries * (len(order) + has_periods), 0

    def one() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, count)

    tried = {
        flow: trials.latest(flow, tries, min(max(1, found.worst.delay(flow) // grain), LONGEST_GRAINS), one)
        for flow in order
    }
    kept = latest_with_periods(found.compiled, found.worst.flows, tries, one) if has_periods else {}
    return replace(found, tried=tried, kept=kept)


_BOUNDS = {LINKS: _on_links, RINGS: _on_rings}
"""The bounds of a scenario, by kind of network."""
