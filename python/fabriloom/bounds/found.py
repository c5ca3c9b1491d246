"""The bounds of all flows of a scenario, their causes, their table, and what they promise to requirements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..compile import Compiled
from ..process.libraries import pl
from ..results.columns.studies import BOUNDS
from ..topology import LINKS, RINGS, NetworkKind
from .calculus import WORDS, Blocking, Line, Part, Worst, counted, links_of, parts
from .flows import flow_of_rows
from .periods import SHAPED, SHAPED_BESIDE, Periods, Ready, by_periods, least_of
from .rings import by_rings
from .signals import Reals
from .wires import NEVER, STARVED

# Bounds on the wait at a source with periodic flows.
#
# ``docs/background/worst-case.md`` describes the method.

_MOST_MOMENTS = 1 << 20
"""Most packets of one flow that are examined."""
_MOST_STEPS = 10_000
"""Most steps of the iteration for the longest busy time."""


@dataclass(frozen=True)
class Train:
    """The load of a flow on the queue of its source, in ticks."""

    period: float
    jitter: float
    packets: int
    service: int
    """Service time of a packet: until its end has left the input buffer of the source's link."""

    def work(self, times: np.ndarray) -> np.ndarray:
        """Return the largest total service time of packets created in closed intervals of these lengths."""
        return (np.floor((times + self.jitter) / self.period + 1e-9) + 1) * (self.packets * self.service)


def totals(compiled: Compiled, worst: Worst) -> list[int | str]:
    """Return the bound of each row of flows, in ticks from creation to delivery, or why there is none."""
    arrays, ready = compiled.arrays, Ready(compiled.arrays)
    flow_of = flow_of_rows(compiled, worst.flows)
    first = [worst.network.out_link[worst.flows[flow].first] for flow in flow_of]
    trains = [
        Train(
            float(ready.period[row]),
            float(ready.jitter[row]),
            int(ready.packets[row]),
            worst.service[first[row], worst.alike[flow]],
        )
        for row, flow in enumerate(flow_of)
    ]
    found: list[int | str] = [""] * len(flow_of)
    start = arrays["flow_start"].astype(np.int64).tolist()
    for source in range(len(start) - 1):
        rows_of = range(start[source], start[source + 1])
        drawn = any(ready.random[row] for row in rows_of)
        for link in sorted({first[row] for row in rows_of}):
            own = [row for row in rows_of if first[row] == link]
            refuses = int(arrays["source_queue"][source]) > 0
            waits = _of_source([trains[row] for row in own], drawn, refuses, _Codes(worst, link))
            for row, wait in zip(own, waits, strict=True):
                found[row] = wait if isinstance(wait, str) else wait + int(ready.tokens[row])
    return found


class _Codes:
    """The codes that packets of a source can meet."""

    def __init__(self, worst: Worst, first: int) -> None:
        self.signals = worst.signals
        self.first = first
        self.busy = 0.0 if worst.signals is None else worst.signals.busy(first)

    def prolong(self, times: Reals) -> Reals:
        """Return times with the codes in them."""
        if self.signals is None:
            return times
        return self.signals.prolonged(times, self.signals.apiece(self.first))


def _of_source(trains: list[Train], random: bool, refuses: bool, codes: _Codes) -> list[int | str]:
    """Return the bounds of the flows of one port of a source, whose packets share a queue."""
    if any(train.service >= NEVER for train in trains):
        return [STARVED] * len(trains)
    if random:
        remedy = 'give its flows a period, or write arrivals = "constant"'
        return [f"its source makes packets at random, so no wait is the longest; {remedy}"] * len(trains)
    if refuses:
        return ["its source refuses packets that find the queue full"] * len(trains)
    if any(np.isinf(train.jitter) for train in trains):
        return [SHAPED if np.isinf(train.jitter) else SHAPED_BESIDE for train in trains]
    busy = codes.busy + sum(train.packets * train.service / train.period for train in trains)
    if busy >= 1:
        message = "in the worst case its packets leave more slowly than its source creates them"
        return [message] * len(trains)
    length = _longest_busy(trains, codes)
    if length is None:
        return ["in the worst case its source hardly ever pauses"] * len(trains)
    return [_slowest(train, trains, length, codes) for train in trains]


