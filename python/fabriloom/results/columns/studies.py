# ruff: noqa: E501  (the meanings are prose, one to a line)
"""Keys and columns of studies of several runs; see ``columns.py``."""

from __future__ import annotations

import json

from .column import Value, of_summary, table


def fact(name: str) -> Value:
    """Return the maker of a fact about a candidate; null if the candidate was refused before."""
    return lambda one: one.of.facts.get(name)


POINTS = table(
    "points",
    "Points of a curve or sweep",
    "One row per run. Before these columns come the settings that were varied, each named by its path in the scenario.",
    {
        **of_summary("text", end_reason="end.reason"),
        **of_summary(
            "MB/s",
            offered_mbytes_per_s="offered_mbytes_per_s",
            refused_mbytes_per_s="refused_mbytes_per_s",
            accepted_mbytes_per_s="accepted_mbytes_per_s",
            accepted_mbytes_per_s_ci95="accepted_mbytes_per_s_ci95",
        ),
        **of_summary(
            "ns",
            latency_ns_mean="latency_ns.mean",
            latency_ns_mean_ci95="latency_ns.mean_ci95",
            latency_ns_p50="latency_ns.p50",
            latency_ns_p99="latency_ns.p99",
            latency_ns_p99_9="latency_ns.p99_9",
            latency_ns_max="latency_ns.max",
            total_latency_ns_mean="total_latency_ns.mean",
            total_latency_ns_mean_ci95="total_latency_ns.mean_ci95",
            total_latency_ns_p99="total_latency_ns.p99",
        ),
        **of_summary("true or false", trusted="statistics.trusted"),
        **of_summary("count", packets_delivered="packets.delivered", packets_refused="packets.refused"),
        "packets_lost": (
            "count | Packets cut, discarded or timed out after a failure.",
            lambda summary: summary["packets"].get("lost", 0),
        ),
        **of_summary("text", scenario_sha256="scenario_sha256"),
        **of_summary("number", seed="seed"),
    },
)

TRIALS = table(
    "trials",
    "Trials of a search",
    "One row per trial of a study with `[study.search]`. Between `trial` and the other columns come the fields that were varied, each named by its path, and the means over the runs of the trial of the goal and of all columns with limits.",
    {
        "trial": ("count | From 1, in the order in which trials were chosen.", lambda row: row[0].number),
        "verdict": (
            "text | `best`; `kept`: keeps all limits; `refused`: breaks a limit, cannot be run, or stood still.",
            lambda row: "best" if row[1] else "kept" if row[0].met else "refused",
        ),
        "why": ("text | Why it is refused; else empty.", lambda row: row[0].why),
    },
)

SATURATION = table(
    "saturation",
    "Saturation",
    "The JSON of `fabriloom saturate`. Besides these keys: `name`, `scenario_sha256`, `version` and `seed` as in the summary, and `points`, a list of the summaries of all runs, each with its `settings`.",
    {
        "verdict": "text | Up to which load everything is carried, and what limits it.",
        "definition": "text | `peak` or `backlog`.",
        "definition_text": "text | The definition in words.",
        "accepted_mbytes_per_s": "MB/s | The saturation throughput.",
        "accepted_mbytes_per_s_ci95": "MB/s | Half-width of the 95 % confidence interval of that run.",
        "at_load": "0…1 | Offered load at which it was found, a scale where rates are given; null for `backlog`.",
        "sustained_load": "0…1 | The largest load tried at which nothing piled up: all was accepted, but for at most 1 % lost and what is always under way, and the load is not above the bound of `fabriloom check`; null for `backlog` and for sources that wait for their packets.",
        "refused_load": "0…1 | The smallest load tried above it; null when there is none.",
        "varied": "text | Setting that these loads are values of: `traffic.load`, or `traffic.scale` where rates or flows are given.",
        "interrupted": "true or false | Whether runs are missing.",
    },
    is_json=True,
)

SEEDS = table(
    "seeds",
    "Means over seeds",
    "One row per number of `fabriloom run --seeds` (`means` in the JSON), over the runs in which it could be measured. The runs themselves are the points.",
    {
        "quantity": "text | Name of the column of the table of points. | name",
        "runs": ("count | Runs in which it could be measured.", lambda one: len(one.values)),
        "mean": "unit | Mean over seeds, every run counted once.",
        "ci95": "unit | Half-width of its 95 % confidence interval over seeds, by Student's t. | half",
        "spread": (
            "unit | Standard deviation from seed to seed.",
            # Less the first of them: equal runs have no spread at all.
            lambda one: float((one.values - one.values[0]).std(ddof=1)) if len(one.values) > 1 else None,
        ),
        "least": ("unit | The least of all runs.", lambda one: float(one.values.min())),
        "greatest": ("unit | The greatest of all runs.", lambda one: float(one.values.max())),
        "holding": "count | Runs whose own 95 % interval contains the mean over seeds: about 19 of 20 if these intervals can be trusted; null where a run has none.",
    },
)

