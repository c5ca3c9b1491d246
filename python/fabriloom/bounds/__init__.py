"""The longest delay that a packet of each flow can have, guaranteed, and the longest that could be provoked.

The method stands in ``docs/background/worst-case.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from .. import traffic
from ..compile import Compiled, RingParts, compile
from ..scenario import Scenario, ScenarioError
from .blocking import WORDS, Line, Part, parts
from .calculus import Worst, worst
from .flows import Flow, Network, by_ports, check_arbitration, flows_of, listed
from .phases import Trials
from .promises import Promise, promises

if TYPE_CHECKING:
    import polars as pl


__all__ = ["Bounds", "Line", "Promise", "bound", "of_few_flows", "promises_of"]

FEW = 512
"""Flows of which the bounds are known in no time."""
SEARCHED = 12
"""Flows with the largest bounds that are tried when not all are."""


@dataclass(frozen=True)
class Bounds:
    """The bounds of all flows of a scenario."""

    compiled: Compiled
    worst: Worst
    tried: dict[int, int]
    """Per flow that was tried: the longest delay that was seen, in ticks."""

    @property
    def tick_ns(self) -> float:
        """Nanoseconds of a tick."""
        return self.compiled.tick_ps / 1000

    def order(self) -> list[int]:
        """The numbers of the flows, the largest bound first."""
        return self.worst.order()

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row per flow, the largest bound first; columns as on the page of results."""
        import polars as pl

        order = self.order()
        payload = self.compiled.technology.payload_bytes
        around = int(self.compiled.arrays["header_chars"]) + 1
        flows = [self.worst.flows[flow] for flow in order]
        names = self.compiled.graph.terminal_names
        seen = [self.tried.get(flow) for flow in order]
        bounds = [self.worst.delay(flow) * self.tick_ns for flow in order]
        found = [None if ticks is None else ticks * self.tick_ns for ticks in seen]
        return pl.DataFrame(
            {
                "source": [names[flow.source] for flow in flows],
                "target": [names[flow.target] for flow in flows],
                "packet_bytes": [payload(flow.characters - around) for flow in flows],
                "bound_ns": bounds,
                "found_ns": found,
                "found_share": [
                    None if late is None else late / most for late, most in zip(found, bounds, strict=True)
                ],
            },
            schema_overrides={
                "source": pl.String,
                "target": pl.String,
                "found_ns": pl.Float64,
                "found_share": pl.Float64,
            },
        )

    def flow(self, source: str, target: str) -> int:
        """The number of the flow between two terminals by name: of several, that of the longest packets.

        Raises KeyError.
        """
        names = self.compiled.graph.terminal_names
        for number, flow in enumerate(self.worst.flows):
            if (names[flow.source], names[flow.target]) == (source, target):
                return number
        raise KeyError(f"{source}:{target}")

    @cached_property
    def promises(self) -> list[Promise]:
        """The flows that have a requirement, with the longest time from making to delivery."""
        return promises(self.compiled, self.worst)

    def tree_of(self, promise: Promise) -> list[Line]:
        """What the bound of a flow with a requirement consists of, the wait at its source first."""
        flow = self.worst.flows.index(Flow(*listed(self.compiled.arrays)[promise.row]))
        waits_ns = (promise.bound_ns or 0) - self.worst.delay(flow) * self.tick_ns
        first = [Line(0, waits_ns, "waits at its source behind packets made before")] if waits_ns > 0 else []
        return [*first, *self.tree(flow)]

    def blocking(self, flow: int, depth: int = 3) -> list[Part]:
        """What the bound of a flow consists of, in the order of its way: the parts add up to it."""
        return parts(self.worst, flow, depth)

    def tree(self, flow: int, depth: int = 2) -> list[Line]:
        """The same as lines of text: times and what they are for, with what holds up those it waits for."""
        return list(self._lines(self.blocking(flow, depth), 0))

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
        """Per pair of terminals by name the delay that none of its packets exceeds."""
        names, found = self.compiled.graph.terminal_names, dict[tuple[str, str], float]()
        for number, flow in enumerate(self.worst.flows):
            pair = names[flow.source], names[flow.target]
            found[pair] = max(found.get(pair, 0.0), self.worst.delay(number) * self.tick_ns)
        return found

    def named(self, flow: int) -> str:
        """A flow by its terminals."""
        names, it = self.compiled.graph.terminal_names, self.worst.flows[flow]
        return f"{names[it.source]} -> {names[it.target]}"


