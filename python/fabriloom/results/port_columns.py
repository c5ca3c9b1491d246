# ruff: noqa: E501  (the meanings are prose, one to a line)
"""Keys and columns of terminals with several ports; see ``columns.py``."""

from __future__ import annotations

from .column import Column, Table

PORT_SUMMARY = Table(
    "port_summary",
    "Summary with several ports",
    "Keys of the summary that only networks have whose terminals have several ports.",
    (
        Column("network.ports", "count", "Ports of all terminals."),
        Column("network.planes", "count", "Networks that these are in."),
        Column(
            "packets.overtaken",
            "count",
            'Packets delivered in the measuring window behind a packet of the same pair of terminals that had got its port later; of programs only with `ports.per = "packet"`.',
        ),
        Column(
            "messages.overtaken",
            "count",
            "Of programs: messages received in the measuring window behind a message that the same terminal had made later for the same target.",
        ),
    ),
)

PLANES = Table(
    "planes",
    "Planes",
    "One row per plane, if terminals have several ports. The table of links has a column `plane` then.",
    (
        Column("plane", "text", "Name of the plane."),
        Column("packets", "count", "Packets delivered by it in the measuring window."),
        Column("bytes", "B", "Their payload."),
        Column("mbytes_per_s", "10^6 B/s", "Payload over the length of the measuring window."),
        Column("share", "0 to 1", "Its payload over that of all planes."),
        Column("latency_ns_mean", "ns", "Mean network latency; null when no packet came."),
        Column("latency_ns_max", "ns", "Longest network latency."),
        Column("utilisation_mean", "0 to 1", "Mean utilisation of its links."),
        Column("utilisation_max", "0 to 1", "Utilisation of its busiest link."),
    ),
)

PORT_CHECK = Table(
    "port_check",
    "Check with several ports",
    "Keys of `fabriloom check` that only networks have whose terminals have several ports.",
    (
        Column("network.ports", "count", "Ports of all terminals."),
        Column("network.planes", "count", "Networks that these are in."),
        Column(
            "planes",
            "list",
            "Of each plane `plane`, its name, and what `channel_load` says of all of them: the busiest link, its load, the load at which it is full and the accepted payload of this plane then.",
        ),
    ),
)
