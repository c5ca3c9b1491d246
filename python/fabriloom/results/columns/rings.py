# ruff: noqa: E501  (the meanings are prose, one to a line)
"""Keys and columns of networks of rings; see ``columns.py``."""

from __future__ import annotations

import numpy as np

from ..tables import per
from .column import Value, of_summary, table

RING_SUMMARY = table(
    "ring_summary",
    "Summary of networks of rings",
    "Offered = delivered + refused + in flight + scrubbed; a packet is a transaction.",
    {
        "network.rings": "count | Rings of the network. | graph.rings.rings",
        "network.buses": (
            "count | Buses of all switches.",
            lambda rows: int(rows.graph.rings.bus_count.sum()),
        ),
        "packets.scrubbed": "count | Transactions whose request or response was removed because it went round its ring twice. | engine scrubbed",
        "sci.busied": "count | Packets that found no place: answered by a busy echo, or let pass. | engine link_busied",
        "sci.retries": "count | Times that a packet sent again was put on a link, by its sender or passing. | engine link_retried",
        "sci.retry_share": (
            "0…1 | Share of such packets in all the time in which links were in use.",
            lambda rows: rows.part("retry"),
        ),
        "sci.echo_share": ("0…1 | Share of echoes in that time.", lambda rows: rows.part("echo")),
        "sci.link_mbytes_per_s_max": (
            "MB/s | Packets and echoes on the busiest link, with their headers and idle symbols.",
            lambda rows: float(rows.rates["all"].max(initial=0.0)),
        ),
        "sci.retry_mbytes_per_s_mean": (
            "MB/s | Packets sent again on a link, with their headers and idle symbols; mean over all links.",
            lambda rows: float(rows.rates["retry"].mean()) if rows.graph.links else 0.0,
        ),
        "sci.retry_mbytes_per_s_max": (
            "MB/s | The same on the link that carried most of them.",
            lambda rows: float(rows.rates["retry"].max(initial=0.0)),
        ),
        "sci.retry_delay_ns_max": (
            "ns | The longest delay of a retry in the whole run; 0 when nothing was busied.",
            lambda rows: int(rows.native["retry_delay_ticks_max"]) * rows.tick_ns,
        ),
        "sci.timed_out": "count | Transactions of the whole run that were not finished within `technology.timeout`. | engine timed_out",
        "sci.bypass_most_symbols": (
            "count | The most symbols in a bypass FIFO at any time.",
            lambda rows: int(rows.raw("link_bypass_most").max(initial=0)),
        ),
        "sci.link_utilisation_max": (
            "0…1 | Utilisation of the busiest link.",
            lambda rows: float(rows.utilisation.max(initial=0.0)),
        ),
        "sci.bus_transfers": "count | Packets moved over buses. | engine bus_transfers",
        "sci.bus_utilisation_max": (
            "0…1 | Utilisation of the buses of the busiest switch.",
            lambda rows: float(rows.bus_utilisation.max(initial=0.0)),
        ),
    },
    is_json=True,
)

RING_LINKS = table(
    "ring_links",
    "Links of rings",
    "One row per link in networks of rings: the output of a station.",
    {
        "link": "text | Its name. | graph.link_names",
        "ring": "text | Ring it belongs to. | rings",
        "source": ("text | Switch or terminal whose station sends on it.", lambda rows: rows.ends[0]),
        "target": ("text | Switch or terminal of the next station.", lambda rows: rows.ends[1]),
        "packets": "count | Requests and responses put on the link, passing ones included. | engine link_packets",
        "symbols": "count | Symbols of packets and echoes, with their idle symbols; `technology.symbol` says how large these are. | engine link_characters",
        "utilisation": "0…1 | Share of the time in which the link was in use.",
        "data_share": "0…1 | Share for packets sent for the first time.",
        "retry_share": "0…1 | Share for packets sent again. | engine link_retry_ticks",
        "echo_share": "0…1 | Share for echoes. | engine link_echo_ticks",
        "mbytes_per_s": "MB/s | What the link carried, packets and echoes with their headers and idle symbols. | rates.all",
        "retry_mbytes_per_s": "MB/s | Of that, packets sent again. | rates.retry",
        "echo_mbytes_per_s": "MB/s | Of that, echoes. | rates.echo",
        "retried": "count | Packets sent again put on the link. | engine link_retried",
        "busied": "count | Packets for which the station at its end had no place. | engine link_busied",
        "bypass_most_symbols": "count | The most symbols in the bypass FIFO in front of the link. | engine link_bypass_most",
        "waiting_ns": "ns | Time that the station's own packets waited for the link; summed. | engine link_wait_ticks",
    },
)


