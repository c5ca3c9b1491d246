"""Figures 4.10 to 4.12: throughput and retry traffic against the initial delay of a retry, of four rings and
of one ring that has the switch to itself.
"""

from __future__ import annotations

from typing import Any

from fabriloom.results.statistics import mean_of_runs

from ..lab import Effort, Findings, Lab, Measured, Scenario
from ..published import Number, numbers
from ..rows import near, predicted, predictions, reported, row, series
from . import networks

DELAYS_NS = (1, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12800)
QUICK_DELAYS_NS = (1, 400, 1600, 3200, 6400, 12800)
GOODPUT = "depends on queue acceptance and on numbers of buffers that are not published; see the page"
PLAIN = {"phases": False, "bandwidth_allocation": False}
ALONE_NS = (1, 100, 400, 1600, 3200, 6400, 12800, 25600, 51200)
QUICK_ALONE_NS = (1, 1600, 51200)
ALONE = "one ring alone"
SEEDS = (1, 2, 3, 4)
QUICK_SEEDS = (1, 2)
"""Single runs differ more than the strategies do, so their order is compared on averages over seeds."""
BUS_BYTES = 88
"""A packet of 80 B with its encapsulation: what the bus transfers for 64 B of payload."""


def _runs(effort: Effort, senders: int, strategy: str, seed: int = SEEDS[0]) -> list[Scenario]:
    delays = effort.choose(DELAYS_NS, QUICK_DELAYS_NS)
    return [networks.scenario(effort, senders, strategy, delay, seed=seed) for delay in delays]


def _plain(effort: Effort) -> list[Scenario]:
    """Return nine senders with and without a delay; a packet is accepted whenever there is room."""
    delays = (DELAYS_NS[0], DELAYS_NS[-1])
    return [networks.scenario(effort, 9, "exponential", delay, technology=PLAIN) for delay in delays]


def _alone(effort: Effort, senders: int) -> list[Scenario]:
    """Return the runs of one ring that has the switch to itself."""
    delays = effort.choose(ALONE_NS, QUICK_ALONE_NS)
    return [networks.scenario(effort, senders, "exponential", delay, alone=True) for delay in delays]


def scenarios(effort: Effort) -> list[Scenario]:
    """Return the runs of every ratio, strategy and delay, of plain queues, and of large senders."""
    runs = [
        run
        for senders in networks.RATIOS
        for strategy in networks.STRATEGIES
        for seed in effort.choose(SEEDS, QUICK_SEEDS)
        for run in _runs(effort, senders, strategy, seed)
    ]
    alone = [run for senders in networks.RATIOS for run in _alone(effort, senders)]
    return runs + _plain(effort) + alone


def bus_mbytes_per_s(one: Measured) -> float:
    """Return the rate on the bus: packets with their encapsulation."""
    return one.accepted_mbytes_per_s * BUS_BYTES / networks.PAYLOAD_BYTES


def retry_mbytes_per_s(one: Measured, senders: int) -> float:
    """Return the rate of repeated packets on the links to the slow receivers, averaged over the rings."""
    shares = one.link_shares["retry"][networks.before_ports(senders)]
    return networks.LINK_MBYTES_PER_S * float(shares.mean())


def findings(lab: Lab) -> Findings:
    """Compare throughput and the order of the strategies; plot two series per ratio and strategy."""
    printed = numbers("sci-retry")
    found = Findings()
    measured = {
        (senders, strategy): lab.measure(_runs(lab.effort, senders, strategy))
        for senders in networks.RATIOS
        for strategy in networks.STRATEGIES
    }
    delays = lab.effort.choose(DELAYS_NS, QUICK_DELAYS_NS)
    for (senders, strategy), points in measured.items():
        found.series += _curves(senders, strategy, delays, points)
    found.rows += _throughput_rows(printed, measured) + _plain_rows(lab, printed)
    for senders in networks.RATIOS:
        points = lab.measure(_alone(lab.effort, senders))
        delays = lab.effort.choose(ALONE_NS, QUICK_ALONE_NS)
        found.series += _curves(senders, f"exponential, {ALONE}", delays, points)
        found.rows += _alone_rows(printed, senders, points)
    found.rows += _order_rows(lab, printed)
    return found


