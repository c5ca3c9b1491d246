"""Section 2: four Alpha boards on a ring of LC-1 controllers, with a message-passing library."""

from __future__ import annotations

from typing import Any

from ..lab import Effort, Findings, Lab, Scenario, between_us, lasted_us
from ..published import Number, numbers
from ..rows import Limits, calibrated, near, predictions, series
from . import hosts

RATE = "byte_time of the preset pio-alpha"
LATENCY = "host_latency of the preset sci-lc1-alpha"
SIZES = tuple(2**power for power in range(4, 17))
QUICK_SIZES = (64, 1024, 65536)
SMALL, KNEE, LARGE = 64, 1024, 65536
PAIRS = [["t0", "t1"], ["t2", "t3"]]
TECHNOLOGY = {"preset": "sci-lc1-alpha"}
ORDERS = 8
"""All to all: the paper does not give the order in which a node sends to the others. Each node has a random
order of its own; the result is the average over this many draws."""
Benchmark = tuple[str, dict[str, Any], int, int]
"""Name, program, nodes of the ring, and messages that cross the system in a round."""


def benchmarks() -> list[Benchmark]:
    """Return the benchmarks of figure 2."""
    found: list[Benchmark] = [
        (f"Ping-Pong, {pairs}", {"kind": "ping-pong", "pairs": PAIRS[:pairs]}, 4, 2 * pairs)
        for pairs in (1, 2)
    ]
    for count in (1, 2, 3):
        others = [f"t{number}" for number in range(1, count + 1)]
        out = {"kind": "out-farming", "source": "t0", "targets": others}
        found.append((f"Broadcast, {count} receivers", out, 4, count))
        into = {"kind": "funnel-in", "target": "t0", "sources": others}
        found.append((f"Funnel-in, {count} senders", into, 4, count))
    for count in (2, 3, 4):
        program = {"kind": "all-to-all", "terminals": count}
        found.append((f"All-to-All, {count} nodes", program, 4, count * (count - 1)))
    return found


def seeds(benchmark: Benchmark) -> range:
    """Return the seeds of a benchmark's runs."""
    return range(1, 1 + (ORDERS if benchmark[1]["kind"] == "all-to-all" else 1))


def scenario(benchmark: Benchmark, size_bytes: int, layer: bool = True, seed: int = 1) -> Scenario:
    """Return a benchmark with messages of one size, with the library or without it."""
    name, program, nodes, _ = benchmark
    protocol = {"preset": "pio-alpha"} | ({"layer": "control-word"} if layer else {})
    return {
        "name": f"{name}, {size_bytes} B" + ("" if layer else ", raw"),
        "seed": seed,
        "topology": {"kind": "sci-ring", "terminals": nodes},
        "technology": TECHNOLOGY,
        "protocol": protocol,
        "program": program | {"size": f"{size_bytes} B", "rounds": rounds(size_bytes)},
        "run": {"duration": "10 s", "warmup": "0 ns", "precision": 0.0},
        "output": {"links": False, "flows": False},
    }


def rounds(size_bytes: int) -> int:
    """Return how many rounds to run, so that all sizes take about the same time."""
    return max(4, 40 * KNEE // max(KNEE, size_bytes))


def sizes(effort: Effort) -> list[int]:
    """Return the message sizes of figure 2, or of a quick look at it."""
    return effort.choose(SIZES, QUICK_SIZES)


def findings(lab: Lab) -> Findings:
    """Compare the statements about figure 2, and plot its curves."""
    printed = numbers("atlas-sci")
    every = [(one, size, seed) for one in benchmarks() for size in sizes(lab.effort) for seed in seeds(one)]
    took = lab.each(lasted_us, [scenario(one, size, seed=seed) for one, size, seed in every])
    rates: dict[str, dict[int, float]] = {}
    for (one, size, _), us in zip(every, took, strict=True):
        rate = one[3] * rounds(size) * size / us * 1e6 / hosts.MB
        of_size = rates.setdefault(one[0], {})
        of_size[size] = of_size.get(size, 0.0) + rate / len(seeds(one))
    return Findings(rows=[*_raw(lab, printed), *_shapes(printed, rates)], series=_curves(rates))


def _raw(lab: Lab, printed: dict[str, Number]) -> list[dict[str, Any]]:
    """Compare two nodes without the library, on which the hosts were calibrated."""
    stream = hosts.scenario(
        "raw stream of 64 KB",
        hosts.streamed([f"send t1 {LARGE} B"], 2, 6),
        protocol={"preset": "pio-alpha"},
        technology=TECHNOLOGY,
        topology={"kind": "sci-ring", "terminals": 4},
    )
    one = benchmarks()[0]
    us, both_us = lab.each(between_us, [stream, scenario(one, SMALL, layer=False)])
    rate, latency = printed["raw-throughput"], printed["raw-latency"]
    ours = 6 * LARGE / us * 1e6 / hosts.MB
    half_us = both_us / rounds(SMALL) / 2
    return [
        calibrated(rate, ours, near(rate, 0.03), RATE),
        calibrated(latency, half_us, near(latency, 0.05), LATENCY),
    ]


def _shapes(printed: dict[str, Number], rates: dict[str, dict[int, float]]) -> list[dict[str, Any]]:
    two, one = rates["Ping-Pong, 2"][LARGE], rates["Ping-Pong, 1"][LARGE]
    small = rates["All-to-All, 3 nodes"][SMALL] / rates["All-to-All, 2 nodes"][SMALL]
    senders = [rates[f"Funnel-in, {count} senders"][LARGE] for count in (1, 2, 3)]
    worse = next((count for count in (2, 3) if senders[count - 1] < senders[count - 2]), 0)
    three = rates["All-to-All, 3 nodes"]
    knee = max(three, key=lambda size: three[size]) / 1024
    values: dict[str, tuple[float, Limits]] = {
        "ping-pong-pairs-gain": (two / one, (1.9, 2.1)),
        "all-to-all-gain": (small, (2.5, 3.0)),
        "funnel-in-worse": (float(worse), (3, 3)),
        "all-to-all-knee": (knee, (0.5, 2.0)),
    }
    return predictions(printed, values)


def _curves(rates: dict[str, dict[int, float]]) -> list[dict[str, Any]]:
    return [
        series(
            "2",
            "Communication benchmark results",
            name,
            x=list(curve),
            y=list(curve.values()),
            x_quantity="message (B)",
            y_quantity="system throughput (MB/s)",
            log="x",
        )
        for name, curve in rates.items()
    ]
