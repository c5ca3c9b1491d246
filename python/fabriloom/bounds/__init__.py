"""An upper bound on the delay of every flow, and a search for the longest delay.

``docs/background/worst-case.md`` describes the method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from ..compile import FEW_FLOWS, Compiled, compile
from ..libraries import pl
from ..results.columns import BOUNDS
from ..scenario import Scenario, ScenarioError
from .blocking import WORDS, Blocking, Line, Part, links_of, parts
from .calculus import Worst, worst
from .flows import Flow, Network, by_ports, doubted, flow_of_rows, flows_of
from .periods import Periods, by_periods
from .promises import Promise, promises
from .sources import totals

__all__ = ["Blocking", "Bounds", "Line", "Promise", "bound", "of_few_flows", "promises_of"]

SEARCHED = 12
"""Number of flows, those with the largest bounds, for which late packets are searched."""


@dataclass(frozen=True, repr=False)
class Bounds:
    """The bounds of all flows of a scenario."""

    compiled: Compiled
    worst: Worst
    tried: dict[int, int]
    """Longest delay found in the search, in ticks, per searched flow."""
    kept: dict[int, int] = field(default_factory=dict)
    """Longest time from creation to delivery found in runs with the given periods, in ticks, per flow."""
    doubt: str = ""
    """Why the bounds of :attr:`worst` do not hold for this network; empty if they hold."""

    @property
    def tick_ns(self) -> float:
        """Length of a tick in ns."""
        return self.compiled.tick_ps / 1000

    def __repr__(self) -> str:
        found = f"{len(self.worst.flows)} flows"
        if self.promises:
            kept = sum(
                one.bound_ns is not None and one.bound_ns <= one.requirement_ns for one in self.promises
            )
            found += f", {kept} of {len(self.promises)} requirements guaranteed"
        return f"<Bounds {self.compiled.scenario.name!r}: {found}>"

    def _repr_html_(self) -> str:
        return (
            f"<p>{escape(repr(self)[1:-1])}</p><div style='overflow-x:auto'>{self.table._repr_html_()}</div>"
        )

    def order(self) -> list[int]:
        """Return the numbers of the flows: first those without a bound, then by descending bound."""
        return _order(self)

    @cached_property
    def flow_of(self) -> list[int]:
        """Flow of each row of the columns of sources; empty if the traffic is not given as flows."""
        has_flows = len(self.compiled.arrays["flow_target"]) > 0
        return flow_of_rows(self.compiled, self.worst.flows) if has_flows else []

    @cached_property
    def rows(self) -> dict[int, list[int]]:
        """Rows of the columns of sources that belong to each flow."""
        found: dict[int, list[int]] = {}
        for row, flow in enumerate(self.flow_of):
            found.setdefault(flow, []).append(row)
        return found

    @cached_property
    def waited(self) -> list[int | str]:
        """Bound of each row by the recursion, in ticks from creation to delivery, or why there is none."""
        rows = len(self.compiled.arrays["flow_target"])
        return [self.doubt] * rows if self.doubt or not rows else totals(self.compiled, self.worst)

    @cached_property
    def periods(self) -> Periods:
        """Bounds that use the periods of all interfering flows."""
        if self.compiled.graph.rings is not None:
            from .rings import by_rings

            return by_rings(self.compiled)
        return by_periods(self.compiled, self.worst, self.waited)

    def with_periods(self, flow: int) -> float | None:
        """Return the bound of a flow by the periods, in ticks from creation to delivery; None if there is
        none.
        """
        found = [self.periods.totals[row] for row in self.rows.get(flow, [])]
        known = [one for one in found if isinstance(one, float)]
        return max(known) if known and len(known) == len(found) else None

    def most(self, flow: int) -> float | None:
        """Return the smaller bound of a flow, in ticks from dispatch to delivery; None if there is none."""
        found = [] if self.doubt else [float(self.worst.delay(flow))]
        kept = self.with_periods(flow)
        return min([*found, *([] if kept is None else [kept])], default=None)

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row per flow, the largest bound first; columns as on the page of results."""
        return BOUNDS.frame_of(Row(self, flow) for flow in self.order())

    def first(self, count: int) -> list[dict[str, Any]]:
        """Return the first rows of the table."""
        return [BOUNDS.row_of(Row(self, flow)) for flow in self.order()[:count]]

    def flow(self, source: str, target: str) -> int:
        """Return the number of the flow between two terminals; of several, that with the longest packets.

        Raises KeyError if there is no such flow.
        """
        names = self.compiled.graph.terminal_names
        for number, flow in enumerate(self.worst.flows):
            if (names[flow.source], names[flow.target]) == (source, target):
                return number
        raise KeyError(f"{source}:{target}")

    @cached_property
    def promises(self) -> list[Promise]:
        """The flows with a requirement, with their bounds from creation to delivery."""
        return promises(self.compiled, self._guaranteed())

    def _guaranteed(self) -> list[float | str]:
        """Return the smaller of both bounds per row, or why there is none."""
        found: list[float | str] = []
        for waited, kept in zip(self.waited, self.periods.totals, strict=True):
            known = [float(one) for one in (waited, kept) if not isinstance(one, str)]
            found.append(min(known) if known else waited)
        return found

    def blocked(self, promise: Promise) -> Blocking:
        """Return the parts of the bound of a flow with a requirement, with their links."""
        flow = self.flow_of[promise.row]
        waited, kept = self.waited[promise.row], self.periods.totals[promise.row]
        numbers = dict[int, float]()
        if isinstance(kept, float) and (isinstance(waited, str) or kept < waited):
            own = links_of(self.worst, flow)
            for share in self.periods.shares[promise.row]:
                for link in links_of(self.worst, self.flow_of[share.row]) & own:
                    numbers[link] = numbers.get(link, 0.0) + share.packets
            lines, about = self._shared(promise.row), "packets that can be in the way"
        else:
            waits_ns = (promise.bound_ns or 0) - self.worst.delay(flow) * self.tick_ns
            first = [Line(0, waits_ns, "waits at its source behind packets made before")]
            for part in self.blocking(flow, 1):
                if part.kind == "codes":  # on all links
                    continue
                numbers[part.link] = numbers.get(part.link, 0.0) + part.ticks * self.tick_ns / 1e3
            lines = [*(first if waits_ns > 0 else []), *self._lines(self.blocking(flow, 2), 0)]
            about = "µs in the worst case"
        links = [numbers.get(link, np.nan) for link in range(self.compiled.graph.links)]
        return Blocking(promise.flow, lines, about, links)

    def blocking(self, flow: int, depth: int = 3) -> list[Part]:
        """Return the parts of the bound of a flow, in the order of its path; their sum is the bound."""
        return parts(self.worst, flow, depth)

    def tree(self, flow: int, depth: int = 2) -> list[Line]:
        """Return the parts as lines of text: times and their causes, with the causes of inner waits.

        If the bound by the periods is smaller: the number of interfering packets of each flow, and their
        time.
        """
        kept = self.with_periods(flow)
        if kept is not None and (self.doubt or kept < self.worst.delay(flow)):
            return self._shared(max(self.rows[flow], key=lambda row: float(self.periods.totals[row])))
        return [] if self.doubt else list(self._lines(self.blocking(flow, depth), 0))

    def _shared(self, row: int) -> list[Line]:
        """Return the parts of the bound of a row by the periods."""
        names = self.compiled.sources.given["flow_name"]
        found = []
        for share in self.periods.shares[row]:
            count = "1 packet" if share.packets == 1 else f"{share.packets} packets"
            whose = "itself and those before it" if share.row == row else str(names[share.row])
            found.append(Line(0, share.ticks * self.tick_ns, f"{whose}: {count}"))
        codes_ns = self.periods.codes[row] * self.tick_ns
        return [*found, *([Line(0, codes_ns, WORDS["codes"])] if codes_ns else [])]

    def _lines(self, parts: list[Part], depth: int) -> Iterator[Line]:
        names = self.compiled.graph.link_names
        for part in parts:
            words = WORDS[part.kind].format(link=names[part.link], packets=part.packets)
            if part.kind in ("ahead", "other"):
                count = "" if part.packets == 1 else f"{part.packets} packets such as "
                words = f"{count}{self.named(part.flow)}: {words}"
            yield Line(depth, part.ticks * self.tick_ns, words)
            yield from self._lines([inner for inner in part.parts if inner.kind != "passing"], depth + 1)

    def pairs_ns(self) -> dict[tuple[str, str], float]:
        """Return the bound in ns by pair of terminal names."""
        names, found = self.compiled.graph.terminal_names, dict[tuple[str, str], float]()
        for number, flow in enumerate(self.worst.flows):
            pair = names[flow.source], names[flow.target]
            most = self.most(number)
            if most is None:
                return {}
            found[pair] = max(found.get(pair, 0.0), most * self.tick_ns)
        return found

    def named(self, flow: int) -> str:
        """Return source and target of a flow as text."""
        names, it = self.compiled.graph.terminal_names, self.worst.flows[flow]
        return f"{names[it.source]} -> {names[it.target]}"


