"""What the theory tests share: running a scenario given as a dictionary, and judging a mean by batches."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from fabriloom.results import Results
from fabriloom.scenario import Scenario
from fabriloom.simulate import run
from fabriloom.technology import Technology, technology

FLITS = 32
"""Of a packet in :func:`one_link`, a cycle of 1 ns each."""
PRESETS = ("ds-link-c104", "ds-link-c104-32-32", "ds-link-c104-70", "spacewire-200", "generic")


def simulate(scenario: dict[str, Any]) -> Results:
    """Run a scenario in its written form."""
    return run(Scenario.from_dict(scenario))


def flit_technology(**overrides: Any) -> dict[str, Any]:
    """One flit a cycle of 1 ns and a router that takes no time, with buffers for many packets."""
    free = {"preset": "generic", "router_cycles": 0, "input_buffer_flits": 256}
    return free | overrides


def one_link(seed: int, load: float, packets: float, precision: float, **run: Any) -> Results:
    """One sender and one receiver; packets are made at random and wait for the sender's link."""
    return simulate(
        {
            "name": "one link",
            "seed": seed,
            "topology": {"kind": "crossbar", "terminals": 2},
            "technology": flit_technology(),
            "traffic": {
                "pattern": {"kind": "shift", "by": 1},
                "length": f"{8 * FLITS} B",
                "arrivals": "poisson",
                "load": load,
                "senders": [0],
            },
            "run": {"duration": f"{packets * FLITS / load:.0f} ns", "precision": precision, **run},
        }
    )


def preset(name: str) -> Technology:
    """A preset without overrides."""
    return technology(name)


def deliveries(results: Results) -> dict[str, np.ndarray]:
    """The trace in picoseconds: source, target, created, started, delivered, in the order of delivery."""
    native, tick_ps = results.native, results.tick_ps
    columns = {name: np.asarray(native[f"trace_{name}"]) for name in ("source", "target", "length")}
    for name in ("created", "started", "delivered"):
        columns[name] = np.asarray(native[f"trace_{name}_ticks"], np.int64) * tick_ps
    return columns


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """Mean of independent values and its standard error."""
    return float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values))


def matrix_file(folder: Path, senders: int, receivers: int) -> str:
    """A traffic matrix: each of the first terminals sends to each of the others equally often."""
    size = senders + receivers
    rows = [["0"] * size for _ in range(size)]
    for sender in range(senders):
        rows[sender][senders:] = ["1"] * receivers
    path = folder / f"matrix-{senders}-{receivers}.csv"
    path.write_text("\n".join(",".join(row) for row in rows) + "\n", encoding="utf-8")
    return str(path)
