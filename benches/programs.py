"""Speed and memory of the engine with programs, a part of ``RESULTS.md``, never asserted.

Events of 1024 fragments of 1 KB each are built over a five-stage Clos. ``--quick`` tries a small network only
and writes nothing; ``common.py`` has the other options.
"""

from __future__ import annotations

import resource
import time
from typing import Any

import numpy as np
import operations
from common import Bench, Row, asked, compiled_of, run, simulation, started, write

TERMINALS = 2048
"""Half of them sources, half destinations."""
QUICK_TERMINALS = 512
COUNTED_HOPS = (50_000, 150_000)
Case = tuple[str, int]
"""Name and terminals."""
CASES: dict[str, Row] = {
    "all to one destination at a time, raw packets of 64 B": {
        "program": {"kind": "level-3", "events": 64},
        "protocol": {"preset": "raw", "packet": "64 B"},
    },
    "the same, virtual links of 32 B": {
        "program": {"kind": "level-3", "events": 32},
        "protocol": {"preset": "t9000"},
    },
    "each to another destination (barrel shifter), raw packets of 64 B": {
        "program": {"kind": "barrel-shifter", "events": 64, "slot": "120 us"},
        "protocol": {"preset": "raw", "packet": "64 B"},
    },
}


def scenario(name: str, terminals: int) -> Row:
    """One case as a scenario that runs until its events are built."""
    case = CASES[name]
    return {
        "name": name,
        "seed": 1,
        "topology": {"kind": "clos5", "terminals": terminals},
        "technology": {"preset": "ds-link-c104", "header": "2 B"},
        **case,
        "program": {**case["program"], "fragment": "1024 B"},
        "run": {"duration": "100 s", "warmup": "0 ns", "precision": 0},
    }


def compiled(case: Case) -> Any:
    """The arrays of one case."""
    return compiled_of(scenario(*case))


def timed(case: Case, speed: bool) -> Row:
    """Build, run and time one case in this process."""
    begin = started()
    engine = simulation(compiled(case))
    engine.advance(1)
    start_s = time.perf_counter() - begin
    wall, begin = time.perf_counter(), time.process_time()
    while not engine.advance(200_000):
        pass
    spent_s, wall_s = time.process_time() - begin, time.perf_counter() - wall
    _, events, packets, hops = engine.progress()
    result = engine.result()
    if result["end_reason"] != "drained":
        raise RuntimeError(f"the run ended {result['end_reason']}")
    if speed:
        return {"hops_per_s": hops / spent_s}
    built = int(np.count_nonzero(np.asarray(result["event_complete_ticks"]) >= 0))
    return {
        "name": case[0],
        "built": built,
        "packets": packets,
        "hops_per_s": hops / spent_s,
        "built_per_s": built / spent_s,
        "wakeups_per_hop": events / hops,
        "wall_s": wall_s,
        "start_s": start_s,
        "peak_mbytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


HEADER = (
    "events",
    "built",
    "packets",
    "packet-hops/s",
    "events/s",
    "wake-ups per hop",
    "wall",
    "start",
    "memory",
)


def cells(row: Row) -> tuple[str, ...]:
    """One row of the table."""
    return (
        row["name"],
        f"{row['built']}",
        f"{row['packets']}",
        f"{row['hops_per_s'] / 1e6:.2f} M",
        f"{row['built_per_s']:.1f}",
        f"{row['wakeups_per_hop']:.2f}",
        f"{row['wall_s']:.1f} s",
        f"{row['start_s']:.1f} s",
        f"{row['peak_mbytes']:.0f} MB",
    )


NOTES = """1024 sources send a fragment of 1 KB each to one of 1024 destinations per event, over a five-stage
Clos of DS-Links with C104, as fast as they can. The aim: at least 1 M packet-hops/s with programs on.

* Acknowledgements are packets, too. Events per second are those built in a second of processor time, in
  the better of two rounds.
* Wall is on the clock, other work on the machine included."""


def counted(instructions: bool) -> list[str]:
    """The part on single operations, if instructions are counted."""
    return [operations.NOTES, operations.table()] if instructions else []


def main() -> None:
    """Run one case as told, or all."""
    arguments = asked(__doc__)
    terminals = QUICK_TERMINALS if arguments.quick else TERMINALS
    bench = Bench(
        __file__,
        compiled,
        timed,
        lambda _: COUNTED_HOPS,
        lambda measure: (measure((name, terminals)) for name in CASES),
        HEADER,
        cells,
    )
    run(
        bench,
        arguments,
        lambda _, table: write("With programs", [NOTES, table, *counted(arguments.instructions)]),
    )


if __name__ == "__main__":
    main()
