# ruff: noqa: E501  (the meanings are prose, one to a line)
"""Columns of published results and ours; see ``columns.py``."""

from __future__ import annotations

from .column import Column, Table

REPRODUCTION = Table(
    "reproduction",
    "Reproduction",
    "The JSON of `fabriloom reproduce`: a list, one entry per number that the paper prints.",
    (
        Column("id", "text", "Name of the number: paper and place."),
        Column("paper", "text", "Key of the paper."),
        Column("where", "text", "Where the paper prints it."),
        Column("quantity", "text", "What it is."),
        Column("unit", "text", "Unit of the next three."),
        Column("published", "unit", "As printed."),
        Column("ours", "unit", "As computed or simulated; null if it could not be measured."),
        Column("ci95", "unit", "Half-width of its 95 % interval; null when exact or unknown."),
        Column("deviation", "ratio", "(ours - published) / published."),
        Column(
            "kind",
            "text",
            "`arithmetic`: follows from the link alone; `calibrated`: a parameter was set by it; `predicted`: nothing was; `reported`: shown, not scored.",
        ),
        Column("tolerance", "unit", "Lowest and highest value that agrees; null when not scored."),
        Column("within", "true or false", "Whether ours is between them; null when it is not scored."),
        Column("parameter", "text", "Calibrated: the parameter that was set by it."),
        Column("reason", "text", "Reported: why it is not scored."),
    ),
    is_json=True,
)
