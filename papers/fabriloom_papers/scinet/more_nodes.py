"""Figure 6.17 (b): long rings with several pairs of processor and memory on each."""

from __future__ import annotations

from ..lab import Effort, Findings, Lab, Scenario
from ..published import numbers
from ..rows import predicted, series
from . import networks

PAIRS = (1, 2, 3, 4)
FULL = 500


def _runs(effort: Effort) -> list[Scenario]:
    topologies = [networks.LONG_4 | {"pairs_per_ring": pairs} for pairs in PAIRS]
    return [networks.sweep_point(effort, topology, FULL, arrivals="constant") for topology in topologies]


def scenarios(effort: Effort) -> list[Scenario]:
    """Return the runs of a 4-port switch with one to four pairs on each of its rings, at full load."""
    return _runs(effort)


def findings(lab: Lab) -> Findings:
    """Plot the throughput of each processor."""
    printed = numbers("scinet")
    measured = lab.measure(_runs(lab.effort))
    each = [one.accepted_mbytes_per_s / (4 * pairs) for one, pairs in zip(measured, PAIRS, strict=True)]
    rows = [predicted(printed["rate-halved"], 100 * each[1] / each[0], (45.0, 55.0))]
    curves = [
        series(
            "6.17",
            "4-port switch with long rings, every processor at 500 MB/s gross",
            label,
            x=PAIRS,
            y=values,
            x_quantity="pairs on each ring",
            y_quantity="output (MB/s)",
        )
        for label, values in {
            "of the switch": [one.accepted_mbytes_per_s for one in measured],
            "per processor": each,
        }.items()
    ]
    return Findings(rows=rows, series=curves)
