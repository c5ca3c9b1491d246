"""Parts of reports for terminals with several ports."""

from __future__ import annotations

from ...process.libraries import pl
from ..page import Cell, Table, number


def planes(table: pl.DataFrame) -> list[Table]:
    """Return the traffic received by each plane."""
    if not len(table):
        return []
    rows = []
    for row in table.iter_rows(named=True):
        mean = row["latency_ns_mean"]
        latencies = [None if mean is None else mean / 1e3, row["latency_ns_max"] / 1e3]
        shares = [row[name] for name in ("share", "utilisation_mean", "utilisation_max")]
        rows.append(
            [
                Cell(row["plane"]),
                *(Cell(number(row[name]), None, row[name]) for name in ("packets", "mbytes_per_s")),
                *(Cell("" if value is None else number(value), None, value) for value in latencies),
                *(Cell(number(100 * value, 3) + " %", value, value) for value in shares),
            ]
        )
    head = ["Plane", "Packets", "MB/s", "Mean latency (\u00b5s)", "Longest (\u00b5s)", "Share of the payload"]
    head += ["Utilisation, mean", "Utilisation, busiest link"]
    note = "A plane is one of the networks in which terminals have their ports."
    return [Table("Planes", head, rows, [False, *(True for _ in head[1:])], note)]
