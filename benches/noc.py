"""A network on chip beside BookSim 2: the cost of a simulated cycle. Nothing is written or asserted.

``python benches/noc.py PROGRAM``, the ``booksim`` that you built. An 8 x 8 mesh with one virtual channel, as
in ``docs/guides/compare-noc.md``; both run in turn, and medians of three runs are given.
"""

from __future__ import annotations

import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import compiled_of, joined, simulation

RUNS = 3
CYCLES = 40_000
CASES = ((8, 8, 0.2), (64, 32, 0.2))
"""Flits of a packet, flits of a buffer, flits per node and cycle; 64 flits at nine tenths of saturation."""
CONFIGURATION = """topology = mesh; k = 8; n = 2; routing_function = dim_order;
num_vcs = 1; vc_buf_size = {buffer}; wait_for_tail_credit = 0; hold_switch_for_packet = 1;
vc_allocator = separable_input_first; sw_allocator = separable_input_first; alloc_iters = 1;
routing_delay = 0; vc_alloc_delay = 1; sw_alloc_delay = 1; st_final_delay = 1; credit_delay = 1;
input_speedup = 1; output_speedup = 1; internal_speedup = 1.0; speculative = 0;
traffic = uniform; packet_size = {flits}; injection_rate_uses_flits = 1; injection_rate = {load};
sim_type = latency; warmup_periods = 3; sample_period = 10000; max_samples = 4;
"""


def theirs_us(program: str, flits: int, buffer: int, load: float) -> float:
    """Microseconds of processor time that a cycle takes there."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mesh"
        file.write_text(CONFIGURATION.format(flits=flits, buffer=buffer, load=load), encoding="utf-8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([program, str(file)], capture_output=True, text=True, check=False)
        used_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    cycles = re.findall(r"Time taken is (\d+) cycles", done.stdout)
    if not cycles:
        sys.exit(f"{program} did not finish:\n{done.stdout[-500:]}{done.stderr}")
    return used_s / int(cycles[-1]) * 1e6


def ours_us(flits: int, buffer: int, load: float) -> float:
    """The same here."""
    pipeline = {"router_cycles": 2, "link_cycles": 2, "turn_around_cycles": 2}
    waits = {"handover_cycles": 2, "next_head_cycles": 0, "input_buffer_flits": buffer}
    compiled = compiled_of(
        {
            "name": "mesh",
            "seed": 1,
            "topology": {"kind": "grid", "shape": [8, 8], "terminals_per_switch": 1},
            "technology": {"preset": "generic", **pipeline, **waits},
            "traffic": {
                "pattern": {"kind": "uniform", "include_self": True},
                "arrivals": "bernoulli",
                "length": f"{8 * flits} B",
                "load": load,
            },
            "run": {"duration": "100 s", "warmup": "0 ns", "precision": 0},
        }
    )
    engine = simulation(compiled)
    begin, cycle_ps = time.process_time(), 1000
    while engine.progress()[0] * compiled.tick_ps < CYCLES * cycle_ps:
        engine.advance(10_000)
    return (time.process_time() - begin) / (engine.progress()[0] * compiled.tick_ps / cycle_ps) * 1e6


def main() -> None:
    """Measure all cases in turn."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(joined(["flits", "buffer", "load", "there, us a cycle", "here", "times"]))
    for case in CASES:
        pairs = [(theirs_us(sys.argv[1], *case), ours_us(*case)) for _ in range(RUNS)]
        there, here = (statistics.median(side) for side in zip(*pairs, strict=True))
        print(joined([*map(str, case), f"{there:.1f}", f"{here:.2f}", f"{there / here:.0f}"]), flush=True)


if __name__ == "__main__":
    main()
