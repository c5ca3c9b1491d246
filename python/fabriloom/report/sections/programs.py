"""Parts of reports for programs: events, back-pressure, activity of each terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...process.libraries import pl
from ...results import Results
from ...results.ends import STUCK
from ...results.figures import settings_text
from ...results.programs import ProgramRun
from ...results.shown import program_latency
from ..page import (
    Axis,
    Cell,
    Chart,
    Prose,
    Series,
    Table,
    amount,
    listed,
    micro,
    micros,
    number,
    percent,
    plus_minus,
    spot,
)
from .flows import flows
from .shared import numeric, tail

MOST_POINTS = 1500
"""Number of events drawn one by one; of more events, every n-th is drawn."""
RATE = "program.rate"


def hertz(per_s: float | None, half: float | None = None) -> str:
    """Return a rate of events with its unit, and half of its interval."""
    if per_s is None:
        return "–"
    unit, size = ("kHz", 1e3) if per_s >= 1e3 else ("Hz", 1.0)
    return f"{plus_minus(per_s / size, half / size if half else None)} {unit}"


def _percent(share: float | None) -> str:
    return percent(share).text


def _micro(value_ns: float | None) -> str:
    return number(micro(value_ns))


def facts(summary: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the key numbers of a run of programs."""
    messages, hosts, events = summary["messages"], summary["hosts"], summary["events"]
    latency = program_latency(summary)
    what = "event" if events["count"] else "message"
    known = []
    if events["count"]:
        attempted = events["attempted_per_s"]
        note = "as fast as they can go" if attempted is None else f"of {hertz(attempted)} attempted"
        done = f"{number(events['complete'])} of {number(events['count'])} complete"
        half = events.get("achieved_per_s_ci95")
        rate = hertz(events["achieved_per_s"], half)
        known = [("Event rate", rate, f"{note}; {done}")]
    return [
        *known,
        *_rounds(summary["rounds"]),
        (f"Mean {what} latency", f"{_micro(latency['mean'])} µs", f"99 % within {_micro(latency['p99'])} µs"),
        ("Messages", f"{number(messages['mbytes_per_s'])} MB/s", f"{number(messages['received'])} received"),
        *_again(messages),
        (
            "Back-pressure",
            _percent(hosts["blocked_share_mean"]),
            f"{hosts['blocked_most'] or '–'} most: {_percent(hosts['blocked_share_max'])}",
        ),
        (
            "Occupancy",
            _percent(hosts["receiving_share_mean"]),
            f"{hosts['receiving_most'] or '–'} most: {_percent(hosts['receiving_share_max'])}",
        ),
    ]