@dataclass(frozen=True)
class Row:
    """A flow, for the table."""

    of: Bounds
    number: int

    @property
    def flow(self) -> Flow:
        """The flow itself."""
        return self.of.worst.flows[self.number]

    @property
    def source(self) -> str:
        """Terminal that sends."""
        return self.of.compiled.graph.terminal_names[self.flow.source]

    @property
    def target(self) -> str:
        """Terminal that receives."""
        return self.of.compiled.graph.terminal_names[self.flow.target]

    @property
    def packet_bytes(self) -> int:
        """Payload of the longest packet."""
        return self.flow.payload

    def _ns(self, ticks: float | None) -> float | None:
        return None if ticks is None else ticks * self.of.tick_ns

    @property
    def bound_ns(self) -> float | None:
        """From dispatch to delivery."""
        return None if self.of.doubt else self._ns(self.of.worst.delay(self.number))

    @property
    def found_ns(self) -> float | None:
        """The longest such time that was seen."""
        return self._ns(self.of.tried.get(self.number))

    @property
    def found_share(self) -> float | None:
        """The one over the other."""
        return _share(self.found_ns, self.bound_ns)

    @property
    def periods_ns(self) -> float | None:
        """From making to delivery, by the periods."""
        return self._ns(self.of.with_periods(self.number))

    @property
    def periods_found_ns(self) -> float | None:
        """The longest such time that was seen."""
        return None if self.periods_ns is None else self._ns(self.of.kept.get(self.number))

    @property
    def periods_found_share(self) -> float | None:
        """The one over the other."""
        return _share(self.periods_found_ns, self.periods_ns)


