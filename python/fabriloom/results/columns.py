# ruff: noqa: E501  (the meanings are prose, one to a line)
"""Every key and column that a result has, defined once.

The reference page ``docs/reference/results.md`` is written from these tables, and every result is compared
with them in the tests: what is produced is defined here, what is defined here is produced.
Run ``python -m fabriloom.results.reference docs/reference/results.md`` after a change.
"""

from __future__ import annotations

from dataclasses import dataclass

NETWORK_LATENCY_FROM = "start of the packet's first character on the link out of its source terminal"
NETWORK_LATENCY_TO = "end of packet received at its destination terminal"
TOTAL_LATENCY_FROM = "creation of the packet at its source, so waiting in the source's queue is included"


@dataclass(frozen=True)
class Column:
    """One key of the summary or one column of a table."""

    name: str
    unit: str
    meaning: str


@dataclass(frozen=True)
class Table:
    """One table of a result: how to get it, what one row is, and its columns."""

    name: str
    title: str
    row: str
    columns: tuple[Column, ...]


def _latency(prefix: str, what: str) -> tuple[Column, ...]:
    """The keys of one latency: mean with confidence, extremes, percentiles and its two ends in words."""
    percentiles = (("p50", "50"), ("p90", "90"), ("p99", "99"), ("p99_9", "99.9"), ("p99_99", "99.99"))
    return (
        Column(f"{prefix}.from", "text", f"The moment {what} is counted from."),
        Column(f"{prefix}.to", "text", f"The moment {what} is counted to."),
        Column(f"{prefix}.mean", "ns", f"Mean of {what} over the packets delivered in the measuring window."),
        Column(f"{prefix}.mean_ci95", "ns", "Half-width of its 95 % confidence interval, by batch means."),
        Column(f"{prefix}.min", "ns", "Shortest."),
        Column(f"{prefix}.max", "ns", "Longest."),
        *(
            Column(
                f"{prefix}.{key}",
                "ns",
                f"The time that {percent} % of the packets did not exceed, to the resolution of the histogram.",
            )
            for key, percent in percentiles
        ),
    )


SUMMARY = Table(
    "summary",
    "Summary",
    "One nested dictionary; a dot in a key is one level. A value that cannot be had (no packet was measured, or there "
    "are fewer than two batches) is null.",
    (
        Column("name", "text", "Name of the scenario."),
        Column("scenario_sha256", "text", "SHA-256 of the resolved scenario, seed included."),
        Column("version", "text", "Version of Fabriloom that made the result."),
        Column("seed", "number", "Seed of every random stream."),
        Column(
            "end.reason",
            "text",
            "Why the run ended: `drained`, `precision`, `saturated`, `deadlocked`, `time_limit`, `packet_limit` or "
            "`interrupted`.",
        ),
        Column("end.message", "text", "The same as a sentence."),
        Column(
            "end.cycle",
            "list of text",
            "Deadlocked only, otherwise empty: the links whose front packets wait for each other, each for the next "
            "and the last for the first.",
        ),
        Column("warnings", "list of text", "What was noticed before the run, such as a routing that can deadlock."),
        Column("network.switches", "count", "Switches of the network."),
        Column("network.terminals", "count", "Terminals of the network."),
        Column("network.links", "count", "Links of the network; a cable is two."),
        Column("simulated_ns", "ns", "Simulated time from the start to the end of the run."),
        Column("warmup_ns", "ns", "The part at the beginning that is left out of every measurement."),
        Column("measured_ns", "ns", "The measuring window: simulated time without the warm-up."),
        Column(
            "offered_mbytes_per_s",
            "10^6 B/s",
            "Payload of the packets created in the measuring window, refused ones included, over its length. It is counted, not estimated, so it has no half-width.",
        ),
        Column(
            "accepted_mbytes_per_s",
            "10^6 B/s",
            "Payload of the packets delivered in the measuring window over its length, all terminals together.",
        ),
        Column("accepted_mbytes_per_s_ci95", "10^6 B/s", "Half-width of its 95 % confidence interval."),
        Column(
            "accepted_mbytes_per_s_per_terminal",
            "10^6 B/s",
            "The accepted throughput divided by the number of terminals.",
        ),
        Column("packets.offered", "count", "Packets created by the sources in the whole run."),
        Column("packets.delivered", "count", "Packets received whole at their destination in the whole run."),
        Column("packets.refused", "count", "Packets that found the queue of their source full."),
        Column(
            "packets.in_flight",
            "count",
            "Packets waiting at their source or under way at the end. Always offered = delivered + refused + in flight.",
        ),
        Column(
            "packets.measured",
            "count",
            "Packets delivered in the measuring window: those the latencies are of.",
        ),
        *_latency("latency_ns", "network latency"),
        *_latency("total_latency_ns", "latency with the wait at the source"),
        Column("statistics.batches", "count", "Batches that the confidence half-widths rest on."),
        Column(
            "statistics.lag1_correlation",
            "-1 to 1",
            "Correlation of the mean latency of successive batches. Well above 0, the half-widths are too small and "
            "the run should be longer.",
        ),
        Column(
            "not_kept.flow_packets",
            "count",
            "Measured packets that are missing in the table of flows, because there were more flows than are kept.",
        ),
        Column(
            "not_kept.trace_packets",
            "count",
            "Packets that are missing in the packet trace, because it was full.",
        ),
        Column("engine.name", "text", "`trains`, the fast engine, or `twin`, the slow plain one."),
        Column("engine.events", "count", "Events that the engine worked off."),
        Column("engine.packet_hops", "count", "Times that a packet was granted an output of a switch."),
        Column(
            "engine.wall_s",
            "s",
            "Time the run took on this machine: the one value that differs when a run is repeated.",
        ),
    ),
)

