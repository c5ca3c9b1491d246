"""Parts of reports for ring networks: links by what they carry, and buses."""

from __future__ import annotations

from typing import Any

from ...process.libraries import pl
from ..page import Cell, Table, number


def _share(value: float) -> Cell:
    return Cell(number(100 * value, 3) + " %", value, value)


def _count(value: float) -> Cell:
    return Cell(number(value), None, value)


def busiest_links(table: pl.DataFrame, most: int = 20) -> list[Table]:
    """Return the busiest links and what they carried."""
    if not len(table):
        return []
    shares = ("utilisation", "data_share", "retry_share", "echo_share")
    counts = ("mbytes_per_s", "retry_mbytes_per_s", "packets", "retried", "busied", "bypass_most_symbols")
    rows: list[list[Any]] = []
    for row in (
        table.sort("utilisation", descending=True, maintain_order=True).head(most).iter_rows(named=True)
    ):
        names = [Cell(row["link"]), Cell(row["ring"])]
        rows.append(
            [*names, *(_share(row[name]) for name in shares), *(_count(row[name]) for name in counts)]
        )
    head = ["Link", "Ring", "Utilisation", "First sent", "Retries", "Echoes", "MB/s", "Retries (MB/s)"]
    head += ["Packets", "Sent again", "Busied at its end", "Most symbols held"]
    note = (
        f"The {len(rows)} busiest of {number(len(table))} links, and what they were used for. Busied: "
        "packets that found no place at the end of the link. Held: in the bypass FIFO in front of it."
    )
    return [Table("Links", head, rows, [False, False, *(True for _ in (*shares, *counts))], note)]


def rings(table: pl.DataFrame, most: int = 20) -> list[Table]:
    """Return the rings with the busiest links."""
    if not len(table):
        return []
    numbers = ("stations", "mbytes_per_s_mean", "mbytes_per_s_max", "retry_mbytes_per_s_mean")
    numbers += ("echo_mbytes_per_s_mean",)
    ordered = table.sort("mbytes_per_s_mean", descending=True, maintain_order=True).head(most)
    rows = [
        [Cell(row["ring"]), *(_count(row[name]) for name in numbers), _share(row["utilisation_max"])]
        for row in ordered.iter_rows(named=True)
    ]
    head = ["Ring", "Stations", "MB/s, mean", "MB/s, busiest link", "Retries (MB/s)", "Echoes (MB/s)"]
    head += ["Utilisation, busiest link"]
    note = (
        f"The {len(rows)} busiest of {number(len(table))} rings: packets and echoes on a link, with headers "
        "and "
        "idle symbols; retries and echoes are means over the links of a ring."
    )
    return [Table("Rings", head, rows, [False, *(True for _ in head[1:])], note)]


def buses(table: pl.DataFrame, most: int = 20) -> list[Table]:
    """Return the switches with the busiest buses."""
    if not len(table):
        return []
    rows: list[list[Any]] = []
    ordered = table.sort("utilisation", descending=True, maintain_order=True)
    for row in ordered.head(most).iter_rows(named=True):
        rows.append(
            [
                Cell(row["switch"]),
                _count(row["ports"]),
                _count(row["buses"]),
                _share(row["utilisation"]),
                _count(row["transfers"]),
                Cell(number(row["waiting_ns_mean"] / 1e3), None, row["waiting_ns_mean"]),
            ]
        )
    head = ["Switch", "Ports", "Buses", "Utilisation", "Packets moved", "Mean wait (µs)"]
    note = f"The {len(rows)} busiest of {number(len(table))} switches. Wait: for a bus and a place behind it."
    return [Table("Buses", head, rows, [False, *(True for _ in head[1:])], note)]
