# ruff: noqa: E501  (the meanings are prose, one to a line)
"""Columns of the tables of every run; see ``columns.py``."""

from __future__ import annotations

import numpy as np

from ..tables import per
from .column import count, share, table, time_ns

LINKS = table(
    "links",
    "Links",
    "One row per link, which is one direction of a cable.",
    {
        "link": ("text | Name of the link.", lambda rows: rows.graph.link_names),
        "source": ("text | Switch or terminal it leaves.", lambda rows: rows.ends[0]),
        "target": ("text | Switch or terminal it enters.", lambda rows: rows.ends[1]),
        "packets": ("count | Packets whose end left on the link.", count("link_packets")),
        "characters": (
            "count | Header and payload characters and ends of packet sent.",
            count("link_characters"),
        ),
        "utilisation": (
            "0…1 | Share of the time in which the wire was occupied, share of flow-control characters included.",
            lambda rows: rows.utilisation,
        ),
        "blocked_share": (
            "0…1 | Share of the time in which the wire stood still within a packet.",
            share("link_stalled_ticks"),
        ),
        "blocked_ns": ("ns | The same in time.", time_ns("link_stalled_ticks")),
        "waiting_ns": (
            "ns | Time that packets, at the front of their input buffer, waited for the link; summed.",
            time_ns("link_wait_ticks"),
        ),
        "waiting_ns_mean": ("ns | The same per packet.", lambda rows: rows.waiting_ns_mean),
        "stored_most": (
            "count | Most flits of complete packets at a time in an input buffer at the end of the link, where switches pause their senders; 0 elsewhere.",
            count("link_most_stored"),
        ),
    },
)

LANES = table(
    "lanes",
    "Lanes",
    "One row per lane (virtual channel) of a link out of a switch, in networks whose lanes have frames, priorities, reservations or tables.",
    {
        "link": ("text | Name of the link.", lambda rows: rows.links),
        "lane": ("count | Number of the lane.", lambda rows: rows.shown % rows.lanes),
        "utilisation": (
            "0…1 | Share of the time in which the lane had the wire, with the beginnings and ends of its frames.",
            lambda rows: rows.used,
        ),
        "reserved": (
            "0…1 | Share that is reserved for it; null if nothing is reserved on this network.",
            lambda rows: rows.reserved,
        ),
        "beyond_reserved": (
            "-1…1 | Utilisation less reserved: below 0 a lane had less than its reservation, because it had nothing to send, no credit, or because others may send before it.",
            lambda rows: rows.beyond,
        ),
    },
)

FLOWS = table(
    "flows",
    "Flows",
    "One row per pair of terminals between which packets were delivered in the measuring window.",
    {
        "source": ("text | Terminal that sent.", lambda rows: rows.end("source")),
        "target": ("text | Terminal that received.", lambda rows: rows.end("target")),
        "packets": ("count | Packets delivered in the measuring window.", lambda rows: rows.number),
        "bytes": ("B | Their payload.", lambda rows: rows.size),
        "mbytes_per_s": (
            "MB/s | Payload over the length of the measuring window.",
            lambda rows: rows.rate(rows.size),
        ),
        "share": (
            "0…1 | Payload of this flow over the payload of all.",
            lambda rows: rows.share_of_all(rows.size),
        ),
        "latency_ns_mean": ("ns | Mean network latency.", lambda rows: rows.latency_ns_mean),
        "latency_ns_max": (
            "ns | Longest network latency.",
            lambda rows: rows.own("latency_max_ticks") * rows.tick_ns,
        ),
        "bound_ns": (
            "ns | No packet of the flow takes longer, in any run, see `fabriloom bound`; null where there is no bound, and for more than 512 flows.",
            lambda rows: rows.bound_ns,
        ),
    },
)

