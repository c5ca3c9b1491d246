"""Parts of reports for links (lanes, planes, packets that are lost), for rings and for buses."""

from __future__ import annotations

from functools import partial

from ...process.libraries import pl
from ..page import Cell, Table, amount, busiest, first, listed, micro, micros, number, percent, table_of

MOST_ROWS = 64
"""Most lanes."""


def lanes(table: pl.DataFrame) -> list[Table]:
    """Return what the lanes of the busiest links had of them, beside what is reserved."""
    if not len(table):
        return []
    by_link = table.group_by("link", maintain_order=True).agg(pl.col("utilisation").sum().alias("all"))
    apiece = len(table) // len(by_link)
    chosen = by_link.sort("all", descending=True, maintain_order=True).head(max(1, MOST_ROWS // apiece))
    shown = chosen.join(table, on="link", how="left", maintain_order="left")
    note = (
        "Parts of the time, beginnings and ends of frames included. A lane has less than its reservation if "
        "it has nothing to send or no credit, or if lanes of higher priority send."
    )
    if len(table) > len(shown):
        note += f" The {number(len(chosen))} busiest of {number(len(by_link))} links."
    columns = {
        "Link": ("link", Cell),
        "Lane": ("lane", amount),
        "Had the link": ("utilisation", _share),
        "Reserved": ("reserved", _share),
        "Beyond that": ("beyond_reserved", partial(_share, sign="+")),
    }
    return listed("Lanes", columns, shown, note)


def _share(value: float | None, sign: str = "") -> Cell:
    if value is None:
        return Cell("", None, -2.0)
    return Cell(f"{100 * value:{sign}.1f} %", None if sign else value, value)


def planes(table: pl.DataFrame) -> list[Table]:
    columns = {
        "Plane": ("plane", Cell),
        "Packets": ("packets", amount),
        "MB/s": ("mbytes_per_s", amount),
        "Mean latency (µs)": ("latency_ns_mean", _known_time),
        "Longest (µs)": ("latency_ns_max", _known_time),
        "Share of the payload": ("share", percent),
        "Utilisation, mean": ("utilisation_mean", percent),
        "Utilisation, busiest link": ("utilisation_max", percent),
    }
    note = "A plane is one of the networks in which terminals have their ports."
    return listed("Planes", columns, table, note)


def _known_time(value_ns: float | None) -> Cell:
    return Cell("") if value_ns is None else amount(micro(value_ns))


def congestion(table: pl.DataFrame) -> list[Table]:
    """Return the terminals that congestion control slowed down most."""
    slowest = first(table, "rest_share")
    columns = {
        "Terminal": ("terminal", Cell),
        "Packets delivered with a mark": ("notified", amount),
        "Highest index": ("ccti_highest", amount),
        "Rested": ("rest_share", _share),
    }
    note = f"{len(slowest)} of {number(len(table))}, those first that rested longest between packets."
    return listed("Congestion control", columns, slowest, note)


def lost(table: pl.DataFrame) -> list[Table]:
    """Return where packets were lost, and which links were down."""
    if "down_ns" not in table.columns:
        return []
    lost = pl.sum_horizontal("cut_packets", "discarded_packets", "timed_out_packets")
    hit = table.filter((lost > 0) | (pl.col("down_ns") > 0))
    shown = first(hit, lost)
    note = (
        f"{len(shown)} of the {number(len(hit))} links that were down or where packets were lost. Cut: on "
        "the link, or holding it, when it failed. Discarded: came by this link, and all links were down by "
        "which they could have gone on, or the buffer was full. Timed out: held it and did not move."
    )
    columns = {
        "Link": ("link", Cell),
        "Packets cut on it": ("cut_packets", amount),
        "Packets discarded at its end": ("discarded_packets", amount),
        "Packets timed out": ("timed_out_packets", amount),
        "Down (µs)": ("down_ns", micros),
    }
    return [table_of("Faults", columns, shown, note)]


# Parts of reports for ring networks: links by what they carry, and buses.


def busiest_links(table: pl.DataFrame) -> list[Table]:
    """Return the busiest links and what they carried."""
    columns = {
        "Link": ("link", Cell),
        "Ring": ("ring", Cell),
        "Utilisation": ("utilisation", percent),
        "First sent": ("data_share", percent),
        "Retries": ("retry_share", percent),
        "Echoes": ("echo_share", percent),
        "MB/s": ("mbytes_per_s", amount),
        "Retries (MB/s)": ("retry_mbytes_per_s", amount),
        "Packets": ("packets", amount),
        "Sent again": ("retried", amount),
        "Busied at its end": ("busied", amount),
        "Most symbols held": ("bypass_most_symbols", amount),
    }
    note = (
        "links, and what they were used for. Busied: packets that found no place at the end of the link. "
        "Held: in the bypass FIFO in front of it."
    )
    return busiest("Links", columns, table, "utilisation", note)


def rings(table: pl.DataFrame) -> list[Table]:
    columns = {
        "Ring": ("ring", Cell),
        "Stations": ("stations", amount),
        "MB/s, mean": ("mbytes_per_s_mean", amount),
        "MB/s, busiest link": ("mbytes_per_s_max", amount),
        "Retries (MB/s)": ("retry_mbytes_per_s_mean", amount),
        "Echoes (MB/s)": ("echo_mbytes_per_s_mean", amount),
        "Utilisation, busiest link": ("utilisation_max", percent),
    }
    note = (
        "rings: packets and echoes on a link, with headers and idle symbols; retries and echoes are means "
        "over the links of a ring."
    )
    return busiest("Rings", columns, table, "mbytes_per_s_mean", note)


def buses(table: pl.DataFrame) -> list[Table]:
    columns = {
        "Switch": ("switch", Cell),
        "Ports": ("ports", amount),
        "Buses": ("buses", amount),
        "Utilisation": ("utilisation", percent),
        "Packets moved": ("transfers", amount),
        "Mean wait (µs)": ("waiting_ns_mean", micros),
    }
    note = "switches. Wait: for a bus and a place behind it."
    return busiest("Buses", columns, table, "utilisation", note)
