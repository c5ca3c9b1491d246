"""A result in a notebook cell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from .faults import around_text, lost_text
from .figures import figures, in_percent, measured
from .signals import text as codes_text


def _measured(value: float | None, ci95: float | None, unit: str) -> str:
    return "–" if value is None else f"{measured(value, ci95)} {unit}"


def time_unit(value_ns: float | None) -> tuple[str, float]:
    """Return a suitable unit for a time, and its length in nanoseconds."""
    return ("ns", 1.0) if value_ns is not None and value_ns < 1000 else ("µs", 1e3)


def with_micro_sign(text: str) -> str:
    """Replace "us" of data files by the printed form of microseconds."""
    return re.sub(r"^us$|(?<=[\d.)] )us\b", "µs", text)


def of_programs(*summaries: Mapping[str, Any]) -> bool:
    """Whether all of these are summaries of programs; mixed summaries share only packets."""
    return bool(summaries) and all("messages" in summary for summary in summaries)


def program_latency(summary: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the latency of events, or of messages of a program without events."""
    return summary["events"]["latency_ns"] if summary["events"]["count"] else summary["message_latency_ns"]


def rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the most important lines of a summary: (name, value)."""
    latency = summary["latency_ns"]
    unit, divisor = time_unit(latency["mean"])
    refused = summary["refused_mbytes_per_s"]
    scale = lambda value: None if value is None else value / divisor  # noqa: E731
    ended = ("ended", f"{summary['end']['reason']} – {summary['end']['message']}")
    verdict = ("verdict", f"{summary['verdict']}.")
    if "measured" in summary:
        return [verdict, ended, *_program(summary), *_how_measured(summary["measured"])]
    if of_programs(summary):
        return [verdict, ended, *_program(summary), ("packet latency", spread(latency)), *_counted(summary)]
    return [
        verdict,
        ended,
        ("offered", _measured(summary["offered_mbytes_per_s"], None, "MB/s")),
        *([("refused", _measured(refused, None, "MB/s"))] if refused else []),
        (
            "accepted",
            _measured(summary["accepted_mbytes_per_s"], summary["accepted_mbytes_per_s_ci95"], "MB/s"),
        ),
        ("latency, mean", _measured(scale(latency["mean"]), scale(latency["mean_ci95"]), unit)),
        *(
            (
                f"latency, {label}",
                f"{_measured(scale(latency[key]), None, unit)}{_interval(latency, key, scale)}",
            )
            for key, label in (
                ("min", "shortest"),
                ("p50", "50 %"),
                ("p99", "99 %"),
                ("p99_9", "99.9 %"),
                ("max", "longest"),
            )
        ),
        ("latency, total", spread(summary["total_latency_ns"])),
        *_counted(summary),
    ]


def _interval(latency: dict[str, Any], key: str, scale: Any) -> str:
    """Format the confidence interval of a percentile; empty if an end is not known."""
    low, high = (scale(latency.get(f"{key}_ci95_{end}")) for end in ("low", "high"))
    return "" if low is None or high is None else f" ({figures(low)} to {figures(high)})"


def _counted(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the lines about packets, with those of rings."""
    packets = summary["packets"]
    return [
        (
            "packets",
            f"{packets['offered']:,} offered = {packets['delivered']:,} delivered"
            f" + {packets['refused']:,} refused + {packets['in_flight']:,} in flight"
            + (f" + {packets['scrubbed']:,} scrubbed" if packets.get("scrubbed") else "")
            + (f" + {packets['lost']:,} lost" if "lost" in packets else ""),
        ),
        *([("in flits", _flits(summary["flits"]))] if "flits" in summary else []),
        *(_faults(summary["faults"]) if "faults" in summary else []),
        *([codes_text(summary["codes"])] if "codes" in summary else []),
        *([("congestion", _congestion(summary["congestion"]))] if "congestion" in summary else []),
        *(_sci(summary["sci"], summary["network"]["buses"]) if "sci" in summary else []),
    ]


