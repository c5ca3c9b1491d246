# ruff: noqa: E501  (a page of prose)
"""Writes the reference page of all results from ``columns.py``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .columns import TABLES, runs
from .columns.column import Column, Table

_PREFACE = """# Results: every key and column

Written by `python -m fabriloom.results.reference docs/reference/results.md`; do not edit it.

Bytes are payload bytes: headers, ends of packet and flow-control characters are not counted, except where a
line says characters. 1 MB/s is 10^6 bytes per second. Times are simulated time, except `engine.wall_s`; *the window*
is the measuring window, the run without its warm-up. What is unknown is null: nothing of it was seen, or there are
fewer than two batches.

**Latency** is said from what to what in every summary:

* *network latency* (`latency_ns`): from the {network_from}, to the {network_to};
  in networks of rings from the {ring_from}, to the {ring_to};
* *total latency* (`total_latency_ns`): from the {total_from}, to the same end.

Of programs, messages and events have latencies of their own, each with its two ends in words.

In the tables `pN` stands for the percentiles `p50`, `p90`, `p99`, `p99_9` and `p99_99`, or those of them that a table
has. `…_ci95` is the half-width of the 95 % confidence interval of the number before it, `…_ci95_low` and `…_ci95_high`
are its ends. A unit that stands in the name is not repeated; a number without one is a count.

A title says which runs have the keys or columns below it: *Links that fail* has those of the table of links where some
fail. [Statistics](../background/statistics.md#batch-means) says how confidence intervals are computed, and when they
can be trusted.

A table of a run is an attribute of its results and a file of that name in the folder of `fabriloom run --out DIR`, as
`results.links` and `links.parquet`: `links`, `flows`, `batches`; `rings` and `buses` of networks of rings; `planes` of
terminals with several ports; `lanes` with frames, priorities, reservations or tables of lanes; `completions` of the
pattern `flows`; `requirements`; `codes` (time-codes, interrupts, broadcasts); `congestion`; `over_time` with several flows;
`trace`, also as `trace.json`, which Perfetto opens; of programs `events`, `hosts`, `messages` if kept, `marks`, and
`slots` of SpaceWire-D. The others:

| what | from Python | as a file |
|---|---|---|
| Summary | `results.summary` | `summary.json`, or `--json` on standard output |
| Complementary cumulative latency | `results.ccdf()` | `latency.parquet` |
| Points of a curve or sweep | `curve.table` | `points.parquet` of `fabriloom curve` |
| Trials of a search | `study(…).search.table` | by `fabriloom study export DIR trials.parquet --trials` |
| Guaranteed delays | `bound(…).table` | |
| Candidates of a design | `design(…).table` | `candidates.parquet` of `fabriloom design` |
| Means over seeds | `repeat(…).means` | `seeds.parquet` of `fabriloom run --seeds 10` |

With `--csv` every table is written as CSV besides, `links.csv` beside `links.parquet`; from Python
`results.to_csv(folder)`, of studies too.
"""


_PERCENTILE = re.compile(r"p(50|90|99_99|99_9|99)(?=_|$)")
_INTERVAL = re.compile(
    r"(Half-width|Lower end|Upper end) of its 95 % confidence interval(, by batch means)?\."
)
_AS_SUMMARY = re.compile(r"See the summary, `([^`]+)`\.")


def _rows_of(columns: Sequence[Column]) -> list[tuple[str, str, str]]:
    """Return name, unit and meaning of each row: percentiles are one row, an interval is with its number."""
    names = [_PERCENTILE.sub("pN", column.name) for column in columns]
    rows: list[tuple[str, str, str]] = []
    seen: set[str] = set()
    for column, name in zip(columns, names, strict=True):
        several = names.count(name) > 1
        shown = name if several else column.name
        stem = rows[-1][0].split("`")[1] if rows else ""
        if shown in seen:
            continue
        seen.add(shown)
        if _INTERVAL.fullmatch(column.meaning) and shown.startswith(f"{stem}_ci95"):
            last, unit, said = rows[-1]
            rows[-1] = f"{last}, `…{shown.removeprefix(stem)}`", unit, said
        else:
            meaning = re.sub(r"\b[\d.]+ % of", "N % of", column.meaning) if several else column.meaning
            rows.append((f"`{shown}`", _unit(column), meaning))
    return rows


_SAID = {"ns": "_ns", "MB/s": "mbytes_per_s", "B": "bytes", "count": ""}


def _unit(column: Column) -> str:
    """Return the unit of a column, unless its name says it."""
    unit = "boolean" if column.unit == "true or false" else column.unit
    return "" if _SAID.get(column.unit, "|") in column.name else unit


def _alike(columns: Sequence[Column]) -> dict[str, str]:
    """Return the tables of a summary that have keys of ``latency_ns``, each with what its mean is of."""
    inner: dict[str, dict[str, str]] = {}
    for column in columns:
        outer, _, key = column.name.rpartition(".")
        inner.setdefault(outer, {})[key] = column.meaning
    return {outer: keys["mean"] for outer, keys in inner.items() if {"from", "to", "p50"} <= set(keys)}


def _rows(table: Table) -> list[str]:
    """Return the lines of a table, and what it takes from the summary in one sentence."""
    alike = {outer: mean for outer, mean in _alike(table.columns).items() if outer != "latency_ns"}
    known = [(column, _AS_SUMMARY.fullmatch(column.meaning)) for column in table.columns]
    told = [column for column, seen in known if not seen and column.name.rpartition(".")[0] not in alike]
    first = next(one for one in TABLES if one.title == table.title.partition(" ")[0] or one is table)
    rows, before = _rows_of(told), [] if first is table else _rows_of(first.columns)
    again = [row[0] for row in rows if row in before]
    if len(again) < 2:
        again = []
    lines = [f"| {' | '.join(row)} |" for row in rows if row[0] not in again]
    lines += [f"| `{outer}.…` | | The keys of `latency_ns`. {mean} |" for outer, mean in alike.items()]
    if lines:
        lines = [f"| {'key' if table.is_json else 'column'} | unit | meaning |", "|---|---|---|", *lines]
    same = [f"`{column.name}`" + _elsewhere(column.name, seen[1]) for column, seen in known if seen]
    return [
        *lines,
        *[""][: len(lines) and len(same)],
        *([f"As in the summary: {', '.join(same)}."] if same else []),
        *(["", f"As in [{first.title}](#{first.title.lower()}): {', '.join(again)}."] if again else []),
    ]


def _elsewhere(name: str, key: str) -> str:
    """Return the key of the summary in brackets, unless the name says it."""
    return "" if name in (key.replace(".", "_"), key.rpartition(".")[2]) else f" (`{key}`)"


def markdown() -> str:
    parts = [
        _PREFACE.format(
            network_from=runs.NETWORK_LATENCY_FROM,
            network_to=runs.NETWORK_LATENCY_TO,
            ring_from=runs.RING_LATENCY_FROM,
            ring_to=runs.RING_LATENCY_TO,
            total_from=runs.TOTAL_LATENCY_FROM,
        )
    ]
    for table in TABLES:
        row = f"{table.row}\n\n" if table.row else ""
        parts += [f"\n## {table.title}\n\n{row}", "\n".join(_rows(table)), "\n"]
    return "".join(parts)


if __name__ == "__main__":
    import sys
    from pathlib import Path

    Path(sys.argv[1]).write_text(markdown(), encoding="utf-8")
