# ruff: noqa: E501  (the meanings are prose, one to a line)
"""Keys and columns of runs of programs; see ``columns.py``."""

from __future__ import annotations

import numpy as np

from ..tables import per
from .column import Said, of_summary, percentiles, table

MESSAGE_LATENCY_FROM = "creation of the message, when its send has a free place and begins"
MESSAGE_LATENCY_TO = "arrival of its last packet"
EVENT_DUE = "moment at which the event was due"
EVENT_BEGUN = "creation of the first message of the event, because events have no due time"
EVENT_LATENCY_TO = "arrival of the last message of the event"
MEASURED_LATENCY_TO = "end of the receive that took it"
MEASURED_EVENT_TO = "end of the receive that took its last message"


def _latency(prefix: str, what: str, whose: str) -> dict[str, Said]:
    return {
        f"{prefix}.from": f"text | The moment {what} is counted from.",
        f"{prefix}.to": f"text | The moment {what} is counted to.",
        f"{prefix}.mean": f"ns | Mean of {what} over the {whose} of the window.",
        f"{prefix}.min": "ns | Shortest.",
        f"{prefix}.max": "ns | Longest.",
        **percentiles(prefix, "The time that {} % of them did not exceed."),
    }


SLOTS = table(
    "slots",
    "Slots",
    "One row per entry of a SpaceWire-D schedule, in its order.",
    {
        "slot": "number | Slot of an epoch, 0 to 63. | entry.slot",
        "initiator": ("text | Who starts transactions in it.", lambda one: str(one.entry["initiator"])),
        "target": ("text | With whom.", lambda one: str(one.entry["target"])),
        "command": "text | `write`, `read` or `read-modify-write`. | entry.command",
        "transactions": "count | In each epoch. | entry.transactions",
        "epochs": ("count | Epochs in which all of them were done.", lambda one: len(one.used_ns)),
        "used_ns_max": "ns | Longest time from the beginning of the slot to its last reply.",
        "slack_ns_min": (
            "ns | What that leaves of the slot; below 0 it was overrun.",
            lambda one: None if one.used_ns_max is None else one.length_ns - one.used_ns_max,
        ),
        "overruns": (
            "count | Epochs in which it was.",
            lambda one: sum(used > one.length_ns for used in one.used_ns),
        ),
    },
)

PROGRAM_SUMMARY = table(
    "program_summary",
    "Summary of programs",
    "Keys of the window say so; all others are of the whole run. Control words, requests, credit and what is fetched are messages like all others.",
    {
        "end.waiting": "list of text | Deadlocked or stopped only, otherwise empty: what each terminal waits for, with its place in the file, and messages that can never be sent and received whole.",
        "messages.made": "count | Messages whose send has begun.",
        "messages.announced": "count | Of these, messages longer than `protocol.eager_limit`: announced, and sent when a receive for them was posted.",
        "messages.sent": "count | Messages with which the protocol has finished at the sender.",
        "messages.received": "count | Messages whose last packet has arrived.",
        "messages.under_way": "count | Messages made, not received and not lost.",
        "messages.lost": "count | Messages one of whose packets was lost for good: in networks of rings scrubbed, of links lost by a fault and not sent again, or given up before any copy of it had come.",
        "messages.repeated": "count | Times that a message was sent again because its check had failed.",
        "messages.resent": "count | Packets sent again because they were not acknowledged within `protocol.resend_after`, and commands without a reply within `program.retry_after`.",
        "messages.duplicates": "count | Packets that a terminal threw away because the same packet had come before, or had been given up; replies behind the first one or too late. They are among the packets delivered.",
        "messages.given_up": "count | Messages with a packet that was not acknowledged after `protocol.resend_limit` repetitions; commands without a reply after `program.retries`.",
        "messages.measured": "count | Messages received in the window.",
        "messages.per_s": "1/s | The same over its length.",
        "messages.mbytes_per_s": "MB/s | Their bytes over its length.",
        **_latency("message_latency_ns", "message latency", "messages received"),
        "events.count": "count | Events of the program; 0: it has none, and what follows is null.",
        "events.begun": "count | Events of which a message was made.",
        "events.complete": "count | Events all of whose messages have been received.",
        "events.incomplete": "count | Events begun and not complete at the end.",
        "events.attempted_per_s": "1/s | Events that were due per second; null when they were sent as fast as could be.",
        "events.achieved_per_s": "1/s | Slope of the completions of events over time, in the [steady part](../background/statistics.md#events-of-programs) of the run. Of less than 20 events their number over time; null for less than two.",
        "events.achieved_per_s_ci95": "1/s | Half-width of its 95 % confidence interval; null if unknown.",
        "events.steady": "count | Completions from which it is computed.",
        "events.growth": "ratio | Growth of the event latency from one event to the next, over the interval at which events are due; if events that are not complete are overdue, older than any other has become, their share of all. Null if nothing is due, or there are too few.",
        "events.growth_ci95": "ratio | Half-width of its 95 % confidence interval.",
        "events.building_ns_mean": "ns | Mean time from the first to the last message of an event being received, over those complete in the window.",
        **_latency("events.latency_ns", "event latency", "events that became complete"),
        "hosts.blocked_share_mean": "0…1 | Back-pressure: share of the window in which a terminal that sends waited for a free place for a message; mean over these terminals.",
        "hosts.blocked_share_max": "0…1 | The same of the terminal that waited most.",
        "hosts.blocked_most": "text | That terminal.",
        "hosts.receiving_share_mean": "0…1 | Occupancy: share of the window in which a terminal that receives had a message that was not complete; mean over these terminals.",
        "hosts.receiving_share_max": "0…1 | The same of the terminal that was occupied most.",
        "hosts.receiving_most": "text | That terminal.",
        "hosts.unexpected_bytes_max": "B | Most bytes of messages that a terminal had at a time in the window and for which no receive was posted; null where it was measured.",
        "hosts.unexpected_most": "text | That terminal.",
        "rounds.count": "count | Times between a mark of a program and the next of the same number at the same terminal.",
        "rounds.ns_mean": "ns | Their mean: the time per round of ready programs with `rounds` (but random pairs), and of your own that mark their rounds.",
        "rounds.ns_min": "ns | The shortest.",
        "rounds.ns_max": "ns | The longest.",
        "spans": "list | Times between one mark and the next at the same terminal, one entry for each pair of numbers: `from`, `to`, `count`, and in ns `ns_min`, `ns_p25`, `ns_p50`, `ns_p75` (quartiles), `ns_mean`.",
        "not_kept.messages": "count | Messages missing in their table, because it was full.",
        "not_kept.marks": "count | Marks missing in theirs.",
    },
    is_json=True,
)

