"""Speed and memory of the engine on SCI rings, written to ``benches/RINGS.md``: measured, never asserted.

Every case runs in a process of its own, so its peak memory is its own. ``--quick`` tries the small networks
only and writes nothing.
"""

from __future__ import annotations

import json
import resource
import statistics
import time
from typing import Any

from run import SLICES, asked, hops_per_s, run_named, simulation, twin_ratio, write

TWIN_HOPS = 20_000
TWIN_UP_TO_STATIONS = 200
"""Largest network that the slow twin runs."""
WARM_US = 20
"""Simulated before anything is timed, so that queues are as full as they will be."""
CASES: dict[str, dict[str, Any]] = {
    "one ring of 8 stations": {
        "topology": {"kind": "sci-ring", "terminals": 8},
        "technology": {"preset": "sci-lc2"},
        "traffic": {"pattern": "uniform", "load": 1.0},
    },
    "16 x 16 Omega of ringlets": {
        "topology": {"kind": "sci-banyan", "terminals": 16},
        "technology": {"preset": "scinet"},
        "traffic": {"pattern": {"kind": "local", "share": 1.0}, "load": 1.0},
    },
    "Omega of ringlets for 1024 terminals": {
        "topology": {"kind": "sci-banyan", "terminals": 512},
        "technology": {"preset": "scinet"},
        "traffic": {"pattern": {"kind": "local", "share": 1.0}, "load": 1.0},
    },
    "torus of 65,536 stations": {
        "topology": {"kind": "sci-torus", "shape": [128, 128]},
        "technology": {"preset": "sci-lc2"},
        "traffic": {"pattern": "uniform", "load": 0.02},
        "until_us": 100,
    },
}


def scenario(name: str) -> dict[str, Any]:
    """One case as a scenario without an end."""
    case = {key: value for key, value in CASES[name].items() if key != "until_us"}
    run = {"duration": "100 s", "warmup": "0 ns", "precision": 0}
    return {"name": name, "seed": 1, **case, "run": run}


def run_case(name: str) -> dict[str, Any]:
    """Build, run and time one case in this process."""
    from fabriloom.compile import compile as compile_scenario
    from fabriloom.scenario import Scenario

    begin = time.perf_counter()
    compiled = compile_scenario(Scenario.from_dict(scenario(name)))
    engine = simulation(compiled)
    engine.advance(1)
    start_s = time.perf_counter() - begin
    until_us = CASES[name].get("until_us")
    ticks_per_us = 1e6 / compiled.tick_ps
    while until_us is None and engine.progress()[0] < WARM_US * ticks_per_us:
        engine.advance(50_000)
    before = engine.progress()
    if until_us is None:
        speed = statistics.median([hops_per_s(engine) for _ in range(SLICES)])
    else:
        begin = time.process_time()
        while engine.progress()[0] < until_us * ticks_per_us:
            engine.advance(50_000)
        speed = (engine.progress()[3] - before[3]) / (time.process_time() - begin)
    _, events, _, hops = (last - first for last, first in zip(engine.progress(), before, strict=True))
    case = {
        "name": name,
        "stations": compiled.graph.links,
        "start_s": start_s,
        "hops_per_s": speed,
        "events_per_hop": events / hops,
        "peak_mbytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    if compiled.graph.links <= TWIN_UP_TO_STATIONS:
        case["ratio"] = twin_ratio(compiled, TWIN_HOPS)
    return case


HEADER = (
    "| network | stations | packet-hops/s | events per hop | times the twin | start | peak memory |\n"
    "|---|---:|---:|---:|---:|---:|---:|"
)


def line(case: dict[str, Any]) -> str:
    """One row of the table."""
    ratio = f"{case['ratio']:.0f}" if "ratio" in case else "-"
    return (
        f"| {case['name']} | {case['stations']} | {case['hops_per_s'] / 1e6:.2f} M "
        f"| {case['events_per_hop']:.2f} | {ratio} | {case['start_s']:.1f} s | {case['peak_mbytes']:.0f} MB |"
    )


NOTES = """Random packets of 64 B, `nwrite` with responses, echoes and retries, at saturation; the torus at a
load that it carries, for 100 us of simulated time. The aims: at least 2 M packet-hops/s, and 65,536 stations
in under 2 GB.

* A hop is a request or a response put on a link; its echo is simulated too and not counted.
* Seconds are of processor time; they are the median of five stretches, and the better of two rounds.
* Start is, on the clock, from the scenario to the first event: topology, routes, checks, arrays, engine.
* Peak memory is that of the whole process, interpreter included.
* The twin moves every symbol. Both ran the same stretch, from an empty network, and delivered as many.
"""


def main() -> None:
    """Run one case as told, or all."""
    arguments = asked(__doc__)
    if arguments.case:
        print(json.dumps(run_case(arguments.case)))
        return
    names = list(CASES)[: 2 if arguments.quick else None]
    table = run_named(__file__, names, HEADER, line, arguments.quick)
    if not arguments.quick:
        write("RINGS.md", "Speed and memory on rings", [NOTES.strip(), table])


if __name__ == "__main__":
    main()
