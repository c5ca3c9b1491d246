"""Figure 7: grouped adaptive against deterministic routing on the 256-node Clos."""

from __future__ import annotations

from ..lab import Effort, Findings, Lab, Scenario
from ..published import numbers
from ..rows import predicted
from .latency import curve, curve_series
from .packet_length import gain


def scenarios(effort: Effort) -> list[Scenario]:
    """Return the runs of both curves; the adaptive one is that of figure 5."""
    return curve(effort, 256) + curve(effort, 256, adaptive=False)


def findings(lab: Lab) -> Findings:
    """Compare the gain at saturation; plot two series."""
    found = Findings()
    title = "Adaptive and deterministic routing, Clos 256, 64-byte packets"
    runs = {"adaptive": curve(lab.effort, 256), "deterministic": curve(lab.effort, 256, adaptive=False)}
    for label, scenarios_of in runs.items():
        found.series.append(curve_series(lab, "7", title, label, scenarios_of))
    adaptive, deterministic = (lab.measure(one)[-1] for one in runs.values())
    percent, ci95 = gain(adaptive, deterministic)
    printed = numbers("macrame")["adaptive-gain"]
    found.rows.append(predicted(printed, percent, (13.0, 25.0), ci95=ci95))
    return found