def bound(
    scenario: Scenario | Compiled, tries: int = 0, progress: Callable[[int, int], None] | None = None
) -> Bounds:
    """The longest delay that a packet of each flow can have from its dispatch to its delivery.

    Args:
        scenario: a network of links with traffic of sources.
        tries: this many runs for each of the 12 flows with the largest bounds look for late packets.
        progress: called with the number of runs that are done and of all.

    Raises:
        ScenarioError: there is no bound for this scenario; it says why and where.
    """
    compiled = scenario if isinstance(scenario, Compiled) else compile(scenario)
    found = _bound(compiled)
    return Bounds(compiled, found, _tried(compiled, found, tries, progress))


def of_few_flows(compiled: Compiled) -> Bounds | str:
    """The bounds of all flows; of more than ``FEW``, or where there are none, why not."""
    if compiled.programs is None and not isinstance(compiled.parts, RingParts):
        even = int(traffic.to_all(compiled.arrays).sum()) * (compiled.graph.terminals - 1)
        if even > FEW or even + len(compiled.demand().source) > FEW:
            return f"there are more than {FEW} flows: fabriloom bound says what is guaranteed"
    try:
        return Bounds(compiled, _bound(compiled), {})
    except ScenarioError as error:
        return error.message


def promises_of(compiled: Compiled, found: Bounds | str) -> list[Promise]:
    """The flows that have a requirement; those of a network without bounds with the reason."""
    return promises(compiled, None, found) if isinstance(found, str) else found.promises


def _bound(compiled: Compiled) -> Worst:
    refused = compiled.scenario.error
    if isinstance(compiled.parts, RingParts):
        message = "there is no bound for networks of rings: nothing limits how often a packet is sent again"
        raise refused(
            message, ("topology", "kind"), "run it with several seeds and look at the largest delay"
        )
    if len(compiled.arrays["switch_timeout_ticks"]):
        message = "there is no bound for switches with a watchdog: it ends packets"
        raise refused(message, ("technology",), "remove the watchdog: packets that it spares keep the bound")
    if compiled.scenario.fault:
        message = "there is no bound for a network in which links fail: packets take other ways then"
        raise refused(message, ("fault",), "remove the faults, and look at each failure by itself")
    if len(compiled.arrays["code_port"]):
        message = "there is no bound beside time-codes and interrupts, which go before characters of packets"
        path = ("time_code",) if compiled.scenario.time_code else ("interrupt",)
        raise refused(message, path, "remove them to see what is guaranteed without")
    if compiled.programs is not None:
        message = "there is no bound for programs: what they send depends on what they have received"
        raise refused(message, ("program",), "describe the same messages as [traffic], for example as flows")
    if compiled.arrays["lanes"] > 1 or compiled.arrays["whole_packet_credit"]:
        message = "there is no bound for links of several lanes or for credit of whole packets"
        name = "lanes" if compiled.arrays["lanes"] > 1 else "switching"
        raise refused(
            message, ("technology", name), "run it with several seeds and look at the largest delay"
        )
    network = Network(compiled)
    check_arbitration(network)
    flows, shortest = flows_of(compiled)
    return worst(network, by_ports(compiled, flows), shortest)


def _tried(
    compiled: Compiled, found: Worst, tries: int, progress: Callable[[int, int], None] | None
) -> dict[int, int]:
    if tries < 1:
        return {}
    trials, grain = Trials(compiled, found.flows), int(compiled.arrays["grain_ticks"])
    order = found.order()[:SEARCHED]
    done = 0

    def one() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, tries * len(order))

    return {flow: trials.latest(flow, tries, max(1, found.delay(flow) // grain), one) for flow in order}