def _curves(senders: int, strategy: str, delays: list[float], points: list[Measured]) -> list[dict[str, Any]]:
    published = {
        3: [(delays[-1], 500, "raw-3")],
        9: [(delays[0], 220, "raw-9-none"), (delays[-1], 425, "raw-9")],
    }
    values = {
        "raw": [bus_mbytes_per_s(one) for one in points],
        "retry": [retry_mbytes_per_s(one, senders) for one in points],
    }
    figures = {(3, "raw"): "4.10", (3, "retry"): "4.10", (9, "raw"): "4.11", (9, "retry"): "4.12"}
    return [
        series(
            figures[senders, what],
            f"Rings of {senders} senders and a slow port each",
            f"{what}, {strategy}",
            x=delays,
            y=rates,
            x_quantity="initial delay (ns)",
            y_quantity="rate (MB/s)",
            published=published[senders] if (what, strategy) == ("raw", "exponential") else (),
            log="x",
        )
        for what, rates in values.items()
    ]


def _throughput_rows(
    printed: dict[str, Number], measured: dict[tuple[int, str], list[Measured]]
) -> list[dict[str, Any]]:
    """Compare with the exponential strategy, which the paper finds best; a gain uses the best delay."""
    three, nine = ([*map(bus_mbytes_per_s, measured[ratio, "exponential"])] for ratio in networks.RATIOS)
    shown = {"raw-3": max(three), "gain-3": max(three) / three[0]}
    scored = {
        "raw-9-none": nine[0] / 1000,
        "raw-9": max(nine) / 1000,
        "raw-9-asymptote": nine[-1],
        "gain-9": max(nine) / nine[0],
    }
    none = retry_mbytes_per_s(measured[3, "exponential"][-1], 3)
    return [
        *(reported(printed[key], ours, GOODPUT) for key, ours in shown.items()),
        *_nine_rows(printed, scored, ""),
        predicted(printed["retry-3"], none, (0.0, 50.0)),
    ]


def _nine_rows(printed: dict[str, Number], ours: dict[str, float], variant: str) -> list[dict[str, Any]]:
    """Compare nine senders, with the tolerances of three."""
    values = {key: (value, 0.15 if key == "gain-9" else 0.1) for key, value in ours.items()}
    return predictions(printed, values, variant=variant)


def _plain_rows(lab: Lab, printed: dict[str, Number]) -> list[dict[str, Any]]:
    without, with_delay = (bus_mbytes_per_s(one) / 1000 for one in lab.measure(_plain(lab.effort)))
    return _nine_rows(printed, {"raw-9-none": without, "raw-9": with_delay}, "plain queue")


def _alone_rows(printed: dict[str, Number], senders: int, points: list[Measured]) -> list[dict[str, Any]]:
    """Compare one ring alone, without a delay and with the best; ``gain-3`` set the places to send."""
    rates = [bus_mbytes_per_s(one) for one in points]
    without, best = rates[0], max(rates)
    if senders == 3:
        retry = retry_mbytes_per_s(points[-1], senders)
        scored = [
            ("raw-3", best, "predicted", near(printed["raw-3"], 0.1), ""),
            ("gain-3", best / without, "calibrated", near(printed["gain-3"], 0.15), "requests_out"),
            ("retry-3", retry, "predicted", (0.0, 50.0), ""),
        ]
        return [
            row(printed[key], ours, kind=kind, tolerance=limits, note=note, variant=ALONE)
            for key, ours, kind, limits, note in scored
        ]
    found = {
        "raw-9-none": without / 1000,
        "raw-9": best / 1000,
        "raw-9-asymptote": rates[-1],
        "gain-9": best / without,
    }
    return _nine_rows(printed, found, ALONE)


def _order_rows(lab: Lab, printed: dict[str, Number]) -> list[dict[str, Any]]:
    """Compare the retry traffic of each strategy with that of the next worse, summed over the delays."""
    rows = []
    for senders in networks.RATIOS:
        ratios: dict[str, list[float]] = {"order-linear": [], "order-constant": []}
        for seed in lab.effort.choose(SEEDS, QUICK_SEEDS):
            constant, linear, exponential = (
                sum(
                    retry_mbytes_per_s(one, senders)
                    for one in lab.measure(_runs(lab.effort, senders, strategy, seed))
                )
                for strategy in networks.STRATEGIES
            )
            ratios["order-linear"].append(exponential / linear)
            ratios["order-constant"].append(linear / constant)
        for key, values in ratios.items():
            mean, ci95 = mean_of_runs(values)
            variant = f"{senders} senders"
            rows.append(predicted(printed[key], mean, (0.0, 0.999), ci95=ci95, variant=variant))
    return rows