def _longest_busy(trains: list[Train], codes: _Codes) -> float | None:
    """Return the longest busy time of a source: it ends when all packets created up to then are served."""
    time = 0.0
    for _ in range(_MOST_STEPS):
        work = sum((train.work(np.array([time])) for train in trains), np.zeros(1))
        done = float(codes.prolong(work)[0])
        if done <= time:
            return time
        if np.isinf(done):
            return None
        time = done
    return None


def _slowest(train: Train, trains: list[Train], length: float, codes: _Codes) -> int | str:
    """Return the largest wait plus service of a packet of this flow, behind all packets created before."""
    count = int((length + train.jitter) / train.period) + 1
    if count > _MOST_MOMENTS:
        return f"in the worst case its source has no pause for {count:,} packets"
    moments = np.maximum(0.0, np.arange(count) * train.period - train.jitter)
    work = sum((one.work(moments) for one in trains), np.zeros(count))
    return int(np.ceil((codes.prolong(work) - moments).max()))


@dataclass(frozen=True)
class Promise:
    """The requirement and the bound of a flow. Times in ns, from creation to delivery."""

    row: int
    """Row of the engine's columns of flows."""
    flow: str
    source: str
    target: str
    packet_bytes: int
    requirement_ns: float
    bound_ns: float | None
    """Upper bound on the delay; None if there is none."""
    no_bound: str
    """Why there is no bound; empty if there is one."""


def promises(compiled: Compiled, found: Sequence[float | str]) -> list[Promise]:
    """Return all flows with a requirement, in the order of their sources.

    ``found``: per row of flows the bound in ticks from creation to delivery, or why there is none.
    """
    rows = compiled.required_rows()
    if not rows:
        return []
    arrays, names = compiled.arrays, compiled.target_names()
    sources = np.repeat(np.arange(compiled.graph.terminals), np.diff(arrays["flow_start"].astype(np.int64)))
    tick_ns = compiled.tick_ps / 1000
    return [
        Promise(
            row,
            str(compiled.sources.given["flow_name"][row]),
            names[sources[row]],
            names[int(arrays["flow_target"][row])],
            int(arrays["flow_length"][row]),
            int(compiled.sources.given["flow_requirement_ps"][row]) / 1000,
            *_of(found[row], tick_ns),
        )
        for row in rows
    ]


