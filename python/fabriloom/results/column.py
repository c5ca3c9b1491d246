"""Definitions of keys of a summary and columns of a table."""

from __future__ import annotations

from dataclasses import dataclass

from .statistics import PERCENTILES


@dataclass(frozen=True)
class Column:
    """One key of the summary or one column of a table."""

    name: str
    unit: str
    meaning: str


def percentile_columns(prefix: str, meaning: str) -> tuple[Column, ...]:
    """Return the keys of the percentiles of a latency; ``{}`` in ``meaning`` stands for the percentage."""
    return tuple(
        Column(f"{prefix}.{key}", "ns", meaning.format(f"{100 * share:g}"))
        for key, share in PERCENTILES.items()
    )


@dataclass(frozen=True)
class Table:
    """One table of a result: how to obtain it, the meaning of a row, and its columns."""

    name: str
    title: str
    row: str
    columns: tuple[Column, ...]

    @property
    def is_json(self) -> bool:
        """True for a dictionary of keys, false for a data frame of columns."""
        return self.name in (
            "summary",
            "ring_summary",
            "program_summary",
            "fault_summary",
            "code_summary",
            "requirement_summary",
            "port_summary",
            "port_check",
            "measured",
            "program_check",
            "saturation",
            "check",
            "effective_bisection",
            "ring_check",
            "rate_check",
            "reproduction",
        )

    @property
    def names(self) -> list[str]:
        """Names of the keys or columns, in order."""
        return [column.name for column in self.columns]