def _share(found: float | None, most: float | None) -> float | None:
    return None if found is None or most is None else found / most


def bound(
    scenario: Scenario | Compiled, tries: int = 0, progress: Callable[[int, int], None] | None = None
) -> Bounds:
    """Compute an upper bound on the delay of every flow.

    Args:
        scenario: a network of links with traffic of sources.
        tries: number of runs that search for late packets, for each of the 12 flows with the largest bounds.
        progress: called with the numbers of finished runs and of all runs.

    Raises:
        ScenarioError: there is no bound for this scenario; the message gives the reason and the place.
    """
    compiled = scenario if isinstance(scenario, Compiled) else compile(scenario)
    found = _bound(compiled)
    return _tried(found, tries, progress)


def of_few_flows(compiled: Compiled) -> Bounds | str:
    """Return the bounds of all flows; a reason if there are more than ``FEW_FLOWS`` or no bounds."""
    if compiled.programs is None and not compiled.network.unbounded and not compiled.has_few_flows:
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
    if compiled.graph.rings is not None:
        return _on_rings(compiled)
    network = Network(compiled)
    doubt = doubted(network)
    flows, shortest = flows_of(compiled)
    found = worst(network, by_ports(compiled, flows), shortest)
    bounds = Bounds(compiled, found, {}, doubt=doubt.message if doubt else "")
    if doubt and not any(isinstance(total, float) for total in bounds.periods.totals):
        raise doubt
    return bounds


def _on_rings(compiled: Compiled) -> Bounds:
    """Return the bounds of flows with periods on rings. Raises ScenarioError if there are none."""
    from .rings import check_rings, flows_on_rings

    check_rings(compiled)
    bounds = Bounds(compiled, flows_on_rings(compiled), {}, doubt="on rings only periods give a bound")
    why = next((total for total in bounds.periods.totals if isinstance(total, str)), None)
    if why is not None:
        message = f"there is no bound on these rings: {why}"
        hint = "make packets less often, or give queues more places"
        raise compiled.scenario.error(message, ("traffic", "pattern"), hint)
    return bounds


def _check(compiled: Compiled) -> None:
    """Raise ScenarioError for networks in which delays are unbounded."""
    refused = compiled.scenario.error
    if compiled.network.unbounded:
        message = f"there is no bound for {compiled.network.unbounded}"
        raise refused(
            message, ("topology", "kind"), "run it with several seeds and look at the largest delay"
        )
    if len(compiled.arrays["switch_timeout_ticks"]):
        message = "there is no bound for switches with a watchdog: it ends packets"
        raise refused(message, ("technology",), "remove the watchdog: packets that it spares keep the bound")
    if compiled.scenario.fault:
        message = "there is no bound for a network in which links fail; one without what fails has a bound"
        hint = "remove the faults; for the time after a failure, also remove from the network what fails"
        raise refused(message, ("fault",), hint)
    if compiled.programs is not None:
        message = "there is no bound for programs: what they send depends on what they have received"
        raise refused(message, ("program",), "describe the same messages as [traffic], for example as flows")
    if compiled.arrays["lanes"] > 1 or compiled.arrays["whole_packet_credit"]:
        message = "there is no bound for links of several lanes or for credit of whole packets"
        name = "lanes" if compiled.arrays["lanes"] > 1 else "switching"
        raise refused(
            message, ("technology", name), "run it with several seeds and look at the largest delay"
        )


def _order(found: Bounds) -> list[int]:
    def largest_first(flow: int) -> tuple[float, int]:
        most = found.most(flow)
        return (-np.inf if most is None else -most), flow

    return sorted(range(len(found.worst.flows)), key=largest_first)


def _tried(found: Bounds, tries: int, progress: Callable[[int, int], None] | None) -> Bounds:
    """Add the longest delays of runs that search for late packets."""
    if tries < 1:
        return found
    from .phases import LONGEST_GRAINS, Trials, latest_with_periods

    trials, grain = Trials(found.compiled, found.worst.flows), int(found.compiled.arrays["grain_ticks"])
    order = [] if found.doubt else found.order()[:SEARCHED]
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
