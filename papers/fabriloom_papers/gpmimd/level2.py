"""Section 4.1, figure 5: level II traffic, sources at random and in turn."""

from __future__ import annotations

from typing import Any

from ..lab import Effort, Findings, Lab, Measured, Scenario
from ..published import numbers
from ..rows import predicted, row, series
from . import networks, settings

SIZES_BYTES = (200, 600, 1200)
"""Block sizes; the paper has several between 0.2 and 1.2 KB and does not say which."""
BLOCKS = 3
SHARES = (0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2)
QUICK_SHARES = (1.2,)
"""Attempted rates as fractions of the link bandwidth; the last is the highest that is achieved."""
CHOICES = {"random": "ab", "round-robin": "cd"}


def run(
    effort: Effort,
    block_bytes: int,
    khz: float,
    *,
    choice: str = "random",
    blocks: int = BLOCKS,
    sources_per_block: int = 1,
    ends: dict[str, Any] | None = None,
    setting: settings.Setting = settings.LEVEL_2,
    seed: int = 1,
) -> Scenario:
    """Return a run with one attempted event rate."""
    times = networks.run_times(effort, block_bytes)
    program = {
        "kind": "level-2",
        "events": max(1, round(khz * sum(times.values()))),
        "rate": f"{khz:.6g} kHz",
        "block": f"{block_bytes} B",
        "blocks_per_event": blocks,
        "sources_per_block": sources_per_block,
        "source_choice": choice,
    } | (ends or networks.ends(networks.LEVEL_2))
    name = f"level 2, {blocks} x {block_bytes} B from {sources_per_block}, {choice}, {khz:.4g} kHz"
    return networks.scenario(name, program, protocol=setting, seed=seed, **times)


def most_khz(block_bytes: int, blocks: int = BLOCKS) -> float:
    """Return the event rate that would fill the links."""
    return 1000 * networks.theory_mbytes_per_s(networks.MOST_LINKS) / (block_bytes * blocks)


def curve(effort: Effort, block_bytes: int, choice: str) -> dict[float, Scenario]:
    """Return the runs by attempted event rate in kHz."""
    rates = [share * most_khz(block_bytes) for share in effort.choose(SHARES, QUICK_SHARES)]
    return {khz: run(effort, block_bytes, khz, choice=choice) for khz in rates}


def _sizes(effort: Effort) -> list[int]:
    return effort.choose(SIZES_BYTES, SIZES_BYTES[::2])


def scenarios(effort: Effort) -> list[Scenario]:
    """Return the runs of both choices, every size and every rate."""
    return [
        one for choice in CHOICES for size in _sizes(effort) for one in curve(effort, size, choice).values()
    ]


def findings(lab: Lab) -> Findings:
    """Compare the bandwidth at the highest rate; plot four figures."""
    found = Findings()
    highest: dict[tuple[str, int], Measured] = {}
    for choice, parts in CHOICES.items():
        for size in _sizes(lab.effort):
            runs = curve(lab.effort, size, choice)
            measured = lab.measure(runs.values())
            highest[choice, size] = measured[-1]
            found.series += rate_and_bandwidth("5", parts, _TITLES[choice], f"{size} B", list(runs), measured)
    found.rows = _rows(highest)
    return found


_TITLES = {
    "random": "Level II, three blocks per event, sources at random",
    "round-robin": "Level II, three blocks per event, sources in turn",
}
ATTEMPTED = "attempted event rate (kHz)"


def rate_and_bandwidth(
    figure: str,
    parts: str,
    title: str,
    label: str,
    x: list[float],
    measured: list[Measured],
    x_quantity: str = ATTEMPTED,
) -> list[dict[str, Any]]:
    """Return the two curves that the paper draws for most settings: event rate and bandwidth."""
    rate = [one.events_per_s / 1000 for one in measured]
    bandwidth = [one.accepted_mbytes_per_s for one in measured]
    drawn = ((rate, "achieved event rate (kHz)"), (bandwidth, "bandwidth of the network (MB/s)"))
    return [
        series(figure + part, title, label, x=x, y=y, x_quantity=x_quantity, y_quantity=quantity)
        for part, (y, quantity) in zip(parts, drawn, strict=True)
    ]


def _rows(highest: dict[tuple[str, int], Measured]) -> list[dict[str, Any]]:
    """Compare the highest rates; the longest blocks are scored, shorter ones show host costs."""
    printed, longest = numbers("gpmimd"), SIZES_BYTES[-1]
    scale = 100 / networks.theory_mbytes_per_s(networks.MOST_LINKS)
    points = {"random": ("level-2-random-share", 4.0), "round-robin": ("level-2-round-robin", 2.0)}
    rows = [_mbytes(key, highest["random", longest]) for key in ("level-2-random", "summary-bandwidth-most")]
    for (choice, size), one in highest.items():
        key, margin = points[choice]
        value = float(printed[key]["value"])
        scored: dict[str, Any] = {"kind": "predicted", "tolerance": (value - margin, value + margin)}
        told: dict[str, Any] = {"kind": "reported", "note": SHORTER, "variant": f"blocks of {size} B"}
        rows.append(row(printed[key], **one.accepted(scale), **scored if size == longest else told))
    return rows


SHORTER = "one number is printed for all lengths of blocks; that of the longest is scored"


def _mbytes(key: str, one: Measured) -> dict[str, Any]:
    printed = numbers("gpmimd")[key]
    points, value = networks.theory_mbytes_per_s(networks.MOST_LINKS) * 0.04, float(printed["value"])
    return predicted(printed, tolerance=(value - points, value + points), **one.accepted())
