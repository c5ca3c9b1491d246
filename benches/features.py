"""What a feature costs, written to ``benches/FEATURES.md``: machine instructions per packet-hop with one
thing turned on, beside the same network without. Never asserted.

``common.py`` has the options. It needs valgrind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from common import Bench, Row, asked, compiled_of, hops_per_s, run, simulation, write
from fabriloom.simulate import matched

SIDE = 8
"""A grid of as many switches by as many, with a terminal each."""
LOAD = 0.15
SPANS = {"fast": (20_000, 80_000), "slow": (3_000, 9_000)}
"""The packet-hops between which instructions are counted; fewer where each character is decided by itself."""

LENGTHS_BYTES = (64, 1000)
FLITS = (8, 64)
FLIT_BYTES = 8

PRIORITY = {"high_priority": ["t(0,0).0"]}
FAR = {"at": "99 s", "repaired": "99.5 s"}
SPACEWIRE: dict[str, Row] = {
    "without": {},
    "all arbiters random": {"technology": {"arbiter": "random"}},
    "a fault far in the future": {"fault": [{"cable": "s(3,3)>s(3,4)", **FAR}]},
    "bit errors, 1e-14": {"fault": [{"cable": "s(3,3)>s(3,4)", "bit_error_rate": 1e-14}]},
    "time-codes every 100 us": {"time_code": [{"master": "t(0,0).0", "every": "100 us"}]},
    "watchdog of 1 ms": {"technology": {"watchdog": "1 ms"}},
    "one terminal of high priority": {"routing": PRIORITY},
    "path addresses": {"routing": {"addressing": "path"}},
    "no adaptive routing": {"routing": {"adaptive": False}},
    "crossbar at link rate": {"technology": {"crossbar": "link-rate"}},
    "flow control matched": {"matched": True},
    "flow control ignored": {"technology": {"flow_control": "ignored"}},
    "cables of 50 m": {"technology": {"cable_length": "50 m"}},
    "cables of 100 m": {"technology": {"cable_length": "100 m"}},
    "cables of 1 km": {"technology": {"cable_length": "1 km"}},
}
GENERIC: dict[str, Row] = {
    "without": {},
    "2 lanes": {"technology": {"lanes": 2}},
    "4 lanes": {"technology": {"lanes": 4}},
    "4 lanes, by packet": {"technology": {"lanes": 4, "lane_sharing": "packet"}},
    "cut-through": {
        "technology": {"switching": "virtual-cut-through", "input_buffer_flits": 72, "output_buffer_flits": 8}
    },
    "a fault far in the future": SPACEWIRE["a fault far in the future"],
    "one terminal of high priority": {"routing": PRIORITY},
}
INFINIBAND: dict[str, Row] = {
    "without": {},
    "1 lane": {"technology": {"lanes": 1}},
    "16 lanes": {"technology": {"lanes": 16, "input_buffer_flits": 128}},
    "one queue for all outputs": {"technology": {"input_queues": "fifo"}},
    "cables of 100 m": {"technology": {"cable_length": "100 m"}},
    "a fault far in the future": SPACEWIRE["a fault far in the future"],
    "one terminal of high priority": {"routing": PRIORITY},
}
NETWORKS = {
    "spacewire-200": (SPACEWIRE, LENGTHS_BYTES, 1, {"flow_control": "average"}),
    "generic": (GENERIC, FLITS, FLIT_BYTES, {}),
    "infiniband-4x-edr": (INFINIBAND, (64, 2000), 1, {}),
}
SLOW = ("fault", "error", "watchdog", "lanes", "cut-through")
Case = tuple[str, str, int]
"""Preset, feature, and length in bytes or flits."""


def scenario(case: Case) -> tuple[Row, bool]:
    """The description of a case, and whether its flow control is matched."""
    preset, feature, length = case
    features, _, unit_bytes, settings = NETWORKS[preset]
    new = features[feature]
    network = {
        "name": f"grid with {feature}",
        "seed": 1,
        "topology": {"kind": "grid", "shape": [SIDE, SIDE], "terminals_per_switch": 1},
        "technology": {"preset": preset, **settings, **new.get("technology", {})},
        "traffic": {
            "pattern": "uniform",
            "length": f"{length * unit_bytes} B",
            "arrivals": "poisson",
            "load": LOAD,
        },
        "run": {"duration": "100 s", "warmup": "0 ns", "precision": 0},
    }
    network |= {name: new[name] for name in ("routing", "fault", "time_code") if name in new}
    return network, bool(new.get("matched"))


def compiled(case: Case) -> Any:
    """The arrays of one case."""
    network, is_matched = scenario(case)
    if not is_matched:
        return compiled_of(network)
    network["technology"]["flow_control"] = "matched"
    return matched(compiled_of({**network, "run": {**network["run"], "duration": "8 ms"}}))


def span(case: Case) -> tuple[int, int]:
    """When the network is about as full as it will be, for a while."""
    return SPANS["slow" if any(word in case[1] for word in SLOW) else "fast"]


def timed(case: Case, speed: bool) -> Row:
    """Run one case in this process for a moment."""
    engine = simulation(compiled(case))
    found = {"hops_per_s": hops_per_s(engine, span(case)[1])}
    return found if speed else {"preset": case[0], "feature": case[1], "length": case[2], **found}


def one_round(measure: Callable[[Case], Row]) -> Iterator[Row]:
    """Each feature after the network without it."""
    for preset, (features, lengths, _, _) in NETWORKS.items():
        for length in lengths:
            for feature in features:
                yield measure((preset, feature, length))


HEADER = ("preset", "length", "feature", "packet-hops/s")


def cells(row: Row) -> tuple[str, ...]:
    """One row of the table."""
    unit = "flits" if row["preset"] == "generic" else "B"
    return (row["preset"], f"{row['length']} {unit}", row["feature"], f"{row['hops_per_s'] / 1e6:.3f} M")


def factors(rows: list[Row]) -> str:
    """The table of factors."""
    without = {
        (row["preset"], row["length"]): row["instructions"] for row in rows if row["feature"] == "without"
    }
    lines = ["| preset | length | feature | instructions per hop | factor |", "|---|---:|---|---:|---:|"]
    for row in rows:
        preset, length, feature, _ = cells(row)
        factor = row["instructions"] / without[row["preset"], row["length"]]
        lines.append(f"| {preset} | {length} | {feature} | {row['instructions']:.0f} | {factor:.2f} |")
    return "\n".join(lines)


NOTES = f"""A grid of {SIDE} x {SIDE} switches with a terminal each, random traffic at {LOAD:.0%} load,
statistics on; links of one pace unless stated otherwise. Instructions are counted by valgrind over a
stretch of a run: other
work on the machine does not change them. *Factor*: against the same network without the feature."""


def main() -> None:
    """Run one case as told, or all."""
    arguments = asked(__doc__)
    bench = Bench(__file__, compiled, timed, span, one_round, HEADER, cells)
    run(
        bench,
        arguments,
        lambda rows, _: write("FEATURES.md", "What a feature costs", [NOTES, factors(rows)]),
    )


if __name__ == "__main__":
    main()
