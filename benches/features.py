"""What a feature costs, a part of ``RESULTS.md``: machine instructions per packet-hop with one
thing turned on, beside the same network without, and the most that it should be.

It needs valgrind. ``tests/test_features.py`` keeps some of it.
"""

from __future__ import annotations

import argparse
import functools
import pickle
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import Row, compiled_of, counted, joined, options, per_hop, write
from fabriloom.simulate import matched

SIDE = 8
"""A grid of as many switches by as many, with a terminal each."""
LOAD = 0.15
SPANS = {"fast": (5_000, 20_000), "slow": (1_000, 3_000)}
"""The packet-hops between which instructions are counted; fewer where each character is decided by itself."""
FLIT_BYTES = 8


@dataclass(frozen=True)
class Most:
    """The most that something should cost; where nothing is said, nothing is aimed at."""

    factor: float | None = None
    """Of what the network costs without it."""
    of_it: float | None = None
    """Of the network without it: of what it costs with it."""
    instructions: dict[int, int] | None = None
    """Per packet-hop, by length."""

    def is_met(self, row: Row, without: float) -> bool | None:
        """Whether a row costs no more; None if nothing is said of it."""
        limit = self.limit(row, without)
        if limit is None:
            return None
        return without <= limit if self.of_it else row["instructions"] <= limit

    def limit(self, row: Row, without: float) -> float | None:
        """Instructions per packet-hop: of the row, or of the network without, if that is what counts."""
        if self.of_it is not None:
            return self.of_it * row["instructions"]
        if self.factor is not None:
            return self.factor * without
        return (self.instructions or {}).get(row["length"])

    def said(self, length: int) -> str:
        """What is aimed at, as a cell of the table."""
        if self.of_it is not None:
            return f"without it {self.of_it}"
        if self.factor is not None:
            return str(self.factor)
        aim = (self.instructions or {}).get(length)
        return "" if aim is None else str(aim)


NO_AIM = Most()
NEARLY_NOTHING = Most(1.3)
CODES = Most(1.5)
TWICE = Most(2.0)
BY_PACKET = Most(instructions=dict.fromkeys((8, 64, 2000, 4000), 3000))
Feature = tuple[Row, Most]

PRIORITY: Feature = ({"routing": {"high_priority": ["t(0,0).0"]}}, NEARLY_NOTHING)
FAR_FAULT: Feature = (
    {"fault": [{"cable": "s(3,3)>s(3,4)", "at": "99 s", "repaired": "99.5 s"}]},
    NEARLY_NOTHING,
)
CUTS: Feature = (
    {
        "fault": [
            {"cable": f"s(3,{column})>s(3,{column + 1})", "at": "1 us", "repaired": "1.5 us"}
            for column in range(SIDE - 1)
        ]
    },
    NEARLY_NOTHING,
)
"""At the beginning of what is counted: what follows costs as much as without."""
NEW_TABLES: Feature = ({**CUTS[0], "routing": {"after_fault": {"delay": "0 us"}}}, NEARLY_NOTHING)
RANDOM: Feature = ({"technology": {"arbiter": "random"}}, NEARLY_NOTHING)


def technology(most: Most = NO_AIM, **settings: Any) -> Feature:
    """A feature of settings of the technology."""
    return {"technology": settings}, most


