"""Read the measurements of the processes as they arrive, and turn them into the numbers of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..programs import Programs
from ..programs.kinds import ANY, Ints
from .plan import MeasureError, Plan

_HEAD = 10
MADE = ("peer", "bytes", "tag", "made", "handed", "sent")
RECEIVED = ("peer", "bytes", "tag", "began", "received")
MARKED = ("tag", "at")
_WIDTHS = (len(MADE), len(RECEIVED), len(MARKED))
_UNSEEN = (
    *("offered", "delivered", "refused", "in_flight", "measured_packets", "measured_refused_bytes"),
    *(f"messages_{what}" for what in ("announced", "lost", "repeated", "resent", "duplicates", "given_up")),
    *("messages_dropped", "marks_dropped", "measure_start_ticks", "pause_ticks", "pause_start_ticks"),
    "packet_hops",
)
"""Numbers of a run that are 0 where real processes ran."""
MOST_DRIFT = 1e-3
"""Largest accepted drift; crystal clocks differ by less than a tenth of this."""


@dataclass(frozen=True)
class Part:
    """One process in one round; times in nanoseconds from the agreed start."""

    blocked_ns: int
    late_ns: int
    """How late it was ready after the agreed start; 0: in time."""
    end_ns: int
    clock: tuple[int, int, int, int]
    """Offset to the first process and its uncertainty, before and after the round."""
    made: Ints
    received: Ints
    marks: Ints

    @property
    def drift(self) -> float:
        """Return by what fraction its clock is faster than that of the first process."""
        moved = self.clock[2] - self.clock[0]
        return moved / max(1, self.end_ns)

    def right(self, times: Ints) -> Ints:
        """Return times on the clock of the first process; negative ones stay as they are."""
        shift = np.round(times * (self.drift if self.clock[1] else 0.0)).astype(np.int64)
        return np.where(times < 0, times, times - shift)


class Rounds:
    """The rounds of all processes, read from a stream that may end anywhere."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.mpi, self.machines = "", list[str]()
        self.parts: list[list[Part]] = []
        self._begun: list[Part] = []
        self._bytes = bytearray()

    @property
    def begun(self) -> bool:
        """Return whether the processes have connected."""
        return bool(self.machines)

    @property
    def finished(self) -> int:
        """Return the number of complete rounds."""
        return len(self.parts)

    @property
    def complete(self) -> bool:
        """Return whether all rounds are complete."""
        return self.finished == self.plan.head["repeats"]

    def feed(self, content: bytes) -> None:
        self._bytes += content
        while self._introduction() if not self.begun else self._part():
            pass

    def _number(self, at: int) -> int:
        return int.from_bytes(self._bytes[at : at + 8], "little", signed=True)

    def _introduction(self) -> bool:
        """Read the library and the machines; false if they are incomplete."""
        if len(self._bytes) < 8 or len(self._bytes) < 16 + self._number(0):
            return False
        length = self._number(0)
        width, ranks = self._number(8 + length), self.plan.head["ranks"]
        end = 16 + length + width * ranks
        if len(self._bytes) < end:
            return False
        names = bytes(self._bytes[16 + length : end])
        self.mpi = bytes(self._bytes[8 : 8 + length]).decode("utf-8", "replace")
        fields = (names[width * n : width * (n + 1)] for n in range(ranks))
        self.machines = [one.split(b"\0")[0].decode("utf-8", "replace") or "?" for one in fields]
        del self._bytes[:end]
        return True

    def _part(self) -> bool:
        """Read one process of one round; false if it is incomplete."""
        if len(self._bytes) < 8 * _HEAD:
            return False
        head = [self._number(8 * at) for at in range(_HEAD)]
        sizes = [count * width for count, width in zip(head[:3], _WIDTHS, strict=True)]
        end = 8 * (_HEAD + sum(sizes))
        if len(self._bytes) < end:
            return False
        rows = np.frombuffer(bytes(self._bytes[8 * _HEAD : end]), np.int64)
        del self._bytes[:end]
        tables = np.split(rows, np.cumsum(sizes)[:-1])
        made, received, marks = (t.reshape(-1, width) for t, width in zip(tables, _WIDTHS, strict=True))
        clock = (head[6], head[7], head[8], head[9])
        self._begun.append(Part(head[3], head[4], head[5], clock, made, received, marks))
        if len(self._begun) == self.plan.head["ranks"]:
            self.parts.append(self._begun)
            self._begun = []
        return True


def duration_ns(parts: list[Part]) -> int:
    """Return when the last activity of a round ended."""
    last = [
        part.right(times)
        for part in parts
        for times in (part.made[:, 4], part.received[:, 4], part.marks[:, 1])
    ]
    return max((int(times.max()) for times in last if len(times)), default=0)


def check_clocks(parts: list[Part], machines: list[str]) -> None:
    """Refuse a round whose clocks cannot be aligned. Raises :class:`MeasureError`."""
    for part, machine in zip(parts, machines, strict=True):
        unsure = part.clock[1] + part.clock[3]
        moved = abs(part.clock[2] - part.clock[0])
        if moved > unsure + MOST_DRIFT * part.end_ns:
            raise MeasureError(
                f"the clocks of {machines[0]} and {machine} disagree: they moved by {moved / 1e3:.4g} us "
                f"against each other within {part.end_ns / 1e3:.4g} us\n  = let nothing set the clocks "
                "while measuring"
            )


