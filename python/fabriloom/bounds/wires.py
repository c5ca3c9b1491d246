"""What a packet costs on a link: the time of its characters, and its wait for other lanes of the link.

Proof: ``docs/background/worst-case.md``, "Links of several lanes".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codes import number

NEVER = 1 << 200
"""Longer than any bound, in ticks; some are of ages."""
STARVED = "packets of another lane of a link can go before its own always"
_FRAME = ("frame_start", "frame_end", "column")
"""What a frame takes beside its characters: also what is missing in its last column."""
Ticks = NDArray[np.int64]


class Costs:
    """Per lane, in ticks: the largest time per character, and the additional time per packet."""

    def __init__(self, arrays: dict[str, Any], longest: dict[int, int], turns: bool = True) -> None:
        """``longest``: characters of the longest packet of each lane that has traffic; ``turns``: whether
        lanes that take turns wait for each other's turns, instead of for all packets.
        """
        lanes, switches = int(arrays["lanes"]), int(arrays["switches"])

        def of(name: str) -> Ticks:
            return np.repeat(arrays[name].astype(np.int64), lanes)

        header = max(1, int(arrays["header_chars"]))
        source, target = of("link_source"), of("link_target")
        from_switch, to_switch = source < switches, target < switches

        def at(vertex: Ticks, inside: NDArray[np.bool_], name: str) -> Ticks:
            values = arrays[name].astype(np.int64)
            if not len(values):
                return np.zeros(len(vertex), np.int64)
            return np.where(inside, values[np.minimum(vertex, switches - 1)], 0)

        wire = _Turns(arrays, longest, from_switch, turns)
        amid = 0 if wire.by_packet else wire.wait
        end, arrival, credit = of("link_end_ticks"), of("link_arrival_ticks"), of("link_credit_ticks")
        crossbar = np.maximum(
            at(source, from_switch, "switch_crossbar_ticks"), at(target, to_switch, "switch_crossbar_ticks")
        )
        forward = at(source, from_switch, "switch_forward_ticks")
        inside, out = of("link_input_buffer"), of("link_output_buffer")
        window = np.maximum(1, inside - of("link_quantum") + 1)
        loop = np.where(to_switch, -(-(arrival + credit + amid) // window), 0)
        place = np.where(from_switch, -(-(forward + wire.wire + amid) // np.maximum(1, out)), 0)
        self.character = np.maximum.reduce([wire.each, crossbar, loop, place])
        handover = at(source, from_switch, "switch_handover_ticks")
        front = at(target, to_switch, "switch_next_head_ticks") + at(target, to_switch, "switch_decode_ticks")
        self.once = forward + arrival + credit + handover + front + end + (header + 2) * self.character
        self.once = self.once + wire.wait
        if len(arrays["link_pause_above"]):
            late = -(-(arrival + credit) // wire.wire)
            inside = of("link_pause_above") + 2 * max(longest.values(), default=0) + late
        self.capacity = np.where(from_switch, out, 0) + np.where(to_switch, inside, 0)
        self.stores = to_switch & (bool(arrays["store_and_forward"]) | _may_wait_for_end(arrays, lanes))
        self.starved = wire.starved
        """Whether other lanes can go before it always; their packets are counted instead."""
        self.other = wire.unit
        """The time for which a character of another lane can have the wire."""


def _may_wait_for_end(arrays: dict[str, Any], lanes: int) -> NDArray[np.bool_]:
    """Return on which lanes packets may go on faster than they come, and wait until they can without gaps."""
    by_packet = lanes == 1 or arrays["lane_sharing"] == number("sharing", "packet")
    ticks, switches = arrays["link_character_ticks"].astype(np.int64), int(arrays["switches"])
    source, target = (arrays[f"link_{end}"].astype(np.int64) for end in ("source", "target"))
    fastest = np.full(max(switches, int(target.max(initial=0)) + 1), np.iinfo(np.int64).max)
    np.minimum.at(fastest, source[source < switches], ticks[source < switches])
    waits = (ticks > fastest[target]) & bool(arrays["whole_packet_credit"] and by_packet)
    return np.repeat(waits, lanes)


class _Turns:
    """How the lanes of a link share its wire: what is computed for each lane that has traffic."""

    def __init__(
        self, arrays: dict[str, Any], longest: dict[int, int], shared: NDArray[np.bool_], turns: bool
    ) -> None:
        self.lanes = int(arrays["lanes"])
        self.longest = longest
        self.by_packet = arrays["lane_sharing"] == number("sharing", "packet")
        self.frame = int(arrays["lane_frame_chars"])
        self.wire, end, *around = (self._per_lane(arrays, name) for name in ("character", "end", *_FRAME))
        around, frame = np.sum(around, axis=0), max(1, self.frame)
        self.unit = np.maximum(self.wire, end) + around
        self.block = np.maximum(self.wire, end) * frame + around
        """The time for which another lane has the wire when it has its turn, but for whole packets."""
        self.wait, self.each = around.copy(), -(-(self.wire * frame + around) // frame)
        self.starved = np.zeros(len(self.wire), bool)
        fixed = self.lanes > 1 and arrays["lane_arbiter"] == number("arbiter", "fixed")
        priority = arrays["lane_priority"].tolist() or [0] * self.lanes
        self.rank = [(priority[lane], lane * fixed) for lane in range(self.lanes)]
        self.fair = turns and not len(arrays["lane_share_millionths"]) and not len(arrays["lane_table_lane"])
        for lane in longest:
            if shared[lane]:
                self._beside(lane)

    def _per_lane(self, arrays: dict[str, Any], name: str) -> Ticks:
        """Return a time of links for each of their lanes; 0 if it is not given."""
        given = arrays[f"link_{name}_ticks"].astype(np.int64)
        return np.repeat(given if len(given) else np.zeros(len(arrays["link_source"]), np.int64), self.lanes)

    def _beside(self, lane: int) -> None:
        """Add to the costs of a lane what the other lanes of its link add."""
        first = lane - lane % self.lanes
        others = [one for one in range(first, first + self.lanes) if one != lane and one in self.longest]
        rank = {one: self.rank[one - first] for one in [lane, *others]}
        equal = [one for one in others if rank[one] == rank[lane]]
        after = [one for one in others if rank[one] > rank[lane]]
        if len(equal) + len(after) < len(others) or (equal and not self.fair):
            self.starved[lane] = True
            return
        turn = {one: self._turn(one) for one in others}
        self.wait[lane] += sum(turn[one] for one in equal) + max((turn[one] for one in after), default=0)
        if not self.by_packet:
            more = sum(turn[one] for one in equal)
            self.each[lane] += -(-more // max(1, self.frame))

    def _turn(self, lane: int) -> int:
        """Return the longest time for which a lane has the wire when it has its turn."""
        return int(self.unit[lane]) * self.longest[lane] if self.by_packet else int(self.block[lane])