REQUIREMENT_SUMMARY = table(
    "requirement_summary",
    "Summary of requirements",
    "Of flows and of messages.",
    {
        "requirements.count": "count | Flows that have a requirement, and requirements on messages.",
        "requirements.guaranteed": "count | No packet can be late, in any run.",
        "requirements.met": "count | No packet of this run was late, but that is not guaranteed.",
        "requirements.missed": "count | At least one packet of this run was late, or will never arrive.",
        "requirements.unknown": "count | None arrived, or the run stood still, and nothing is guaranteed.",
        "requirements.least_margin": "ratio | The least `margin` of all of them; null if packets of one were not seen.",
        "requirements.least_bound_margin": "ratio | The least `bound_margin` of all of them; null if one has no bound.",
    },
    is_json=True,
)

REQUIREMENT_POINTS = table(
    "requirement_points",
    "Points with requirements",
    "",
    {
        **of_summary(
            "count",
            requirements_guaranteed="requirements.guaranteed",
            requirements_missed="requirements.missed",
        ),
        **of_summary(
            "ratio",
            requirements_least_margin="requirements.least_margin",
            requirements_least_bound_margin="requirements.least_bound_margin",
        ),
    },
)

REQUIREMENTS = table(
    "requirements",
    "Requirements",
    "One row per flow that has a requirement, and per requirement on messages of programs, whose packets here are messages (without what runs have seen `requirements` in the JSON of `fabriloom bound`).",
    {
        "flow": "text | Its name, or its two ends; of messages with their tag, and `any` for no end. | of.flow",
        "source": "text | Terminal that sends. | of.source",
        "target": "text | Terminal that receives. | of.target",
        "packet_bytes": "B | Payload of a packet. | of.packet_bytes",
        "requirement_ns": "ns | Longest time allowed from the creation of a packet to its delivery. | of.requirement_ns",
        "verdict": "text | `missed`: a packet of this run took longer, or will never arrive; `guaranteed`: none can; `met`: none did, but it is not guaranteed; `unknown`: nothing was seen, or the run stood still, and nothing is guaranteed.",
        "packets": "count | Packets delivered in the window.",
        "lost_packets": "count | Packets of the whole run that never arrive: lost, removed, or refused.",
        "total_latency_ns_p99_99": "ns | 99.99 % of them did not take longer from making to delivery.",
        "total_latency_ns_max": "ns | The longest of them.",
        "margin": "ratio | Share of the requirement that the longest leaves, or a packet that is under way longer; below 0 it is missed. Null if a packet never arrives.",
        "bound_ns": "ns | No packet takes longer from making to delivery, in any run; null where there is no such time. | of.bound_ns",
        "bound_margin": "ratio | Share of the requirement that the bound leaves; below 0 it is not guaranteed.",
        "no_bound": "text | Why there is no bound; else empty. | of.no_bound",
    },
)

BOUNDS = table(
    "bounds",
    "Guaranteed delays",
    "One row per flow, the largest bound first; packets of another length between the same terminals are another one (`flows` in the JSON of `fabriloom bound`, whose `largest` has the parts of one bound).",
    {
        "source": "text | Terminal that sends.",
        "target": "text | Terminal that receives.",
        "packet_bytes": "B | Payload of the longest packet.",
        "bound_ns": "ns | No packet of the flow takes longer from its dispatch to its delivery, whenever packets are made; null where only periods give a bound.",
        "found_ns": "ns | The longest delay seen in runs that look for late packets; null if the flow was not tried.",
        "found_share": "0…1 | `found_ns / bound_ns`: the nearer to 1, the tighter the bound.",
        "periods_ns": "ns | Upper bound from the creation of a packet to its delivery, if all interfering flows keep their periods; null without such a bound.",
        "periods_found_ns": "ns | The longest such time seen in runs that keep the periods, with other phases; null without runs.",
        "periods_found_share": "0…1 | `periods_found_ns / periods_ns`.",
    },
)