LINKS = Table(
    "links",
    "Links",
    "One row per link, which is one direction of a cable.",
    (
        Column("link", "text", "Name of the link."),
        Column("source", "text", "Switch or terminal it leaves."),
        Column("target", "text", "Switch or terminal it enters."),
        Column("packets", "count", "Packets whose end left on the link."),
        Column("characters", "count", "Header and payload characters and ends of packet sent."),
        Column(
            "utilisation",
            "0 to 1",
            "Share of the time in which the wire was occupied, share of flow-control characters included.",
        ),
        Column(
            "blocked_share",
            "0 to 1",
            "Share of the time in which the wire stood still within a packet: the packet could not go on further down, or its next characters had not come yet.",
        ),
        Column("blocked_ns", "ns", "The same in time."),
        Column(
            "waiting_ns",
            "ns",
            "Time that packets, at the front of their input buffer, waited for the link; summed.",
        ),
        Column("waiting_ns_mean", "ns", "The same per packet."),
    ),
)

FLOWS = Table(
    "flows",
    "Flows",
    "One row per pair of terminals between which packets were delivered in the measuring window.",
    (
        Column("source", "text", "Terminal that sent."),
        Column("target", "text", "Terminal that received."),
        Column("packets", "count", "Packets delivered in the measuring window."),
        Column("bytes", "B", "Their payload."),
        Column("mbytes_per_s", "10^6 B/s", "Payload over the length of the measuring window."),
        Column("share", "0 to 1", "Payload of this flow over the payload of all."),
        Column("latency_ns_mean", "ns", "Mean network latency."),
        Column("latency_ns_max", "ns", "Longest network latency."),
    ),
)

BATCHES = Table(
    "batches",
    "Batches",
    "One row per batch of the measuring window as the engine kept it, before merging.",
    (
        Column("start_ns", "ns", "Start of the batch."),
        Column("end_ns", "ns", "End of the batch."),
        Column("packets", "count", "Packets delivered in it."),
        Column("accepted_mbytes_per_s", "10^6 B/s", "Payload delivered over the length of the batch."),
        Column("latency_ns_mean", "ns", "Mean network latency of its packets."),
        Column("total_latency_ns_mean", "ns", "Mean latency from creation of its packets."),
    ),
)

CCDF = Table(
    "ccdf",
    "Complementary cumulative latency",
    "One row per step of the curve (`latency.parquet`).",
    (
        Column("latency_ns", "ns", "Network latency."),
        Column("packets", "count", "Packets in the histogram bin that ends here."),
        Column("share_longer", "0 to 1", "Share of the packets that took longer."),
    ),
)

TRACE = Table(
    "trace",
    "Packet trace",
    "One row per delivered packet; only with `output.trace = true`.",
    (
        Column("packet", "number", "Number of the packet, from 0, in the order of delivery."),
        Column("source", "text", "Terminal that sent it."),
        Column("target", "text", "Terminal that received it."),
        Column("length_bytes", "B", "Payload."),
        Column("created_ns", "ns", "Creation at the source."),
        Column("started_ns", "ns", "Start of its first character on the link out of its source."),
        Column("delivered_ns", "ns", "End of packet received."),
        Column("latency_ns", "ns", "From started to delivered."),
    ),
)

POINTS = Table(
    "points",
    "Points of a curve or sweep",
    "One row per run. Before these columns come the settings that were varied, each named by its path in the scenario.",
    (
        Column("end_reason", "text", "See `end.reason`."),
        Column("offered_mbytes_per_s", "10^6 B/s", "See the summary."),
        Column("accepted_mbytes_per_s", "10^6 B/s", "See the summary."),
        Column("accepted_mbytes_per_s_ci95", "10^6 B/s", "Half-width of its 95 % confidence interval."),
        Column("latency_ns_mean", "ns", "Mean network latency."),
        Column("latency_ns_mean_ci95", "ns", "Half-width of its 95 % confidence interval."),
        Column("latency_ns_p50", "ns", "See the summary."),
        Column("latency_ns_p99", "ns", "See the summary."),
        Column("latency_ns_p99_9", "ns", "See the summary."),
        Column("latency_ns_max", "ns", "Longest network latency."),
        Column("total_latency_ns_mean", "ns", "Mean latency from creation at the source."),
        Column("packets_delivered", "count", "Packets delivered in the whole run."),
        Column("packets_refused", "count", "Packets refused at a full source queue."),
        Column("scenario_sha256", "text", "Hash of the scenario of this point."),
        Column("seed", "number", "Seed of this point."),
    ),
)

TABLES = (SUMMARY, LINKS, FLOWS, BATCHES, CCDF, TRACE, POINTS)


def flatten(summary: dict, prefix: str = "") -> dict[str, object]:
    """A nested dictionary as one with dotted keys."""
    flat: dict[str, object] = {}
    for key, value in summary.items():
        if isinstance(value, dict):
            flat.update(flatten(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return flat
