# ruff: noqa: E501  (the meanings are prose, one to a line)
"""Keys and columns of networks of rings; see ``columns.py``."""

from __future__ import annotations

from .column import Column, Table

RING_SUMMARY = Table(
    "ring_summary",
    "Summary of networks of rings",
    "Keys of the summary that only networks of rings have. Always offered = delivered + refused + in flight + scrubbed there; a packet is a transaction.",
    (
        Column("network.rings", "count", "Rings of the network."),
        Column("network.buses", "count", "Buses of all switches."),
        Column(
            "packets.scrubbed",
            "count",
            "Transactions whose request or response was removed because it went round its ring twice.",
        ),
        Column("sci.busied", "count", "Packets that found no place and were answered by a busy echo."),
        Column(
            "sci.retries",
            "count",
            "Times that a packet that was sent again was put on a link, by its sender or passing.",
        ),
        Column(
            "sci.retry_share", "0 to 1", "Share of such packets in all the time in which links were in use."
        ),
        Column("sci.echo_share", "0 to 1", "Share of echoes in that time."),
        Column(
            "sci.link_mbytes_per_s_max",
            "10^6 B/s",
            "Packets and echoes on the busiest link, with their headers and idle symbols.",
        ),
        Column(
            "sci.retry_mbytes_per_s_mean",
            "10^6 B/s",
            "Packets that were sent again on a link, with their headers and idle symbols; mean over all links.",
        ),
        Column("sci.retry_mbytes_per_s_max", "10^6 B/s", "The same on the link that carried most of them."),
        Column(
            "sci.retry_delay_ns_max",
            "ns",
            "The longest delay of a retry in the whole run; 0 when nothing was busied.",
        ),
        Column(
            "sci.timed_out",
            "count",
            "Transactions of the whole run that were not finished within `technology.timeout`.",
        ),
        Column("sci.bypass_most_symbols", "count", "The most symbols in a bypass FIFO at any time."),
        Column("sci.link_utilisation_max", "0 to 1", "Utilisation of the busiest link."),
        Column("sci.bus_transfers", "count", "Packets moved over buses."),
        Column("sci.bus_utilisation_max", "0 to 1", "Utilisation of the buses of the busiest switch."),
    ),
)

RING_LINKS = Table(
    "ring_links",
    "Links of rings",
    "One row per link in networks of rings (`results.links`, `links.parquet`): the output of a station.",
    (
        Column("link", "text", "Name of the link."),
        Column("ring", "text", "Ring it belongs to."),
        Column("source", "text", "Switch or terminal whose station sends on it."),
        Column("target", "text", "Switch or terminal of the next station."),
        Column("packets", "count", "Requests and responses put on the link, passing ones included."),
        Column("symbols", "count", "Symbols of 2 B of packets and echoes, with their idle symbols."),
        Column("utilisation", "0 to 1", "Share of the time in which the link was in use."),
        Column("data_share", "0 to 1", "Share for packets that were sent for the first time."),
        Column("retry_share", "0 to 1", "Share for packets that were sent again."),
        Column("echo_share", "0 to 1", "Share for echoes."),
        Column(
            "mbytes_per_s",
            "10^6 B/s",
            "What the link carried, packets and echoes with their headers and idle symbols.",
        ),
        Column("retry_mbytes_per_s", "10^6 B/s", "Of that, packets that were sent again."),
        Column("echo_mbytes_per_s", "10^6 B/s", "Of that, echoes."),
        Column("retried", "count", "Packets put on the link that were sent again."),
        Column("busied", "count", "Packets that the station at its end answered by a busy echo."),
        Column("bypass_most_symbols", "count", "The most symbols in the bypass FIFO in front of the link."),
        Column("waiting_ns", "ns", "Time that the station's own packets waited for the link; summed."),
    ),
)