def _of(total: float | str, tick_ns: float) -> tuple[float | None, str]:
    return (None, total) if isinstance(total, str) else (total * tick_ns, "")


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
        bounds = (self.most(flow) for flow in range(len(self.worst.flows)))
        largest = [np.inf if most is None else most for most in bounds]
        return sorted(range(len(largest)), key=lambda flow: (-largest[flow], flow))

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
        return _PERIODS[self.compiled.graph.network_kind](self)

    def with_periods(self, flow: int) -> float | None:
        """Return the bound of a flow by the periods, in ticks from creation to delivery; None without one."""
        found = [self.periods.totals[row] for row in self.rows.get(flow, [])]
        known = [one for one in found if isinstance(one, float)]
        return max(known) if known and len(known) == len(found) else None

    def sent(self, flow: int) -> int | None:
        """Return the bound of a flow by the recursion, in ticks from dispatch to delivery; None without."""
        found = NEVER if self.doubt else self.worst.delay(flow)
        return found if found < NEVER else None

    def link(self, lane: int) -> int:
        """Return the link of a lane."""
        return lane // max(1, self.compiled.arrays["lanes"])

    def most(self, flow: int) -> float | None:
        """Return the smaller bound of a flow, in ticks from dispatch to delivery; None if there is none."""
        sent = self.sent(flow)
        found = [] if sent is None else [float(sent)]
        kept = self.with_periods(flow)
        return min([*found, *([] if kept is None else [kept])], default=None)

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row per flow, the largest bound first; columns as on the page of results."""
        return BOUNDS.frame_of(map(self._row, self.order()))

    def first(self, count: int) -> list[dict[str, Any]]:
        """Return the first rows of the table."""
        return [BOUNDS.row_of(self._row(flow)) for flow in self.order()[:count]]

    def _row(self, number: int) -> SimpleNamespace:
        """Return what the table has of a flow, by the names of the columns."""
        flow, names = self.worst.flows[number], self.compiled.graph.terminal_names
        periods = self.with_periods(number)
        seen = self.tried.get(number), None if periods is None else self.kept.get(number)
        bounds = self.sent(number), periods
        found_ns, kept_ns, bound_ns, periods_ns = (
            None if ticks is None else ticks * self.tick_ns for ticks in (*seen, *bounds)
        )
        return SimpleNamespace(
            source=names[flow.source],
            target=names[flow.target],
            packet_bytes=flow.payload,
            bound_ns=bound_ns,
            found_ns=found_ns,
            found_share=_share(found_ns, bound_ns),
            periods_ns=periods_ns,
            periods_found_ns=kept_ns,
            periods_found_share=_share(kept_ns, periods_ns),
        )

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
            own, *others = (
                {self.link(lane) for lane in links_of(self.worst, one)}
                for one in (flow, *(self.flow_of[share.row] for share in self.periods.shares[promise.row]))
            )
            for share, links in zip(self.periods.shares[promise.row], others, strict=True):
                for link in links & own:
                    numbers[link] = numbers.get(link, 0.0) + share.packets
            lines, about = self._shared(promise.row), "packets that can be in the way"
        else:
            tokens = self._tokens(promise.row)
            waits_ns = (promise.bound_ns or 0) - self.worst.delay(flow) * self.tick_ns
            waits_ns -= sum(line.time_ns for line in tokens)
            first = [Line(0, waits_ns, "waits at its source behind packets made before")]
            for part in self.blocking(flow, 1):
                if part.kind == "codes":  # on all links
                    continue
                link = self.link(part.link)
                numbers[link] = numbers.get(link, 0.0) + part.ticks * self.tick_ns / 1e3
            lines = [*tokens, *(first if waits_ns > 0 else []), *self._lines(self.blocking(flow, 2), 0)]
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
        sent = self.sent(flow)
        if kept is not None and (sent is None or kept < sent):
            return self._shared(max(self.rows[flow], key=lambda row: float(self.periods.totals[row])))
        return [] if sent is None else list(self._lines(self.blocking(flow, depth), 0))

    def _shared(self, row: int) -> list[Line]:
        """Return the parts of the bound of a row by the periods."""
        names = self.compiled.sources.given["flow_name"]
        found = []
        for share in self.periods.shares[row]:
            count = "1 packet" if share.packets == 1 else f"{share.packets} packets"
            whose = "itself and those before it" if share.row == row else str(names[share.row])
            found.append(Line(0, share.ticks * self.tick_ns, f"{whose}: {count}"))
        codes_ns = self.periods.codes[row] * self.tick_ns
        codes = [Line(0, codes_ns, WORDS["codes"])] if codes_ns else []
        lines = [*found, *codes, *self._tokens(row)]
        # On links the first character of a packet has these; on rings they are beside all packets.
        delays_ns = float(self.periods.totals[row]) * self.tick_ns - sum(line.time_ns for line in lines)
        delays = [Line(0, delays_ns, "delays of its way")] if delays_ns > self.tick_ns / 2 else []
        return [*lines, *delays]

    def _tokens(self, row: int) -> list[Line]:
        time_ns = self.periods.tokens.get(row, 0.0) * self.tick_ns
        return [Line(0, time_ns, "waits for the tokens of its shaper")] if time_ns else []

    def _lines(self, parts: list[Part], depth: int) -> Iterator[Line]:
        for part in parts:
            words = WORDS[part.kind].format(link=self.worst.network.name(part.link), packets=part.packets)
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
            found[pair] = max(found.get(pair, 0.0), np.inf if most is None else most * self.tick_ns)
        return {pair: most for pair, most in found.items() if most < np.inf}

    def named(self, flow: int) -> str:
        """Return source and target of a flow as text."""
        names, it = self.compiled.graph.terminal_names, self.worst.flows[flow]
        return f"{names[it.source]} -> {names[it.target]}"


def _share(found: float | None, most: float | None) -> float | None:
    return None if found is None or most is None else found / most


_PERIODS: dict[NetworkKind, Callable[[Bounds], Periods]] = {
    LINKS: lambda found: least_of(
        by_periods(found.compiled, worst, found.waited)
        for worst in (
            [found.worst] if found.worst.network.lanes == 1 else [found.worst, counted(found.worst)]
        )
    ),
    RINGS: lambda found: by_rings(found.compiled),
}
"""Bounds by periods, by kind of network."""
