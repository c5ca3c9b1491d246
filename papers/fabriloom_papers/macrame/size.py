"""Figure 4: throughput against size, Clos and grid, random traffic and fixed pairs, 64-byte packets."""

from __future__ import annotations

from typing import Any

from ..lab import Effort, Findings, Lab, Scenario
from ..published import Number, numbers
from ..rows import predicted, reported, series
from . import networks
from .packet_length import gain


def neighbour_pairs(side: int, nodes_per_switch: int) -> list[int | None]:
    """Return the partner of every node if nodes send only to nodes of neighbouring switches.

    Every edge of a ``side`` x ``side`` grid first gets one pair for each of its links. The nodes that
    switches at the border have left are then paired one by one, on the edge whose ends have most nodes left.
    Partners send to each other. None: the node has no partner and is silent.
    """
    edges = [
        (y * side + x, (y + dy) * side + x + dx)
        for y in range(side)
        for x in range(side)
        for dy, dx in ((0, 1), (1, 0))
        if y + dy < side and x + dx < side
    ]
    left = [nodes_per_switch] * (side * side)
    dealt = dict.fromkeys(edges, 0)
    partner: list[int | None] = [None] * (side * side * nodes_per_switch)
    while True:
        open_edges = [edge for edge in edges if left[edge[0]] and left[edge[1]]]
        if not open_edges:
            return partner
        edge = min(open_edges, key=lambda e: (dealt[e] >= 4, -left[e[0]] - left[e[1]], dealt[e], e))
        first, second = (s * nodes_per_switch + nodes_per_switch - left[s] for s in edge)
        partner[first], partner[second] = second, first
        dealt[edge] += 1
        for switch in edge:
            left[switch] -= 1


def as_pattern(partner: list[int | None]) -> tuple[Any, list[int]]:
    """Return the pairs as a traffic pattern, and the list of nodes that send."""
    senders = [node for node, other in enumerate(partner) if other is not None]
    return {
        "kind": "permutation",
        "map": [node if p is None else p for node, p in enumerate(partner)],
    }, senders


GRID_SIDES = (2, 4, 6, 8)
MODULE_PAIRS: tuple[Any, ...] = ({"kind": "shift", "by": 128}, "point-mirror", "bit-complement")
"""Pairs in the 256-node Clos for which all nodes of one module have their partners on one other module."""
SCATTERED_PAIRS: tuple[Any, ...] = ("transpose", "bit-reverse")
"""Pairs that spread the partners of a module's nodes over all modules."""


def _best_pairs(effort: Effort, side: int) -> Scenario:
    """Return a grid whose nodes send only to nodes of neighbouring switches."""
    pattern, senders = as_pattern(neighbour_pairs(side, networks.NODES_PER_SWITCH))
    scenario = networks.saturated(effort, networks.grid(side), pattern=pattern)
    if len(senders) < networks.nodes(networks.grid(side)):
        scenario["traffic"]["senders"] = senders
    scenario["name"] += ", neighbour pairs"
    return scenario


def _mirror(effort: Effort, side: int) -> Scenario:
    return networks.saturated(effort, networks.grid(side), pattern="point-mirror")


def _axis_mirror(effort: Effort, side: int) -> Scenario:
    return networks.saturated(effort, networks.grid(side), pattern={"kind": "axis-mirror", "axis": 0})


def _clos_pairs(effort: Effort, patterns: tuple[Any, ...]) -> list[Scenario]:
    return [networks.saturated(effort, networks.clos(256), pattern=pattern) for pattern in patterns]