RINGS = Table(
    "rings",
    "Rings",
    "One row per ring of a network of rings; rates are of packets and echoes with their headers and idle symbols.",
    (
        Column("ring", "text", "Name of the ring."),
        Column("stations", "count", "Its stations, and so its links."),
        Column("mbytes_per_s_mean", "10^6 B/s", "What its links carried on average."),
        Column("mbytes_per_s_max", "10^6 B/s", "What its busiest link carried."),
        Column("retry_mbytes_per_s_mean", "10^6 B/s", "Packets that were sent again, mean over its links."),
        Column("echo_mbytes_per_s_mean", "10^6 B/s", "Echoes, mean over its links."),
        Column("utilisation_mean", "0 to 1", "Average utilisation of its links."),
        Column("utilisation_max", "0 to 1", "Utilisation of its busiest link."),
        Column("busied", "count", "Packets that its stations answered by a busy echo."),
    ),
)

BUSES = Table(
    "buses",
    "Buses",
    "One row per switch of a network of rings.",
    (
        Column("switch", "text", "Name of the switch."),
        Column("ports", "count", "Its ports."),
        Column("buses", "count", "Its buses."),
        Column("transfers", "count", "Packets moved from port to port."),
        Column("utilisation", "0 to 1", "Share of the time in which its buses were in use, on average."),
        Column("waiting_ns", "ns", "Time that packets waited for a bus or a place behind it; summed."),
        Column("waiting_ns_mean", "ns", "The same per packet."),
    ),
)

RING_POINTS = Table(
    "ring_points",
    "Points of networks of rings",
    "Columns of the table of points that only networks of rings have.",
    (
        Column("busied", "count", "See the summary, `sci.busied`."),
        Column("retry_share", "0 to 1", "See the summary."),
        Column("retry_mbytes_per_s_mean", "10^6 B/s", "See the summary."),
        Column("retry_mbytes_per_s_max", "10^6 B/s", "See the summary."),
        Column("echo_share", "0 to 1", "See the summary."),
        Column("link_utilisation_max", "0 to 1", "See the summary."),
        Column("link_mbytes_per_s_max", "10^6 B/s", "See the summary."),
        Column("bus_utilisation_max", "0 to 1", "See the summary."),
    ),
)

RING_CHECK = Table(
    "ring_check",
    "Check of networks of rings",
    "Keys of `fabriloom check` for networks of rings. Besides these: `name`, `scenario_sha256`, `warnings`, `zero_load_latency_ns`, `deadlock` and `resolved` as in Check.",
    (
        Column("network.family", "text", "Kind of the topology."),
        Column("network.switches", "count", "Switches."),
        Column("network.terminals", "count", "Terminals."),
        Column("network.rings", "count", "Rings."),
        Column("network.stations", "count", "Stations: those of terminals and the ports of switches."),
        Column("network.stations_on_a_ring_min", "count", "Stations on the smallest ring."),
        Column("network.stations_on_a_ring_max", "count", "Stations on the largest ring."),
        Column("network.switch_ports", "count", "Ports of all switches, the main cost of a network."),
        Column("network.buses", "count", "Buses of all switches."),
        Column(
            "network.ports_of_ringlets",
            "count",
            "Switch ports of the same network if every line were a ringlet, in stages of 2 x 2 exchanges where the size allows it; null where there is no such network.",
        ),
        Column(
            "network.mean_links_on_the_way",
            "count",
            "Links that a request of this traffic crosses on average.",
        ),
        Column("network.mean_buses_on_the_way", "count", "Buses that it crosses."),
        Column(
            "link.payload_mbytes_per_s",
            "10^6 B/s",
            "Payload of a link in requests of the mean length, back to back: a load of 1.",
        ),
        Column("link.mean_packet_bytes", "B", "Mean payload of a packet."),
        Column(
            "bus.payload_mbytes_per_s",
            "10^6 B/s",
            "Payload that a bus carries in such packets, back to back, with their responses.",
        ),
        Column(
            "channel_load.busiest_link",
            "text",
            "The link, bus or memory that is full first as the load grows.",
        ),
        Column(
            "channel_load.load",
            "ratio",
            "Time that it is busy for each packet of the busiest source, over that of a request on its link: requests, responses and echoes counted, retries not.",
        ),
        Column(
            "channel_load.load_bound",
            "0 to 1",
            "Offered load at which it is full: of more, not all traffic in its proportions can be accepted.",
        ),
        Column(
            "channel_load.accepted_mbytes_per_s_bound",
            "10^6 B/s",
            "The same as accepted payload of all terminals. Above it, more is accepted only of what does not "
            "need it.",
        ),
    ),
)