COMPLETIONS = table(
    "completions",
    "Completion of flows",
    "One row per flow of the pattern `flows`, in the order of their sources: its packets in the whole run, warm-up included. A packet for several terminals counts once per copy.",
    {
        "flow": ("text | Its name, or its two ends.", lambda rows: rows.names),
        "source": ("text | Terminal that sends.", lambda rows: rows.end("source")),
        "target": ("text | Terminal that receives.", lambda rows: rows.end("target")),
        "created": ("count | Packets created.", lambda rows: rows.own("made")),
        "delivered": ("count | Packets delivered.", lambda rows: rows.own("delivered")),
        "refused": (
            "count | Packets that found the queue of the source full.",
            lambda rows: rows.own("refused"),
        ),
        "lost": ("count | Packets lost by faults, or removed.", lambda rows: rows.own("lost")),
        "under_way": (
            "count | Packets that wait at the source or travel at the end of the run.",
            lambda rows: rows.under_way,
        ),
        "bytes": ("B | Payload delivered.", lambda rows: rows.size),
        "first_created_ns": (
            "ns | When the first packet was created; null if none was.",
            lambda rows: rows.first_ns,
        ),
        "last_delivered_ns": (
            "ns | When the last of those that arrived was delivered; null if none was.",
            lambda rows: rows.last_ns,
        ),
        "completion_ns": (
            "ns | From the first to the last of these moments, for a flow with `stop` or `count` that has ended and of which every packet has arrived; otherwise null.",
            lambda rows: rows.completion_ns,
        ),
        "mbytes_per_s": (
            "MB/s | Payload delivered over the time between these moments.",
            lambda rows: rows.mbytes_per_s,
        ),
    },
)

BATCHES = table(
    "batches",
    "Batches",
    "One row per batch of the measuring window as the engine kept it, before merging.",
    {
        "start_ns": ("ns | Start of the batch.", lambda rows: rows.bounds[1] * rows.tick_ns),
        "end_ns": ("ns | End of the batch.", lambda rows: rows.bounds[2] * rows.tick_ns),
        "packets": ("count | Packets delivered in it.", lambda rows: rows.own("packets")),
        "accepted_mbytes_per_s": (
            "MB/s | Payload delivered over the length of the batch.",
            lambda rows: per(rows.own("bytes") * 1e3, rows.length_ns),
        ),
        "latency_ns_mean": (
            "ns | Mean network latency of its packets; null when there were none.",
            lambda rows: rows.latency_ns_mean("latency"),
        ),
        "total_latency_ns_mean": (
            "ns | Mean latency from creation of its packets; null when there were none.",
            lambda rows: rows.latency_ns_mean("total"),
        ),
    },
)

OVER_TIME = table(
    "over_time",
    "Throughput over time",
    "One row per batch and flow (`over_time.parquet`). With up to 8 flows these are pairs of terminals; with more, and in runs of programs, terminals that send; with more than 8 terminals, up to 8 groups of them by number. Terminals that sent nothing are left out. Batches, and so the table, are at most 127 long; there is none for a single flow.",
    {
        "start_ns": ("ns | Start of the batch.", lambda rows: rows.each(rows.bounds[1] * rows.tick_ns)),
        "end_ns": ("ns | End of the batch.", lambda rows: rows.each(rows.bounds[2] * rows.tick_ns)),
        "of": (
            "text | The flow, the terminal, or the first and the last of some terminals.",
            lambda rows: [rows.names[one] for one in rows.sent] * len(rows.bounds[1]),
        ),
        "packets": ("count | Packets of it delivered in the batch.", lambda rows: rows.of("packets")),
        "mbytes_per_s": (
            "MB/s | Their payload over the length of the batch.",
            lambda rows: per(rows.of("bytes") * 1e3, rows.each(rows.length_ns)),
        ),
    },
)

CCDF = table(
    "ccdf",
    "Complementary cumulative latency",
    "One row per step of the curve (`latency.parquet`).",
    {
        "latency_ns": ("ns | Network latency.", time_ns("latency_values_ticks")),
        "packets": (
            "count | Packets in the histogram bin of which this is the middle.",
            count("latency_counts"),
        ),
        "share_longer": ("0…1 | Share of the packets that took longer.", lambda rows: rows.share_longer),
    },
)

TRACE = table(
    "trace",
    "Packet trace",
    "One row per delivered packet; only with `output.trace = true`.",
    {
        "packet": (
            "number | Number of the packet, from 0, in the order of delivery.",
            lambda rows: np.arange(len(rows.raw("trace_source"))),
        ),
        "source": ("text | Terminal that sent it.", lambda rows: rows.end("source")),
        "target": ("text | Terminal that received it.", lambda rows: rows.end("target")),
        "length_bytes": ("B | Payload.", count("trace_length")),
        "created_ns": ("ns | Creation at the source.", time_ns("trace_created_ticks")),
        "started_ns": (
            "ns | Start of its first character on the link out of its source.",
            time_ns("trace_started_ticks"),
        ),
        "delivered_ns": ("ns | End of packet received.", time_ns("trace_delivered_ticks")),
        "latency_ns": ("ns | From started to delivered.", lambda rows: rows.latency_ns),
    },
)