SPACEWIRE: dict[str, Feature] = {
    "without": ({}, Most(instructions={1000: 3000})),
    "all arbiters random": RANDOM,
    "a fault far in the future": FAR_FAULT,
    "cables that fail, and cut packets": CUTS,
    "the same, with new tables": NEW_TABLES,
    "bit errors, 1e-14": ({"fault": [{"cable": "s(3,3)>s(3,4)", "bit_error_rate": 1e-14}]}, NEARLY_NOTHING),
    "a terminal stuck for 30 us": (
        {"fault": [{"terminal": "t(3,3).0", "stuck": True, "at": "50 us", "repaired": "80 us"}]},
        NEARLY_NOTHING,
    ),
    "watchdog of 1 ms": technology(NEARLY_NOTHING, watchdog="1 ms"),
    "one terminal of high priority": PRIORITY,
    "path addresses": ({"routing": {"addressing": "path"}}, NEARLY_NOTHING),
    "time-codes every 100 us": ({"time_code": [{"master": "t(0,0).0", "every": "100 us"}]}, CODES),
    "flow control average": technology(Most(of_it=1.3), flow_control="average"),
    "flow control ignored": technology(flow_control="ignored"),
    "cables of 100 m": technology(Most(instructions={64: 2500, 1000: 6000}), cable_length="100 m"),
    "cables of 1 km": technology(Most(instructions={64: 3000, 1000: 10_000}), cable_length="1 km"),
}
CUT_THROUGH = {"switching": "virtual-cut-through", "input_buffer_flits": 72, "output_buffer_flits": 8}
GENERIC: dict[str, Feature] = {
    "without": ({}, NO_AIM),
    "2 lanes": technology(Most(instructions={8: 4000, 64: 8000}), lanes=2),
    "4 lanes": technology(Most(instructions={8: 5000, 64: 12_000}), lanes=4),
    "4 lanes, by packet": technology(BY_PACKET, lanes=4, lane_sharing="packet"),
    "cut-through": technology(Most(1.6), **CUT_THROUGH),
    "all arbiters random": RANDOM,
    "a fault far in the future": FAR_FAULT,
    "cables that fail, and cut packets": CUTS,
    "the same, with new tables": NEW_TABLES,
    "one terminal of high priority": PRIORITY,
}
INFINIBAND: dict[str, Feature] = {
    "without": ({}, BY_PACKET),
    "1 lane": technology(BY_PACKET, lanes=1),
    "16 lanes": technology(BY_PACKET, lanes=16, input_buffer_flits=128),
    "one queue for all outputs": technology(BY_PACKET, input_queues="fifo"),
    "tables of lanes": technology(
        TWICE, lane_arbiter="weighted", lane_high="0:4", lane_low="1:64,2:32,3:32", lane_high_limit=1
    ),
    "cables of 100 m": technology(cable_length="100 m"),
    "congestion control": ({"congestion_control": {}}, NEARLY_NOTHING),
    "a fault far in the future": FAR_FAULT,
    "cables that fail, and cut packets": CUTS,
    "the same, with new tables": NEW_TABLES,
    "one terminal of high priority": PRIORITY,
    "over random switches (valiant)": ({"routing": {"kind": "valiant"}}, BY_PACKET),
    "over random switches by queues (ugal)": ({"routing": {"kind": "ugal"}}, BY_PACKET),
}
ONE_LANE = {
    "lanes": 1,
    "lane_sharing": "flit",
    "lane_arbiter": "round-robin",
    "lane_reserved": [],
    "lane_credit_limit_flits": 0,
    **dict.fromkeys(("frame_flits", "frame_start_flits", "frame_end_flits", "realign_cycles"), 0),
}
SPACEFIBRE: dict[str, Feature] = {
    "without": technology(**ONE_LANE),
    "frames, 4 lanes with reserved parts": technology(TWICE),
    "frames, 4 lanes in turn": technology(
        TWICE, lane_arbiter="round-robin", lane_reserved=[], lane_credit_limit_flits=0
    ),
}
NETWORKS = {
    "spacewire-200": (SPACEWIRE, (64, 1000), 1),
    "generic": (GENERIC, (8, 64), FLIT_BYTES),
    "infiniband-4x-edr": (INFINIBAND, (64, 2000), 1),
    "spacefibre-2g5": (SPACEFIBRE, (64, 1000), 1),
}
SLOW: dict[str, tuple[str, ...]] = {
    "spacewire-200": (),
    "generic": ("lanes",),
    "infiniband-4x-edr": (),
    "spacefibre-2g5": ("lanes",),
}
"""Words in the names of features with which each character is decided by itself."""
Case = tuple[str, str, int]
"""Preset, feature, and length in bytes or flits."""


def scenario(case: Case) -> Row:
    """The description of a case."""
    preset, feature, length = case
    features, _, unit_bytes = NETWORKS[preset]
    new = features[feature][0]
    network = {
        "name": f"grid with {feature}",
        "seed": 1,
        "topology": {"kind": "grid", "shape": [SIDE, SIDE], "terminals_per_switch": 1},
        "technology": {"preset": preset, **new.get("technology", {})},
        "traffic": {
            "pattern": "uniform",
            "length": f"{length * unit_bytes} B",
            "arrivals": "poisson",
            "load": LOAD,
        },
        "run": {"duration": "100 s", "warmup": "0 ns", "precision": 0},
    }
    others = ("routing", "fault", "time_code", "congestion_control")
    return network | {name: new[name] for name in others if name in new}


@functools.cache
def reverse_tenths(preset: str, length: int) -> Any:
    """The load of opposite directions, of which *matched* flow control makes its shares, without features."""
    network = scenario((preset, "without", length))
    return matched(compiled_of({**network, "run": {**network["run"], "duration": "8 ms"}})).times.beside