def _flits(flits: dict[str, Any]) -> str:
    """Return throughput and latency in the units of networks on chip."""
    accepted = measured(flits["accepted_per_node_cycle"], flits["accepted_per_node_cycle_ci95"])
    latency = measured(flits["latency_cycles_mean"], flits["latency_cycles_mean_ci95"])
    return f"{accepted} flits/node/cycle accepted; latency {latency} cycles"


def _congestion(found: dict[str, Any]) -> str:
    rest, highest = in_percent(found["rest_share"]), found["ccti_highest"]
    marked = f"{found['marked']:,} times a packet was marked, {found['notified']:,} of these were delivered"
    return f"{marked}; ports rested {rest} of the time on average, highest index {highest}"


def _faults(faults: dict[str, Any]) -> list[tuple[str, str]]:
    ran = faults["availability"]
    share = "" if ran is None else f"; on average a link ran {in_percent(ran)} of the time"
    links = f"{faults['links']} link{'' if faults['links'] == 1 else 's'}"
    down = f"{links} down, stuck or slower for a time{share}; " if faults["links"] else ""
    lost = f"{down}packets lost: {lost_text(faults)}"
    around = around_text(faults)
    return [("faults", lost), *([("around them", around)] if around else [])]


def _program(summary: dict[str, Any]) -> list[tuple[str, str]]:
    messages, events, hosts = summary["messages"], summary["events"], summary["hosts"]
    again = f", {messages['repeated']:,} times sent again" if messages["repeated"] else ""
    again += f", {messages['lost']:,} lost" if messages["lost"] else ""
    announced = f", {messages['announced']:,} of them announced" if messages["announced"] else ""
    found = [
        (
            "messages",
            f"{messages['received']:,} received of {messages['made']:,}{announced}{again}; "
            + _measured(messages["mbytes_per_s"], None, "MB/s"),
        ),
        ("message latency", spread(summary["message_latency_ns"])),
    ]
    if messages["resent"]:
        given_up = f", {messages['given_up']:,} messages given up" if messages["given_up"] else ""
        twice = f"{messages['duplicates']:,} came twice and were discarded"
        packets = f"{messages['resent']:,} packet{'' if messages['resent'] == 1 else 's'}"
        found.insert(1, ("sent again", f"{packets}; {twice}{given_up}"))
    if events["count"]:
        left = f", {events['incomplete']:,} begun and not complete" if events["incomplete"] else ""
        found += [
            ("events", f"{events['complete']:,} complete of {events['count']:,}{left}"),
            ("event rate", event_rate(events)),
            ("event latency", spread(events["latency_ns"])),
        ]
    if summary["rounds"]["count"]:
        found.append(("time per round", _round(summary["rounds"])))
    for what, key in (("back-pressure", "blocked"), ("occupancy", "receiving")):
        if hosts[f"{key}_share_mean"] is not None:
            share, most = (in_percent(hosts[f"{key}_share_{how}"]) for how in ("mean", "max"))
            whose = "senders waited for a free place" if key == "blocked" else "receivers were receiving"
            found.append((what, f"{whose} {share} of the time; {hosts[f'{key}_most']} most, {most}"))
    return found


def _how_measured(measured: dict[str, Any]) -> list[tuple[str, str]]:
    runner = {"c": "the runner in C", "python": "the runner in Python"}[measured["runner"]]
    many = f"{measured['ranks']} processes on {measured['cores']} cores"
    unit, divisor = time_unit(max(measured["round_ns"]))
    rounds = ", ".join(figures(value / divisor) for value in measured["round_ns"])
    error = measured["clock_error_ns"]
    return [
        ("measured", f"{measured['mpi']}, {runner}, {many}; {measured['transport']}"),
        ("noise", f"{in_percent(measured['noise'])}: {measured['rounds']} rounds of {rounds} {unit}"),
        *([("clocks", f"known within {figures(error / 1e3, 3)} µs of each other")] if error else []),
    ]


