"""Figure 5: latency against throughput of Clos networks, and their saturation."""

from __future__ import annotations

from typing import Any

import numpy as np
from fabriloom import _native
from fabriloom.compile import compile as compile_scenario
from fabriloom.results.statistics import mean_of_runs
from fabriloom.scenario import Scenario as Checked

from ..lab import Effort, Findings, Lab, Scenario
from ..published import Number, numbers
from ..rows import calibrated, series
from . import networks

LOADS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
QUICK_LOADS = (0.1, 0.3, 0.5, 0.7)
SATURATION_GBYTES_PER_S = (1.35 * 0.97, 1.35 * 1.03)
CROSSBAR = "technology.crossbar: faster than the link, yes or no"


def curve(effort: Effort, nodes: int, adaptive: bool = True) -> list[Scenario]:
    """Return the runs of a Clos from light load to saturation, without waits. Loads are nominal."""
    loads = [*effort.choose(LOADS, QUICK_LOADS), None]
    return [networks.saturated(effort, networks.clos(nodes), load=load, adaptive=adaptive) for load in loads]


def curve_series(
    lab: Lab, figure: str, title: str, label: str, runs: list[Scenario], **extra: Any
) -> dict[str, Any]:
    """Return mean latency against accepted throughput."""
    measured = lab.measure(runs)
    return series(
        figure,
        title,
        label,
        x=[one.accepted_mbytes_per_s for one in measured],
        y=[one.latency_ns / 1000 for one in measured],
        ci95=[one.latency_ns_ci95 / 1000 for one in measured],
        x_quantity="throughput of the network (MB/s)",
        y_quantity="mean network latency (us)",
        log="y",
        **extra,
    )


def scenarios(effort: Effort) -> list[Scenario]:
    """Return the runs of one curve per size."""
    return [run for nodes in networks.clos_sizes(effort) for run in curve(effort, nodes)]


def findings(lab: Lab) -> Findings:
    """Compare the saturation of the 256-node Clos, as throughput and as load; plot one series per size."""
    printed = numbers("macrame")
    found = Findings()
    capacity = 256 * networks.node_mbytes_per_s(256)
    points = [
        (0.1 * capacity, 11, "latency-10"),
        (0.5 * capacity, 21, "latency-50"),
    ]
    for nodes in networks.clos_sizes(lab.effort):
        found.series.append(
            curve_series(
                lab,
                "5",
                "Latency against throughput, Clos networks, 64-byte packets",
                f"Clos {nodes}",
                curve(lab.effort, nodes),
                published=points if nodes == 256 else [],
            )
        )
    saturation = lab.measure(curve(lab.effort, 256))[-1]
    scale = {"GB/s": 1000.0, "%": capacity / 100}
    for key, limits in {
        "clos-256-saturation": SATURATION_GBYTES_PER_S,
        "clos-256-saturation-load": (55.3, 58.7),
    }.items():
        unit = scale[printed[key]["unit"]]
        found.rows.append(
            calibrated(
                printed[key],
                saturation.accepted_mbytes_per_s / unit,
                limits,
                CROSSBAR,
                ci95=saturation.accepted_mbytes_per_s_ci95 / unit,
                variant="of the simulated throughput" if unit != 1000.0 else "",
            )
        )
    if not lab.effort.quick:
        found.rows.append(_exact_row(lab, printed["clos-256-saturation"]))
    return found


def _exact_row(lab: Lab, printed: Number) -> dict[str, Any]:
    """Compare the saturation of the slow twin, which sends every flow-control character."""
    runs = [
        networks.scenario(networks.clos(256), warmup_ms=0, measure_ms=1, seed=seed) for seed in (1, 2, 3, 4)
    ]
    accepted = lab.each(lambda run: accepted_mbytes_per_s(run, 0.3, 0.6), runs)
    mean, ci95 = mean_of_runs([value / 1000 for value in accepted])
    return calibrated(
        printed,
        mean,
        SATURATION_GBYTES_PER_S,
        CROSSBAR,
        ci95=ci95,
        variant="flow-control characters one by one",
    )


# Runs of the slow twin that send every flow-control character; the fast engine uses their average load.
PS_PER_MS = 10**9


def accepted_mbytes_per_s(scenario: Scenario, warmup_ms: float, measure_ms: float) -> float:
    """Return the throughput of all terminals in MB/s; a saturated Clos of 256 takes 30 s per ms."""
    # The flow-control share is not added to the characters, because flow-control characters are sent.
    technology = scenario["technology"] | {"flow_control": "ignored"}
    arrays = compile_scenario(Checked.from_dict(scenario | {"technology": technology})).arrays
    per_ms = PS_PER_MS / arrays["tick_ps"]
    run = _native.run_twin(arrays, True, int((warmup_ms + measure_ms) * per_ms))
    counted = np.asarray(run["trace_delivered_ticks"]) > warmup_ms * per_ms
    return float(np.asarray(run["trace_length"])[counted].sum()) / (measure_ms * 1000)
