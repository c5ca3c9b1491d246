"""Speed of the engine on networks of links of every kind: a part of ``RESULTS.md``, never asserted.

A grid for each technology that the README names, at three packet lengths, saturated and at half of that.
``--quick`` tries grids of 64 terminals only and writes nothing; ``common.py`` has the other options.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from common import (
    LENGTHS_BYTES,
    SLICE_HOPS,
    SLICES,
    WARMUP_ROUNDS,
    Bench,
    Row,
    asked,
    by_load,
    compiled_of,
    grid,
    hops_per_s,
    joined,
    run,
    simulation,
    write,
)
from fabriloom.simulate import matched


@dataclass(frozen=True)
class Technology:
    """What the table calls it, and how it is set; ``flit_bytes`` where lengths are numbers of flits."""

    settings: dict[str, Any]
    flit_bytes: int = 0
    terminals: int = 1024
    slice_hops: dict[int, int] | None = None
    """By length, where every flit is decided by itself: a hop then takes as many times as long."""
    counted_hops: dict[int, tuple[int, int]] | None = None
    matched: bool = False
    """Whether the share of flow control is that which a run finds, so that links have paces of their own."""


FLIT_BYTES = 8
MATCHING = "8 ms"
"""A quarter of this is run to find the shares of flow control; what is measured takes as long as it takes."""
TECHNOLOGIES = {
    "ds-link-c104": Technology({"preset": "ds-link-c104"}),
    "ds-link-c104, link-rate crossbar": Technology({"preset": "ds-link-c104", "crossbar": "link-rate"}),
    "spacewire-200": Technology({"preset": "spacewire-200"}),
    "ds-link-c104, matched": Technology({"preset": "ds-link-c104"}, matched=True),
    "spacewire-200, matched": Technology({"preset": "spacewire-200"}, matched=True),
    "generic": Technology({"preset": "generic"}, FLIT_BYTES),
    "generic, cut-through": Technology(
        {"preset": "generic", "switching": "virtual-cut-through", "input_buffer_flits": 1024}, FLIT_BYTES
    ),
    "infiniband-4x-edr": Technology({"preset": "infiniband-4x-edr"}),
    "generic, 4 lanes": Technology(
        {"preset": "generic", "lanes": 4},
        FLIT_BYTES,
        64,
        {8: 100_000, 64: 15_000, 1000: 1_000},
        {8: (5_000, 35_000), 64: (1_500, 9_000), 1000: (1_500, 2_500)},
    ),
}
COUNTED_HOPS = (20_000, 80_000)
Case = tuple[str, int, int, float | None]
"""Technology, terminals, length in bytes or flits, and load; no load: every terminal always has a packet."""


def compiled(case: Case) -> Any:
    """The arrays of one case."""
    name, terminals, length, load = case
    technology = TECHNOLOGIES[name]
    scenario = grid(terminals, payload_bytes(name, length), load, technology.settings)
    if not technology.matched:
        return compiled_of(scenario)
    return matched(compiled_of({**scenario, "run": {**scenario["run"], "duration": MATCHING}}))


def payload_bytes(technology: str, length: int) -> int:
    """Payload of a packet."""
    return length * (TECHNOLOGIES[technology].flit_bytes or 1)


def timed(case: Case, speed: bool) -> Row:
    """Run and time one case in this process; ``accepted`` is a share of what a terminal's link carries."""
    name, terminals, length, load = case
    network = compiled(case)
    engine = simulation(network)
    hops_each = (TECHNOLOGIES[name].slice_hops or {}).get(length, SLICE_HOPS)
    while engine.progress()[2] < WARMUP_ROUNDS * terminals:
        engine.advance(10_000)
    before = engine.progress()
    speeds = [hops_per_s(engine, hops_each) for _ in range(SLICES)]
    if speed:
        return {"hops_per_s": statistics.median(speeds)}
    after = engine.progress()
    ticks, events, packets, hops = (last - first for last, first in zip(after, before, strict=True))
    length_bytes = payload_bytes(name, length)
    per_terminal = packets * length_bytes / (ticks * network.arrays["tick_ps"] / 1e12) / terminals
    return {
        "technology": name,
        "terminals": terminals,
        "length": length,
        "load": load,
        "hops_per_s": statistics.median(speeds),
        "events_per_hop": events / hops,
        "accepted": per_terminal / network.technology.payload_bytes_per_s(length_bytes),
    }


def span(case: Case) -> tuple[int, int]:
    """When the network is about as full as it will be, for a while."""
    return (TECHNOLOGIES[case[0]].counted_hops or {}).get(case[2], COUNTED_HOPS)


def one_round(quick: bool, measure: Callable[[Case], Row]) -> Iterator[Row]:
    """Saturation first, then half of what was accepted there."""
    for name, technology in TECHNOLOGIES.items():
        terminals = 64 if quick else technology.terminals
        for length in LENGTHS_BYTES:
            full = measure((name, terminals, length, None))
            yield full
            yield measure((name, terminals, length, round(0.5 * full["accepted"], 4)))


HEADER = ("technology", "packet", "at", "M packet-hops/s", "wake-ups per hop")


def cells(row: Row) -> tuple[str, ...]:
    """One row of the table."""
    unit = "flits" if TECHNOLOGIES[row["technology"]].flit_bytes else "B"
    return (
        row["technology"],
        f"{row['length']} {unit}",
        "saturation" if row["load"] is None else "50 %",
        f"{row['hops_per_s'] / 1e6:.3g}",
        f"{row['events_per_hop']:.2f}",
    )


LEAST = {"ds-link-c104, link-rate crossbar": "2.5", "spacewire-200": "2.5", "generic": "3.5"}
"""Millions of packet-hops a second at 64 B and saturation; more is wanted: as many as with C104."""


def summary(rows: list[Row]) -> str:
    """The speeds that are aimed at."""
    found = {
        row["technology"]: row["hops_per_s"]
        for row in rows
        if row["load"] is None and payload_bytes(row["technology"], row["length"]) == 64
    }
    aims = ((f"`{name}`", f"{least} M", f"{found[name] / 1e6:.2f} M") for name, least in LEAST.items())
    most = f"At 64 B and saturation, as fast as `ds-link-c104` ({found['ds-link-c104'] / 1e6:.2f} M)"
    return "\n".join([f"| {most} | at least | measured |", "|---|---|---|", *map(joined, aims)])


NOTES = f"""Grids with 16 terminals per switch and 4 links per edge, random traffic, statistics on.
`generic` has flits of {FLIT_BYTES} B. Grids have 1024 terminals, or 64 where links have lanes and every flit
is decided by itself. *matched*: what a run with the preset does by itself; the others give every character
its full share of flow control, as between links that are busy in both directions, so all links have one
pace."""


def main() -> None:
    """Run one case as told, or all."""
    arguments = asked(__doc__)
    bench = Bench(
        __file__, compiled, timed, span, lambda measure: one_round(arguments.quick, measure), HEADER, cells
    )
    run(
        bench,
        arguments,
        lambda rows, table: write("On every preset", [summary(rows), NOTES, by_load(table)]),
    )


if __name__ == "__main__":
    main()