MEASURED = table(
    "measured",
    "Measurements",
    "What `fabriloom measure` ran, beside the keys of a program. Packets and links are not seen there: their counts are 0 and their latencies null; `simulated_ns` is the time that passed.",
    {
        "measured.runner": "text | `c` or `python`: what ran the programs.",
        "measured.mpi": "text | Name and version of the MPI, as reported by it.",
        "measured.transport": "text | Transport of the messages, if known.",
        "measured.machines": "list of text | Name of the machine of each process.",
        "measured.ranks": "count | Processes.",
        "measured.cores": "count | Cores for them: of this machine, or as many as its list of hosts gives.",
        "measured.crowded": "true or false | More processes than cores: then no time here is a measurement.",
        "measured.warm_ups": "count | Rounds of the whole program before those that count.",
        "measured.rounds": "count | Rounds that count.",
        "measured.round_ns": "list of ns | How long each took. The result is of the one in the middle.",
        "measured.noise": "share | Largest less smallest of these over that of the middle.",
        "measured.clock_error_ns": "ns | How far the clocks of two machines may be from each other; 0 on one machine.",
        "measured.late_ns": "ns | How long after the agreed start the last process was ready, in the round of the result.",
    },
    is_json=True,
)

EVENTS = table(
    "events",
    "Events",
    "One row per event of a program. A time that did not occur is null.",
    {
        "event": ("number | From 0.", lambda rows: np.arange(len(rows.programs.events.due_ps))),
        "messages": "count | Messages that it is made of. | programs.events.fragments",
        "received": "count | Those that have been received. | event_received",
        "due_ns": ("ns | When it was due; null when nothing is.", lambda rows: rows.event_times_ns("due")),
        "begun_ns": ("ns | When its first message was made.", lambda rows: rows.event_times_ns("begun")),
        "first_ns": ("ns | When its first message was received.", lambda rows: rows.event_times_ns("first")),
        "complete_ns": (
            "ns | When its last message was received.",
            lambda rows: rows.event_times_ns("complete"),
        ),
        "latency_ns": "ns | From due (from begun where nothing is due) to complete. | event_latency_ns",
    },
)

