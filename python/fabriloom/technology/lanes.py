"""How the lanes of a link share its wire beyond turns, and the queues of their buffers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from fabriloom.technology.errors import TechnologyError

MOST_QUEUES = 2**22
"""Queues per output that the engine makes before a run; each takes some 250 B."""
WEIGHT_BYTES = 64
"""InfiniBand counts weights of lanes in this unit, and the limit of high priority in the next one."""
LIMIT_BYTES = 4096
NO_LIMIT = 255
SLOTS = 64
_Row = tuple[int, int]


@dataclass(frozen=True)
class LaneRules:
    """Frames, and the order of lanes; empty and 0 where there is nothing of the kind."""

    frame_chars: int = 0
    frame_start_chars: int = 0
    frame_end_chars: int = 0
    priority: tuple[int, ...] = ()
    """Per lane; the lowest number goes first."""
    reserved: tuple[float, ...] = ()
    """Per lane: its part of the wire, 0 to 1."""
    credit_limit_chars: int = 0
    slots: tuple[str, ...] = ()
    """Per lane: the time-slots in which it may send, of ``SLOTS``."""
    slot_chars: int = 0
    high: str = ""
    low: str = ""
    high_limit: int = 0
    physical: int = 1
    """Physical lanes of a link, over which frames are spread in columns of a word for each."""
    spare: int = 0
    """More of them, each of which replaces one that has failed."""
    realign_ps: int | Fraction = 0
    """From the failure or repair of a physical lane until its link goes on."""

    def working(self, failed: int) -> int:
        """Return how many physical lanes are left to a link after some have failed, at least 0."""
        return max(0, min(self.physical, self.physical + self.spare - failed))

    @property
    def tables(self) -> tuple[list[_Row], list[_Row]]:
        """Return lanes and weights of the tables of high and of low priority. Raises TechnologyError."""
        return _rows("lane_high", self.high), _rows("lane_low", self.low)

    @property
    def framed(self) -> Fraction:
        """Return how much longer characters take in full frames; 1 without frames."""
        if not self.frame_chars:
            return Fraction(1)
        columns = self.frame_start_chars + -(-self.frame_chars // self.physical) + self.frame_end_chars
        return Fraction(columns * self.physical, self.frame_chars)

    def part_left(self, physical: int) -> Fraction:
        """Return the part of the rate of full frames that some of the physical lanes have."""
        if not physical:
            return Fraction(0)
        return Fraction(physical, self.physical) * self.framed / replace(self, physical=physical).framed

    @property
    def slot_bits(self) -> list[int]:
        """Return the time-slots of each lane as bits. Raises TechnologyError."""
        return [_slots(text) for text in self.slots]

    @property
    def reserved_millionths(self) -> list[int]:
        """Return the reservations as whole numbers."""
        return [round(Fraction(str(share)) * 10**6) for share in self.reserved]

    def check(self, lanes: int, sharing: str, arbiter: str, flit_bytes: int) -> None:
        """Raise TechnologyError for settings that do not fit together."""
        if self.frame_chars and sharing != "frame":
            message = (
                f"links have frames of {self.frame_chars} flits, which lanes share by frame, not by {sharing}"
            )
            hint = 'write lane_sharing = "frame", or take a preset without frames'
            raise TechnologyError(message, "lane_sharing", hint, "frame_flits")
        if sharing == "frame" and not self.frame_chars:
            hint = 'write lane_sharing = "frame" and frame_flits = 64, or neither of them'
            message = "lanes share by frame if frames have flits, and only then"
            raise TechnologyError(message, "lane_sharing", hint, "frame_flits")
        named = {"lane_priority": self.priority, "lane_reserved": self.reserved, "lane_slots": self.slots}
        for name, values in named.items():
            if values and len(values) != lanes:
                message = f"{name} has {len(values)} values, and links have {lanes} lanes"
                raise TechnologyError(message, name, f"give {name} {lanes} values", "lanes")
        for name, given, needs in (
            ("lane_reserved", bool(self.reserved), "reserved"),
            ("lane_low", bool(self.high or self.low), "weighted"),
        ):
            if given != (arbiter == needs):
                message = f"lane_arbiter = {needs} and its settings go together: {name} and others"
                hint = f'write lane_arbiter = "{needs}" and {name}, or neither'
                raise TechnologyError(message, name, hint, "lane_arbiter")
        for name, given, needs in (
            ("frame_start_flits", self.frame_start_chars, self.frame_chars),
            ("frame_end_flits", self.frame_end_chars, self.frame_chars),
            ("physical_lanes", self.physical > 1, self.frame_chars),
            ("spare_physical_lanes", self.spare, self.frame_chars),
            ("realign_cycles", self.realign_ps, self.frame_chars),
            ("lane_credit_limit_flits", self.credit_limit_chars, self.reserved),
            ("lane_slot_cycles", self.slot_chars, self.slots),
            ("lane_high_limit", self.high_limit, self.high),
        ):
            if given and not needs:
                message = f"{name} has no meaning without frames, reservations or a table to which it belongs"
                raise TechnologyError(message, name, f"write {int(name == 'physical_lanes')}")
        if self.reserved and not self.credit_limit_chars:
            message = "lane_credit_limit_flits is 0: no lane could save any of what is reserved for it"
            raise TechnologyError(message, "lane_credit_limit_flits", "write some frames, such as 1024")
        if self.slot_bits and not self.slot_chars:
            message = "lane_slots need the length of a time-slot"
            raise TechnologyError(message, "lane_slots", "write lane_slot_cycles = 1000, or leave them out")
        if arbiter == "weighted":
            self._check_tables(lanes, flit_bytes)

    def _check_tables(self, lanes: int, flit_bytes: int) -> None:
        if self.priority:
            message = "lane_priority has no meaning beside tables, which have a priority each"
            raise TechnologyError(message, "lane_priority", "leave it out")
        if WEIGHT_BYTES % flit_bytes:
            message = f"weights count {WEIGHT_BYTES} B, which flits of {flit_bytes} B do not divide"
            raise TechnologyError(message, "flit", f"write {WEIGHT_BYTES} B, or a part of it")
        high, low = self.tables
        for name, rows in (("lane_high", high), ("lane_low", low)):
            if any(lane >= lanes for lane, _ in rows):
                message = f"{name} names a lane that links do not have: they have {lanes}"
                raise TechnologyError(message, name, f"name lanes from 0 to {lanes - 1}")
        sends = {lane for lane, weight in high + low if weight}
        if idle := sorted(set(range(lanes)) - sends):
            message = f"lane {idle[0]} is in no table with a weight: it would never send"
            raise TechnologyError(message, "lane_low", f'write for example lane_low = "{idle[0]}:4"')


def _slots(text: str) -> int:
    """Return time-slots such as ``0-15,40`` as bits. Raises TechnologyError."""
    bits = 0
    for part in text.replace(" ", "").split(","):
        first, to, last = part.partition("-")
        last = last if to else first
        numbers = all(end.isascii() and end.isdigit() and len(end) < 3 for end in (first, last))
        if not numbers or not int(first) <= int(last) < SLOTS:
            message = f"{part!r} is no time-slot from 0 to {SLOTS - 1}, and no range of them"
            raise TechnologyError(message, "lane_slots", 'write for example "0-15,40" for each lane')
        bits |= (1 << (int(last) + 1)) - (1 << int(first))
    return bits


TURNS = LaneRules()
"""None of these: lanes take turns, or have a fixed order."""


def _rows(name: str, text: str) -> list[_Row]:
    """Return the rows of a table such as ``0:4,1:64``, as subnet managers write it, or raise an error."""
    rows = []
    for part in filter(None, text.replace(" ", "").split(",")):
        lane, _, weight = part.partition(":")
        numbers = lane.isascii() and lane.isdigit() and weight.isascii() and weight.isdigit()
        if not numbers or len(part) > 8 or int(weight) > NO_LIMIT:
            message = f"{part!r} is no lane with a weight from 0 to {NO_LIMIT}"
            raise TechnologyError(message, name, 'write for example "0:4,1:64": lanes with weights in 64 B')
        rows.append((int(lane), int(weight)))
    return rows


def check_queues(queues: int) -> None:
    """Raise TechnologyError if the queues per output that are made before a run would not fit into memory."""
    if queues > MOST_QUEUES:
        message = f"input queues per output would be {queues:,}, one for each lane into a switch and each "
        message += f"way out of it, more than the {MOST_QUEUES:,} that are made"
        hint = 'write input_queues = "fifo"; or have packets computed as one, whose queues are made when '
        hint += 'they are used: lane_sharing = "packet", crossbar = "fast", and neither watchdog nor faults'
        raise TechnologyError(message, "input_queues", hint)