def _again(messages: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the numbers of packets sent again, if there were any."""
    if not messages["resent"]:
        return []
    note = f"{number(messages['duplicates'])} came twice, {number(messages['given_up'])} messages given up"
    packets = "packet" if messages["resent"] == 1 else "packets"
    return [("Sent again", f"{number(messages['resent'])} {packets}", note)]


def _rounds(rounds: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the time per round of a program that marks its rounds."""
    if not rounds["count"]:
        return []
    low, high = _micro(rounds["ns_min"]), _micro(rounds["ns_max"])
    return [("Time per round", f"{_micro(rounds['ns_mean'])} µs", f"{low} to {high} µs")]


def run_sections(results: Results) -> list[Any]:
    """Return the sections of a run of programs that come before its network; empty for traffic."""
    program, summary = results.program, results.summary
    if program is None:
        return []
    return [
        *waiting(summary["end"]["waiting"]),
        *_tails(program, summary),
        *_one_by_one(results.events, summary),
        *_hosts(results.hosts),
        *flows(results.message_flows, of="messages"),
        *_slowest(results.events),
    ]


def measured(told: Mapping[str, Any]) -> list[Table]:
    """Return how the measurement was made, and its noise."""
    runner = {
        "c": "in C, compiled by this MPI's compiler",
        "python": "in Python, some microseconds a message slower",
    }
    each, error_ns = sorted(set(told["machines"])), told["clock_error_ns"]
    where = each[0] if len(each) == 1 else f"{len(each)} machines, {each[0]} to {each[-1]}"
    late = f"{_micro(told['late_ns'])} µs after the agreed one" if told["late_ns"] else "in time"
    rows = [
        ("Runner", runner[told["runner"]]),
        ("MPI", told["mpi"]),
        ("Messages went", told["transport"]),
        ("Processes", f"{number(told['ranks'])} on {number(told['cores'])} cores of {where}"),
        ("Before it", f"{number(told['warm_ups'])} rounds of the whole program that do not count"),
        ("Rounds (µs)", ", ".join(_micro(value) for value in told["round_ns"])),
        ("Noise", f"{_percent(told['noise'])}: longest less shortest round, over that in the middle"),
        ("Clocks", f"known within {_micro(error_ns)} µs of each other" if error_ns else "one clock"),
        ("Latest start", late),
    ]
    cells = [[Cell(what), Cell(value)] for what, value in rows]
    note = "Everything here is of the round in the middle. "
    note += "Packets, links and buffers are not seen from programs."
    return [Table("How it was measured", ["", ""], cells, [False, False], note)]


def waiting(phrases: Sequence[str], most: int = 40) -> list[Table]:
    """Return what each terminal was waiting for when the programs stopped."""
    if not phrases:
        return []
    rows = [[Cell(name), Cell(what)] for name, _, what in (text.partition(": ") for text in phrases[:most])]
    left = f" {len(phrases) - most} more are not shown." if len(phrases) > most else ""
    note = f"Nothing that they wait for is under way, so none of these can ever continue.{left}"
    return [Table("What the programs wait for", ["Terminal", "waits in"], rows, [False, False], note)]


def _tails(program: ProgramRun, summary: Mapping[str, Any]) -> list[Chart | Prose]:
    """Return the complementary cumulative latency of events and of messages."""
    tails = {"messages": program.message_tail()}
    kinds = [("Message", summary["message_latency_ns"])]
    title = "Latency of messages"
    if summary["events"]["count"]:
        tails = {"events": program.event_tail(), **tails}
        kinds.insert(0, ("Event", summary["events"]["latency_ns"]))
        title = "Latency of events and messages"
    note = " ".join(f"{what} latency is from the {one['from']}, to the {one['to']}." for what, one in kinds)
    return tail(tails, note, title)


def _one_by_one(events: pl.DataFrame, summary: Mapping[str, Any]) -> list[Chart]:
    """Return latency against event number, which shows whether the run was steady."""
    done = events.drop_nulls("latency_ns")
    if len(done) < 3:
        return []
    shown = done.gather_every(-(-len(done) // MOST_POINTS))
    pairs = zip(shown["event"], shown["latency_ns"], strict=True)
    points = [spot(event, latency / 1e3) for event, latency in pairs]
    note = (
        "In a steady run the latency fluctuates about a constant level. If it rises, events are attempted "
        "faster than they are built."
    )
    if summary["events"]["attempted_per_s"] is None:
        note = "Nothing was due: latency is from the first message of the event."
    if len(shown) < len(done):
        note += f" {number(len(shown))} of {number(len(done))} events are drawn."
    axes = Axis("number of the event"), Axis("event latency (µs)")
    return [Chart("Event after event", *axes, [Series("events", points, "line")], note)]


def _hosts(table: pl.DataFrame, most: int = 64) -> list[Table]:
    """Return what each terminal sent and received, how long it waited, and how long it was occupied."""
    used = table.filter((table["bytes_sent"] + table["bytes_received"]) > 0)
    if not len(used):
        return []
    fastest = float(used.select("sent_mbytes_per_s", "received_mbytes_per_s").to_numpy().max())
    shown = used
    if len(used) > most:
        order = (used["blocked_share"] + used["receiving_share"]).arg_sort(descending=True)[:most].sort()
        shown = used[order]
    rate = lambda rate: Cell(number(rate), rate / fastest if fastest else 0.0, rate)  # noqa: E731
    columns = {
        "Terminal": ("terminal", Cell),
        "Sent (MB/s)": ("sent_mbytes_per_s", rate),
        "Received (MB/s)": ("received_mbytes_per_s", rate),
        "Waited for a place": ("blocked_share", percent),
        "Occupied": ("receiving_share", percent),
    }
    note = (
        "Waited: back-pressure, the share of the time in which a message had to wait for a free place at its "
        "sender. Occupied: the share in which it had received a part of a message."
    )
    if len(shown) < len(used):
        note += f" The {most} of {number(len(used))} terminals that waited or were occupied most."
    return listed("Terminals", columns, shown, note)


def _slowest(events: pl.DataFrame, most: int = 15) -> list[Table]:
    """Return incomplete events, then the slowest ones."""
    begun = events.drop_nulls("begun_ns")
    open_ = begun.filter(begun["complete_ns"].is_null()).head(most)
    done = begun.drop_nulls("latency_ns").sort("latency_ns", "event", descending=[True, False])
    shown = open_.vstack(done.head(most - len(open_)))
    if not len(shown):
        return []
    rows = []
    for row in shown.iter_rows(named=True):
        part = row["received"] / row["messages"] if row["messages"] else 0.0
        rows.append(
            [
                amount(row["event"]),
                Cell(f"{row['received']} of {row['messages']}", part if part < 1 else None, part),
                *(micros(row[name]) for name in ("begun_ns", "complete_ns", "latency_ns")),
            ]
        )
    head = ["Event", "Messages received", "Begun at (µs)", "Complete at (µs)", "Latency (µs)"]
    note = "Incomplete events first, then the slowest."
    return [Table("Slowest events", head, rows, [True] * 5, note)]


def curve_facts(points: Sequence[Any]) -> list[tuple[str, str, str]]:
    """Return the key numbers of a sweep of programs."""
    rated = [p for p in points if p.summary["events"]["achieved_per_s"]]
    key = ("events", "achieved_per_s") if rated else ("messages", "mbytes_per_s")
    best = max(rated or points, key=lambda p: p.summary[key[0]][key[1]] or 0.0)
    value = best.summary[key[0]][key[1]]
    text = hertz(value) if rated else f"{number(value)} MB/s"
    return [
        ("Most events" if rated else "Most bytes", text, f"at {settings_text(best.settings)}"),
        ("Points", number(len(points)), ""),
    ]


def curve_sections(points: Sequence[Any], varied: Sequence[str]) -> list[Any]:
    """Return the charts and the table of a sweep of programs."""
    return [*_rates(points, varied), _points(points, varied)]


def beside_charts(points: Sequence[Any]) -> list[Chart | Prose]:
    """Return charts of compared programs: rate against latency, one point each, and the tail of each."""
    rated = all(point.summary["events"]["count"] for point in points)
    series = []
    for point in points:
        summary, name = point.summary, settings_text(point.settings)
        of = summary["events"]["latency_ns"] if rated else summary["message_latency_ns"]
        rate = summary["events"]["achieved_per_s"] if rated else summary["messages"]["mbytes_per_s"]
        if rate is not None and of["mean"] is not None:
            place = spot(rate / 1e3 if rated else rate, of["mean"] / 1e3, name)
            series.append(Series(name, [place], "points"))
    what = "events" if rated else "messages"
    axes = Axis("achieved events (kHz)" if rated else "messages (MB/s)"), Axis(f"mean latency of {what} (µs)")
    note = "Further to the right is more, further down is faster."
    found = [Chart("Rate against latency", *axes, series, note)] if series else []
    tails = {settings_text(point.settings): point.tail for point in points}
    return [*found, *tail(tails, f"Latency of {what}.", f"Latency of {what}")]


def _rates(points: Sequence[Any], varied: Sequence[str]) -> list[Chart]:
    """Return achieved rate and latency against attempted rate, one line per combination of other settings."""
    if RATE not in varied:
        return []
    achieved: dict[str, list[Any]] = {}
    latency: dict[str, list[Any]] = {}
    for point in points:
        others = {path: point.settings[path] for path in varied if path != RATE and path in point.settings}
        name, events = settings_text(others) or "simulated", point.summary["events"]
        x, y, mean = (events["attempted_per_s"], events["achieved_per_s"], events["latency_ns"]["mean"])
        if x is None or y is None:
            continue
        achieved.setdefault(name, []).append(spot(x / 1e3, y / 1e3))
        if mean is not None:
            latency.setdefault(name, []).append(spot(x / 1e3, mean / 1e3))
    bend = "Where the line bends, the network builds no more events."
    drawn = (
        ("Events achieved", "achieved events (kHz)", achieved, bend),
        ("Event latency", "mean event latency (µs)", latency, ""),
    )
    return [
        Chart(title, Axis("attempted events (kHz)"), Axis(y), [Series(*one) for one in lines.items()], note)
        for title, y, lines, note in drawn
        if lines
    ]


def _points(points: Sequence[Any], varied: Sequence[str]) -> Table:
    head = [path.rsplit(".", 1)[-1].replace("_", " ").capitalize() for path in varied]
    head += ["Attempted (kHz)", "Achieved (kHz)", "MB/s", "Latency (µs)", "99 % (µs)", "Waited", "Ended"]
    rows = []
    for point in points:
        summary, events = point.summary, point.summary["events"]
        latency = program_latency(summary)
        rates = [events[f"{what}_per_s"] for what in ("attempted", "achieved")]
        share, rate = summary["hosts"]["blocked_share_mean"], summary["messages"]["mbytes_per_s"]
        reason = summary["end"]["reason"]
        rows.append(
            [
                *(Cell(str(point.settings.get(path, "–"))) for path in varied),
                *(Cell(number(None if one is None else one / 1e3), None, one) for one in rates),
                amount(rate),
                *(micros(latency[key]) for key in ("mean", "p99")),
                percent(share),
                Cell(reason.replace("_", "\u00a0"), None, None, "bad" if reason in STUCK else "quiet"),
            ]
        )
    note = "Mean latency of events; of messages where a program has none. Waited: senders for a free place."
    return Table("The points", head, rows, [*numeric(points, varied), *[True] * 6, False], note)
