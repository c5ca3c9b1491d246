# ruff: noqa: E501  (the meanings are prose, one to a line)
"""Keys and columns of runs with time-codes or interrupts, with several ports, with congestion control, or of flits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ... import units
from .column import of_summary, table

CONGESTION_SUMMARY = table(
    "congestion_summary",
    "Summary of runs with congestion control",
    "",
    {
        "congestion.marked": "count | How often a switch marked a packet (FECN). | engine link_marked",
        "congestion.notified": "count | Marked packets that were delivered: each is a BECN for its sender. | engine port_notified",
        "congestion.ccti_highest": (
            "count | The highest index of a port in the table (CCTI).",
            lambda rows: int(rows.raw("port_ccti_highest").max()),
        ),
        "congestion.rest_share": (
            "0…1 | Share of the time for which ports rested, on average of all.",
            lambda rows: float(rows.share("port_rest_ticks").mean()),
        ),
    },
    is_json=True,
)

CONGESTION_LINKS = table(
    "congestion_links",
    "Links with congestion control",
    "",
    {"marked": "count | Packets that were marked as they were granted the link. | engine link_marked"},
)

SHARED_LINKS = table(
    "shared_links",
    "Links into switches whose ports share a memory",
    "",
    {
        "memory_most": "count | Most flits at a time in the memory of the switch at the end of the link, of all its ports; 0 at a terminal. | engine link_memory_most",
        "headroom_most": "count | Of these the most in the headroom of a lane of this link. | engine link_headroom_most",
    },
)

CONGESTION = table(
    "congestion",
    "Congestion control",
    "One row per terminal, of several ports per port: how far it was slowed down.",
    {
        "terminal": "text | The terminal or the port. | graph.port_names",
        "notified": "count | Marked packets of it that were delivered. | engine port_notified",
        "ccti_highest": "count | Its highest index in the table (CCTI). | engine port_ccti_highest",
        "rest_share": "0…1 | Share of the time for which it rested between packets. | engine port_rest_ticks",
    },
)


PORT_SUMMARY = table(
    "port_summary",
    "Summary with several ports or ways",
    "",
    {
        "network.ports": "count | Ports of all terminals.",
        "network.planes": "count | Networks that these are in.",
        "packets.overtaken": 'count | Packets delivered in the window behind a packet of the same pair of terminals that had got its port later, where terminals have several ports, or switches several ways for the packets of a pair (up to 2,048 terminals); of programs only with `ports.per = "packet"`.',
        "messages.overtaken": "count | Of programs: messages received in the window behind a message that the same terminal had made later for the same target.",
    },
    is_json=True,
)

PORT_LINKS = table(
    "port_links", "Links of several planes", "", {"plane": "text | Name of the plane that it is of. | planes"}
)

PLANES = table(
    "planes",
    "Planes",
    "One row per plane, if terminals have several ports.",
    {
        "plane": ("text | Its name.", lambda rows: [plane.name for plane in rows.planes]),
        "packets": "count | Packets delivered by it in the window. | engine plane_packets",
        "bytes": "B | Their payload. | engine plane_bytes",
        "mbytes_per_s": "MB/s | Payload over the length of the window. | engine plane_bytes",
        "share": (
            "0…1 | Its payload over that of all planes.",
            lambda rows: rows.share_of_all(rows.count("plane_bytes")),
        ),
        "latency_ns_mean": "ns | Mean network latency.",
        "latency_ns_max": "ns | Longest network latency. | engine plane_latency_max_ticks",
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
    "",
    {
        "network.ports": "count | Ports of all terminals.",
        "network.planes": "count | Networks that these are in.",
        "planes": "list | Of each plane `plane`, its name, and what `channel_load` says of all of them: the busiest link, its load, the load at which it is full and the accepted payload of this plane then.",
    },
    is_json=True,
)


_JITTER = "The longest less the shortest time."

CODE_SUMMARY = table(
    "code_summary",
    "Summary of runs with time-codes, interrupts or broadcasts",
    "Counts are of the window.",
    {
        "codes.made": "count | Time-codes, interrupts and broadcasts that their sources made, each once if a terminal sends it by several ports. | made",
        "codes.taken": ("count | How often a terminal took one.", lambda codes: codes.total("taken")),
        "codes.lost": "count | Codes on links, or in front of them, when these were down. | engine link_codes_lost",
        "codes.duplicates": "count | Codes that switches and terminals dropped because they had come by another way. | engine link_codes_duplicate",
        "codes.invalid": "count | Time-codes that switches and terminals dropped because they were not one more than the last. | engine link_codes_invalid",
        "codes.latency_ns_max": (
            "ns | The longest time from the creation of a code until it is accepted.",
            lambda codes: codes.most("latency_ns_max"),
        ),
        "codes.jitter_ns_max": (
            f"ns | {_JITTER} Of the terminal and the code of which that is most.",
            lambda codes: codes.most("jitter_ns"),
        ),
        "codes.jitter_covered": "0…1 | Share of the codes to come whose times are expected between the extremes that were seen, (n - 1) / (n + 1) of n codes, at the terminal that took fewest. | covered",
        "codes.worst": "text | That code and that terminal. | worst",
    },
    is_json=True,
)

CODES = table(
    "codes",
    "Time-codes, interrupts and broadcasts",
    "One row per source of codes and terminal, of several ports per port, but for the source itself: how the codes of the window came to it. A terminal that sends codes by several ports of one network is one source.",
    {
        "code": "text | `time-code`, `interrupt` and its number, or `broadcast` and its channel.",
        "source": "text | The terminal that sends it, or its port if it is the only one of several.",
        "terminal": "text | The terminal that it comes to.",
        "made": "count | How many the source made.",
        "taken": "count | How many the terminal took.",
        "missed": (
            "count | Made and not taken: lost, dropped on the way, or still on it at the end of the run.",
            lambda one: one.made - one.taken,
        ),
        "latency_ns_min": "ns | Shortest time from the creation to the end received. | latency_ns.min",
        "latency_ns_mean": "ns | Their mean. | latency_ns.mean",
        "latency_ns_p99": "ns | 99 % took at most as long. | latency_ns.p99",
        "latency_ns_max": "ns | The longest. | latency_ns.max",
        "jitter_ns": f"ns | {_JITTER} | latency_ns.jitter",
    },
)

CODE_LINKS = table(
    "code_links",
    "Links with time-codes, interrupts or broadcasts",
    "",
    {
        "codes": "count | Codes sent on the link. | engine link_codes_sent",
        "lost_codes": "count | Codes lost on it, or in front of it, because it was down. | engine link_codes_lost",
        "duplicate_codes": "count | Codes that came by it and were known at its end. | engine link_codes_duplicate",
        "invalid_codes": "count | Time-codes that came by it and were not one more than the last at its end. | engine link_codes_invalid",
    },
)


# Keys and columns of networks of flits, in the units of networks on chip: flits, nodes and cycles.


@dataclass(frozen=True)
class FlitRun:
    """A summary of a network of flits, with the length of a cycle and the size of a flit."""

    summary: Mapping[str, Any]
    cycle_ns: float
    flit_bytes: int

    @property
    def per_node_cycle(self) -> dict[str, float | None]:
        """The throughputs of the summary in flits per terminal and cycle."""
        terminals, found = self.summary["network"]["terminals"], dict[str, float | None]()
        for key in ("offered_mbytes_per_s", "accepted_mbytes_per_s", "accepted_mbytes_per_s_ci95"):
            rate, name = self.summary[key], key.replace("_mbytes_per_s", "")
            found[name] = None if rate is None else rate / 1e3 / self.flit_bytes * self.cycle_ns / terminals
        return found

    @property
    def cycles(self) -> dict[str, dict[str, float | None]]:
        """The latencies of the summary in cycles."""
        return {
            which: {
                key: None if self.summary[which][key] is None else self.summary[which][key] / self.cycle_ns
                for key in ("mean", "mean_ci95", "p99")
            }
            for which in ("latency_ns", "total_latency_ns")
        }


FLIT_SUMMARY = table(
    "flit_summary",
    "Summary of networks of flits",
    "With `generic`: the same numbers in these units.",
    {
        "flits.cycle_ns": "ns | Length of a cycle. | cycle_ns",
        "flits.flit_bytes": "B | Payload of a flit. | flit_bytes",
        "flits.offered_per_node_cycle": "flits | Payload offered per terminal and cycle, as full flits. | per_node_cycle.offered",
        "flits.accepted_per_node_cycle": "flits | Payload delivered per terminal and cycle, as full flits. | per_node_cycle.accepted",
        "flits.accepted_per_node_cycle_ci95": "flits | Half-width of its 95 % confidence interval. | per_node_cycle.accepted_ci95",
        "flits.latency_cycles_mean": "cycles | Mean network latency. | cycles.latency_ns.mean",
        "flits.latency_cycles_mean_ci95": "cycles | Half-width of its 95 % confidence interval. | cycles.latency_ns.mean_ci95",
        "flits.latency_cycles_p99": "cycles | 99 % of the packets did not take longer. | cycles.latency_ns.p99",
        "flits.total_latency_cycles_mean": "cycles | Mean latency from creation at the source. | cycles.total_latency_ns.mean",
    },
)

FLIT_POINTS = table(
    "flit_points",
    "Points of networks of flits",
    "",
    {
        **of_summary(
            "flits",
            offered_flits_per_node_cycle="flits.offered_per_node_cycle",
            accepted_flits_per_node_cycle="flits.accepted_per_node_cycle",
        ),
        **of_summary(
            "cycles",
            latency_cycles_mean="flits.latency_cycles_mean",
            latency_cycles_p99="flits.latency_cycles_p99",
            total_latency_cycles_mean="flits.total_latency_cycles_mean",
        ),
    },
)


def cycle_ns_of(technology: Mapping[str, Any]) -> float | None:
    """Return the cycle of a resolved technology if it is that of networks on chip.

    InfiniBand has flits and cycles in its presets, too, but its users think in bytes and nanoseconds.
    """
    if technology.get("preset") != "generic":
        return None
    return float(units.parse_cycle_ps(technology["cycle"])) / 1000


def add_flits(summary: dict[str, Any], technology: Mapping[str, Any]) -> None:
    """Add the keys of :data:`FLIT_SUMMARY` where there are cycles."""
    cycle_ns = cycle_ns_of(technology)
    if cycle_ns is not None:
        FLIT_SUMMARY.fill(summary, FlitRun(summary, cycle_ns, units.parse_bytes(technology["flit"])))