def messages(parts: list[Part], plan: Plan) -> dict[str, Ints]:
    """Return every message with both ends, in the order of their creation.

    The k-th message from a source to a target with a tag is the k-th that the target received from it with
    that tag, because MPI messages do not overtake. Raises :class:`MeasureError` if the numbers differ.
    """
    ends = []
    for side, width, times in (("made", 6, slice(3, 6)), ("received", 5, slice(3, 5))):
        rows = [getattr(part, side) for part in parts]
        rank = np.repeat(np.arange(len(parts)), [len(one) for one in rows])
        table = np.concatenate(rows) if rows else np.zeros((0, width), np.int64)
        right = [part.right(one[:, times]) for part, one in zip(parts, rows, strict=True)]
        pair = (rank, table[:, 0]) if side == "made" else (table[:, 0], rank)
        order = np.lexsort((np.arange(len(table)), table[:, 2], pair[1], pair[0]))
        keys = np.stack([*pair, table[:, 2], table[:, 1]])[:, order]
        ends.append((keys, np.concatenate(right)[order]))
    (keys, made), (theirs, received) = ends
    if keys.shape != theirs.shape or not np.array_equal(keys, theirs):
        raise MeasureError(
            f"{keys.shape[1]} messages were sent and {theirs.shape[1]} received, or others than those: this "
            "MPI does not deliver what it is given"
        )
    order = np.argsort(made[:, 0], kind="stable")
    source, target = (plan.terminals[key[order]] for key in keys[:2])
    tag, size = keys[2][order], keys[3][order]
    times = {
        "made": made[order, 0],
        "handed": made[order, 1],
        "sent": made[order, 2],
        "received": received[order, 1],
    }
    return {"source": source, "target": target, "tag": tag, "bytes": size, **times}


def native(parts: list[Part], plan: Plan, programs: Programs) -> dict[str, Any]:
    """Return the numbers of one round under the engine's names, in ticks of one nanosecond."""
    found = messages(parts, plan)
    count, size = len(found["made"]), found["bytes"]
    latency = found["received"] - found["made"]
    values, counts = np.unique(latency, return_counts=True)
    whole = int(size.sum())
    table = {f"message_{name}_ticks": found[name] for name in ("made", "sent", "received")}
    return {
        **dict.fromkeys(_UNSEEN, 0),
        **dict.fromkeys(
            ("events", "measured_messages", "messages_made", "messages_sent", "messages_received"), count
        ),
        **_terminals(parts, plan, found, len(programs.terminal_names)),
        **_events(found, programs),
        **_marks(parts, plan),
        **table,
        "message_source": found["source"],
        "message_target": found["target"],
        "message_bytes": size,
        "message_tag": np.where(found["tag"] < 0, ANY, found["tag"]),
        "message_latency_values_ticks": values,
        "message_latency_counts": counts,
        "message_latency_min_ticks": int(values[0]) if count else 0,
        "message_latency_max_ticks": int(values[-1]) if count else 0,
        "message_latency_sum_ticks": int(latency.sum()),
        **_flows(found, latency),
        "measured_message_bytes": whole,
        "measured_offered_bytes": whole,
        "measured_delivered_bytes": whole,
        "end_reason": "drained",
        "end_time_ticks": duration_ns(parts),
        "deadlock_links": (),
    }


def _flows(found: dict[str, Ints], latency: Ints) -> dict[str, Ints]:
    """Return the sums over the messages of each pair of terminals."""
    pairs, which = np.unique(np.stack([found["source"], found["target"]]), axis=1, return_inverse=True)
    sums = np.zeros((3, pairs.shape[1]), np.int64)
    for row, values in enumerate((np.ones_like(latency), found["bytes"], latency)):
        np.add.at(sums[row], which.ravel(), values)
    longest = np.zeros(pairs.shape[1], np.int64)
    np.maximum.at(longest, which.ravel(), latency)
    names = ("source", "target", "packets", "bytes", "latency_sum_ticks", "latency_max_ticks")
    return {
        f"message_flow_{name}": values for name, values in zip(names, (*pairs, *sums, longest), strict=True)
    }


def _terminals(parts: list[Part], plan: Plan, found: dict[str, Ints], count: int) -> dict[str, Ints]:
    """Return bytes and waiting time of each terminal."""
    blocked = np.zeros(count, np.int64)
    blocked[plan.terminals] = [part.blocked_ns for part in parts]
    sent, received = (
        np.bincount(found[end], weights=found["bytes"], minlength=count).astype(np.int64)
        for end in ("source", "target")
    )
    return {
        "terminal_bytes_sent": sent,
        "terminal_bytes_received": received,
        "terminal_blocked_ticks": blocked,
    }


def _events(found: dict[str, Ints], programs: Programs) -> dict[str, Ints]:
    """Return when events began and were complete; -1: never."""
    events = programs.events
    count = events.first + len(events.due_ps)
    mine = (found["tag"] >= events.first) & (found["tag"] < count)
    event, made, received = (found[name][mine] for name in ("tag", "made", "received"))
    most = np.iinfo(np.int64).max
    begun, first, last = np.full(count, most), np.full(count, most), np.full(count, -1)
    np.minimum.at(begun, event, made)
    np.minimum.at(first, event, received)
    np.maximum.at(last, event, received)
    come = np.bincount(event, minlength=count)
    wanted = np.concatenate([np.full(events.first, most), events.fragments])
    return {
        "event_received": come,
        "event_begun_ticks": np.where(begun == most, -1, begun),
        "event_first_ticks": np.where(first == most, -1, first),
        "event_complete_ticks": np.where(come >= wanted, last, -1),
    }


def _marks(parts: list[Part], plan: Plan) -> dict[str, Ints]:
    """Return the marks, sorted by time."""
    terminal = np.repeat(plan.terminals, [len(part.marks) for part in parts])
    tag = np.concatenate([part.marks[:, 0] for part in parts])
    at = np.concatenate([part.right(part.marks[:, 1]) for part in parts])
    order = np.argsort(at, kind="stable")
    return {"mark_terminal": terminal[order], "mark_tag": tag[order], "mark_ticks": at[order]}
