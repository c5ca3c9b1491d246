"""Parts of reports for links (lanes, planes, packets that are lost), for rings and for buses."""

from __future__ import annotations

from typing import Any

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


def congestion(table: pl.DataFrame, most: int = 20) -> list[Table]:
    """Return the terminals that congestion control slowed down most."""
    if not len(table):
        return []
    slowest = table.sort("rest_share", descending=True, maintain_order=True).head(most)
    rows = [
        [
            Cell(row["terminal"]),
            *(Cell(number(row[name]), None, row[name]) for name in ("notified", "ccti_highest")),
            _share(row["rest_share"]),
        ]
        for row in slowest.iter_rows(named=True)
    ]
    head = ["Terminal", "Packets delivered with a mark", "Highest index", "Rested"]
    note = f"{len(rows)} of {number(len(table))}, those first that rested longest between packets."
    return [Table("Congestion control", head, rows, [False, True, True, True], note)]


def lost(table: pl.DataFrame, most: int = 20) -> list[Table]:
    """Return where packets were lost, and which links were down."""
    if "down_ns" not in table.columns:
        return []

    causes = ("cut_packets", "discarded_packets", "timed_out_packets")
    lost = pl.sum_horizontal(causes)
    hit = table.filter((lost > 0) | (pl.col("down_ns") > 0))
    ordered = hit.sort(lost, descending=True, maintain_order=True)
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


# Parts of reports for ring networks: links by what they carry, and buses.


def _ring_share(value: float) -> Cell:
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
            [*names, *(_ring_share(row[name]) for name in shares), *(_count(row[name]) for name in counts)]
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
        [Cell(row["ring"]), *(_count(row[name]) for name in numbers), _ring_share(row["utilisation_max"])]
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
                _ring_share(row["utilisation"]),
                _count(row["transfers"]),
                Cell(number(row["waiting_ns_mean"] / 1e3), None, row["waiting_ns_mean"]),
            ]
        )
    head = ["Switch", "Ports", "Buses", "Utilisation", "Packets moved", "Mean wait (µs)"]
    note = f"The {len(rows)} busiest of {number(len(table))} switches. Wait: for a bus and a place behind it."
    return [Table("Buses", head, rows, [False, *(True for _ in head[1:])], note)]