CANDIDATES = table(
    "candidates",
    "Candidates of a design",
    "One row per candidate of `fabriloom design` (in the JSON `ranking` has those that meet everything). What belongs to a later sieve than the one that refused it is null.",
    {
        "candidate": "text | The network in words. | of.candidate.name",
        "family": "text | Kind of its topology. | of.candidate.family",
        "parameters": (
            "JSON | Parameters of its topology.",
            lambda one: json.dumps(dict(one.of.candidate.shape.parameters)),
        ),
        "settings": (
            "JSON | What is varied besides.",
            lambda one: json.dumps(dict(one.of.candidate.settings)),
        ),
        "networks": "count | Equal networks; the numbers below are of all together. | of.candidate.networks",
        "terminal_ports": (
            "count | Ports of a terminal, in all networks together.",
            lambda one: one.of.candidate.networks * one.of.candidate.ports_each,
        ),
        "terminals": (
            "count | Places for terminals.",
            lambda one: one.of.candidate.shape.terminals // one.of.candidate.ports_each,
        ),
        "status": "text | `met`: meets everything; `refused`; `not simulated`: enough cheaper or likelier ones meet everything. | status",
        "cost": "unit | By the costs of the requirements; without metres of cables if not built. | of.cost",
        "switches": "count | Switches.",
        "ports": "count | Ports of switches that are used.",
        "cables": "count | Cables, terminals' included; of rings their links.",
        "bound": "factor | Times the traffic at which a link, bus or memory is full.",
        "zero_load_ns": "ns | Mean latency of the longest packets without other traffic, over pairs spread evenly.",
        "carries": "factor | Times the traffic that it carried in simulation without a pile.",
        "accepted_mbytes_per_s": "MB/s | Throughput at the traffic that is asked for.",
        "accepted_mbytes_per_s_ci95": "MB/s | Half-width of its 95 % interval over seeds.",
        "mean_ns": "ns | Mean latency from the creation of a packet or an event; of a finalist mean over seeds, as the next one.",
        "tail_ns": "ns | Its percentile that the requirements name.",
        "tail_ns_ci95": "ns | Half-width of its 95 % interval over seeds.",
        "worst_failure": "text | The single failure after which least arrives; with `after_failure`.",
        "after_failure": "0…1 | Share of the packets that then arrives, counted on the routes; without those of terminals at a failed switch.",
        "delivered_after": "0…1 | Share of all packets in a simulation with that failure from the beginning.",
        "tail_after_ns": "ns | The percentile of those that arrived there.",
        "breaks": "text | The first requirement that it breaks, by its path. | miss.requirement",
        "have": "unit | What it has there. | miss.have",
        "need": "unit | What is asked. | miss.need",
        "by": "share | How far away, as a share of what is asked. | miss.by",
        "why": "text | The same in words. | miss.text",
    },
    maker=fact,
)

PAIRINGS = table(
    "effective_bisection",
    "Effective bisection bandwidth",
    "`effective_bisection` in the JSON of `fabriloom check --bisection N`: in each of N random pairings all pairs of terminals send to each other, and a flow gets one part of the link on its way that most flows use. No packet, buffer or blocking is in it. A slower link is a part of one. Null where tables do not say one way or one group (random intermediates), for terminals of several ports, and for rings.",
    {
        "pairings": "count | Random pairings.",
        "mean_share": "0…1 | Share of a link that a flow gets, the mean over flows and pairings.",
        "least_pairing": "0…1 | The mean over flows of the worst pairing.",
        "greatest_pairing": "0…1 | That of the best.",
        "spread": "0…1 | Standard deviation of that mean from pairing to pairing.",
        "least_flow": "0…1 | The least share of any flow.",
    },
    is_json=True,
)

OF_STUDIES = (TRIALS, SEEDS, BOUNDS, CANDIDATES, SATURATION, PAIRINGS)
"""Tables that only studies have, in the order of the page."""


REPRODUCTION = table(
    "reproduction",
    "Reproduction",
    "The JSON of `fabriloom reproduce`: a list, one entry per number that the paper prints.",
    {
        "id": "text | Name of the number: paper and place.",
        "paper": "text | Key of the paper.",
        "where": "text | Where the paper prints it.",
        "quantity": "text | What it is.",
        "unit": "text | Unit of the next three.",
        "published": "unit | As printed.",
        "ours": "unit | As computed or simulated.",
        "ci95": "unit | Half-width of its 95 % interval; null when exact or unknown.",
        "deviation": "ratio | (ours - published) / published.",
        "kind": "text | `arithmetic`: follows from the link alone; `calibrated`: a parameter was set by it; `predicted`: nothing was; `reported`: shown, not scored.",
        "tolerance": "unit | Lowest and highest value that agrees; null when not scored.",
        "within": "true or false | Whether ours is between them; null when it is not scored.",
        "parameter": "text | Calibrated: the parameter that was set by it.",
        "reason": "text | Reported: why it is not scored.",
    },
    is_json=True,
)
