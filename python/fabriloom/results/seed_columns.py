# ruff: noqa: E501  (the meanings are prose, one to a line)
"""Columns of the means over seeds; see ``columns.py``."""

from __future__ import annotations

from .column import Column, Table

SEEDS = Table(
    "seeds",
    "Means over seeds",
    "One row per number of `fabriloom run --seeds` (`repeat(…).means`, `seeds.parquet`; `means` in the JSON), over the "
    "runs in which it could be measured. The runs themselves are the points, their `seed` before the other columns.",
    (
        Column("quantity", "text", "Name of the column of the table of points."),
        Column("runs", "count", "Runs in which it could be measured."),
        Column("mean", "unit", "Mean over seeds, every run counted once."),
        Column("ci95", "unit", "Half-width of its 95 % confidence interval over seeds, by Student's t."),
        Column("spread", "unit", "Standard deviation from seed to seed."),
        Column("least", "unit", "The least of all runs."),
        Column("greatest", "unit", "The greatest of all runs."),
        Column(
            "holding",
            "count",
            "Runs whose own 95 % interval holds the mean over seeds: about 19 of 20 if these intervals can be trusted; null for numbers without one.",
        ),
    ),
)