HOSTS = table(
    "hosts",
    "Hosts",
    "One row per terminal of a program. Counted in the window.",
    {
        "terminal": "text | Its name. | graph.terminal_names",
        "bytes_sent": "B | Bytes of messages that it sent whole. | engine terminal_bytes_sent",
        "bytes_received": "B | Bytes of messages that it received whole. | engine terminal_bytes_received",
        "sent_mbytes_per_s": "MB/s | Sent over the length of the window. | engine terminal_bytes_sent",
        "received_mbytes_per_s": "MB/s | Received over its length. | engine terminal_bytes_received",
        "ended_ns": "ns | When its program ended; null if it has none, or has not ended.",
        "blocked_ns": "ns | Back-pressure: time that it waited for a free place for a message. | engine terminal_blocked_ticks",
        "blocked_share": (
            "0…1 | The same as a share of the window.",
            lambda rows: np.minimum(per(rows.ns("terminal_blocked_ticks"), rows.window_ns), 1.0),
        ),
        "receiving_ns": "ns | Occupancy: time in which it had a message that was not complete; null where it was measured, for nobody sees a message come in.",
        "receiving_share": "0…1 | The same as a share of the window.",
        "unexpected_bytes_max": "B | Most bytes of messages that it had at a time and for which no receive was posted; null where it was measured.",
    },
)

MESSAGES = table(
    "messages",
    "Messages",
    "One row per message, in the order of making; only with `output.messages = true`. A time that did not occur is null.",
    {
        "message": ("number | From 0.", lambda rows: np.arange(len(rows.raw("message_tag")))),
        "source": "text | Terminal that sent it; of a read, the one whose memory it was in. | engine message_source",
        "target": "text | Terminal that received it. | engine message_target",
        "bytes": "B | Its size. | engine message_bytes",
        "tag": "number | Its tag; null when it has none.",
        "event": "number | The event that it is a part of; null when it is of none.",
        "made_ns": ("ns | When its send began.", lambda rows: rows.moment_ns("made")),
        "sent_ns": (
            "ns | When the protocol had finished with it at its sender; measured: when the program saw that.",
            lambda rows: rows.moment_ns("sent"),
        ),
        "received_ns": (
            "ns | When its last packet had arrived; measured: when the receive that took it was over.",
            lambda rows: rows.moment_ns("received"),
        ),
        "latency_ns": (
            "ns | From made to received.",
            lambda rows: rows.moment_ns("received") - rows.moment_ns("made"),
        ),
    },
)

MESSAGE_FLOWS = table(
    "message_flows",
    "Messages by pair",
    "One row per pair of terminals between which messages were received in the window; without `output.flows = false`.",
    {
        "source": (
            "text | Terminal that sent; of a read, the one whose memory it was in.",
            lambda rows: rows.end("source"),
        ),
        "target": ("text | Terminal that received.", lambda rows: rows.end("target")),
        "messages": "count | Messages received in the window. | number",
        "bytes": "B | Their size together. | size",
        "mbytes_per_s": "MB/s | Bytes over the length of the window.",
        "share": (
            "0…1 | Bytes of this pair over the bytes of all.",
            lambda rows: rows.share_of_all(rows.size),
        ),
        "latency_ns_mean": "ns | Mean message latency, from made to received.",
        "latency_ns_max": "ns | Longest message latency.",
    },
)

MARKS = table(
    "marks",
    "Marks",
    "One row per mark that a program came to, in the order of time.",
    {
        "terminal": "text | Name of the terminal. | engine mark_terminal",
        "mark": "number | Number of the mark. | engine mark_tag",
        "at_ns": "ns | When. | engine mark_ticks",
    },
)

PROGRAM_CHECK = table(
    "program_check",
    "Check of programs",
    "",
    {
        "program.terminals": "count | Terminals that have operations.",
        "program.operations": "count | Operations of all terminals.",
        "program.events": "count | Events.",
        "program.attempted_per_s": "1/s | Events that are due per second; null when none are.",
        "program.messages": "count | Messages that will be made; null when there is no end to them.",
        "program.message_bytes": "B | Their bytes; null when there is no end to them.",
        "program.channels_most": "count | Terminals that the one with most sends to, as far as they are known before the run: virtual links of a link.",
        "program.why_unbounded": "text | Why there is no bound on the throughput; empty if there is one.",
    },
    is_json=True,
)

PROGRAM_POINTS = table(
    "program_points",
    "Points of programs",
    "",
    {
        **of_summary("ns", round_ns_mean="rounds.ns_mean"),
        **of_summary("1/s", messages_per_s="messages.per_s"),
        **of_summary("MB/s", message_mbytes_per_s="messages.mbytes_per_s"),
        **of_summary("ns", message_latency_ns_mean="message_latency_ns.mean"),
        **of_summary(
            "1/s",
            events_attempted_per_s="events.attempted_per_s",
            events_achieved_per_s="events.achieved_per_s",
        ),
        **of_summary("count", events_incomplete="events.incomplete"),
        **of_summary(
            "ns", event_latency_ns_mean="events.latency_ns.mean", event_latency_ns_p99="events.latency_ns.p99"
        ),
        **of_summary(
            "0…1",
            blocked_share_mean="hosts.blocked_share_mean",
            receiving_share_mean="hosts.receiving_share_mean",
        ),
    },
)
