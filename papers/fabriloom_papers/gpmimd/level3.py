"""Section 4.2, figure 9: level III traffic on 21 x 14."""

from __future__ import annotations

from random import Random
from typing import Any

from fabriloom.scenario import Scenario as Checked
from fabriloom.simulate import run as simulate

from ..lab import Effort, Findings, Lab, Measured, Scenario
from ..published import numbers
from ..rows import near, predicted, predictions, series
from . import networks, settings

SIZES_BYTES = (10_000, 25_000, 50_000)
"""Block sizes; the paper has three and prints two of them, 10 and 50 KB, in table 2."""
ACTIVE = (1, 5, 10, 15, 21)
QUICK_ACTIVE = (5, 21)
BETTER = 1.05
"""Reading of "improved": five per cent."""
TRACED = (0, 10, 20)
TRACED_EVENTS = 60
KINDS = {
    "set": "the same sources at random for all events",
    "round-robin": "sources in turn",
    "random": "sources at random for each event",
}


def run(
    effort: Effort,
    block_bytes: int,
    active: int = 21,
    kind: str = "set",
    *,
    khz: float | None = None,
    counts: tuple[int, int] = networks.LEVEL_3,
    protocol: dict[str, Any] | None = None,
) -> Scenario:
    """Return a run of events of one block, split over the active sources; no rate: at full speed."""
    ends = networks.ends(counts)
    if kind == "set":
        ends["sources"] = sorted(Random(active).sample(ends["sources"], active), key=ends["sources"].index)
    times: dict[str, Any] = {
        "warmup_ms": effort.time_ms(20.0, 8.0),
        "measure_ms": effort.time_ms(80.0, 24.0),
    }
    most_khz = 1000 * networks.theory_mbytes_per_s(networks.MOST_LINKS) / block_bytes
    program: dict[str, Any] = {
        "kind": "level-3",
        "events": max(1, round((khz or most_khz) * sum(times.values()))),
        "fragment": f"{block_bytes // active} B",
        "sources_per_event": "all" if kind == "set" else active,
        "source_choice": "random" if kind == "set" else kind,
    } | ends
    if khz:
        program["rate"] = f"{khz:.6g} kHz"
    name = f"level 3, {block_bytes} B from {active}, {kind}" + (f", {khz:.4g} kHz" if khz else "")
    setting = settings.LEVEL_3 | (protocol or {})
    return networks.scenario(name, program, protocol=setting, **times)


def _curve(effort: Effort, block_bytes: int, kind: str) -> dict[int, Scenario]:
    active = effort.choose(ACTIVE, QUICK_ACTIVE)
    return {some: run(effort, block_bytes, some, kind) for some in active}


def sizes(effort: Effort) -> list[int]:
    """Return the block sizes of the full or the quick runs."""
    return effort.choose(SIZES_BYTES, SIZES_BYTES[:1])


def scenarios(effort: Effort) -> list[Scenario]:
    """Return the runs of every block size, every number of active sources, and three ways to choose them."""
    return [one for kind in KINDS for size in sizes(effort) for one in _curve(effort, size, kind).values()]


def findings(lab: Lab) -> Findings:
    """Compare the bandwidth with all sources, and where taking turns helps; plot figures 9a and 9b."""
    found = Findings()
    rates: dict[str, dict[int, float]] = {}
    for kind, label in KINDS.items():
        for size in sizes(lab.effort):
            curve = _curve(lab.effort, size, kind)
            measured = lab.measure(curve.values())
            found.series.append(_series(f"{size // 1000} KB, {label}", list(curve), measured))
            if kind == "set":
                found.rows.append(_bandwidth("level-3-bandwidth", size, measured[-1]))
            if kind == "set" and size == SIZES_BYTES[0]:
                found.rows.append(_bandwidth("summary-bandwidth-least", size, measured[-1]))
            if size == SIZES_BYTES[0]:
                rates[kind] = dict(zip(curve, (one.events_per_s for one in measured), strict=True))
    found.series += _traced(lab.effort)
    if not lab.effort.quick:
        found.rows += _better(rates)
    return found


def _series(label: str, active: list[int], measured: list[Measured]) -> dict[str, Any]:
    return series(
        "9a",
        "Level III, 21 sources and 14 destinations",
        label,
        x=active,
        y=[one.events_per_s / 1000 for one in measured],
        x_quantity="active sources, of each block",
        y_quantity="event rate (kHz)",
    )


def _bandwidth(key: str, size: int, one: Measured) -> dict[str, Any]:
    printed, variant = numbers("gpmimd")[key], f"blocks of {size // 1000} KB"
    return predicted(printed, tolerance=near(printed, 0.10), variant=variant, **one.accepted())


def _better(rates: dict[str, dict[int, float]]) -> list[dict[str, Any]]:
    """Compare the least and most active sources (more than one) for which taking turns helps."""
    helped = [some for some in ACTIVE[1:] if rates["round-robin"][some] > BETTER * rates["set"][some]]
    ends = {"least": min(helped, default=0), "most": max(helped, default=0)}
    values = {f"level-3-better-{end}": (float(value), 0.0) for end, value in ends.items()}
    return predictions(numbers("gpmimd"), values)


def _traced(effort: Effort) -> list[dict[str, Any]]:
    """Return figure 9b: the latency of the first messages of three sources."""
    scenario = run(Effort(quick=True), SIZES_BYTES[0])
    kept = simulate(Checked.from_dict(scenario | {"output": scenario["output"] | {"messages": True}}))
    table = kept.messages
    names = scenario["program"]["sources"]
    found = []
    for source in TRACED:
        mine = table.filter((table["source"] == names[source]) & (table["tag"] < TRACED_EVENTS))
        mine = mine.sort("tag").drop_nulls("latency_ns")
        found.append(
            series(
                "9b",
                "Level III, all 21 sources per event, blocks of 10 KB",
                f"source {source}",
                x=mine["tag"].to_list(),
                y=[latency / 1000 for latency in mine["latency_ns"]],
                x_quantity="event",
                y_quantity="latency of a source's message (us)",
            )
        )
    return found
