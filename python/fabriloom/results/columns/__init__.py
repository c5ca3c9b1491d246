"""Every key and column that a result has, defined once.

The reference page ``docs/reference/results.md`` is written from these tables. Tests compare every result with
them: exactly the defined keys and columns are produced.
Run ``python -m fabriloom.results.reference docs/reference/results.md`` after a change.
"""

from __future__ import annotations

from .faults import FAILURES, FAULT_LINKS, FAULT_SUMMARY
from .features import (
    CODE_LINKS,
    CODE_SUMMARY,
    CODES,
    CONGESTION,
    CONGESTION_LINKS,
    CONGESTION_SUMMARY,
    FLIT_POINTS,
    FLIT_SUMMARY,
    PLANES,
    PORT_CHECK,
    PORT_LINKS,
    PORT_SUMMARY,
    SHARED_LINKS,
)
from .programs import (
    EVENTS,
    HOSTS,
    MARKS,
    MEASURED,
    MESSAGE_FLOWS,
    MESSAGES,
    PROGRAM_CHECK,
    PROGRAM_POINTS,
    PROGRAM_SUMMARY,
    SLOTS,
)
from .rings import BUSES, RING_CHECK, RING_LINKS, RING_POINTS, RING_SUMMARY, RINGS
from .runs import (
    BATCHES,
    CCDF,
    CHECK,
    COMPLETIONS,
    FLOWS,
    LANES,
    LINKS,
    OVER_TIME,
    RATE_CHECK,
    SLOWER_CHECK,
    SUMMARY,
    TRACE,
)
from .studies import OF_STUDIES, POINTS, REPRODUCTION, REQUIREMENT_POINTS, REQUIREMENT_SUMMARY, REQUIREMENTS

TABLES = (
    *(SUMMARY, RING_SUMMARY, FAULT_SUMMARY, FLIT_SUMMARY, CODE_SUMMARY, CONGESTION_SUMMARY),
    *(PROGRAM_SUMMARY, REQUIREMENT_SUMMARY, PORT_SUMMARY, MEASURED),
    *(LINKS, FAULT_LINKS, CODE_LINKS, CONGESTION_LINKS, SHARED_LINKS, PORT_LINKS, RING_LINKS),
    *(RINGS, BUSES, PLANES, LANES),
    *(FLOWS, COMPLETIONS, REQUIREMENTS, CODES, CONGESTION, BATCHES, OVER_TIME, CCDF, TRACE),
    *(EVENTS, HOSTS, MESSAGES, MESSAGE_FLOWS, MARKS, SLOTS),
    *(POINTS, RING_POINTS, FLIT_POINTS, PROGRAM_POINTS, REQUIREMENT_POINTS, *OF_STUDIES),
    *(CHECK, RING_CHECK, RATE_CHECK, SLOWER_CHECK, PROGRAM_CHECK, FAILURES, PORT_CHECK, REPRODUCTION),
)
"""All of them, in the order of the page."""


def flatten(summary: dict, prefix: str = "") -> dict[str, object]:
    """Flatten a nested dictionary to dotted keys."""
    flat: dict[str, object] = {}
    for key, value in summary.items():
        if isinstance(value, dict):
            flat.update(flatten(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return flat
