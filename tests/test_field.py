"""What people of the field bring: files and questions that once failed, with the right answer.

Others stand beside what they are about: graph files in `topology`, verdicts on deadlock in `routing`,
parts that stop and wrong bits in `faults`, flows that start and stop in `traffic`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fabriloom import Scenario, run
from fabriloom.compile import compile
from fabriloom.simulate import compare


def test_ports_are_as_many_as_a_switch_of_infiniband_has(tmp_path: Path) -> None:
    rows = ["terminal,a,s,,1", "terminal,b,r,,40", "cable,s,r,36,36", "cable,s,r,37,37"]
    (tmp_path / "ib.csv").write_text("\n".join(["kind,source,target,source_port,target_port", *rows]))
    scenario = {"topology": {"kind": "file", "path": "ib.csv"}, "technology": {"preset": "infiniband-4x-edr"}}
    graph = compile(Scenario.from_dict(scenario, tmp_path)).graph
    assert (graph.terminals, graph.switches, len(graph.switch_links)) == (2, 2, 4)


@pytest.mark.parametrize("ns_per_byte", [5, 6])
def test_a_reduction_takes_what_loggp_says(ns_per_byte: int, tmp_path: Path) -> None:
    """Ranks 2^k below the root's distance receive from 4, 2 and 1 further ones, one after the other."""
    overhead, latency, size = 1500, 2 * 208 * ns_per_byte, 1024
    lines = ["num_ranks 8"]
    for rank in range(8):
        below = [step for step in (4, 2, 1) if rank < step]
        todo = [f"recv {size}b from {rank + step}" for step in below]
        todo += [f"send {size}b to {rank - max(s for s in (1, 2, 4) if s <= rank)}"] if rank else []
        needs = [f"l{row} requires l{row - 1}" for row in range(1, len(todo))]
        lines += [f"rank {rank} {{", *(f"l{row}: {one}" for row, one in enumerate(todo)), *needs, "}"]
    (tmp_path / "reduce.goal").write_text("\n".join(lines))
    scenario = {
        "topology": {"kind": "crossbar", "terminals": 8},
        "technology": {
            "preset": "generic",
            "cycle": f"{ns_per_byte} ns",
            "flit": "1 B",
            "router_cycles": 0,
            "link_cycles": 208,
            "input_buffer_flits": 4096,
            "output_buffer_flits": 4096,
        },
        "protocol": {"preset": "raw", "packet": "65535 B", "send_time": "1500 ns", "receive_time": "1500 ns"},
        "program": {"kind": "goal", "path": "reduce.goal"},
    }
    done = run(Scenario.from_dict(scenario, tmp_path))
    # Every round adds: send, way, all bytes but the first, receive.
    a_round = 2 * overhead + latency + (size - 1) * ns_per_byte
    rounds = [3, 2, 1, 1]
    expected = [count * a_round + (overhead if rank else 0) for rank, count in enumerate(rounds)]
    assert done.hosts["ended_ns"].to_list() == [*expected, *[overhead] * 4]


def test_thousands_of_hosts_at_one_switch_are_small() -> None:
    """Queues per output are made when they are first used, not for every pair of ports."""
    scenario = {
        "topology": {"kind": "crossbar", "terminals": 8000},
        "technology": {"preset": "infiniband-4x-edr"},
        "traffic": {"length": "2 kB", "load": 0.1},
        "run": {"duration": "2 us", "warmup": "0 ns"},
    }
    script = (
        "import pathlib, fabriloom\n"
        f"done = fabriloom.run({scenario!r})\n"
        "assert done.summary['packets']['delivered'] > 100\n"
        # The most that getrusage tells is, behind a fork, that of the process that runs the tests.
        "print(pathlib.Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 600_000, "kB"


@pytest.mark.parametrize("handover_cycles", [1, 2, 4])
@pytest.mark.parametrize("input_queues", ["fifo", "per-output"])
def test_one_lane_of_whole_packets_is_as_the_twin_has_it(handover_cycles: int, input_queues: str) -> None:
    """A holder whose packet has left is no obstacle: a grid without cycles does not deadlock."""
    technology: dict[str, Any] = {
        "preset": "generic",
        "switching": "virtual-cut-through",
        "input_queues": input_queues,
        "lane_sharing": "packet",
        "input_buffer_flits": 27,
        "output_buffer_flits": 2,
        "router_cycles": 0,
        "link_cycles": 7,
        "turn_around_cycles": 4,
        "handover_cycles": handover_cycles,
        "next_head_cycles": 1,
    }
    scenario = {
        "topology": {"kind": "grid", "shape": [3, 3], "links_per_edge": 2},
        "technology": technology,
        "traffic": {"length": "64 B", "arrivals": "backlog"},
        "run": {"duration": "10 us", "warmup": "0 ns", "precision": 0},
    }
    compared = compare(Scenario.from_dict(scenario))
    assert compared.identical
    assert compared.packets > 5000
