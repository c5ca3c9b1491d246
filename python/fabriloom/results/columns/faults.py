# ruff: noqa: E501  (the meanings are prose, one to a line)
"""Keys and columns of runs with failing links; see ``columns.py``."""

from __future__ import annotations

import numpy as np

from .column import Said, table

FAULT_SUMMARY = table(
    "fault_summary",
    "Summary of runs with faults",
    "Also of runs whose switches have a watchdog, or drop packets. Offered = delivered + refused + lost + in flight.",
    {
        "packets.lost": "count | Packets cut or discarded in the whole run because links failed or buffers were full, each counted once, where it happened first. | engine lost",
        "faults.links": (
            "count | Links that did not run, had lost physical lanes, or at whose end a terminal or a bus took nothing, for some of the window.",
            lambda rows: int(np.count_nonzero(rows.down_ticks + rows.narrow_ticks)),
        ),
        "faults.cut": "count | Packets of the window that were on a link, or held it, when it failed; on rings transactions of which a packet or a busy echo was on it, or was sent there meanwhile. | engine link_cut",
        "faults.discarded": "count | Packets of the window that found all links on their way down, or a full buffer; on rings those for a terminal to which the route was closed. | engine link_discarded",
        "faults.timed_out": "count | Packets of the window that the watchdog of a switch ended. | engine link_timed_out",
        "faults.worst_link": "text | The link on which, or at whose end, most were lost; empty if none was. | worst_link",
        "faults.availability": "0…1 | Share of the window in which links ran, mean over all. | availability",
        "faults.before_mbytes_per_s": "MB/s | Accepted throughput before the first failure, from whole batches; null with fewer than four, and where no link fails. The same for the next two. | around.before_mbytes_per_s",
        "faults.during_mbytes_per_s": "MB/s | From the first failure to the last time that a link runs again, or to the end. | around.during_mbytes_per_s",
        "faults.after_mbytes_per_s": "MB/s | After that. | around.after_mbytes_per_s",
        "faults.recovery_ns": "ns | From when all links run again to the end of the first batch with 95 % of the throughput before; null if there was none. | around.recovery_ns",
    },
    is_json=True,
)

_FAILURE: dict[str, Said] = {
    "kind": "text | `cable` or `switch`. | kind",
    "name": "text | The switch, or one link of the cable. | name",
    "cut_off_pairs": "count | Pairs of terminals of which one sends to the other and nothing arrives; terminals at a failed switch left out. | cut_off",
    "spared_pairs": "count | The same although other ports of both still join them: senders notice only failures of their own links. | spared",
    "lossy_pairs": "count | The same of which some packets do not arrive. | lossy",
    "delivered_share": "0…1 | Share of the payload of the scenario's traffic that arrives, if every group shares its packets evenly among the links that are left. | delivered_share",
    "load_bound": "0…1 | Offered load at which a link is full. | bound.load_bound",
    "accepted_mbytes_per_s_bound": "MB/s | Payload that arrives at that load. | bound.accepted_mbytes_per_s_bound",
    "busiest_link": "text | The link that is full first. | bound.busiest_link",
}

FAILURE = table("failure", "A failure", "What is left of a network after it.", _FAILURE, is_json=True)

FAILURES = table(
    "failures",
    "Check of failures",
    "The JSON of `fabriloom check --fault`. `without` and each entry of `failures`, the worst first, have the keys from `kind` on.",
    {
        "kinds": "text | What was asked for: `all`, `cables` or `switches`.",
        "reroute": "text | The rule of new tables after each failure; null: they stay.",
        "deadlock_free": "true or false | Whether the network cannot deadlock, nor with new tables; if tables stay, a failure takes dependencies away and adds none.",
        "deadlock_count": "count | Failures after which the network can deadlock.",
        "between_count": "count | Those after which it can while packets are under way by the tables before, and by no tables alone.",
        "count": "count | Single failures.",
        "cut_off_count": "count | Those after which nothing arrives between some of these pairs.",
        "lossy_count": "count | Those after which some packets do not arrive.",
        **_FAILURE,
    },
    is_json=True,
)

FAULT_LINKS = table(
    "fault_links",
    "Links that fail",
    "",
    {
        "cut_packets": "count | Packets lost on the link when it failed, on rings as long as it was down. | engine link_cut",
        "discarded_packets": "count | Packets that came by the link and were discarded at its end, because all links on their way were down, or the buffer was full; on rings those that its terminal made for closed routes. | engine link_discarded",
        "timed_out_packets": "count | Packets that a watchdog ended while they held the link. | engine link_timed_out",
        "down_ns": (
            "ns | Time in the window in which the link did not run.",
            lambda rows: rows.down_ticks * rows.tick_ns,
        ),
        "narrow_ns": (
            "ns | Time in it in which the link had lost physical lanes.",
            lambda rows: rows.narrow_ticks * rows.tick_ns,
        ),
    },
)
