"""A network on chip beside BookSim 2: the cost of a simulated cycle. Nothing is written or asserted.

``python benches/noc.py PROGRAM``, the ``booksim`` that you built, gives the table of
``benches/RESULTS.md``. Both run in turn, and medians of three runs are given.
"""

from __future__ import annotations

import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import compiled_of, joined, simulation

RUNS = 3
CYCLES_HERE = 400_000
"""Enough that the clock, which counts in milliseconds, and the cold start do not matter."""
CONFIGURATION = """{network}
num_vcs = {lanes}; vc_buf_size = {buffer}; wait_for_tail_credit = 0; hold_switch_for_packet = {hold};
vc_allocator = separable_input_first; sw_allocator = separable_input_first; alloc_iters = 1;
routing_delay = 0; vc_alloc_delay = 1; sw_alloc_delay = 1; st_final_delay = 1; credit_delay = 1;
input_speedup = 1; output_speedup = 1; internal_speedup = 1.0; speculative = 0;
traffic = uniform; packet_size = {flits}; injection_rate_uses_flits = 1; injection_rate = {load};
sim_type = latency; warmup_periods = 3; sample_period = {period}; max_samples = 4;
"""


@dataclass(frozen=True)
class Case:
    """A network at a load of uniform traffic."""

    name: str
    theirs: str
    """The network in the words of BookSim."""
    topology: dict[str, Any]
    flits: int
    """Of a packet."""
    buffer: int
    """Flits of a buffer."""
    load: float
    """Flits per terminal and cycle."""
    lanes: int = 1
    cycles: int = 40_000


def mesh(size: int) -> tuple[str, str, dict[str, Any]]:
    """Return the name of a square mesh, and its two descriptions."""
    theirs = f"topology = mesh; k = {size}; n = 2; routing_function = dim_order;"
    return f"mesh {size} x {size}", theirs, {"kind": "grid", "shape": [size, size], "terminals_per_switch": 1}


BUTTERFLY = (
    "butterfly of 64, 4 x 4 switches",
    "topology = fly; k = 4; n = 3; routing_function = dest_tag;",
    {"kind": "banyan", "variant": "butterfly", "terminals": 64, "base": 4},
)
CASES = (
    Case(*BUTTERFLY, 8, 8, 0.3),
    Case(*mesh(8), 1, 8, 0.05),
    Case(*mesh(8), 1, 8, 0.17),
    Case(*mesh(8), 8, 8, 0.05),
    Case(*mesh(8), 8, 8, 0.23),
    Case(*mesh(8), 16, 32, 0.05),
    Case(*mesh(8), 16, 32, 0.3),
    Case(*mesh(8), 64, 32, 0.05),
    Case(*mesh(8), 64, 32, 0.2),
    Case(*mesh(32), 64, 32, 0.04, cycles=16_000),
    *(Case(*mesh(8), 8, 8, load, lanes) for lanes in (2, 4) for load in (0.05, 0.33)),
    *(Case(*mesh(8), 1, 8, load, 4) for load in (0.05, 0.3)),
    *(Case(*mesh(8), 64, 32, load, 2) for load in (0.05, 0.25)),
)
"""At a load that is light and one near saturation; the largest network takes BookSim minutes."""


def theirs_us(program: str, case: Case) -> float:
    """Microseconds of processor time that a cycle takes there."""
    settings = {"network": case.theirs, "period": case.cycles // 4}
    settings |= {"flits": case.flits, "buffer": case.buffer, "load": case.load}
    settings |= {"lanes": case.lanes, "hold": int(case.lanes == 1)}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "network"
        file.write_text(CONFIGURATION.format(**settings), encoding="utf-8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([program, str(file)], capture_output=True, text=True, check=False)
        used_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    cycles = re.findall(r"Time taken is (\d+) cycles", done.stdout)
    if not cycles:
        sys.exit(f"{program} did not finish:\n{done.stdout[-500:]}{done.stderr}")
    return used_s / int(cycles[-1]) * 1e6


def ours_us(case: Case) -> float:
    """The same here."""
    pipeline = {"router_cycles": 1, "input_cycles": 1, "link_cycles": 2, "turn_around_cycles": 1}
    waits = {"handover_cycles": 2, "next_head_cycles": 1, "input_buffer_flits": case.buffer}
    compiled = compiled_of(
        {
            "name": case.name,
            "seed": 1,
            "topology": case.topology,
            "technology": {"preset": "generic", "lanes": case.lanes, **pipeline, **waits},
            "traffic": {
                "pattern": {"kind": "uniform", "include_self": True},
                "arrivals": "bernoulli",
                "length": f"{8 * case.flits} B",
                "load": case.load,
            },
            "run": {"duration": "100 s", "warmup": "0 ns", "precision": 0},
        }
    )
    engine = simulation(compiled)
    begin, cycle_ps = time.process_time(), 1000
    while engine.progress()[0] * compiled.tick_ps < CYCLES_HERE * cycle_ps:
        engine.advance(10_000)
    return (time.process_time() - begin) / (engine.progress()[0] * compiled.tick_ps / cycle_ps) * 1e6


def main() -> None:
    """Measure all cases in turn."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(joined(["network", "channels", "flits", "load", "there, us a cycle", "here", "times"]))
    for case in CASES:
        pairs = [(theirs_us(sys.argv[1], case), ours_us(case)) for _ in range(RUNS)]
        there, here = (statistics.median(side) for side in zip(*pairs, strict=True))
        times = (f"{there:.1f}", f"{here:.2f}", f"{there / here:.0f}")
        cells = (case.name, case.lanes, case.flits, case.load, *times)
        print(joined(map(str, cells)), flush=True)


if __name__ == "__main__":
    main()
