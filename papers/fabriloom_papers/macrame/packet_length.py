"""Figure 3: saturation throughput per node against packet length, and the statements of the text about it."""

from __future__ import annotations

import math
from typing import Any

from ..lab import Effort, Findings, Lab, Measured, Scenario
from ..published import Number, numbers
from ..rows import predictions, reported, row, series
from . import networks

LENGTHS_BYTES = (4, 8, 16, 32, 48, 64, 96, 128, 200, 256, 512, 1000)
QUICK_LENGTHS_BYTES = (8, 64, 256)
PEAK_LOADS_OF_BOUND = (0.8, 0.85, 0.9, 0.95, 1.0, 1.1, 1.25, 1.5)
"""Nominal loads of the search for the peak, as fractions of the bisection bound of a grid."""
QUICK_PEAK_LOADS_OF_BOUND = (0.95, 1.1)


def topologies(effort: Effort) -> dict[str, dict[str, Any]]:
    """Return label and network of each curve."""
    all_of_them = {f"Clos {nodes}": networks.clos(nodes) for nodes in networks.CLOS_SIZES}
    for side in (2, 4, 8):
        all_of_them[f"grid {16 * side * side}"] = networks.grid(side)
    for side in (4, 8):
        all_of_them[f"torus {16 * side * side}"] = networks.torus(side)
    if effort.quick:
        return {label: all_of_them[label] for label in ("Clos 256", "grid 1024", "torus 1024")}
    return all_of_them


def _lengths(effort: Effort) -> list[int]:
    return effort.choose(LENGTHS_BYTES, QUICK_LENGTHS_BYTES)


def _curve(effort: Effort, topology: dict[str, Any]) -> list[Scenario]:
    return [networks.saturated(effort, topology, length_bytes=length) for length in _lengths(effort)]


def _peak_runs(effort: Effort, topology: dict[str, Any]) -> list[Scenario]:
    """Return loads around the grid's bisection bound, 1 / side of a link per node, and saturation last."""
    bound = 1 / topology["shape"][0]
    parts = effort.choose(PEAK_LOADS_OF_BOUND, QUICK_PEAK_LOADS_OF_BOUND)
    return [
        *(networks.saturated(effort, topology, load=min(1.0, part * bound)) for part in parts),
        networks.saturated(effort, topology),
    ]


def _sides(effort: Effort) -> list[int]:
    return effort.choose((8, 4), (8,))


def scenarios(effort: Effort) -> list[Scenario]:
    """Return the runs of the curves and of the searches for the peaks."""
    curves = [run for topology in topologies(effort).values() for run in _curve(effort, topology)]
    families = (networks.grid, networks.torus)
    return curves + [
        run for side in _sides(effort) for family in families for run in _peak_runs(effort, family(side))
    ]


def findings(lab: Lab) -> Findings:
    """Compare grid, torus and packet length; plot one series per network."""
    printed = numbers("macrame")
    found = Findings()
    for label, topology in topologies(lab.effort).items():
        found.series.append(_series(lab, label, topology))
    grid_8 = lab.measure(_peak_runs(lab.effort, networks.grid(8)))
    found.rows += _grid_rows(printed["grid-1024-random"], grid_8)
    for side in _sides(lab.effort):
        found.rows += _torus_rows(lab, printed["torus-over-grid"], side)
    if not lab.effort.quick:
        found.rows += _length_rows(printed, {entry["label"]: entry for entry in found.series})
    return found


def _series(lab: Lab, label: str, topology: dict[str, Any]) -> dict[str, Any]:
    nodes = networks.nodes(topology)
    measured = lab.measure(_curve(lab.effort, topology))
    published = (
        [(64, 0.10 * networks.link_mbytes_per_s(), "grid-1024-random")] if label == "grid 1024" else []
    )
    if label == "Clos 256":
        published = [(64, 1350 / 256, "clos-256-saturation")]
    return series(
        "3",
        "Per-node throughput at saturation, random traffic",
        label,
        x=_lengths(lab.effort),
        y=[one.accepted_mbytes_per_s / nodes for one in measured],
        ci95=[one.accepted_mbytes_per_s_ci95 / nodes for one in measured],
        x_quantity="packet length (B)",
        y_quantity="throughput per node (MB/s)",
        published=published,
        log="x",
    )


def _peak(runs: list[Measured]) -> Measured:
    return max(runs, key=lambda one: one.accepted_mbytes_per_s)


def _grid_rows(printed: Number, runs: list[Measured]) -> list[dict[str, Any]]:
    """Compare saturation and peak, as fractions of the link capacity for these packets: the paper's load."""
    backlog, peak = runs[-1], _peak(runs)
    share = 100 / (1024 * networks.node_mbytes_per_s(1024))
    of_limit = 100 / (1024 * networks.link_mbytes_per_s())
    scored: dict[str, Any] = {"kind": "predicted", "tolerance": (9.0, 11.0)}
    note = "the same throughput, of the 9.524 MB/s of endless packets"
    values = [
        (backlog, share, "infinite backlog", scored),
        (peak, share, "peak over load", scored),
        (backlog, of_limit, "infinite backlog, of 9.524 MB/s", {"kind": "reported", "note": note}),
    ]
    return [
        row(printed, **run.accepted(scale), variant=variant, **how) for run, scale, variant, how in values
    ]


def gain(above: Measured, below: Measured) -> tuple[float, float]:
    """Return by how many per cent the throughput of one run exceeds that of another, with the half-width."""
    ratio = above.accepted_mbytes_per_s / below.accepted_mbytes_per_s
    error = math.hypot(
        above.accepted_mbytes_per_s_ci95 / above.accepted_mbytes_per_s,
        below.accepted_mbytes_per_s_ci95 / below.accepted_mbytes_per_s,
    )
    return 100 * (ratio - 1), 100 * ratio * error


def _torus_rows(lab: Lab, printed: Number, side: int) -> list[dict[str, Any]]:
    grid = lab.measure(_peak_runs(lab.effort, networks.grid(side)))
    torus = lab.measure(_peak_runs(lab.effort, networks.torus(side)))
    at_peak, at_peak_ci = gain(_peak(torus), _peak(grid))
    backlog, backlog_ci = gain(torus[-1], grid[-1])
    nodes = 16 * side * side
    first: dict[str, Any] = {"kind": "predicted", "tolerance": (15.0, 25.0)}
    other = "the paper compares one pair of curves and does not say of which size; the largest is scored"
    return [
        row(printed, at_peak, ci95=at_peak_ci, variant=f"{nodes} nodes at the peak", **first)
        if side == 8
        else reported(printed, at_peak, other, ci95=at_peak_ci, variant=f"{nodes} nodes at the peak"),
        reported(
            printed,
            backlog,
            "past the peak both fall, the torus more",
            ci95=backlog_ci,
            variant=f"{nodes} nodes with infinite backlog",
        ),
    ]


def _length_rows(printed: dict[str, Number], curves: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Compare where the 256-node Clos reaches 90 % of its best, peaks, and falls below 90 % again.

    The text gives no threshold, only words; a factor of two either way agrees, a little more at the long end.
    """
    curve = dict(zip(curves["Clos 256"]["x"], curves["Clos 256"]["y"], strict=True))
    best = max(curve, key=lambda length: curve[length])
    good = [length for length in curve if curve[length] >= 0.9 * curve[best]]
    longer = [length for length in curve if length > max(good)]
    values = {
        "length-short": (min(good), (8.0, 32.0)),
        "length-best": (best, (32.0, 128.0)),
        "length-long": (min(longer, default=None), (100.0, 500.0)),
    }
    return predictions(printed, values)