def _round(rounds: dict[str, Any]) -> str:
    """Format mean and extremes of the time per round."""
    unit, divisor = time_unit(rounds["ns_mean"])
    low, mean, high = (rounds[f"ns_{key}"] / divisor for key in ("min", "mean", "max"))
    return (
        f"{figures(mean)} {unit} on average over {rounds['count']:,}, from {figures(low)} to {figures(high)}"
    )


def event_rate(events: dict[str, Any]) -> str:
    """Format the achieved and attempted events per second."""
    achieved, attempted = (
        _hertz(events[f"{what}_per_s"], events.get(f"{what}_per_s_ci95"))
        for what in ("achieved", "attempted")
    )
    some = "too few to tell what is" if events["complete"] else "none"
    return f"{achieved or some} achieved" + (
        f" of {attempted} attempted" if attempted else ", as fast as possible"
    )


def _hertz(per_s: float | None, half: float | None = None) -> str:
    if per_s is None:
        return ""
    unit, divisor = ("kHz", 1e3) if per_s >= 1e3 else ("Hz", 1.0)
    return _measured(per_s / divisor, half / divisor if half else None, unit)


def spread(latency: dict[str, Any]) -> str:
    if latency["mean"] is None:
        return "none was measured"
    unit, divisor = time_unit(latency["mean"])
    low, mean, tail, high = (latency[key] / divisor for key in ("min", "mean", "p99", "max"))
    half = latency.get("mean_ci95")
    average = _measured(mean, None if half is None else half / divisor, unit)
    return f"{average} on average, from {figures(low)} to {figures(high)}; 99 % within {figures(tail)}"


def _sci(sci: dict[str, Any], buses: int) -> list[tuple[str, str]]:
    retries, echoes = (in_percent(sci[f"{what}_share"]) for what in ("retry", "echo"))
    busied, late = sci["busied"], sci["timed_out"]
    given_up = f", {late:,} transaction{'s' * (late > 1)} timed out" if late else ""
    found = [
        (
            "links",
            f"the busiest {in_percent(sci['link_utilisation_max'])} in use, "
            f"{figures(sci['link_mbytes_per_s_max'])} MB/s; "
            f"{retries} of all traffic are retries, {echoes} echoes",
        ),
        (
            "retries",
            f"{figures(sci['retry_mbytes_per_s_mean'])} MB/s per link on average, at most "
            f"{figures(sci['retry_mbytes_per_s_max'])} MB/s",
        ),
        ("busied", f"{busied:,} packet{'s' * (busied != 1)}{given_up}"),
    ]
    if buses:
        found.append(("buses", f"the busiest {in_percent(sci['bus_utilisation_max'])} in use"))
    return found


def from_and_to(named: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """Return where latencies begin and end; each after the first that differs is named."""
    found: dict[str, list[str]] = {}
    for name, latency in named:
        found.setdefault(f"from the {latency['from']}, to the {latency['to']}", []).append(name)
    first, *others = found
    return first + "".join(f"; of {', '.join(dict.fromkeys(found[one]))}: {one}" for one in others)


def repr_html(summary: dict[str, Any]) -> str:
    """Return a small table as escaped HTML, for ``_repr_html_``."""
    left = "style='text-align:left'"
    body = "".join(
        f"<tr><th {left}>{escape(what)}</th><td {left}>{escape(with_micro_sign(value))}</td></tr>"
        for what, value in rows(summary)
    )
    return (
        f"<table><caption>{escape(summary['name'])} · seed {summary['seed']} · "
        f"{escape(summary['scenario_sha256'][:12])}</caption>{body}</table><small>Latency: from "
        f"{escape(summary['latency_ns']['from'])} to {escape(summary['latency_ns']['to'])}.</small>"
    )
