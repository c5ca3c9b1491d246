"""Parts of reports for runs in which links fail."""

from __future__ import annotations

from ...process.libraries import pl
from ..page import Cell, Table, number


def lost(table: pl.DataFrame, most: int = 20) -> list[Table]:
    """Return where packets were lost, and which links were down."""
    if "down_ns" not in table.columns:
        return []

    causes = ("cut_packets", "discarded_packets", "timed_out_packets")
    lost = pl.sum_horizontal(causes)
    hit = table.filter((lost > 0) | (pl.col("down_ns") > 0))
    ordered = hit.sort(lost, "link", descending=[True, False])
    rows = [
        [
            Cell(row["link"]),
            *(Cell(number(row[cause]), None, row[cause]) for cause in causes),
            Cell(number(row["down_ns"] / 1e3), None, row["down_ns"]),
        ]
        for row in ordered.head(most).iter_rows(named=True)
    ]
    note = (
        f"{len(rows)} of the {number(len(hit))} links that were down or where packets were lost. Cut: on the "
        "link, or holding it, when it failed. Discarded: came by this link, and all links were down by which "
        "they could have gone on. Timed out: held it and did not move."
    )
    head = ["Link", "Packets cut on it", "Packets discarded at its end", "Packets timed out", "Down (µs)"]
    return [Table("Faults", head, rows, [False, True, True, True, True], note)]
