"""Flows: several sequences of packets per terminal, each with its own target, length and times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from fabriloom import units
from fabriloom.codes import ARRIVAL
from fabriloom.traffic import tables
from fabriloom.traffic.kinds import Columns, Links, Settings, TrafficError
from fabriloom.traffic.names import Spread, Targets, Terminals
from fabriloom.traffic.packets import checked, places

COLUMNS = (
    "source", "target", "length", "rate", "period", "phase", "jitter", "packets", "start", "stop", "count",
    "name", "requirement", "shaper_rate", "shaper_burst",
)  # fmt: skip
PLAIN = {
    "length": "length_bytes",
    "shaper_burst": "shaper_burst_bytes",
    **{name: f"{name}_ns" for name in ("period", "phase", "jitter", "start", "stop", "requirement")},
}
"""Columns of plain numbers, with the unit in their name, as in Parquet files."""
_WORDS = {
    **dict.fromkeys((*COLUMNS, *PLAIN.values()), ()),
    "name": ("flow", "flow name", "id"),
    "source": ("from", "producer", "unit", "instrument"),
    "target": ("to", "destination", "consumer"),
    "length": ("size", "packet size", "packet length", "message size", "payload"),
    "rate": ("data rate", "mean rate", "average rate"),
    "period": ("interval", "cycle time"),
    "requirement": ("deadline", "max latency", "maximum latency", "max delay", "maximum delay", "latency"),
}
"""Columns, each with the words that spreadsheets have for it."""
_PHASES = {"poisson": None, "constant": None, "together": 0}
"""The phase of flows with a rate, by their arrivals."""
_MOST_PACKETS = 2**24
_MOST_OF_RANGES = 2**20
"""Most flows of one entry with ranges of terminals."""
_MOST_GRAINS = 10**15
_PS_PER_S = 10**12

Fail = Callable[[str, str, str], TrafficError]
"""Makes the error of a flow from its message, the setting at fault and the hint."""


@dataclass(frozen=True)
class Flow:
    """One flow. Times in ps."""

    source: int
    target: int
    length_bytes: int
    arrival: int
    interval_ps: Fraction
    """The period, or the mean interval."""
    phase_ps: int | None
    """None: random."""
    jitter_ps: int
    packets: int
    start_ps: int
    stop_ps: int | None
    """None: it goes on for ever."""
    count: int
    """Packets in all; 0: without a limit."""
    name: str
    """Empty if the flow has no name."""
    requirement_ps: int | None
    """The longest time allowed from creation to delivery."""
    cost_ps: Fraction = Fraction(0)
    """The time in which its token bucket gets the tokens of a packet; 0: it has none."""
    room_ps: Fraction = Fraction(0)
    """The time in which the bucket fills."""


def flows(
    terminals: Terminals,
    technology: Links,
    sending: np.ndarray,
    settings: Settings,
    distributions: Sequence[Spread] = (),
) -> Columns:
    """Return the ``flow_*`` columns and the arrivals of ``settings["pattern"]`` for the sending terminals.

    Target numbers are those of terminals, followed by those of ``distributions``.

    Two columns are not for the engine: ``flow_name``, and ``flow_requirement_ps`` with -1 for none.

    Raises:
        TrafficError: a flow is wrong; the error names it.
    """
    pattern = settings["pattern"]
    targets = Targets(terminals.names, distributions)
    maker = _Maker(terminals, targets, technology, settings)
    found = _of_file(maker, pattern["path"]) if pattern.get("path") else _of_list(maker, pattern["flows"])
    found = required(found, targets, pattern)
    scale = Fraction(str(settings.get("scale") or 1))
    kept = [flow for flow in found if sending[flow.source]]
    kept = _together(kept)
    kept.sort(key=lambda flow: flow.source)
    _check_grains(kept, scale * technology.grain_ps)
    queue = places(settings)
    if queue and any(flow.cost_ps for flow in kept):
        message = "a source that refuses packets has no shaper: there they wait"
        raise TrafficError(message, "source_queue", "remove source_queue, or the shapers of its flows")
    return _columns(kept, targets, float(technology.grain_ps), float(scale), queue)


def _together(found: list[Flow]) -> list[Flow]:
    """Give flows whose packets are all created at once one interval, so that more packets are more load."""
    once = {id(flow) for flow in found if flow.packets == flow.count}
    longest = max((flow.interval_ps for flow in found if id(flow) in once), default=Fraction(0))
    return [replace(flow, interval_ps=longest) if id(flow) in once else flow for flow in found]


def _columns(found: list[Flow], terminals: Targets, real_ps: float, scale: float, queue: int) -> Columns:
    """Return the columns; ``real_ps``: length of a grain. The scale divides intervals, not start and stop."""
    grain_ps = scale * real_ps
    count = len(terminals.names)

    def label(source: int, target: int) -> str:
        return f"{terminals.names[source]} -> {terminals.name(target)}"

    source = np.array([flow.source for flow in found], np.int64)
    interval = np.array([float(flow.interval_ps) / grain_ps for flow in found])
    packets = np.array([flow.packets for flow in found], np.uint32)
    rate = np.bincount(source, weights=packets / interval, minlength=count)
    begins = [flow.start_ps / real_ps for flow in found]
    phases = [
        -1.0 if flow.phase_ps is None else begin + flow.phase_ps / grain_ps
        for flow, begin in zip(found, begins, strict=True)
    ]
    jitters = np.array([flow.jitter_ps / grain_ps for flow in found])
    return {
        "source_arrival": np.where(rate > 0, ARRIVAL.FLOWS, ARRIVAL.SILENT).astype(np.uint8),
        "source_interval_grains": np.divide(1.0, rate, out=np.zeros(count), where=rate > 0),
        "source_queue": np.full(count, queue, np.uint32),
        "flow_start": np.concatenate([[0], np.cumsum(np.bincount(source, minlength=count))]).astype(
            np.uint32
        ),
        "flow_target": np.array([flow.target for flow in found], np.uint32),
        "flow_length": np.array([flow.length_bytes for flow in found], np.uint32),
        "flow_arrival": np.array([flow.arrival for flow in found], np.uint8),
        "flow_interval_grains": interval,
        "flow_phase_grains": np.array(phases),
        "flow_jitter_grains": np.minimum(jitters, interval),
        "flow_packets": packets,
        "flow_begin_grains": np.array(begins),
        "flow_end_grains": np.array(
            [-1.0 if flow.stop_ps is None else flow.stop_ps / real_ps for flow in found]
        ),
        "flow_count": np.array([flow.count for flow in found], np.uint64),
        "flow_name": np.array([flow.name or label(flow.source, flow.target) for flow in found], object),
        "flow_requirement_ps": np.array(
            [-1 if flow.requirement_ps is None else flow.requirement_ps for flow in found], np.int64
        ),
        **_buckets(found, real_ps),
    }


def _buckets(found: list[Flow], grain_ps: float) -> Columns:
    """Return the columns of token buckets, empty if no flow has one."""
    shaped = found if any(flow.cost_ps for flow in found) else []
    return {
        "flow_cost_grains": np.array([float(flow.cost_ps) / grain_ps for flow in shaped]),
        "flow_room_grains": np.array([float(flow.room_ps) / grain_ps for flow in shaped]),
    }


def _check_grains(found: list[Flow], grain_ps: Fraction) -> None:
    """Refuse intervals below a grain, and intervals that are too long for the engine."""
    for flow in found:
        times = (("period", flow.interval_ps), ("phase", flow.phase_ps), ("start", flow.start_ps))
        for name, time_ps in (*times, ("stop", flow.stop_ps), ("shaper", flow.room_ps)):
            if time_ps is not None and Fraction(time_ps) / grain_ps > _MOST_GRAINS:
                message = f"the {name} of a flow is too long to be simulated"
                raise TrafficError(message, "pattern", "shorten it")
        if flow.interval_ps < grain_ps:
            message = "a flow makes packets more often than once in a nanosecond"
            raise TrafficError(message, "pattern", "lengthen its period, or lower its rate or the scale")


class _Maker:
    """Makes flows from the settings in the scenario or in a file."""

    def __init__(self, terminals: Terminals, targets: Targets, technology: Links, settings: Settings) -> None:
        self.terminals = terminals
        self.targets = targets
        self.technology = technology
        self.kind = settings["arrivals"]["kind"]
        length = settings["length"]
        self.usual_bytes = length["value_bytes"] if length["kind"] == "fixed" else None

    def flows(
        self, given: dict[str, Any], sources: Sequence[int], targets: Sequence[int], fail: Fail
    ) -> list[Flow]:
        """Make a flow from every source to every target; of ranges, none from a terminal to itself."""
        if len(sources) * len(targets) > _MOST_OF_RANGES:
            message = f"{len(sources) * len(targets):,} flows in one"
            raise fail(message, "target", "shorten the ranges of terminals")
        pairs = [(source, target) for source in sources for target in targets]
        apart = [(source, target) for source, target in pairs if source != target] or pairs
        found = [self.flow({**given, "source": source, "target": target}, fail) for source, target in apart]
        if len(pairs) == 1 or not given["name"]:
            return found
        # Each needs a name of its own, by which tables tell it from the others.
        names = (f"{self.terminals.names[one.source]} -> {self.targets.name(one.target)}" for one in found)
        return [replace(one, name=f"{one.name}, {ends}") for one, ends in zip(found, names, strict=True)]

    def flow(self, given: dict[str, Any], fail: Fail) -> Flow:
        """Make a flow; ``given``: terminals as numbers, others as in the schema, None if not given."""
        if given["source"] == given["target"]:
            name = self.terminals.names[given["source"]]
            raise fail(f'"{name}" would send to itself', "target", "name another terminal")
        self._check_sender(given["source"], given["target"], fail)
        packets = 1 if given["packets"] is None else given["packets"]
        length_bytes = self._length(given["length"], fail)
        arrival, phase, interval = self._moments(given, length_bytes, packets, fail)
        if given["period"] is None and given["rate"] is None:
            packets = given["count"]
        jitter = given["jitter"] or 0
        if jitter > interval:
            hint = "a packet is late by a period at most, so that none overtakes the one before"
            raise fail("the jitter is longer than the period", "jitter", hint)
        try:
            checked(self.technology, length_bytes)
        except units.UnitError as error:
            raise fail(error.message, "length", error.hint) from None
        ends = given["source"], given["target"]
        window = self._window(given, phase, fail)
        asked = given["name"] or "", given["requirement"], *self._bucket(given, length_bytes, fail)
        return Flow(*ends, length_bytes, arrival, interval, phase, jitter, packets, *window, *asked)

    def _bucket(self, given: dict[str, Any], length_bytes: int, fail: Fail) -> tuple[Fraction, Fraction]:
        """Return the times in which the token bucket gets the tokens of a packet, and fills."""
        rate, burst_bytes = given["shaper_rate"], given["shaper_burst"]
        if mistake := bucket_mistake(rate, burst_bytes, length_bytes):
            raise fail(mistake[0], "shaper_burst", mistake[1])
        if rate is None:
            return Fraction(0), Fraction(0)
        cost_ps = _time_of(rate, length_bytes, "shaper_rate", fail)
        if burst_bytes is None or not length_bytes:
            return cost_ps, cost_ps
        return cost_ps, cost_ps * Fraction(burst_bytes, length_bytes)

    def _window(self, given: dict[str, Any], phase: int | None, fail: Fail) -> tuple[int, int | None, int]:
        """Return start, stop and number of packets."""
        start, stop = given["start"] or 0, given["stop"]
        first = start + (phase or 0)
        if stop is not None and stop <= first:
            when = "stops before it starts" if stop <= start else "stops before its first packet"
            raise fail(f"a flow {when}, at {units.format_time_ps(first)}", "stop", "make stop later")
        return start, stop, given["count"] or 0

    def _check_sender(self, source: int, target: int, fail: Fail) -> None:
        """Refuse a source that is not a sender of the distribution: routers have no route for its packets."""
        place = target - len(self.terminals.names)
        if place >= 0 and source not in self.targets.distributions[place].senders:
            name = self.terminals.names[source]
            message = f'"{name}" does not send to "{self.targets.name(target)}"'
            raise fail(message, "source", f"add it to routing.distribution.{place}.from")

    def _length(self, given: int | None, fail: Fail) -> int:
        found = self.usual_bytes if given is None else given
        if found is None:
            hint = "give it one, or write one length for all in [traffic]"
            raise fail("a flow has no length", "length", hint)
        return found

    def _moments(
        self, given: dict[str, Any], length_bytes: int, packets: int, fail: Fail
    ) -> tuple[int, int | None, Fraction]:
        """Return the kind of arrivals, the phase and the interval."""
        period, rate, count = given["period"], given["rate"], given["count"]
        if period is None and rate is None and count is not None and given["packets"] is None:
            # Loads are made of the interval: at least what all of them take on a link, see _together.
            packet_ps = self.technology.mean_packet_ps(self.technology.payload_chars(length_bytes))
            return ARRIVAL.CONSTANT, given["phase"] or 0, Fraction(count * packet_ps)
        if (period is None) == (rate is None):
            found = "neither a rate nor a period" if period is None else "a rate and a period"
            hint = 'give one, such as period = "1 ms", or a count of packets that are created at once'
            raise fail(f"a flow has {found}", "rate", hint)
        if period is not None:
            return ARRIVAL.CONSTANT, given["phase"], Fraction(period)
        for name in ("phase", "jitter"):
            if given[name] is not None:
                raise fail(f"{name} is of flows with a period", name, "give a period instead of the rate")
        assert rate is not None
        if self.kind not in _PHASES:
            message = f"flows with a rate are poisson, constant or together, not {self.kind}"
            raise TrafficError(message, "arrivals", 'write arrivals = "poisson", or give periods')
        arrival = ARRIVAL.POISSON if self.kind == "poisson" else ARRIVAL.CONSTANT
        return arrival, _PHASES[self.kind], packets * _time_of(rate, length_bytes, "rate", fail)


def bucket_mistake(rate: object, burst_bytes: int | None, packet_bytes: int) -> tuple[str, str] | None:
    """Return what is wrong with a token bucket for packets of this length, and what to write instead."""
    if burst_bytes is None:
        return None
    if rate is None:
        return "a burst without a rate shapes nothing", "give shaper_rate, too"
    if burst_bytes < packet_bytes:
        size, packet = units.format_bytes(burst_bytes), units.format_bytes(packet_bytes)
        return f"a packet of {packet} never passes a bucket of {size}", f"write {packet} or more"
    return None


def _time_of(rate: str, length_bytes: int, name: str, fail: Fail) -> Fraction:
    """Return the time from one packet to the next at a rate, in ps."""
    amount, of_packets = units.parse_offered_rate(rate)
    if not of_packets and not length_bytes:
        raise fail("packets of 0 B carry no payload", name, "write a rate such as 1000 packets/s")
    return Fraction((1000 if of_packets else 8 * length_bytes) * _PS_PER_S, amount)


def _of_list(maker: _Maker, given: list[dict[str, Any]]) -> list[Flow]:
    return [one for number, flow in enumerate(given) for one in _listed(maker, number, flow)]


def _listed(maker: _Maker, number: int, flow: dict[str, Any]) -> list[Flow]:
    where = f"pattern.flows.{number}"

    def fail(message: str, name: str, hint: str) -> TrafficError:
        return TrafficError(message, f"{where}.{name}", hint)

    sources, targets = (
        known.reach(flow[end]) or [known.one(flow[end], f"{where}.{end}")]
        for known, end in ((maker.terminals, "source"), (maker.targets, "target"))
    )
    words = {name: (name, f"{name}_ps", f"{name}_bytes") for name in COLUMNS[2:]}
    values = {name: next((flow[one] for one in each if one in flow), None) for name, each in words.items()}
    return maker.flows(values, sources, targets, fail)


def _of_file(maker: _Maker, path: str) -> list[Flow]:
    table = tables.read(path).called(_WORDS)
    table.only((*COLUMNS, *PLAIN.values()))
    for name, plain in PLAIN.items():
        if table.column(name) and table.column(plain):
            message = f'{table.path.name}: "{name}" and "{plain}" say the same'
            raise TrafficError(message, "pattern.path", "keep one of the two columns")
    source = table.ranges(table.need("source")[0], maker.terminals)
    target = table.ranges(table.need("target")[0], maker.targets)
    if not len(source):
        raise TrafficError(f"{table.path.name} has no flows", "pattern.path", "add rows below the header")
    names = {name: PLAIN[name] if table.column(PLAIN.get(name, "")) else name for name in COLUMNS[2:]}
    table = table.filled(tuple(names.values()))
    columns = {name: _values(table, column, name) for name, column in names.items()}
    found = []
    for row in range(len(source)):

        def fail(message: str, name: str, hint: str, row: int = row) -> TrafficError:
            return table.error(message, row, names.get(name, name), hint)

        given = {name: values[row] for name, values in columns.items()}
        found += maker.flows(given, source[row].tolist(), target[row].tolist(), fail)
    return found


def _values(table: tables.Table, column: str, name: str) -> list[Any]:
    """Return a column as whole ps, bytes or packets, rates as text; None for empty cells."""
    if name in ("rate", "shaper_rate"):
        table.convert(column, lambda text: units.parse_offered_rate(text)[0] % 2 if text else 0)
        return [text.strip() or None for text in table.frame.get_column(column).to_list()]
    if name == "name":
        return [text.strip() or None for text in table.frame.get_column(column).to_list()]
    unit = "B" if column.endswith("_bytes") else "ns" if column.endswith("_ns") else None
    parse = units.parse_bytes if name in ("length", "shaper_burst") else units.parse_time_ps

    def convert(text: str) -> int:
        text = text.strip()
        if not text:
            return -1
        if name in ("packets", "count"):
            return _packets(text)
        return parse(
            f"{text} {unit}" if unit else text, positive=name in ("period", "requirement", "shaper_burst")
        )

    return [None if value < 0 else value for value in table.convert(column, convert).tolist()]


def _packets(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and 1 <= int(text) <= _MOST_PACKETS):
        message = f'"{text[:40]}" is no number of packets'
        raise units.UnitError(message, f"write a whole number from 1 to {_MOST_PACKETS}")
    return int(text)


# Requirements: the longest delay allowed per flow, given with the flow or in a separate list.
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