def _curves(effort: Effort) -> dict[str, tuple[list[int], list[Scenario]]]:
    """Return, per label, the sizes in nodes and the runs."""
    sizes, sides = networks.clos_sizes(effort), effort.choose(GRID_SIDES, (4, 8))
    grids = [16 * side * side for side in sides]
    clos_pairs = [
        networks.saturated(effort, networks.clos(n), pattern={"kind": "shift", "by": n // 2}) for n in sizes
    ]
    return {
        "Clos, random": (sizes, [networks.saturated(effort, networks.clos(n)) for n in sizes]),
        "Clos, pairs": (sizes, clos_pairs),
        "grid, random": (grids, [networks.saturated(effort, networks.grid(side)) for side in sides]),
        "grid, neighbour pairs": (grids, [_best_pairs(effort, side) for side in sides]),
        "grid, point mirror": (grids, [_mirror(effort, side) for side in sides]),
    }


def scenarios(effort: Effort) -> list[Scenario]:
    """Return the runs of every size with every traffic, and of the choices of pairs."""
    runs = [run for _, curve in _curves(effort).values() for run in curve]
    pairs = _clos_pairs(effort, MODULE_PAIRS + SCATTERED_PAIRS)
    return [*runs, *pairs, _axis_mirror(effort, 4)]


def findings(lab: Lab) -> Findings:
    """Compare scaling and systematic traffic; plot one series per network and traffic."""
    printed = numbers("macrame")
    found = Findings()
    for label, (sizes, runs) in _curves(lab.effort).items():
        found.series.append(_series(lab, label, sizes, runs))
    found.rows += _scaling_rows(lab, printed) + _grid_rows(lab, printed)
    found.rows += _spread_rows(lab, printed["clos-systematic-spread"])
    return found


def _series(lab: Lab, label: str, sizes: list[int], runs: list[Scenario]) -> dict[str, Any]:
    published = {
        "Clos, random": [(256, 1350, "clos-256-saturation")],
        "grid, neighbour pairs": [(256, 1800, "grid-256-systematic-best")],
        "grid, point mirror": [(256, 200, "grid-256-systematic-worst")],
        "grid, random": [(1024, 0.10 * 1024 * networks.link_mbytes_per_s(), "grid-1024-random")],
    }
    measured = lab.measure(runs)
    return series(
        "4",
        "Network throughput at saturation against size, 64-byte packets",
        label,
        x=sizes,
        y=[one.accepted_mbytes_per_s for one in measured],
        ci95=[one.accepted_mbytes_per_s_ci95 for one in measured],
        x_quantity="nodes",
        y_quantity="throughput of the network (MB/s)",
        published=published.get(label, []),
        log="xy",
    )


def _scaling_rows(lab: Lab, printed: dict[str, Number]) -> list[dict[str, Any]]:
    small, large = lab.measure([networks.saturated(lab.effort, networks.clos(n)) for n in (64, 512)])
    total, total_ci = gain(large, small)
    loss, ci95 = (1 + total / 100) / 8 * 100 - 100, total_ci / 8
    note = "the cited analytical models are not ours; the simulated value is set beside them"
    return [
        predicted(printed["clos-scaling"], loss, (-24.0, -16.0), ci95=ci95),
        reported(printed["clos-scaling-analytic"], loss, note, ci95=ci95),
    ]


def _grid_rows(lab: Lab, printed: dict[str, Number]) -> list[dict[str, Any]]:
    best, worst, axis = lab.measure(
        [_best_pairs(lab.effort, 4), _mirror(lab.effort, 4), _axis_mirror(lab.effort, 4)]
    )
    mirror = printed["grid-256-systematic-worst"]
    note = "the paper does not say which mirror image; the point mirror is the worse one and is scored"
    return [
        predicted(
            printed["grid-256-systematic-best"],
            best.accepted_mbytes_per_s / 1000,
            (1.8 * 0.97, 1.8 * 1.03),
            ci95=best.accepted_mbytes_per_s_ci95 / 1000,
        ),
        predicted(mirror, tolerance=(200 * 0.85, 200 * 1.15), variant="point mirror", **worst.accepted()),
        reported(mirror, note=note, variant="axis mirror", **axis.accepted()),
    ]


def _spread_rows(lab: Lab, printed: Number) -> list[dict[str, Any]]:
    """Compare the range of the throughput over choices of pairs, in per cent of the highest."""
    module = [one.accepted_mbytes_per_s for one in lab.measure(_clos_pairs(lab.effort, MODULE_PAIRS))]
    scattered = [one.accepted_mbytes_per_s for one in lab.measure(_clos_pairs(lab.effort, SCATTERED_PAIRS))]
    note = "the first stage chooses a free link without knowing whether the second is free; see the page"
    return [
        predicted(
            printed,
            100 * (max(module) - min(module)) / max(module),
            (0.0, 1.0),
            variant="pairs of whole modules",
        ),
        reported(
            printed, 100 * (max(module) - min(scattered)) / max(module), note, variant="scattered pairs too"
        ),
    ]
