"""The results of a run of programs: events, messages, marks and hosts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import units
from ..process.libraries import pl
from ..programs import Programs
from ..programs.kinds import ANY, READ, SEND
from . import statistics, steady
from .columns import programs as words
from .rows import Rows
from .statistics import known
from .tables import per, thinned_tail

MOST_SPANS = 1000
"""Most pairs of marks whose times are reported."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ProgramRun(Rows):
    """The engine's results of a run of programs, with names and units."""

    programs: Programs
    where: Callable[[int], str] | None = None
    """Returns the place of an operation in the scenario file, such as ``line 12``, or an empty string."""
    measured: bool = False
    """Whether real processes ran the programs: a message is then received at the end of its receive."""

    def event_times_ns(self, name: str) -> Floats:
        """Return a time per event, NaN if not reached: ``begun``, ``first``, ``complete`` or ``due``."""
        if name == "due":
            if self.programs.events.rate_per_s is None:
                return np.full(len(self.programs.events.due_ps), math.nan)
            return self.programs.events.due_ps / 1000
        ticks = self.raw(f"event_{name}_ticks")[self.programs.events.first :].astype(np.float64)
        return np.where(ticks < 0, math.nan, ticks * self.tick_ns)

    @property
    def event_latency_ns(self) -> Floats:
        """Return the latency per event: from due, or else from begun, to complete; NaN if incomplete."""
        start = "begun" if self.programs.events.rate_per_s is None else "due"
        return self.event_times_ns("complete") - self.event_times_ns(start)

    @cached_property
    def steady(self) -> steady.Steady:
        """The rate of events in the steady part of the run, and whether their latency grows."""
        native, rate = self.native, self.programs.events.rate_per_s
        end_ns = int(native["end_time_ticks"]) * self.tick_ns
        begin_ns = int(native["measure_start_ticks"]) * self.tick_ns if native.get("warmup_is_set") else 0.0
        found = (self.event_times_ns("begun"), self.event_times_ns("complete"), self.event_latency_ns)
        return steady.of_events(*found, begin_ns, end_ns, None if rate is None else 1e9 / rate)

    @property
    def measured_events(self) -> NDArray[np.bool_]:
        """Return, per event, whether it became complete in the measuring window."""
        begin_ns = int(self.native["measure_start_ticks"]) * self.tick_ns
        complete = self.event_times_ns("complete")
        return np.nan_to_num(complete, nan=-1.0) >= (begin_ns if begin_ns > 0 else 0.0)

    def waiting(self) -> list[str]:
        """Return what each terminal waits for at the end, as phrases."""
        start, found = self.programs.start, []
        for terminal, place in zip(
            self.count("waiting_terminal"), self.raw("waiting_operation"), strict=True
        ):
            row = int(start[terminal]) + int(place)
            where = self.where(row) if self.where else ""
            name, what = self.graph.terminal_names[terminal], self.programs.text(row)
            found.append(f"{name}: {what} ({where})" if where else f"{name}: {what}")
        return [*found, *self._full(), *self._stuck()]

    def _full(self) -> list[str]:
        """Return the terminals whose buffer is full, with the number of messages that wait for room in it."""
        names = self.graph.terminal_names
        rows = zip(*(self.raw(f"full_{name}").tolist() for name in ("terminal", "messages")), strict=True)
        what = "protocol.unexpected_buffer is full"
        return [f"{names[terminal]}: {what}, {count:,} wait for room in it" for terminal, count in rows]

    def _stuck(self) -> list[str]:
        """Return the messages that can never be completed, for example because a ring lost a packet."""
        names = self.graph.terminal_names
        rows = zip(
            *(self.raw(f"stuck_{name}").tolist() for name in ("source", "target", "bytes")), strict=True
        )
        return [f"{names[source]}: message of {size} B to {names[target]}" for source, target, size in rows]

    def summary(self) -> dict[str, Any]:
        """Return the keys of ``columns.PROGRAM_SUMMARY``, except those of ``end`` and ``not_kept``."""
        return {
            "messages": self._messages(),
            "message_latency_ns": self._message_latency(),
            "events": self._events(),
            "hosts": self.summary_of_hosts,
            "rounds": self._rounds(),
            "spans": self.spans(),
        }

    def spans(self) -> list[dict[str, Any]]:
        """Return the times between successive marks of a terminal, by the numbers of both marks."""
        terminal, tag, moments = (self.count(f"mark_{name}") for name in ("terminal", "tag", "ticks"))
        order = np.lexsort((np.arange(len(moments)), terminal))
        same = np.diff(terminal[order]) == 0
        begin, end = tag[order][:-1][same], tag[order][1:][same]
        took_ns = np.diff(moments[order])[same] * self.tick_ns
        pairs, which = np.unique(np.stack([begin, end]), axis=1, return_inverse=True)
        found = []
        for number, (first, second) in enumerate(pairs.T[:MOST_SPANS].tolist()):
            values = took_ns[which.ravel() == number]
            low, middle, high = (float(value) for value in np.percentile(values, (25, 50, 75)))
            least, mean = float(values.min()), float(values.mean())
            told = {"ns_min": least, "ns_p25": low, "ns_p50": middle, "ns_p75": high, "ns_mean": mean}
            found.append({"from": first, "to": second, "count": len(values), **told})
        return found

    def _rounds(self) -> dict[str, Any]:
        """Return the times between successive marks of the same number at a terminal."""
        terminal, tag, moments = (self.count(f"mark_{name}") for name in ("terminal", "tag", "ticks"))
        order = np.lexsort((moments, tag, terminal))
        same = (np.diff(terminal[order]) == 0) & (np.diff(tag[order]) == 0)
        took_ns = np.diff(moments[order])[same] * self.tick_ns
        ways = {"ns_mean": np.mean, "ns_min": np.min, "ns_max": np.max}
        told = {key: float(way(took_ns)) if len(took_ns) else None for key, way in ways.items()}
        return {"count": len(took_ns), **told}

    def _messages(self) -> dict[str, Any]:
        native, seconds = self.native, self.window_ns / 1e9
        made, received, lost = (int(native[f"messages_{key}"]) for key in ("made", "received", "lost"))
        measured, size = int(native["measured_messages"]), int(native["measured_message_bytes"])
        count = lambda *keys: {key: int(native[f"messages_{key}"]) for key in keys}  # noqa: E731
        found = {
            **count("made", "announced", "sent", "received"),
            "under_way": made - received - lost,
            **count("lost", "repeated", "resent", "duplicates", "given_up"),
            "measured": measured,
            "per_s": measured / seconds if seconds else None,
            "mbytes_per_s": size / seconds / 1e6 if seconds else None,
        }
        if self.graph.several is not None and not self.measured:
            found["overtaken"] = int(native["messages_overtaken"])
        return found

    def _message_latency(self) -> dict[str, Any]:
        native = self.native
        values, counts = self.ns("message_latency_values_ticks"), self.count("message_latency_counts")
        low, high, mean = (None, None, None)
        if total := int(counts.sum()):
            low, high = (
                float(native[f"message_latency_{end}_ticks"]) * self.tick_ns for end in ("min", "max")
            )
            mean = int(native["message_latency_sum_ticks"]) / total * self.tick_ns
        to = words.MEASURED_LATENCY_TO if self.measured else words.MESSAGE_LATENCY_TO
        ends = (words.MESSAGE_LATENCY_FROM, to)
        return _latency(ends, mean, low, high, values, counts)

    def _events(self) -> dict[str, Any]:
        events, measured = self.programs.events, self.measured_events
        begun, complete = (~np.isnan(self.event_times_ns(name)) for name in ("begun", "complete"))
        latency = np.sort(self.event_latency_ns[measured])
        building = (self.event_times_ns("complete") - self.event_times_ns("first"))[measured]
        some = len(latency) > 0
        start = words.EVENT_BEGUN if events.rate_per_s is None else words.EVENT_DUE
        to = words.MEASURED_EVENT_TO if self.measured else words.EVENT_LATENCY_TO
        low, high = (float(latency[0]), float(latency[-1])) if some else (None, None)
        mean = float(latency.mean()) if some else None
        counts = np.ones(len(latency), np.int64)
        return {
            "count": len(events.due_ps),
            "begun": int(begun.sum()),
            "complete": int(complete.sum()),
            "incomplete": int((begun & ~complete).sum()),
            "attempted_per_s": events.rate_per_s,
            "achieved_per_s": known(1e9 * self.steady.per_ns),
            "achieved_per_s_ci95": known(1e9 * self.steady.per_ns_ci95),
            "steady": self.steady.events,
            "growth": known(self.steady.growth),
            "growth_ci95": known(self.steady.growth_ci95),
            "building_ns_mean": float(building.mean()) if some else None,
            "latency_ns": _latency((start, to), mean, low, high, latency, counts),
        }

    @property
    def message_bytes(self) -> Floats:
        """Return the mean size of messages by sender; of those that send none, the mean of all."""
        programs = self.programs
        sends = np.flatnonzero((programs.kind == SEND) | (programs.kind == READ))
        weight = np.minimum(programs.times()[sends], 1e9)
        count = self.graph.terminals
        total, number = (
            np.bincount(programs.terminal[sends], weights=values, minlength=count)
            for values in (weight * programs.size_bytes[sends], weight)
        )
        usual = float(total.sum() / number.sum()) if number.sum() else 0.0
        return np.where(number > 0, total / np.maximum(number, 1), usual)

    @cached_property
    def summary_of_hosts(self) -> dict[str, Any]:
        """The keys ``hosts`` of the summary."""
        window, names = self.window_ns / self.tick_ns, self.graph.terminal_names
        sends, receives = self._active()
        found: dict[str, Any] = {}
        for what, active in (("blocked", sends), ("receiving", receives)):
            share = np.minimum(per(self.raw(f"terminal_{what}_ticks"), window), 1.0)
            some = bool(active.any()) and len(share) > 0
            found[f"{what}_share_mean"] = float(share[active].mean()) if some else None
            found[f"{what}_share_max"] = float(share[active].max()) if some else None
            most = int(np.flatnonzero(active)[np.argmax(share[active])]) if some else -1
            found[f"{what}_most"] = names[most] if some else None
        stored = self.raw("terminal_unexpected_most_bytes").tolist()
        found["unexpected_bytes_max"] = most_bytes = max(stored, default=None)
        found["unexpected_most"] = names[stored.index(most_bytes)] if most_bytes else None
        return found

    def _active(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return, per terminal, whether it sends and whether it receives."""
        count = len(self.graph.terminal_names)
        sends = np.bincount(self.programs.terminal[self.programs.kind == 0], minlength=count) > 0
        receives = np.bincount(self.programs.terminal[self.programs.kind == 1], minlength=count) > 0
        return sends, receives | (self.raw("terminal_bytes_received") > 0)

    @property
    def event_received(self) -> NDArray[np.int64]:
        """Return, per event, how many of its messages have been received."""
        return self.count("event_received")[self.programs.events.first :]

    @property
    def unexpected_bytes_max(self) -> Floats:
        """Return, per terminal, the most bytes that waited for their receive; unknown where measured."""
        most = self.raw("terminal_unexpected_most_bytes").astype(np.float64)
        return most if len(most) else np.full(self.graph.terminals, math.nan)

    @property
    def receiving_ns(self) -> Floats:
        """Return, per terminal, how long a message was arriving; NaN where measured: nobody sees it."""
        receiving = self.ns("terminal_receiving_ticks")
        return receiving if len(receiving) else np.full(self.graph.terminals, math.nan)

    @property
    def ended_ns(self) -> Floats:
        """Return, per terminal, when its program ended; NaN without an end, and for a measurement."""
        ticks = self.raw("terminal_ended_ticks")
        if not len(ticks):
            return np.full(self.graph.terminals, math.nan)
        has_none = np.diff(self.programs.start) == 0
        return np.where((ticks < 0) | has_none, math.nan, ticks * self.tick_ns)

    @property
    def receiving_share(self) -> Floats:
        """Return the same as a fraction of the measuring window."""
        window_ns, known = self.window_ns, self.receiving_ns
        return np.minimum(known / window_ns if window_ns else known, 1.0)

    @property
    def tag(self) -> pl.Series:
        """Return the tag of each message; null if it has none."""
        tag = pl.Series(self.count("message_tag"))
        return tag.set(tag == ANY, None)

    @property
    def event(self) -> pl.Series:
        """Return the event of each message; null if it belongs to none."""
        event = self.count("message_tag") - self.programs.events.first
        of_none = (event < 0) | (event >= len(self.programs.events.due_ps))
        return pl.Series(event).set(pl.Series(of_none), None)

    def moment_ns(self, name: str) -> Floats:
        """Return, per message, the time ``made``, ``sent`` or ``received``, NaN if it has not come."""
        ticks = self.raw(f"message_{name}_ticks")
        return np.where(ticks < 0, math.nan, ticks * self.tick_ns)

    def message_tail(self) -> dict[str, list[float]]:
        """Return ``latency_ns`` and ``share_longer`` of the messages in the measuring window, for drawing."""
        return thinned_tail(self.native, self.tick_ns, of="message_latency")

    def event_tail(self) -> dict[str, list[float]]:
        """Return ``latency_ns`` and ``share_longer`` of the events in the measuring window, for drawing."""
        latency = np.sort(self.event_latency_ns[self.measured_events])
        return statistics.tail(latency, np.ones(len(latency), np.int64))


def _latency(
    ends: tuple[str, str],
    mean: float | None,
    low: float | None,
    high: float | None,
    values: Floats,
    counts: NDArray[np.int64],
) -> dict[str, Any]:
    """Return the keys of one latency: exact extremes, and percentiles within them."""
    found: dict[str, Any] = {"from": ends[0], "to": ends[1], "mean": mean, "min": low, "max": high}
    if low is None or high is None:
        return found | dict.fromkeys(statistics.PERCENTILE_KEYS)
    shares = statistics.percentiles(values, counts, low, high)
    return found | {key: known(value) for key, value in shares.items()}


# The slots of a SpaceWire-D schedule: how much of each is left.
@dataclass(frozen=True)
class Slot:
    """An entry of the schedule, and how long its transactions took."""

    entry: Mapping[str, Any]
    length_ns: float
    used_ns: list[float]
    """Per epoch, from the beginning of the slot to the last reply."""

    @property
    def used_ns_max(self) -> float | None:
        """The longest; none if there was no reply."""
        return max(self.used_ns, default=None)


def slots(marks: pl.DataFrame, program: Mapping[str, Any]) -> list[Slot]:
    """Return the entries of the schedule, in order; empty for other programs.

    ``marks``: one per entry and epoch, at the end of the entry; its number is that of the entry, from 1.
    """
    length_ns = units.parse_time_ps(program.get("slot", "0 s")) / 1000
    found = []
    for place, entry in enumerate(program.get("schedule", [])):
        ended = marks.filter(pl.col("mark") == place + 1)["at_ns"].to_list()
        used = [at - (epoch * 64 + entry["slot"]) * length_ns for epoch, at in enumerate(ended)]
        found.append(Slot(entry, length_ns, used))
    return found
