"""Parts that reports share: charts, tables, the drawing of the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...process.libraries import pl
from ...results.ends import STUCK
from ...results.figures import settings_text, value_text
from ...results.shown import with_micro_sign
from .. import page
from ..page import (
    Axis,
    Cell,
    Chart,
    Prose,
    Series,
    Table,
    amount,
    busiest,
    micro,
    micros,
    number,
    percent,
    plus_minus,
    signed,
    spot,
)

ACCEPTED, LATENCY = page.USUAL.accepted, page.USUAL.latency
ALONE = "simulated"
"""Name of the line of a chart that has only one."""
LOADS = ("traffic.load", "traffic.scale")
"""Settings that scale the traffic; a curve is drawn over one of them."""


def confidence_text(statistics: Mapping[str, Any]) -> str:
    """Return how the half-widths were computed."""
    correlation = statistics["lag1_correlation"]
    text = f"± is half of a 95 % interval, from {statistics['batches']} batches of the run (Student's t)"
    return text if correlation is None else f"{text}; neighbours correlate by {number(correlation, 2)}"


def cycle(links: Sequence[str]) -> list[Table]:
    """Return who waits for whom, if the run deadlocked."""
    if not links:
        return []
    pairs = zip(links, [*links[1:], links[0]], strict=True)
    rows = [[Cell(link), Cell(following)] for link, following in pairs]
    note = "Each packet holds its link and waits for the next one; none can ever move."
    return [Table("The deadlock", ["The packet on", "waits for the packet on"], rows, [False, False], note)]


def tail_points(thin: Mapping[str, Sequence[float]]) -> list[list[Any]]:
    """Return a tail as points of a chart, down to the longest latency.

    The fraction of longer latencies is 0 there, which a logarithmic axis cannot show, so the line ends at the
    height of the previous point.
    """
    pairs = zip(thin["latency_ns"], thin["share_longer"], strict=True)
    found = [spot(x / 1e3, y) for x, y in pairs if y > 0 and x > 0]
    if found:
        found.append(spot(thin["latency_ns"][-1] / 1e3, found[-1][1], "the longest"))
    return found


def tail(
    tails: Mapping[str, Mapping[str, Sequence[float]]], note: str, title: str = "The tail of the latency"
) -> list[Chart | Prose]:
    """Return complementary cumulative latency, one series per name; a sentence if all latencies are equal.

    The fraction is on a logarithmic axis. The latency is too, if it spans a power of ten; otherwise that axis
    would have no ticks.
    """
    series = [Series(name, points, "step") for name, thin in tails.items() if (points := tail_points(thin))]
    drawn = {one.name for one in series}
    equal = {
        name: thin["latency_ns"][-1]
        for name, thin in tails.items()
        if name not in drawn and thin["latency_ns"]
    }
    each = ", ".join(f"{name} {number(value / 1e3)} µs" for name, value in equal.items())
    if not series:
        return [Prose(title, f"There is no tail, because all latencies are equal: {each}.")] if each else []
    note += f" All equal, so not drawn: {each}." if each else ""
    times = [point[0] for one in series for point in one.points]
    x, y = Axis("latency (µs)", max(times) > 10 * min(times) > 0), Axis("share that takes longer", log=True)
    return [Chart(title, x, y, series, f"{note} Every line ends at the maximum.")]


def moments(moments_ns: Mapping[str, float], top: float) -> list[Series]:
    """Return vertical lines at moments of a run, up to a height."""
    return [
        Series(f"{name}, at {number(at / 1e6)} ms", [spot(at / 1e6, y) for y in (0.0, top)], "line")
        for name, at in moments_ns.items()
    ]


def batches(table: pl.DataFrame, moments_ns: Mapping[str, float]) -> list[Chart]:
    """Return accepted throughput over simulated time, which shows whether the run was steady.

    ``moments_ns``: vertical lines by name.
    """
    if len(table) < 3:
        return []
    middle = ((table["start_ns"] + table["end_ns"]) / 2e6).to_list()
    accepted = zip(middle, table["accepted_mbytes_per_s"], strict=True)
    series = [Series("accepted", [spot(x, y) for x, y in accepted], "line")]
    series += moments(moments_ns, max(table["accepted_mbytes_per_s"]))
    note = "Each point is one batch after the warm-up. A steady run fluctuates about a constant level."
    return [Chart("Through the run", Axis("simulated time (ms)"), Axis("throughput (MB/s)"), series, note)]


def busiest_links(table: pl.DataFrame) -> list[Table]:
    columns = {
        "Link": ("link", Cell),
        "Utilisation": ("utilisation", percent),
        "Blocked": ("blocked_share", percent),
        "Packets": ("packets", amount),
        "Mean wait (µs)": ("waiting_ns_mean", micros),
    }
    note = "links. Blocked: held by a packet while the wire stood still. A click on a heading sorts."
    return busiest("Links", columns, table, "utilisation", note)


def _groups(points: Sequence[Any], varied: Sequence[str]) -> dict[str, list[Any]]:
    """Group points by the settings other than the load; each group is one line of a chart."""
    others = [path for path in varied if path not in LOADS]
    groups: dict[str, list[Any]] = {}
    for point in points:
        named = settings_text({path: point.settings[path] for path in others if path in point.settings})
        groups.setdefault(named or ALONE, []).append(point)
    return groups


def latency_against_throughput(
    points: Sequence[Any], varied: Sequence[str], published: Sequence[Mapping[str, Any]], note: str
) -> Chart:
    """Return network latency and (dashed) total latency against accepted throughput.

    Points have confidence intervals; points past saturation are hollow. Published points are shown too.
    """
    series: list[Series] = []
    # What papers print is in the usual units.
    units = page.USUAL if published else page.units_of(point.summary for point in points)
    for name, group in _groups(points, varied).items():
        measured = [p for p in group if p.summary["accepted_mbytes_per_s"] is not None]
        network, total = (
            [_latency_point(p, key, units) for p in measured] for key in ("latency_ns", "total_latency_ns")
        )
        hollow = [at for at, point in enumerate(measured) if is_saturated(point.summary)]
        series.append(Series(name, network, "line", hollow))
        if any(waits_long(point.summary) for point in measured):
            series.append(Series(_with_wait(name), total, "dashed", hollow, name))
    for reading in dict.fromkeys(str(p.get("reading", "")) for p in published):
        marks = [
            spot(p["accepted_mbytes_per_s"], p["latency_us"], p.get("label", ""))
            for p in published
            if p.get("reading", "") == reading
        ]
        series.append(Series(f"published, {reading}" if reading else "published", marks, "published"))
    log = page.is_log(series)
    high = Axis(units.latency, log, page.top(series, log))
    said = f"{note} {_how_drawn(series, high)}"
    return Chart("Latency against throughput", Axis(units.accepted), high, series, said)


def _with_wait(name: str) -> str:
    return "with the wait at the source" if name == ALONE else f"{name}, including the wait at the source"


def _how_drawn(series: Sequence[Series], high: Axis) -> str:
    """Return what strokes and marks mean, for those that occur."""
    dashed = any(one.style == "dashed" for one in series)
    words = "Bars are 95 % intervals."
    words += " Dashed: total latency, from the creation of a packet" if dashed else ""
    words += "; it leaves the chart where packets wait long." if high.top else "." if dashed else ""
    hollow = any(one.hollow for one in series)
    words += " Hollow: past saturation, a longer run would show larger latencies." if hollow else ""
    return words


def _latency_point(point: Any, key: str, units: page.Units) -> list[Any]:
    mean, half = (units.time(point.summary, point.summary[key][what]) for what in ("mean", "mean_ci95"))
    return spot(units.throughput(point.summary), mean, settings_text(point.settings), half)


def is_saturated(summary: Mapping[str, Any]) -> bool:
    """Return whether a run was past saturation: packets accumulated, were refused, or stood still."""
    return summary.get("keeps_up") is False


def waits_long(summary: Mapping[str, Any]) -> bool:
    """Return whether total and network latency differ, because packets wait at their sources."""
    network, total = summary["latency_ns"]["mean"], summary["total_latency_ns"]["mean"]
    return bool(network and total and total > 1.01 * network)


def accepted_against_load(points: Sequence[Any], varied: Sequence[str]) -> list[Chart]:
    """Return accepted throughput against load or rate scale; nothing if neither was varied."""
    path = next((path for path in LOADS if path in varied), None)
    if path is None:
        return []
    of_scale = path == "traffic.scale"
    units = page.units_of(point.summary for point in points)
    series = []
    for name, group in _groups(points, varied).items():
        line, hollow = [], list[int]()
        for point in group:
            value, half = (units.throughput(point.summary, end) for end in ("", "_ci95"))
            if value is not None and path in point.settings:
                hollow += [len(line)] if is_saturated(point.summary) else []
                line.append(spot((1 if of_scale else 100) * point.settings[path], value, half=half))
        series.append(Series(name, line, "line", hollow))
    if of_scale:
        note = "1 is all rates and flows as they are written."
        x = Axis("scale of the traffic")
        return [Chart("Throughput against scale", x, Axis(units.accepted), series, note)]
    note = "100 % is packets back to back on the link of every terminal. Hollow: past saturation."
    return [Chart("Throughput against load", Axis("offered load (%)"), Axis(units.accepted), series, note)]


def tails_of(points: Sequence[Any], most: int = 6) -> list[Chart | Prose]:
    """Return the tails of at most ``most`` points, spread over the study."""
    if not points:
        return []
    step = max(1, -(-len(points) // most))
    chosen = {settings_text(point.settings): point.tail for point in points[::step]}
    return tail(chosen, "Where a curve is at 0.01, one in a hundred takes longer.")


def points_table(points: Sequence[Any], varied: Sequence[str]) -> Table:
    refused = any(point.summary["refused_mbytes_per_s"] for point in points)
    lost = any(point.summary["packets"].get("lost") for point in points)
    retried = any(_retries(point) for point in points)
    doubted = any(point.summary["statistics"]["trusted"] is False for point in points)
    of_flits = page.units_of(point.summary for point in points).of_flits
    head = [
        *varied, *(["Accepted (flits/node/cycle)", "Mean latency (cycles)"] if of_flits else []),
        "Offered (MB/s)", *(["Refused (MB/s)"] if refused else []), "Accepted (MB/s)",
        *(["Lost by faults"] if lost else []), *(["Retries (MB/s)"] if retried else []),
        "Mean latency (µs)", "99 % (µs)", "Longest (µs)", "Total latency (µs)", "Ended",
    ]  # fmt: skip
    note = "Total latency includes the wait at the source."
    note += " Lost by faults: packets in the whole run." if lost else ""
    note += " Retries: packets sent again, average per link." if retried else ""
    note += " (?): this ± is not to be trusted: batches are correlated or drift." if doubted else ""
    rows = []
    for point in points:
        summary = point.summary
        latency, total = summary["latency_ns"], summary["total_latency_ns"]
        accepted, mean = summary["accepted_mbytes_per_s"], latency["mean"]
        mark = " (?)" if summary["statistics"]["trusted"] is False else ""
        single = {"refused": summary["refused_mbytes_per_s"], "retried": _retries(point)}
        single["lost"] = summary["packets"].get("lost", 0)
        cells = {what: amount(value) for what, value in single.items()}
        reason = summary["end"]["reason"]
        rows.append(
            [
                *(Cell(value_text(point.settings.get(path, "–"))) for path in varied),
                *(_of_flits(summary["flits"]) if of_flits else []),
                amount(summary["offered_mbytes_per_s"]),
                *([cells["refused"]] if refused else []),
                Cell(plus_minus(accepted, summary["accepted_mbytes_per_s_ci95"]) + mark, None, accepted),
                *([cells["lost"]] if lost else []),
                *([cells["retried"]] if retried else []),
                Cell(plus_minus(micro(mean), micro(latency["mean_ci95"])), None, mean),
                *(micros(latency[key]) for key in ("p99", "max")),
                Cell(plus_minus(micro(total["mean"]), micro(total["mean_ci95"])), None, total["mean"]),
                Cell(reason.replace("_", "\u00a0"), None, None, "bad" if reason in STUCK else "quiet"),
            ]
        )
    flush = [*numeric(points, varied), *[True] * (len(head) - len(varied) - 1), False]
    return Table("The points", head, rows, flush, note)


def _of_flits(flits: Mapping[str, Any]) -> list[Cell]:
    """Return throughput and latency in flits and cycles."""
    pairs = ((flits[key], flits[f"{key}_ci95"]) for key in ("accepted_per_node_cycle", "latency_cycles_mean"))
    return [Cell(plus_minus(value, half), None, value) for value, half in pairs]


def _retries(point: Any) -> float | None:
    return point.summary.get("sci", {}).get("retry_mbytes_per_s_mean")


def numeric(points: Sequence[Any], varied: Sequence[str]) -> list[bool]:
    """Return which of the varied settings are numbers; these are right-aligned."""
    return [all(isinstance(point.settings.get(path), int | float) for point in points) for path in varied]


def _deviation(value: float | None) -> Cell:
    """Return a deviation with its sign, coloured from 1 %, 5 % and 20 % on."""
    text = signed(value)
    if value is None or abs(value) < 0.01:
        return Cell(text, None, value)
    side, arrow = ("over", "\u25b2") if value > 0 else ("under", "\u25bc")
    steps = 1 + sum(abs(value) >= limit for limit in (0.05, 0.2))
    return Cell(f"{arrow}\u00a0{text}", None, value, f"{side}{steps}")


def _verdict(record: Mapping[str, Any]) -> Cell:
    if record.get("within") is None:
        return Cell("not measured", None, -1, "bad")
    return Cell("✓ agrees", None, 1, "good") if record["within"] else Cell("✗ does not agree", None, 0, "bad")


def _tolerance(value: Any) -> str:
    """Return the range of values that agree, in the unit of the line."""
    if value is None:
        return "–"
    low, high = value
    return "exactly" if low == high else f"{number(low)} to {number(high)}"


KINDS = {
    "predicted": ("Predicted", "No parameter was set by these lines."),
    "calibrated": ("Calibrated", "A parameter was set so that these lines agree."),
    "arithmetic": ("Arithmetic", "These lines follow from the link and the construction alone."),
    "reported": ("Reported", "These lines are shown and not scored, for the reason given."),
}
"""The kinds of lines of a reproduction, most interesting first: title and meaning."""


def published_rows(rows: Sequence[Mapping[str, Any]]) -> list[Table]:
    """Return the numbers that a paper prints about this network, and ours."""
    if not rows:
        return []
    head = ["Quantity", "Published", "Ours", "Unit", "Deviation", "Kind", "Agrees from, to"]
    numbers = [False, True, True, False, True, False, True]
    cells = [[*_record(row, scored=False, explained=False), *_judged(row)] for row in rows]
    note = (
        "Predicted: no parameter was set by it. Calibrated: a parameter was set by it. Reported: not scored."
    )
    return [Table("Published and ours", head, cells, numbers, note)]


def _judged(row: Mapping[str, Any]) -> list[Cell]:
    """Return the kind of agreement, and whether it is met."""
    within = row.get("within")
    mark, sign = ("", "") if within is None else ("good", "✓ ") if within else ("bad", "✗ ")
    why = with_micro_sign(str(row.get("parameter") or row.get("reason") or ""))
    return [
        Cell(str(row.get("kind", "")), below=why),
        Cell(f"{sign}{_tolerance(row.get('tolerance'))}", None, None, mark),
    ]


def records(lines: Sequence[Mapping[str, Any]]) -> list[Table]:
    """Return published and computed numbers, one table per kind of line."""
    tables = []
    for kind, (title, note) in KINDS.items():
        group = [line for line in lines if line.get("kind") == kind]
        if not group:
            continue
        last = {"reported": "Why it is not scored", "calibrated": "The parameter"}.get(kind)
        scored = kind != "reported"
        head = {"Quantity": False, "Published": True, "Ours": True, "Unit": False, "Deviation": True}
        if scored:
            head |= {"Agrees from, to": True, "Verdict": False}
            note += " A line agrees when ours is between the two values given."
        if last:
            head[last] = False
        rows = [_record(line, scored, bool(last)) for line in group]
        tables.append(Table(title, [*head], rows, [*head.values()], note))
    return tables


def _record(line: Mapping[str, Any], scored: bool, explained: bool) -> list[Cell]:
    cells = [
        Cell(
            with_micro_sign(str(line.get("quantity", ""))), below=with_micro_sign(str(line.get("where", "")))
        ),
        Cell(with_micro_sign(_published(line.get("published")))),
        Cell(_ours(line)),
        Cell(with_micro_sign(str(line.get("unit") or ""))),
        _deviation(line.get("deviation")),
    ]
    if scored:
        cells += [Cell(_tolerance(line.get("tolerance"))), _verdict(line)]
    if explained:
        why = with_micro_sign(str(line.get("reason") or line.get("parameter") or ""))
        cells.append(Cell(why, None, None, "quiet"))
    return cells


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _published(value: Any) -> str:
    if value is None or _is_number(value):
        return number(value)
    if isinstance(value, list | tuple):
        return " to ".join(number(one) for one in value)
    return str(value)


def _ours(line: Mapping[str, Any]) -> str:
    value = line.get("ours")
    return plus_minus(value, line.get("ci95")) if _is_number(value) else _published(value)


def figures(lines: Sequence[Mapping[str, Any]]) -> list[Chart]:
    """Return computed curves and published points, one chart per figure and pair of quantities."""
    names = ("figure", "title", "x_quantity", "y_quantity", "log")
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for line in lines:
        key = tuple(str(line[name]) for name in names)
        groups.setdefault(key, []).append(line)
    charts = []
    for (figure, title, x_quantity, y_quantity, log), group in groups.items():
        series, published = [], []
        for line in group:
            halves = line.get("ci") or [None] * len(line["x"])
            points = [
                spot(x, y, half=half)
                for x, y, half in zip(line["x"], line["y"], halves, strict=True)
                if x == x and y == y
            ]
            series.append(Series(str(line["label"]), points, "line"))
            published += [spot(p["x"], p["y"], str(p["id"])) for p in line.get("published") or ()]
        if published:
            series.append(Series("published in the text", published, "published"))
        axes = Axis(x_quantity, "x" in log), Axis(y_quantity, "y" in log)
        charts.append(Chart(f"Figure {figure}: {title}", *axes, series))
    return charts
