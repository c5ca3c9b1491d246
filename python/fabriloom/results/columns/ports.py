# ruff: noqa: E501  (the meanings are prose, one to a line)
"""Keys and columns of terminals with several ports; see ``columns.py``."""

from __future__ import annotations

from .column import count, table, time_ns

PORT_SUMMARY = table(
    "port_summary",
    "Summary with several ports",
    "Keys of the summary that only networks have whose terminals have several ports.",
    {
        "network.ports": "count | Ports of all terminals.",
        "network.planes": "count | Networks that these are in.",
        "packets.overtaken": 'count | Packets delivered in the measuring window behind a packet of the same pair of terminals that had got its port later; of programs only with `ports.per = "packet"`.',
        "messages.overtaken": "count | Of programs: messages received in the measuring window behind a message that the same terminal had made later for the same target.",
    },
    is_json=True,
)

PORT_LINKS = table(
    "port_links",
    "Links of several planes",
    "Column of the table of links, behind `link`, that only networks have whose terminals have several ports.",
    {
        "plane": ("text | Name of the plane that it is of.", lambda rows: rows.planes),
    },
)

PLANES = table(
    "planes",
    "Planes",
    "One row per plane, if terminals have several ports.",
    {
        "plane": ("text | Name of the plane.", lambda rows: [plane.name for plane in rows.planes]),
        "packets": ("count | Packets delivered by it in the measuring window.", count("plane_packets")),
        "bytes": ("B | Their payload.", lambda rows: rows.size),
        "mbytes_per_s": (
            "MB/s | Payload over the length of the measuring window.",
            lambda rows: rows.rate(rows.size),
        ),
        "share": ("0…1 | Its payload over that of all planes.", lambda rows: rows.share_of_all(rows.size)),
        "latency_ns_mean": (
            "ns | Mean network latency; null when no packet came.",
            lambda rows: rows.latency_ns_mean,
        ),
        "latency_ns_max": ("ns | Longest network latency.", time_ns("plane_latency_max_ticks")),
        "utilisation_mean": (
            "0…1 | Mean utilisation of its links.",
            lambda rows: [float(links.mean()) if len(links) else 0.0 for links in rows.busy],
        ),
        "utilisation_max": (
            "0…1 | Utilisation of its busiest link.",
            lambda rows: [float(links.max(initial=0.0)) for links in rows.busy],
        ),
    },
)

PORT_CHECK = table(
    "port_check",
    "Check with several ports",
    "Keys of `fabriloom check` that only networks have whose terminals have several ports.",
    {
        "network.ports": "count | Ports of all terminals.",
        "network.planes": "count | Networks that these are in.",
        "planes": "list | Of each plane `plane`, its name, and what `channel_load` says of all of them: the busiest link, its load, the load at which it is full and the accepted payload of this plane then.",
    },
    is_json=True,
)
