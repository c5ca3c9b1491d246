"""Parts of reports for lanes (virtual channels) that do more than take turns."""

from __future__ import annotations

from ...process.libraries import pl
from ..page import Cell, Table, number

MOST_ROWS = 64


def lanes(table: pl.DataFrame) -> list[Table]:
    """Return what the lanes of the busiest links had of them, beside what is reserved."""
    if not len(table):
        return []
    by_link = table.group_by("link", maintain_order=True).agg(pl.col("utilisation").sum().alias("all"))
    apiece = len(table) // len(by_link)
    busiest = by_link.sort("all", descending=True, maintain_order=True).head(max(1, MOST_ROWS // apiece))
    rows = [
        [
            Cell(row["link"]),
            Cell(str(row["lane"]), None, row["lane"]),
            _share(row["utilisation"]),
            _share(row["reserved"]),
            _share(row["beyond_reserved"], "+"),
        ]
        for row in busiest.join(table, on="link", how="left", maintain_order="left").iter_rows(named=True)
    ]
    head = ["Link", "Lane", "Had the link", "Reserved", "Beyond that"]
    note = (
        "Parts of the time, beginnings and ends of frames included. A lane has less than its reservation if "
    )
    note += "it has nothing to send or no credit, or if lanes of higher priority send."
    if len(table) > len(rows):
        note += f" The {number(len(busiest))} busiest of {number(len(by_link))} links."
    return [Table("Lanes", head, rows, [False, *(True for _ in head[1:])], note)]


def _share(value: float | None, sign: str = "") -> Cell:
    if value is None:
        return Cell("", None, -2.0)
    return Cell(f"{100 * value:{sign}.1f} %", None if sign else value, value)
