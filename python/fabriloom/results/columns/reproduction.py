# ruff: noqa: E501  (the meanings are prose, one to a line)
"""Columns of published results and ours; see ``columns.py``."""

from __future__ import annotations

from .column import table

REPRODUCTION = table(
    "reproduction",
    "Reproduction",
    "The JSON of `fabriloom reproduce`: a list, one entry per number that the paper prints.",
    {
        "id": "text | Name of the number: paper and place.",
        "paper": "text | Key of the paper.",
        "where": "text | Where the paper prints it.",
        "quantity": "text | What it is.",
        "unit": "text | Unit of the next three.",
        "published": "unit | As printed.",
        "ours": "unit | As computed or simulated; null if it could not be measured.",
        "ci95": "unit | Half-width of its 95 % interval; null when exact or unknown.",
        "deviation": "ratio | (ours - published) / published.",
        "kind": "text | `arithmetic`: follows from the link alone; `calibrated`: a parameter was set by it; `predicted`: nothing was; `reported`: shown, not scored.",
        "tolerance": "unit | Lowest and highest value that agrees; null when not scored.",
        "within": "true or false | Whether ours is between them; null when it is not scored.",
        "parameter": "text | Calibrated: the parameter that was set by it.",
        "reason": "text | Reported: why it is not scored.",
    },
    is_json=True,
)
