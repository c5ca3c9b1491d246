"""Speed and memory of the engine on SCI rings, a part of ``RESULTS.md``, never asserted.

``--quick`` tries the small networks only and writes nothing; ``common.py`` has the other options.
"""

from __future__ import annotations

import resource
import statistics
import time
from typing import Any

from common import (
    SLICES,
    Bench,
    Row,
    asked,
    compiled_of,
    hops_per_s,
    run,
    simulation,
    started,
    twin_ratio,
    write,
)

TWIN_HOPS = 20_000
TWIN_UP_TO_STATIONS = 200
"""Largest network that the slow twin runs."""
COUNTED_HOPS = (20_000, 80_000)
WARM_US = 20
"""Simulated before anything is timed, so that queues are as full as they will be."""
CASES: dict[str, Row] = {
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
        "counted_hops": (300_000, 400_000),
    },
    "torus of 65,536 stations": {
        "topology": {"kind": "sci-torus", "shape": [128, 128]},
        "technology": {"preset": "sci-lc2"},
        "traffic": {"pattern": "uniform", "load": 0.02},
        "until_us": 100,
        "counted_hops": (500_000, 700_000),
    },
}


def scenario(name: str) -> Row:
    """One case as a scenario without an end."""
    case = {key: value for key, value in CASES[name].items() if key not in ("until_us", "counted_hops")}
    run = {"duration": "100 s", "warmup": "0 ns", "precision": 0}
    return {"name": name, "seed": 1, **case, "run": run}


def compiled(name: str) -> Any:
    """The arrays of one case."""
    return compiled_of(scenario(name))


def timed(name: str, speed: bool) -> Row:
    """Build, run and time one case in this process."""
    begin = started()
    network = compiled(name)
    engine = simulation(network)
    engine.advance(1)
    start_s = time.perf_counter() - begin
    until_us = CASES[name].get("until_us")
    ticks_per_us = 1e6 / network.tick_ps
    while until_us is None and engine.progress()[0] < WARM_US * ticks_per_us:
        engine.advance(50_000)
    before = engine.progress()
    if until_us is None:
        found = statistics.median([hops_per_s(engine) for _ in range(SLICES)])
    else:
        begin = time.process_time()
        while engine.progress()[0] < until_us * ticks_per_us:
            engine.advance(50_000)
        found = (engine.progress()[3] - before[3]) / (time.process_time() - begin)
    if speed:
        return {"hops_per_s": found}
    _, events, _, hops = (last - first for last, first in zip(engine.progress(), before, strict=True))
    row = {
        "name": name,
        "stations": network.graph.links,
        "start_s": start_s,
        "hops_per_s": found,
        "events_per_hop": events / hops,
        "peak_mbytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    if network.graph.links <= TWIN_UP_TO_STATIONS:
        row["twin"] = twin_ratio(network, TWIN_HOPS)
    return row


HEADER = (
    "network",
    "stations",
    "M packet-hops/s",
    "events per hop",
    "times the twin",
    "start, s",
    "peak memory, MB",
)


def cells(row: Row) -> tuple[str, ...]:
    """One row of the table."""
    return (
        row["name"],
        f"{row['stations']}",
        f"{row['hops_per_s'] / 1e6:.2f}",
        f"{row['events_per_hop']:.2f}",
        f"{row['twin']:.0f}" if "twin" in row else "-",
        f"{row['start_s']:.1f}",
        f"{row['peak_mbytes']:.0f}",
    )


NOTES = """Random packets of 64 B, `nwrite` with responses, echoes and retries, at saturation; the torus at a
load that it carries, for 100 us of simulated time. The aims: 3 M packet-hops/s, at least 2 M, and 65,536
stations in under 2 GB.

* A hop is a request or a response put on a link; its echo is simulated too and not counted.
* The twin moves every symbol."""


def main() -> None:
    """Run one case as told, or all."""
    arguments = asked(__doc__)
    names = list(CASES)[: 2 if arguments.quick else None]
    bench = Bench(
        __file__,
        compiled,
        timed,
        lambda name: CASES[name].get("counted_hops", COUNTED_HOPS),
        lambda measure: map(measure, names),
        HEADER,
        cells,
    )
    run(bench, arguments, lambda _, table: write("On rings", [NOTES, table]))


if __name__ == "__main__":
    main()
