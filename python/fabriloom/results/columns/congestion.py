"""Keys and columns of runs with congestion control; see ``columns.py``."""

from __future__ import annotations

from .column import count, share, table

CONGESTION_SUMMARY = table(
    "congestion_summary",
    "Summary of runs with congestion control",
    "Keys of the summary that only runs with congestion control have.",
    {
        "congestion.marked": (
            "count | How often a switch marked a packet (FECN).",
            lambda rows: int(rows.raw("link_marked").sum()),
        ),
        "congestion.notified": (
            "count | Marked packets that were delivered: each is a BECN for its sender.",
            lambda rows: int(rows.raw("port_notified").sum()),
        ),
        "congestion.ccti_highest": (
            "count | The highest index of a port in the table (CCTI).",
            lambda rows: int(rows.raw("port_ccti_highest").max()),
        ),
        "congestion.rest_share": (
            "0 to 1 | Share of the time for which ports rested, on average of all.",
            lambda rows: float(rows.share("port_rest_ticks").mean()),
        ),
    },
    is_json=True,
)

CONGESTION_LINKS = table(
    "congestion_links",
    "Links with congestion control",
    "Column of the table of links that only runs with congestion control have.",
    {"marked": ("count | Packets that were marked as they were granted the link.", count("link_marked"))},
)

CONGESTION = table(
    "congestion",
    "Congestion control",
    "One row per terminal, of several ports per port: how far it was slowed down.",
    {
        "terminal": ("text | The terminal or the port.", lambda rows: rows.graph.port_names),
        "notified": ("count | Marked packets of it that were delivered.", count("port_notified")),
        "ccti_highest": ("count | Its highest index in the table (CCTI).", count("port_ccti_highest")),
        "rest_share": (
            "0 to 1 | Share of the time for which it rested between packets.",
            share("port_rest_ticks"),
        ),
    },
)
