"""Speed and memory of the engine with programs, written to ``benches/PROGRAMS.md``: measured, never asserted.

Events of 1024 fragments of 1 KB each are built over a five-stage Clos. Every case runs in a process of its
own, so its peak memory is its own. ``--quick`` tries a small network only and writes nothing.
"""

from __future__ import annotations

import json
import resource
import time
from typing import Any

import numpy as np
from run import asked, run_named, simulation, write

TERMINALS = 2048
"""Half of them sources, half destinations."""
QUICK_TERMINALS = 512
CASES: dict[str, dict[str, Any]] = {
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


def scenario(name: str, terminals: int) -> dict[str, Any]:
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


def run_case(name: str, terminals: int) -> dict[str, Any]:
    """Build, run and time one case in this process."""
    from fabriloom.compile import compile as compile_scenario
    from fabriloom.scenario import Scenario

    begin = time.perf_counter()
    compiled = compile_scenario(Scenario.from_dict(scenario(name, terminals)))
    engine = simulation(compiled)
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
    built = int(np.count_nonzero(np.asarray(result["event_complete_ticks"]) >= 0))
    return {
        "name": name,
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
    "| events | built | packets | packet-hops/s | events/s | wake-ups per hop | wall | start | memory |\n"
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
)


def line(case: dict[str, Any]) -> str:
    """One row of the table."""
    return (
        f"| {case['name']} | {case['built']} | {case['packets']} | {case['hops_per_s'] / 1e6:.2f} M "
        f"| {case['built_per_s']:.1f} | {case['wakeups_per_hop']:.2f} | {case['wall_s']:.1f} s "
        f"| {case['start_s']:.1f} s | {case['peak_mbytes']:.0f} MB |"
    )


NOTES = """1024 sources send a fragment of 1 KB each to one of 1024 destinations per event, over a five-stage
Clos of DS-Links with C104, as fast as they can. The aim: at least 1 M packet-hops/s with programs on.

* A hop is a packet granted an output of a switch; acknowledgements are packets, too. Events per second are
  those built in a second of processor time, in the better of two rounds.
* Wall is on the clock, other work on the machine included; start is, on the clock, from the scenario to the
  first wake-up.
* Memory is the peak of the whole process, interpreter included.
"""


def main() -> None:
    """Run one case as told, or all."""
    arguments = asked(__doc__)
    if arguments.case:
        print(json.dumps(run_case(arguments.case, QUICK_TERMINALS if arguments.quick else TERMINALS)))
        return
    names = CASES
    table = run_named(__file__, names, HEADER, line, arguments.quick)
    if not arguments.quick:
        write("PROGRAMS.md", "Speed and memory with programs", [NOTES.strip(), table])


if __name__ == "__main__":
    main()