def compiled(case: Case) -> Any:
    """The arrays of one case."""
    network = scenario(case)
    if case[0] != "spacewire-200" or "flow_control" in network["technology"]:
        return compiled_of(network)
    return compiled_of(network).beside(reverse_tenths(case[0], case[2]))


def pace(case: Case) -> str:
    """How fast a case runs: see `SPANS`."""
    return "slow" if any(word in case[1] for word in SLOW[case[0]]) else "fast"


def cases() -> Iterator[Case]:
    """Each feature after the network without it."""
    for preset, (features, lengths, _) in NETWORKS.items():
        for length in lengths:
            for feature in features:
                yield preset, feature, length


def counts(chosen: list[Case], spans: dict[str, tuple[int, int]] = SPANS) -> list[Row]:
    """The instructions per packet-hop of cases."""
    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for number, case in enumerate(chosen):
            file = Path(folder) / str(number)
            network = compiled(case)
            file.write_bytes(pickle.dumps((network.arrays, options(network))))
            runs += [(str(file), hops) for hops in spans[pace(case)]]
        ends = counted(sys.executable, runs)
    pairs = zip(ends[::2], ends[1::2], strict=True)
    return [
        {"preset": preset, "feature": feature, "length": length, "instructions": per_hop([before, after])}
        for (preset, feature, length), (before, after) in zip(chosen, pairs, strict=True)
    ]


def factors(rows: list[Row]) -> str:
    """A table for each preset, with instructions, factor and aim at each length."""
    found = {(row["preset"], row["length"], row["feature"]): row for row in rows}
    tables = []
    for preset in dict.fromkeys(row["preset"] for row in rows):
        own = [row for row in rows if row["preset"] == preset]
        lengths = list(dict.fromkeys(row["length"] for row in own))
        unit = "flits" if preset == "generic" else "B"
        head = [f"`{preset}`"]
        for length in lengths:
            head += [f"{length} {unit}: per hop", "factor", "at most"]
        lines = [joined(head), "|---|" + "---:|" * (len(head) - 1)]
        for feature in dict.fromkeys(row["feature"] for row in own):
            cells = [feature]
            for length in lengths:
                without = found[preset, length, "without"]["instructions"]
                cells += measured(found[preset, length, feature], without)
            lines.append(joined(cells))
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


def measured(row: Row, without: float) -> tuple[str, str, str]:
    """Instructions per packet-hop of a row, their factor, and the aim."""
    most = NETWORKS[row["preset"]][0][row["feature"]][1]
    said = most.said(row["length"])
    said = f"**{said}**" if most.is_met(row, without) is False else said
    return f"{row['instructions']:.0f}", f"{row['instructions'] / without:.2f}", said


def over(rows: list[Row]) -> list[Row]:
    """The rows that cost more than they should."""
    base = {
        (row["preset"], row["length"]): row["instructions"] for row in rows if row["feature"] == "without"
    }
    most = [NETWORKS[row["preset"]][0][row["feature"]][1] for row in rows]
    pairs = zip(rows, most, strict=True)
    return [row for row, one in pairs if one.is_met(row, base[row["preset"], row["length"]]) is False]


NOTES = f"""A grid of {SIDE} x {SIDE} switches with a terminal each, random traffic at {LOAD:.0%} load,
statistics on, otherwise the presets' defaults. *Factor*: against the same network without the
feature; of `spacefibre-2g5` against one lane without frames. *At most*: what is aimed at, as such a factor
or, from 2000 on, in instructions per packet-hop; bold: not met. Not counted are packet distribution and
terminals of several ports."""


KEPT: list[Case] = [
    ("spacewire-200", feature, 64)
    for feature in (
        "without",
        "cables that fail, and cut packets",
        "time-codes every 100 us",
        "path addresses",
    )
] + [
    ("infiniband-4x-edr", feature, 2000)
    for feature in ("without", "a fault far in the future", "the same, with new tables")
]
"""What costs no more than it should, and is to stay so."""
QUICK = {"fast": (3_000, 10_000)}


def main() -> int:
    """Count everything and write the page, or fail where what is kept costs more."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="count what is to stay as it is; write nothing")
    quick = parser.parse_args().quick
    if shutil.which("valgrind") is None:
        print("valgrind is not installed: nothing is counted", file=sys.stderr)
        return 0
    rows = counts(KEPT, QUICK) if quick else counts(list(cases()))
    if quick:
        print(factors(rows))
        return int(bool(over(rows)))
    write("What a feature costs", [NOTES, factors(rows)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
