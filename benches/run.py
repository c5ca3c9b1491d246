"""Speed and memory of the engine by size of the network: a part of ``RESULTS.md``, never asserted.

``--quick`` tries the small networks only and writes nothing; ``common.py`` has the other options.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Iterator

from common import (
    LENGTHS_BYTES,
    SIDES,
    SLICES,
    WARMUP_ROUNDS,
    Bench,
    Row,
    aims,
    asked,
    by_load,
    compiled_of,
    grid,
    hops_per_s,
    run,
    simulation,
    started,
    twin_ratio,
    write,
)

TWIN_HOPS = {8: 60_000, 64: 40_000, 1000: 6_000}
TWIN_UP_TO = 1024
"""Largest network that the slow twin runs."""
COUNTED_HOPS = 60_000
Case = tuple[int, int, float | None]
"""Terminals, length in bytes, and load; no load: every terminal always has a packet."""


def timed(case: Case, speed: bool) -> Row:
    """Build, run and time one case in this process."""
    terminals, length_bytes, load = case
    begin = started()
    compiled = compiled_of(grid(*case))
    engine = simulation(compiled)
    engine.advance(1)
    start_s = time.perf_counter() - begin
    while engine.progress()[2] < WARMUP_ROUNDS * terminals:
        engine.advance(50_000)
    before = engine.progress()
    speeds = [hops_per_s(engine) for _ in range(SLICES)]
    if speed:
        return {"hops_per_s": statistics.median(speeds)}
    after = engine.progress()
    ticks, events, packets, hops = (last - first for last, first in zip(after, before, strict=True))
    simulated_s = ticks * compiled.arrays["tick_ps"] / 1e12
    row = {
        "terminals": terminals,
        "length_bytes": length_bytes,
        "load": load,
        "start_s": start_s,
        "hops_per_s": statistics.median(speeds),
        "events_per_hop": events / hops,
        "accepted": packets
        * length_bytes
        / simulated_s
        / terminals
        / compiled.technology.payload_bytes_per_s(length_bytes),
        "peak_mbytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    if terminals <= TWIN_UP_TO:
        row["twin"] = twin_ratio(compiled, TWIN_HOPS[length_bytes])
    return row


def span(case: Case) -> tuple[int, int]:
    """When the network is about as full as it will be, for a while."""
    first = max(20_000, 6 * case[0])
    return first, first + COUNTED_HOPS


def one_round(quick: bool, measure: Callable[[Case], Row]) -> Iterator[Row]:
    """Saturation first, then half of what was accepted there."""
    for terminals in list(SIDES)[: 2 if quick else None]:
        for length_bytes in LENGTHS_BYTES:
            full = measure((terminals, length_bytes, None))
            yield full
            yield measure((terminals, length_bytes, round(0.5 * full["accepted"], 4)))


HEADER = (
    "terminals",
    "packet",
    "at",
    "M packet-hops/s",
    "wake-ups per hop",
    "times the twin",
    "start, s",
    "peak memory, MB",
)


def cells(row: Row) -> tuple[str, ...]:
    """One row of the table."""
    return (
        f"{row['terminals']}",
        f"{row['length_bytes']} B",
        "saturation" if row["load"] is None else "50 %",
        f"{row['hops_per_s'] / 1e6:.2f}",
        f"{row['events_per_hop']:.2f}",
        f"{row['twin']:.0f}" if "twin" in row else "-",
        f"{row['start_s']:.2f}",
        f"{row['peak_mbytes']:.0f}",
    )


def summary(rows: list[Row]) -> str:
    """The few numbers that are aimed at, each with what it should be."""

    def find(terminals: int, length_bytes: int = 64) -> Row:
        wanted = (terminals, length_bytes, None)
        return next(r for r in rows if (r["terminals"], r["length_bytes"], r["load"]) == wanted)

    def count(terminals: int, length_bytes: int) -> str:
        counted = find(terminals, length_bytes).get("instructions")
        return "not counted" if counted is None else f"{counted:.0f}"

    middle, small, large = find(1024), find(256), find(16384)
    largest = [row for row in rows if row["terminals"] == 16384]
    worst = max(row["events_per_hop"] for row in rows)
    start, memory = (max(row[key] for row in largest) for key in ("start_s", "peak_mbytes"))
    return aims(
        {
            "64 B, 1024 terminals, saturation: 5 M packet-hops/s, at least 3 M": (
                f"{middle['hops_per_s'] / 1e6:.2f} M"
            ),
            "instructions per hop there: 1000, at most 1500": count(1024, 64),
            "the same with 1000 B: as with 64 B, at most 2200": count(1024, 1000),
            "the same with 1000 B, 16384 terminals: 2500, at most 3500": count(16384, 1000),
            "a hop at 64 terminals as dear as at 1024, at most 1.2 times": (
                f"{middle['hops_per_s'] / find(64)['hops_per_s']:.2f} times"
            ),
            "a hop at 16384 terminals at most twice as dear as at 256": (
                f"{small['hops_per_s'] / large['hops_per_s']:.2f} times"
            ),
            "at most 4 wake-ups per packet-hop": (
                f"{middle['events_per_hop']:.2f} there, {worst:.2f} at worst"
            ),
            "at least 20 times the slow twin in the same run": f"{middle['twin']:.0f} there",
            "16384 terminals built, checked, started in under 10 s and 1 GB": (
                f"{start:.1f} s, {memory:.0f} MB"
            ),
        }
    )


NOTES = """Grids of switches with 16 terminals each and 4 links per edge, DS-Links with C104, random
traffic; counted as in any run: latencies, links, flows up to 65,536 pairs."""


def main() -> None:
    """Run one case as told, or all."""
    arguments = asked(__doc__)
    bench = Bench(
        __file__,
        lambda case: compiled_of(grid(*case)),
        timed,
        span,
        lambda measure: one_round(arguments.quick, measure),
        HEADER,
        cells,
    )
    run(
        bench,
        arguments,
        lambda rows, table: write("By size of the network", [summary(rows), NOTES, by_load(table)]),
    )


if __name__ == "__main__":
    main()
