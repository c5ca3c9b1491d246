# ruff: noqa: E501  (a page of prose)
"""Writes the reference page of all results from ``columns.py``."""

from __future__ import annotations

from .columns import (
    NETWORK_LATENCY_FROM,
    NETWORK_LATENCY_TO,
    RING_LATENCY_FROM,
    RING_LATENCY_TO,
    TABLES,
    TOTAL_LATENCY_FROM,
)

_PREFACE = """# Results: every key and column

This page is written by `python -m fabriloom.results.reference docs/reference/results.md`; do not edit it.

Bytes are payload bytes: headers, ends of packet and flow-control characters are not counted, except where a
line says characters. 1 MB/s is 10^6 bytes per second. Times are simulated time, except `engine.wall_s`.

**Latency** is said from what to what in every summary:

* *network latency* (`latency_ns`): from the {network_from}, to the {network_to};
  in networks of rings from the {ring_from}, to the {ring_to};
* *total latency* (`total_latency_ns`): from the {total_from}, to the same end.

Of programs, messages and events have latencies of their own, each with its two ends in words.

**Confidence.** The time after the warm-up is divided into batches; the half-width is Student's t at 95 % for
a ratio of batch sums (latency over packets, bytes over time). Batches of one run may be correlated, so the
engine's batches are merged to between 20 and 39 long ones first, and the correlation of neighbours that
remains is printed (`statistics.lag1_correlation`) and tested (`statistics.trusted`).

| what | from Python | from `fabriloom run --out DIR` |
|---|---|---|
| Summary | `results.summary` | `summary.json`, or `--json` on standard output |
| Links | `results.links` | `links.parquet` |
| Rings | `results.rings` | `rings.parquet` (networks of rings) |
| Buses | `results.buses` | `buses.parquet` (networks of rings) |
| Planes | `results.planes` | `planes.parquet` (terminals of several ports) |
| Flows | `results.flows` | `flows.parquet` |
| Completion of flows | `results.completions` | `completions.parquet` (pattern `flows`) |
| Requirements | `results.requirements` | `requirements.parquet` (flows with requirements) |
| Time-codes and interrupts | `results.codes` | `codes.parquet` (if terminals send any) |
| Batches | `results.batches` | `batches.parquet` |
| Throughput over time | `results.over_time` | `over_time.parquet` (with several flows) |
| Complementary cumulative latency | `results.ccdf()` | `latency.parquet` |
| Packet trace | `results.trace` | `trace.parquet`, `trace.json` (Chrome trace format, opens in Perfetto) |
| Events | `results.events` | `events.parquet` (programs with events) |
| Hosts | `results.hosts` | `hosts.parquet` (programs) |
| Messages | `results.messages` | `messages.parquet` (programs, if kept) |
| Marks | `results.marks` | `marks.parquet` (programs with marks) |
| Slots | `results.slots` | `slots.parquet` (SpaceWire-D) |
| Points of a curve or sweep | `curve.table` | `points.parquet` from `fabriloom curve --out DIR` |
| Trials of a search | `study(…).search.table` | `fabriloom study export DIR trials.parquet --trials` |
| Guaranteed delays | `bound(…).table` | |
| Candidates of a design | `design(…).table` | `candidates.parquet` from `fabriloom design --out DIR` |
| Means over seeds | `repeat(…).means` | `seeds.parquet` from `fabriloom run --seeds 10 --out DIR` |

With `--csv` every table is written as CSV besides, `links.csv` beside `links.parquet`; from Python
`results.to_csv(folder)`, of studies too.
"""


def markdown() -> str:
    """Return the reference page of all results."""
    parts = [
        _PREFACE.format(
            network_from=NETWORK_LATENCY_FROM,
            network_to=NETWORK_LATENCY_TO,
            ring_from=RING_LATENCY_FROM,
            ring_to=RING_LATENCY_TO,
            total_from=TOTAL_LATENCY_FROM,
        )
    ]
    for table in TABLES:
        parts.append(
            f"\n## {table.title}\n\n{table.row}\n\n| {'key' if table.is_json else 'column'} | unit | meaning |"
        )
        parts.append("\n|---|---|---|\n")
        parts.extend(f"| `{column.name}` | {column.unit} | {column.meaning} |\n" for column in table.columns)
    return "".join(parts)


if __name__ == "__main__":
    import sys
    from pathlib import Path

    Path(sys.argv[1]).write_text(markdown(), encoding="utf-8")
