# ruff: noqa: E501  (the meanings are prose, one to a line)
"""Columns of the tables of every run, and the keys of its summary and of ``fabriloom check``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tables import per
from .column import Said, percentiles, table

# The keys of the summary of a run, and those of ``fabriloom check``.

NETWORK_LATENCY_FROM = "start of the packet's first character on the link out of its source terminal"
NETWORK_LATENCY_TO = "end of packet received at its destination terminal"
RING_LATENCY_FROM = "start of the request on the link out of its source's station"
RING_LATENCY_TO = "end of storing the data: at the target, for nread and lock at the source"
TOTAL_LATENCY_FROM = "creation of the packet at its source; includes the wait in the source's queue"


def _latency(prefix: str, what: str) -> dict[str, Said]:
    """Return the keys of one latency: mean with confidence, extremes, percentiles, and its start and end."""
    return {
        f"{prefix}.from": f"text | The moment {what} is counted from.",
        f"{prefix}.to": f"text | The moment {what} is counted to.",
        f"{prefix}.mean": f"ns | Mean of {what} over the packets delivered in the window.",
        f"{prefix}.mean_ci95": "ns | Half-width of its 95 % confidence interval, by batch means.",
        f"{prefix}.min": "ns | Shortest.",
        f"{prefix}.max": "ns | Longest.",
        **percentiles(prefix, "{} % of the packets took no longer, to the resolution of the histogram."),
    }


SUMMARY = table(
    "summary",
    "Summary",
    "One nested dictionary; a dot in a key is one level.",
    {
        "name": "text | Name of the scenario.",
        "scenario_sha256": "text | SHA-256 of the resolved scenario, seed included.",
        "version": "text | Version of Fabriloom that made the result.",
        "seed": "number | Seed of every random stream.",
        "end.reason": "text | Why the run ended: `drained`, `precision`, `saturated`, `deadlocked`, `livelocked`, `incomplete`, `stopped`, `stalled`, `time_limit`, `packet_limit` or `interrupted`.",
        "end.message": "text | The same as a sentence.",
        "end.cycle": "list of text | Deadlocked only, otherwise empty: the links whose front packets wait for each other, each for the next and the last for the first.",
        "verdict": "text | Whether it carries what is offered, and what limits it, in one sentence.",
        "keeps_up": "true or false | Whether queues stay bounded and at most 1 % was lost; of programs, whether the latency of events stays bounded. Null if the run is too short to tell, or nothing is due.",
        "limit.what": "text | What is nearest to its limit: a `link`, a `bus`, a receive `queue` that rejects packets, `blocking` by packets that wait, a `host` that works or waits for tokens all the time, `incast` at a receiver, or the `window` of a protocol.",
        "limit.name": "text | Which one; for blocking, the link for which packets waited longest in total, or that on which they waited if for no other packet.",
        "limit.share": "0…1 | How busy it is; for blocking and for a queue, the busiest link.",
        "limit.reached": "true or false | Whether it is at its limit: 95 % of the time in use.",
        "limit.text": "text | The same as a part of a sentence.",
        "warnings": "list of text | What was noticed about the scenario, such as a routing that can deadlock, and the results, such as intervals that cannot be trusted.",
        "network.switches": "count | Switches of the network.",
        "network.terminals": "count | Terminals of the network.",
        "network.links": "count | Links of the network; a cable is two.",
        "reverse_load": "0…1 | How busy the opposite directions of cables were taken to be: the part of its flow-control share that each character paid.",
        "simulated_ns": "ns | Simulated time from the start to the end of the run.",
        "warmup_ns": "ns | The beginning of the run, which is not measured; 0 if the run ended before it was over.",
        "measured_ns": "ns | The measuring window: simulated time without the warm-up.",
        "longest_pause_ns": "ns | The longest time in the window in which no packet arrived anywhere.",
        "longest_pause_from_ns": "ns | When it began.",
        "offered_mbytes_per_s": "MB/s | Payload of the packets created in the window, refused ones included, over its length.",
        "refused_mbytes_per_s": "MB/s | The same of packets refused because the queue of their source was full.",
        "accepted_mbytes_per_s": "MB/s | Payload of the packets delivered in the window over its length.",
        "accepted_mbytes_per_s_ci95": "MB/s | Half-width of its 95 % confidence interval.",
        "accepted_mbytes_per_s_per_terminal": "MB/s | That, per terminal.",
        "packets.offered": "count | Packets created by the sources in the whole run.",
        "packets.delivered": "count | Packets received whole in the whole run.",
        "packets.refused": "count | Packets that found the queue of their source full.",
        "packets.in_flight": "count | Packets waiting at their source or under way at the end. Offered = delivered + refused + in flight.",
        "packets.measured": "count | Packets delivered in the window.",
        **_latency("latency_ns", "network latency"),
        **_latency("total_latency_ns", "latency with the wait at the source"),
        "statistics.batches": "count | Batches from which the confidence half-widths are computed.",
        "statistics.lag1_correlation": "-1…1 | Correlation of the mean latency of successive batches. Well above 0, the half-widths are too small.",
        "statistics.trusted": "true or false | False if batches of throughput, network latency or total latency (above saturation of throughput) are more alike than chance makes them, or rise or fall: two tests of each, with one false alarm in 200 runs each; see [statistics](../background/statistics.md). Null of a run that drained, deadlocked, livelocked or stopped.",
        "not_kept.flow_packets": "count | Measured packets missing in the table of flows, because there were more flows than are kept.",
        "not_kept.trace_packets": "count | Packets missing in the packet trace, because it was full.",
        "engine.name": "text | `links` for networks of links, `rings` for networks of rings.",
        "engine.events": "count | Events that the engine processed.",
        "engine.packet_hops": "count | Times that a packet was granted an output of a switch; in networks of rings, was put on a link.",
        "engine.wall_s": "s | Time that the run took on this machine: the only value that differs when a run is repeated; not of points of studies.",
    },
    is_json=True,
)

CHECK = table(
    "check",
    "Check",
    "The JSON of `fabriloom check`. Besides these keys: `name`, `scenario_sha256` and `warnings` as in the summary, and `resolved`, the scenario with every default filled in.",
    {
        "network.family": "text | Kind of the topology.",
        "network.switches": "count | Switches.",
        "network.terminals": "count | Terminals.",
        "network.links": "count | Links, one per direction.",
        "network.cables": "count | Cables; a one-way link counts as one.",
        "network.terminal_cables": "count | Cables to terminals.",
        "network.switch_cables": "count | Cables between switches.",
        "network.ports_used_min": "count | Ports in use on the switch that uses fewest.",
        "network.ports_used_max": "count | Ports in use on the switch that uses most.",
        "network.mean_links_on_the_way": "count | Links that a packet of this traffic crosses on average.",
        "network.choices_max": "count | Links among which a switch chooses a free one for a packet, at most.",
        "link.payload_mbytes_per_s": "MB/s | Payload of a link, the fastest where they differ, in packets of the mean length, one after the other on one path, over all cables that they can choose from.",
        "link.wire_mbytes_per_s": "MB/s | The same if the wire alone limited it.",
        "link.limited_by": "text | What limits these packets: `wire`, `hand-over`, `buffer`, or `host` or `window` of a program.",
        "link.why": "text | This as a sentence; empty if it is the wire.",
        "link.mean_packet_bytes": "B | Mean payload of a packet.",
        "link.flits": "text | How much of its flits a packet of the mean length fills, and whether headers count; empty if all, or if there are no flits.",
        "link.rounded_ppm": "ppm | Part of the rate by which the time of a character is rounded; 0 if it is exact.",
        "link.endless_packet_mbytes_per_s": "MB/s | Payload of this link in one endless packet.",
        "link.alike": "true or false | Whether all links have one rate.",
        "bisection.links": "count | Links that cross the narrowest cut into halves, both directions together.",
        "bisection.mbytes_per_s": "MB/s | The same as payload.",
        "bisection.exact": "true or false | Whether no narrower cut exists; otherwise it is the narrowest found.",
        "bisection.method": "text | How it was found.",
        "channel_load.busiest_link": "text | The link that is full first as the load grows, if each switch shares packets evenly among the links that they may take.",
        "channel_load.load": "ratio | Its packets over those of the busiest source, slower links and headers of random switches weighted.",
        "channel_load.load_bound": "0…1 | Offered load at which it is full.",
        "channel_load.shared_load_bound": "0…1 | Offered load of which, however switches share packets, not all traffic in its proportions can be accepted. Equal to load_bound where packets have one way; null where it is not computed: with several ports a terminal or distributions that have a choice, with `ugal`, and for tables of more than seven million entries.",
        "channel_load.accepted_mbytes_per_s_bound": "MB/s | The same as accepted payload of all terminals. Above it, more is accepted only of what does not cross that link, or if switches share better.",
        "zero_load_latency_ns.min": "ns | Shortest network latency of a packet that meets no other.",
        "zero_load_latency_ns.mean": "ns | Its mean over the pairs examined.",
        "zero_load_latency_ns.max": "ns | Its longest.",
        "zero_load_latency_ns.pairs": "count | Pairs of terminals examined: all, or about a thousand; of flows and of fixed partners, theirs.",
        "zero_load_latency_ns.length_bytes": "B | Payload of these packets: the longest of the scenario. Flows have their own lengths, up to this.",
        "deadlock.free": "true or false | Whether packets of the given traffic can never wait for each other in a cycle, with all tables and while two are in use, and programs do not wait for each other.",
        "deadlock.cycle": "list of text | Links of a cycle, if there is one.",
        "deadlock.any_traffic_free": "true or false | The same if any terminal may send to any.",
        "deadlock.any_traffic_cycle": "list of text | Links of a cycle then.",
        "deadlock.when": "text | The fault or repair with whose tables the cycle appears; empty: from the start.",
        "deadlock.waiting": "list of text | What programs wait for that never comes, whatever the network.",
        "deadlock.text": "text | All this as a sentence.",
    },
    is_json=True,
)

SLOWER_CHECK = table(
    "slower_check",
    "Check of faults",
    "",
    {
        "slower.links": "list of text | Links that go on with [fewer physical lanes](../guides/spacefibre.md#several-lanes-of-a-link), the slowest first.",
        "slower.physical_lanes": "count | Physical lanes of the slowest link then.",
        "slower.of_physical_lanes": "count | Without faults.",
        "slower.payload_mbytes_per_s": "MB/s | Its payload then.",
        "slower.mbytes_per_s_bound": "MB/s | What the network carries with all at their slowest.",
        "slower.load_bound": "ratio | Its load, or `traffic.scale`.",
        "slower.busiest_link": "text | Full first then.",
    },
    is_json=True,
)

RATE_CHECK = table(
    "rate_check",
    "Check of rates",
    "Of scenarios whose traffic is given as rates or flows.",
    {
        "demanded.offered_mbytes_per_s": "MB/s | Payload that all sources offer.",
        "demanded.busiest": "text | The link, bus or memory that needs most of its time for it.",
        "demanded.busiest_share": "ratio | How much of its time that is; above 1 it is too much.",
        "demanded.full_first": "text | The link, bus or memory that carries no more first as all rates grow; a small buffer or the time between two packets can hold back a link that is not busy. `every shaper`: these let no more pass.",
        "demanded.accepted_mbytes_per_s_bound": "MB/s | Payload of all at which that is full, links of a group sharing evenly.",
        "demanded.scale_bound": "ratio | The `traffic.scale` at which that is full.",
        "demanded.shared_scale_bound": "ratio | The `traffic.scale` that cannot be carried however switches share packets; null where it is not computed.",
        "demanded.over": "list | All that are overloaded, the worst first, at most ten: `what` and `share`. Of a link also `asked_mbytes_per_s`, `possible_mbytes_per_s` in the same packets, and `most`: the pairs of terminals that ask most.",
        "demanded.over_count": "count | How many there are.",
        "demanded.without_end": "true or false | Whether all flows send all the time; if not, all this is of a time in which they do.",
    },
    is_json=True,
)


LINKS = table(
    "links",
    "Links",
    "One row per link, which is one direction of a cable.",
    {
        "link": "text | Its name. | graph.link_names",
        "source": ("text | Switch or terminal it leaves.", lambda rows: rows.ends[0]),
        "target": ("text | Switch or terminal it enters.", lambda rows: rows.ends[1]),
        "packets": "count | Packets whose end left on the link; one that was on it as the window began or ended may count, with all its characters. | engine link_packets",
        "characters": "count | Header and payload characters and ends of packet sent. | engine link_characters",
        "utilisation": "0…1 | Share of the time in which the wire was occupied, flow-control characters included.",
        "blocked_share": "0…1 | Share of the time in which the wire stood still within a packet.",
        "blocked_ns": "ns | The same in time.",
        "waiting_ns": "ns | Time that packets at the front of their input buffer waited for the link; summed. | engine link_wait_ticks",
        "waiting_ns_mean": "ns | The same per packet.",
        "stored_most": "count | Where switches pause their senders, most flits of complete packets at a time in an input buffer at the end of the link; else 0. | engine link_most_stored",
    },
)

LANES = table(
    "lanes",
    "Lanes",
    "One row per lane (virtual channel) of a link out of a switch, in networks whose lanes have frames, priorities, reservations or tables.",
    {
        "link": "text | Name of its link.",
        "lane": ("count | Number of the lane.", lambda rows: rows.shown % rows.lanes),
        "utilisation": "0…1 | Share of the time in which the lane had the wire, its frames included.",
        "reserved": "0…1 | Share that is reserved for it; null if nothing is reserved on this network.",
        "beyond_reserved": "-1…1 | Utilisation less reserved: below 0 where it had nothing to send, no credit, or others go first.",
    },
)

FLOWS = table(
    "flows",
    "Flows",
    "One row per pair of terminals between which packets were delivered in the window.",
    {
        "source": ("text | Terminal that sent.", lambda rows: rows.end("source")),
        "target": ("text | Terminal that received.", lambda rows: rows.end("target")),
        "packets": "count | Packets delivered in the window. | number",
        "bytes": "B | Their payload. | size",
        "mbytes_per_s": "MB/s | Payload over the length of the window.",
        "share": (
            "0…1 | Payload of this flow over the payload of all.",
            lambda rows: rows.share_of_all(rows.size),
        ),
        "latency_ns_mean": "ns | Mean network latency.",
        "latency_ns_max": "ns | Longest network latency.",
        "bound_ns": "ns | No packet of the flow takes longer, in any run (`fabriloom bound`); null without a bound, and for more than 512 flows.",
    },
)

COMPLETIONS = table(
    "completions",
    "Completion of flows",
    "One row per flow of the pattern `flows`, in the order of their sources: its packets in the whole run, warm-up included. A packet for several terminals counts once per copy.",
    {
        "flow": "text | Its name, or its two ends.",
        "source": ("text | Terminal that sends.", lambda rows: rows.end("source")),
        "target": ("text | Terminal that receives.", lambda rows: rows.end("target")),
        "created": ("count | Packets created.", lambda rows: rows.own("made")),
        "delivered": ("count | Packets delivered.", lambda rows: rows.own("delivered")),
        "refused": (
            "count | Packets that found the queue of the source full.",
            lambda rows: rows.own("refused"),
        ),
        "lost": ("count | Packets lost by faults, or removed.", lambda rows: rows.own("lost")),
        "under_way": "count | Packets waiting or travelling at the end of the run.",
        "bytes": "B | Payload delivered. | size",
        "first_created_ns": "ns | When the first packet was created.",
        "last_delivered_ns": "ns | When the last was delivered.",
        "completion_ns": "ns | From the first to the last of these moments, for a flow with `stop` or `count` that has ended and of which every packet has arrived; otherwise null.",
        "mbytes_per_s": "MB/s | Payload delivered over the time between these moments.",
    },
)

BATCHES = table(
    "batches",
    "Batches",
    "One row per batch of the window as the engine kept it, before merging.",
    {
        "start_ns": ("ns | Start of the batch.", lambda rows: rows.bounds[1] * rows.tick_ns),
        "end_ns": ("ns | End of the batch.", lambda rows: rows.bounds[2] * rows.tick_ns),
        "packets": ("count | Packets delivered in it.", lambda rows: rows.own("packets")),
        "accepted_mbytes_per_s": (
            "MB/s | Payload delivered over the length of the batch.",
            lambda rows: per(rows.own("bytes") * 1e3, rows.length_ns),
        ),
        "latency_ns_mean": (
            "ns | Mean network latency of its packets.",
            lambda rows: rows.latency_ns_mean("latency"),
        ),
        "total_latency_ns_mean": (
            "ns | Mean latency from creation of its packets.",
            lambda rows: rows.latency_ns_mean("total"),
        ),
    },
)

OVER_TIME = table(
    "over_time",
    "Throughput over time",
    "One row per batch and flow. With up to 8 flows these are pairs of terminals; with more, and in runs of programs, terminals that send; with more than 8 terminals, up to 8 groups of them by number. Terminals that sent nothing are left out. Batches, and so the table, are at most 127 long; there is none for a single flow.",
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


def _longer(rows: Any) -> Any:
    counts = rows.count("latency_counts")
    return per(counts.sum() - np.cumsum(counts), float(counts.sum()))


CCDF = table(
    "ccdf",
    "Complementary cumulative latency",
    "One row per step of the curve.",
    {
        "latency_ns": "ns | Network latency. | engine latency_values_ticks",
        "packets": "count | Packets in the histogram bin of which this is the middle. | engine latency_counts",
        "share_longer": ("0…1 | Share of the packets that took longer.", _longer),
    },
)

TRACE = table(
    "trace",
    "Packet trace",
    "One row per delivered packet; only with `output.trace = true`.",
    {
        "packet": (
            "number | From 0, in the order of delivery.",
            lambda rows: np.arange(len(rows.raw("trace_source"))),
        ),
        "source": "text | Terminal that sent it. | engine trace_source",
        "target": "text | Terminal that received it. | engine trace_target",
        "length_bytes": "B | Payload. | engine trace_length",
        "created_ns": "ns | Creation at the source. | engine trace_created_ticks",
        "started_ns": "ns | Start of its first character on the link out of its source. | engine trace_started_ticks",
        "delivered_ns": "ns | End of packet received. | engine trace_delivered_ticks",
        "latency_ns": (
            "ns | From started to delivered.",
            lambda rows: (
                (rows.count("trace_delivered_ticks") - rows.count("trace_started_ticks")) * rows.tick_ns
            ),
        ),
    },
)