def _of_links(name: str) -> Value:
    """Return the maker of a mean or a maximum over the links of a ring, by the name of the column."""
    column, _, way = name.rpartition("_")
    return lambda pl: getattr(pl.col(column), way)()


RINGS = table(
    "rings",
    "Rings",
    "One row per ring of a network of rings; rates are of packets and echoes with their headers and idle symbols.",
    {
        "ring": ("text | Its name.", lambda pl: pl.col("ring")),
        "stations": ("count | Its stations, and so its links.", lambda pl: pl.len()),
        "mbytes_per_s_mean": "MB/s | What its links carried on average.",
        "mbytes_per_s_max": "MB/s | What its busiest link carried.",
        "retry_mbytes_per_s_mean": "MB/s | Packets sent again, mean over its links.",
        "echo_mbytes_per_s_mean": "MB/s | Echoes, mean over its links.",
        "utilisation_mean": "0…1 | Average utilisation of its links.",
        "utilisation_max": "0…1 | Utilisation of its busiest link.",
        "busied": (
            "count | Packets that its stations answered by a busy echo.",
            lambda pl: pl.col("busied").sum(),
        ),
    },
    maker=_of_links,
)

BUSES = table(
    "buses",
    "Buses",
    "One row per switch of a network of rings.",
    {
        "switch": "text | Its name. | graph.switch_names",
        "ports": ("count | Its ports.", lambda rows: np.diff(rows.graph.own_rings.port_start)),
        "buses": "count | Its buses. | graph.own_rings.bus_count",
        "transfers": "count | Packets moved from port to port. | engine bus_transfers",
        "utilisation": "0…1 | Share of the time in which its buses were in use, on average. | bus_utilisation",
        "waiting_ns": "ns | Time that packets waited for a bus or a place behind it; summed. | engine bus_wait_ticks",
        "waiting_ns_mean": (
            "ns | The same per packet.",
            lambda rows: per(rows.ns("bus_wait_ticks"), rows.count("bus_transfers")),
        ),
    },
)

RING_POINTS = table(
    "ring_points",
    "Points of networks of rings",
    "",
    {
        **of_summary("count", busied="sci.busied"),
        **of_summary("0…1", retry_share="sci.retry_share"),
        **of_summary(
            "MB/s",
            retry_mbytes_per_s_mean="sci.retry_mbytes_per_s_mean",
            retry_mbytes_per_s_max="sci.retry_mbytes_per_s_max",
        ),
        **of_summary("0…1", echo_share="sci.echo_share", link_utilisation_max="sci.link_utilisation_max"),
        **of_summary("MB/s", link_mbytes_per_s_max="sci.link_mbytes_per_s_max"),
        **of_summary("0…1", bus_utilisation_max="sci.bus_utilisation_max"),
    },
)

RING_CHECK = table(
    "ring_check",
    "Check of networks of rings",
    "Besides these: `name`, `scenario_sha256`, `warnings`, `zero_load_latency_ns`, `deadlock` and `resolved` as in Check.",
    {
        "network.family": "text | Kind of the topology.",
        "network.switches": "count | Switches.",
        "network.terminals": "count | Terminals.",
        "network.rings": "count | Rings.",
        "network.stations": "count | Stations: those of terminals and the ports of switches.",
        "network.stations_on_a_ring_min": "count | Stations on the smallest ring.",
        "network.stations_on_a_ring_max": "count | Stations on the largest ring.",
        "network.switch_ports": "count | Ports of all switches, the main cost of a network.",
        "network.buses": "count | Buses of all switches.",
        "network.ports_of_ringlets": "count | Switch ports of the same network if every line were a ringlet, in stages of 2 x 2 exchanges where the size allows it; null where there is no such network.",
        "network.mean_links_on_the_way": "count | Links that a request of this traffic crosses on average.",
        "network.mean_buses_on_the_way": "count | Buses that it crosses.",
        "link.payload_mbytes_per_s": "MB/s | Payload of a link in requests of the mean length, back to back: a load of 1.",
        "link.mean_packet_bytes": "B | Mean payload of a packet.",
        "bus.payload_mbytes_per_s": "MB/s | Payload that a bus carries in such packets, back to back, with their responses.",
        "channel_load.busiest_link": "text | The link, bus, memory, input queue, window or host that is full first as the load grows.",
        "channel_load.load": "ratio | Time that it is busy for each packet of the busiest source, over that of a request on its link: requests, responses and echoes counted, retries not.",
        "channel_load.load_bound": "0…1 | Offered load at which it is full: of more, not all traffic in its proportions can be accepted.",
        "channel_load.shared_load_bound": "0…1 | The same.",
        "channel_load.accepted_mbytes_per_s_bound": "MB/s | The same as accepted payload of all terminals. Above it, more is accepted only of what does not need it.",
    },
    is_json=True,
)
