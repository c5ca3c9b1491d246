"""What time-codes and interrupts add to bounds.

Notation and proof: ``docs/background/worst-case.md``, "With time-codes and interrupts".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codes import FIRST_BROADCAST, number
from .flows import Way

_MOST_STEPS = 10_000
_MOST_BUSY = 0.9
"""Largest share of the time that codes may take on all links that a packet can meet, together."""

_NEVER = 2.0**50
"""Longer than any run, in ticks."""

Reals = NDArray[np.float64]


_LONGER = {
    "interrupt": 'hold them longer, with technology.interrupt_hold = "…"',
    "broadcast": "hold them longer, with technology.broadcast_hold_cycles",
}
_RARER = "send them less often"


class Signals:
    """The codes of a network. All times in ticks."""

    def __init__(self, arrays: dict[str, Any], met: dict[int, set[int]]) -> None:
        self._arrays = arrays
        self._period = arrays["code_period_ticks"].astype(np.float64)
        self._wire = arrays["link_code_ticks"].astype(np.float64)
        self._carried = [_carried(arrays, int(port)) for port in arrays["code_port"]]
        self._met = met
        self._under_way = self._longest_under_way()
        self.apiece = cache(self._apiece)

    def _longest_under_way(self) -> float:
        """Return V, from the creation of a code until it has left its last wire; may be infinite."""
        arrays = self._arrays
        hop = max(int(arrays[f"link_{name}_ticks"].max()) for name in ("character", "end"))
        hop += int(arrays["link_code_arrival_ticks"].max()) + int(arrays["switch_code_ticks"].max(initial=0))
        hops = int(arrays["switches"]) + 1
        waits = np.full(len(self._period), hops * self._wire.max())
        # A code meets codes that were created up to V before it or after it.
        return float(_least(np.array([hops * hop]), lambda times: self._made(2 * times) @ waits, _NEVER)[0])

    def _made(self, times: Reals) -> Reals:
        """Return the largest number of codes of each source (columns) in closed intervals (rows)."""
        return np.floor(times[:, None] / self._period[None, :] + 1e-9) + 1

    def _apiece(self, first: int) -> Reals:
        """Return A for packets that start on a link: per source of codes, the time of one code on all links
        of the flows that these packets can meet.
        """
        return np.array([self._wire[sorted(self._met[first] & links)].sum() for links in self._carried])

    def busy(self, first: int) -> float:
        """Return the share of the time that codes take on these links, added up."""
        return float((self.apiece(first) / self._period).sum())

    def work(self, times: Reals, apiece: Reals) -> Reals:
        """Return the largest time of codes in intervals; ``apiece``: A of all, or one row for each."""
        return (self._made(times + self._under_way) * apiece).sum(axis=-1)

    def prolonged(self, times: Reals, apiece: Reals) -> Reals:
        """Return D for each R. It exists however long R is, because codes leave some of the time."""
        return _least(times, lambda whole: self.work(whole, apiece))

    def refused(self, first: Sequence[int]) -> tuple[str, str, str] | None:
        """Return why packets that start on these links have no bound, None if all have one: the section that
        describes the codes, the message and the hint."""
        fullest = max(first, key=self.busy)
        if np.isinf(self._under_way) or self.busy(fullest) > _MOST_BUSY:
            row = int((self.apiece(fullest) / self._period).argmax())
            why = "they take most of the time, added up over the links that packets can meet"
            return self._refusal(row, why, _RARER)
        row = self._confused()
        if row is None:
            return None
        hint = _LONGER.get(self._section(row), _RARER)
        why = "copies can still be under way on another path when the next one comes"
        return self._refusal(row, why, hint)

    def _refusal(self, row: int, why: str, hint: str) -> tuple[str, str, str]:
        section = self._section(row)
        what = section.replace("_", "-") + "s"
        return section, f"beside {what} that come this often there is no bound: {why}", hint

    def _section(self, row: int) -> str:
        """Return the section of the scenario that describes the codes of a row."""
        if self._is_time(row):
            return "time_code"
        return "interrupt" if self._arrays["code_number"][row] < FIRST_BROADCAST else "broadcast"

    def _is_time(self, row: int) -> bool:
        return int(self._arrays["code_number"][row]) == number("signal", "time")

    def _confused(self) -> int | None:
        """Return the row of a source whose codes a switch may accept twice."""
        arrays, alike = self._arrays, dict[tuple[int, ...], list[int]]()
        columns = ("first_ticks", "period_ticks", "count", "number")
        for row, key in enumerate(zip(*(arrays[f"code_{name}"].tolist() for name in columns), strict=True)):
            is_time = self._is_time(row)
            if not is_time and self._meet([row]) and arrays["interrupt_hold_ticks"] < self._under_way:
                return row
            if is_time and key[2] > 0:
                alike.setdefault(key, []).append(row)
        for (_, period, count, _), rows in alike.items():
            if count > 1 and period <= self._under_way and self._meet(rows):
                return rows[0]
        for (one, rows), (other, others) in combinations(sorted(alike.items()), 2):
            gap = other[0] - (one[0] + (one[2] - 1) * one[1])
            shared = set().union(*(self._carried[row] for row in rows)) & self._carried[others[0]]
            if shared and gap <= self._under_way and self._meet([*rows, *others]):
                return others[0]
        return None

    def _meet(self, rows: Sequence[int]) -> bool:
        """Whether copies of a code of these sources can reach a switch by two links."""
        switches, target = int(self._arrays["switches"]), self._arrays["link_target"]
        into = [int(target[link]) for link in set().union(*(self._carried[row] for row in rows))]
        into = [vertex for vertex in into if vertex < switches]
        return len(into) > len(set(into))


def _least(base: Reals, more: Callable[[Reals], Reals], most: float = np.inf) -> Reals:
    """Return the least solution of x = base + more(x); infinite if it is not found, or above ``most``."""
    found = base.astype(np.float64)
    for _ in range(_MOST_STEPS):
        before, found = found, base + more(found)
        if np.array_equal(before, found):
            return found
        if found.max() > most:
            break
    return np.full(len(base), np.inf)


def _carried(arrays: dict[str, Any], port: int) -> set[int]:
    """Return the links that codes from a port can take: a switch sends none back to where it came from."""
    switches = int(arrays["switches"])
    target, reverse = arrays["link_target"].tolist(), arrays["link_reverse"].tolist()
    outputs: dict[int, list[int]] = {}
    for link, source in enumerate(arrays["link_source"].tolist()):
        if source < switches:
            outputs.setdefault(source, []).append(link)
    todo = [int(arrays["terminal_out_link"][port])]
    found = set(todo)
    while todo:
        link = todo.pop()
        for other in outputs.get(target[link], ()):
            if other != reverse[link] and other not in found:
                found.add(other)
                todo.append(other)
    return found


def met_by(hops: Sequence[Way], backwards: Sequence[int]) -> dict[int, set[int]]:
    """Return U: per link, all links of all flows that packets on it can meet."""
    found: dict[int, set[int]] = {link: set() for link in backwards}
    after: dict[int, set[int]] = {link: set() for link in backwards}
    for way in hops:
        links = {link for some in way.values() for link in some}
        for link in links:
            found[link] |= links
            after[link].update(way.get(link, ()))
    for link in backwards:
        found[link].update(*(found[one] for one in after[link]))
    return found
