"""Print results as compact tables, without colours in a pipe."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from shutil import get_terminal_size
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..reading.texts import escaped
from ..results import Results, shown
from ..results.figures import deviation, in_percent, measured
from ..results.figures import figures as figures
from ..results.figures import value_text as value_text
from .exits import say
from .house import Curve, Repetition, Saturation, promised, tally

PIPE_WIDTH = 140


def draw(drawn: Table) -> None:
    """Print a table on standard output; in a pipe without colours, wide, and without trailing blanks."""
    width = None if sys.stdout.isatty() else PIPE_WIDTH
    console = Console(width=width, highlight=False, markup=False, emoji=False)
    # Rich leaves out columns that do not fit; a wide line that the terminal breaks is the lesser evil.
    console.width = max(console.width, console.measure(drawn).minimum)
    with console.capture() as captured:
        console.print(drawn)
    lines = [text.rstrip() for text in captured.get().rstrip("\n").split("\n")]
    sys.stdout.write(textwrap.dedent("\n".join(lines)) + "\n")


def time(divisor: float, value: float | None, ci95: float | None = None) -> str:
    """Format a time in ns, divided by the ns of its unit, with a half-width."""
    return measured(None if value is None else value / divisor, None if ci95 is None else ci95 / divisor)


def us(value_ns: float | None) -> str:
    """Format a time in ns in µs."""
    return "-" if value_ns is None else f"{figures(value_ns / 1e3)} µs"


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[bool], title: str = ""
) -> None:
    """Print a table; ``numbers``: right-aligned columns, not wrapped, as is why runs ended."""
    if title:
        say(title)
    drawn = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name, right in zip(head, numbers, strict=True):
        justify, whole = "right" if right else "left", right or name == "ended"
        drawn.add_column(Text(escaped(name)), justify=justify, overflow="fold", no_wrap=whole)
    for row in rows:
        drawn.add_row(*(Text(escaped(cell)) for cell in row))
    draw(drawn)


Columns = Mapping[str, tuple[str, Callable[[Any], str]]]
"""Per heading the key of a value in each row, and its form: ``str`` of texts, which stand at the left."""


def listed(columns: Columns, rows: Iterable[Mapping[str, Any]], title: str = "") -> None:
    """Print a table of the values of rows."""
    cells = [[form(row[key]) for key, form in columns.values()] for row in rows]
    table(list(columns), cells, [form is not str for _, form in columns.values()], title)


def pairs(rows: Iterable[tuple[str, str]]) -> None:
    """Print lines of (name, value), with aligned values."""
    drawn = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    drawn.add_column(style="dim", no_wrap=True)
    drawn.add_column(overflow="fold")
    for what, value in rows:
        drawn.add_row(Text(escaped(what)), Text(escaped(value)))
    draw(drawn)


def run(results: Results) -> None:
    """Print one run."""
    summary = results.summary
    latency, engine = summary["latency_ns"], summary["engine"]
    speed = f"{round(engine['events'] / engine['wall_s']):,}" if engine["wall_s"] else "-"
    say(f"{summary['name']} (seed {summary['seed']}, scenario {summary['scenario_sha256'][:12]})")
    seconds = figures(engine["wall_s"], 2)
    ran = ("engine", f"{engine['events']:,} events in {seconds} s, {speed} a second")
    pairs([*shown.rows(summary), *([] if "measured" in summary else [ran])])
    if shown.of_programs(summary):
        _program_latencies(summary)
        if len(results.slots):
            promised.of_slots(results.slots)
    else:
        say(
            f"Latency: from the {latency['from']}, to the {latency['to']}; total: with the source's wait. "
            "± is half of a 95 % interval."
        )
    if results.transfers is not None:
        promised.of_completions(results.transfers)
    if results.has_requirements:
        promised.of_run(results.requirements)
    if results.has_codes:
        promised.of_codes(results.codes)


def _program_latencies(summary: Mapping[str, Any]) -> None:
    """Return the start and the end of each latency of a program, as text."""
    kinds = {"Message": summary["message_latency_ns"]}
    if "measured" not in summary:
        kinds["Packet"] = summary["latency_ns"]
    if summary["events"]["count"]:
        kinds = {"Event": summary["events"]["latency_ns"], **kinds}
    for what, latency in kinds.items():
        say(f"{what} latency: from the {latency['from']}, to the {latency['to']}.")


def curve(study: Curve) -> None:
    """Print the points of a curve, sweep or comparison, and the verdicts."""
    points(study.points, study.varied, " vs. ".join(getattr(study, "parts", [])) or study.provenance.name)
    verdicts(study.verdicts)


def verdicts(said: Mapping[str, str]) -> None:
    """Print what each network carries and what limits it, one paragraph each."""
    for name, text in said.items():
        if text:
            say()
            say(f"{name}: {text}." if len(said) > 1 else f"{text}.")


def _percentiles(taken: int, unit: str) -> dict[str, str]:
    """Return the percentiles for which there is room beside the other columns: on a narrow terminal, one."""
    columns = get_terminal_size().columns if sys.stdout.isatty() else PIPE_WIDTH
    if columns < 104 + taken:
        return {"p99": f"99 % {unit}"}
    return {"p50": f"50 % {unit}", "p99": f"99 % {unit}", "p99_9": f"99.9 % {unit}"}


def points(found: Sequence[Any], varied: Sequence[str], title: str) -> None:
    """Print one row per point."""
    if shown.of_programs(*(point.summary for point in found)):
        program_points(found, varied, title)
        return
    means = [point.summary["latency_ns"]["mean"] for point in found]
    unit, divisor = shown.time_unit(min((mean for mean in means if mean is not None), default=None))
    refused, retried, lost = (_any(found, what) for what in ("refused", "retried", "lost"))
    of_flits = all("flits" in point.summary for point in found)
    unit = "cycles" if of_flits else unit
    taken = sum(len(path) + 3 for path in varied) + 40 * of_flits + 15 * (refused + retried + lost)
    percentiles = _percentiles(taken, unit)
    rows = []
    for point in found:
        summary = point.summary
        latency, total, sci = summary["latency_ns"], summary["total_latency_ns"], summary.get("sci", {})
        flits = summary["flits"] if of_flits else {}
        divisor = flits.get("cycle_ns", divisor)
        rows.append(
            {
                **{path: value_text(point.settings.get(path, "-")) for path in varied},
                "offered MB/s": measured(summary["offered_mbytes_per_s"]),
                **({"refused MB/s": measured(summary["refused_mbytes_per_s"])} if refused else {}),
                "accepted MB/s": _believed(
                    summary, measured(summary["accepted_mbytes_per_s"], summary["accepted_mbytes_per_s_ci95"])
                ),
                **({"flits/node/cycle": measured(flits["accepted_per_node_cycle"])} if of_flits else {}),
                **({"lost by faults": measured(summary["packets"].get("lost", 0))} if lost else {}),
                **({"retries MB/s": measured(sci.get("retry_mbytes_per_s_mean"))} if retried else {}),
                f"latency {unit}": time(divisor, latency["mean"], latency["mean_ci95"]),
                **{label: time(divisor, latency[key]) for key, label in percentiles.items()},
                f"total {unit}": time(divisor, total["mean"], total["mean_ci95"]),
                "ended": summary["end"]["reason"],
            }
        )
    if not rows:
        table([*varied, "ended"], [], [False] * (len(varied) + 1), title)
        return
    head = list(rows[0])
    flush = [name not in (*varied, "ended") for name in head]
    table(head, [list(row.values()) for row in rows], flush, title)
    counted = _counted(found, varied, [point.summary["latency_ns"] for point in found])
    say(f"Latency: {counted}; total: with the source's wait.")
    retry = " Retries: packets sent again, average per link." if retried else ""
    say(f"± is half of a 95 % interval.{retry}")
    if any(point.summary["statistics"]["trusted"] is False for point in found):
        say("(?) not to be trusted: the batches are correlated or drift, so ± is too small; run longer.")


def _any(found: Sequence[Any], what: str) -> bool:
    """Whether sources refused packets at any point, faults lost some, or rings repeated some."""
    if what == "lost":
        return any(point.summary["packets"].get("lost") for point in found)
    if what == "refused":
        return any(point.summary["refused_mbytes_per_s"] for point in found)
    return any(point.summary.get("sci", {}).get("retry_mbytes_per_s_mean") for point in found)


def _believed(summary: Mapping[str, Any], text: str) -> str:
    return f"{text} (?)" if summary["statistics"]["trusted"] is False else text


def seeds(study: Repetition) -> None:
    """Print the runs of one scenario by seed, and the means over them."""
    curve(study)
    if not len(study.means):
        return
    say()
    rows = []
    for row in study.means.iter_rows(named=True):
        quantity, mean = row["quantity"], row["mean"]
        if quantity in SEEDS_SHOWN and mean is not None and (mean or quantity not in SELDOM):
            name, unit, divisor = _quantity(quantity, mean)
            values = [time(divisor, row[key]) for key in ("spread", "least", "greatest")]
            held = "-" if row["holding"] is None else f"{row['holding']} of {row['runs']}"
            rows.append([name, unit, time(divisor, row["mean"], row["ci95"]), *values, held])
    head = ["mean over seeds", "", "mean", "spread", "least", "greatest", "intervals that contain it"]
    table(head, rows, [False, False, *[True] * 5])
    say(
        "± is half of a 95 % interval over seeds (Student's t). Spread: standard deviation from seed to seed."
    )
    say(
        "Intervals that contain it: runs whose own 95 % interval contains this mean; about 19 of 20 if they "
        "are valid."
    )


SEEDS_SHOWN = {
    "offered_mbytes_per_s": "offered",
    "refused_mbytes_per_s": "refused",
    "packets_lost": "lost by faults",
    "accepted_mbytes_per_s": "accepted",
    "retry_mbytes_per_s_mean": "retries",
    "latency_ns_mean": "latency, mean",
    "latency_ns_p99": "latency, 99 %",
    "total_latency_ns_mean": "total latency, mean",
    "total_latency_ns_p99": "total latency, 99 %",
    "round_ns_mean": "time per round",
    "message_mbytes_per_s": "messages",
    "message_latency_ns_mean": "message latency, mean",
    "events_achieved_per_s": "events achieved",
    "event_latency_ns_mean": "event latency, mean",
    "event_latency_ns_p99": "event latency, 99 %",
}
"""Quantities whose means over seeds are printed; the files have all."""

SELDOM = {"refused_mbytes_per_s", "packets_lost", "retry_mbytes_per_s_mean"}
"""Those of them that are not printed where they are zero in all runs."""


def _quantity(name: str, mean: float) -> tuple[str, str, float]:
    """Return the name of a quantity, the unit to print, and how many of its own units make one."""
    if "_ns_" in name:
        return SEEDS_SHOWN[name], *shown.time_unit(mean)
    unit = "MB/s" if "mbytes" in name else "packets" if name == "packets_lost" else "1/s"
    return SEEDS_SHOWN[name], unit, 1.0


def program_points(found: Sequence[Any], varied: Sequence[str], title: str) -> None:
    """Print one row per point of a program: its events, or its messages if it has none."""
    events = any(point.summary["events"]["count"] for point in found)
    means = [_latency_of(point.summary, events)["mean"] for point in found]
    unit, divisor = shown.time_unit(min((mean for mean in means if mean is not None), default=None))
    head = ["attempted 1/s", "achieved 1/s", "incomplete"] if events else ["messages 1/s"]
    what = "event" if events else "message"
    head = [*varied, *head, "MB/s", f"{what} latency {unit}", f"99 % {unit}", "back-pressure", "ended"]
    rows = []
    for point in found:
        summary, latency = point.summary, _latency_of(point.summary, events)
        counted = summary["events"] if events else summary["messages"]
        rates = ("attempted_per_s", "achieved_per_s", "incomplete") if events else ("per_s",)
        blocked = summary["hosts"]["blocked_share_mean"]
        rows.append(
            [
                *(value_text(point.settings.get(path, "-")) for path in varied),
                *(measured(counted[name]) for name in rates),
                measured(summary["messages"]["mbytes_per_s"]),
                *(time(divisor, latency[key]) for key in ("mean", "p99")),
                in_percent(blocked),
                summary["end"]["reason"],
            ]
        )
    table(head, rows, [*(False for _ in varied), *[True] * (len(head) - len(varied) - 1), False], title)
    latencies = [_latency_of(point.summary, events) for point in found]
    say(f"Latency: {_counted(found, varied, latencies)}.")
    say("Back-pressure: share of the time in which a sender waited for a free place for a message.")


def _counted(found: Sequence[Any], varied: Sequence[str], latencies: Sequence[Mapping[str, Any]]) -> str:
    """Return where the latencies of points begin and end, by what varies first."""
    names = [value_text(point.settings.get(varied[0], "-")) if varied else "" for point in found]
    return shown.from_and_to(zip(names, latencies, strict=True))


def _latency_of(summary: Mapping[str, Any], events: bool) -> Mapping[str, Any]:
    return summary["events"]["latency_ns"] if events else summary["message_latency_ns"]


def saturation(study: Saturation) -> None:
    """Print the definition, the throughput with its interval, and the runs."""
    summary = study.summary
    if study.points:
        points(study.points, list(study.points[0].settings), study.provenance.name)
    rows = [
        ("definition", f"{study.definition}: {summary['definition_text']}"),
        ("saturation", measured(study.accepted_mbytes_per_s, study.accepted_mbytes_per_s_ci95) + " MB/s"),
    ]
    what = study.varied.rpartition(".")[2]
    if study.at_load is not None:
        rows.append((f"found at {what}", measured(study.at_load)))
    if study.sustained_load is not None:
        above = "" if study.refused_load is None else f", no longer at {measured(study.refused_load)}"
        rows.append((f"sustained up to {what}", measured(study.sustained_load) + above))
    pairs(rows)
    verdicts({"": study.verdict})


def predictions(found: Sequence[Any]) -> None:
    """Print measured values and those of a fitted model."""
    rows = []
    for one in found:
        divisor, unit = (1e3, "µs") if one.unit == "ns" else (1.0, one.unit)
        values = {"measured": one.measured / divisor, "predicted": one.predicted / divisor, "unit": unit}
        rows.append({**vars(one), **values, "deviation": one.deviation})
    columns = {
        **{name: (name, str) for name in ("program", "settings", "quantity")},
        **{name: (name, measured) for name in ("measured", "predicted")},
        "unit": ("unit", str),
        "deviation": ("deviation", deviation),
        "noise": ("noise", lambda share: in_percent(share, 2)),
    }
    listed(columns, rows, "Predicted: nothing was set by these")


def beside(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the published numbers for the points of a curve."""
    columns = {
        "where": ("where", str),
        **_PUBLISHED_AND_OURS,
        "kind": ("kind", str),
        "agrees": ("agrees", str),
    }
    agrees = {True: "yes", False: "no", None: "-"}
    listed(columns, [{**_said(row), "agrees": agrees[row["within"]]} for row in rows], "Published and ours")


_PUBLISHED_AND_OURS = {
    "quantity": ("quantity", str),
    "published": ("published", measured),
    "ours": ("ours", "{}".format),
    "unit": ("unit", str),
    "deviation": ("deviation", deviation),
}


def _said(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line of a reproduction with our value and its unit as they are printed."""
    ours = measured(row["ours"], row.get("ci95"))
    return {"deviation": None, **row, "ours": ours, "unit": shown.with_micro_sign(str(row["unit"]))}


def records(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the number of lines of a reproduction by kind, and how many agree."""
    for kind, title in KINDS.items():
        group = [row for row in rows if row["kind"] == kind]
        if group:
            _records_of(group, title, kind != "reported")
    agreement(rows)


def agreement(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print how many published numbers agree, counted as on the page and in the documentation."""
    say(f"{tally.said(tally.tally(rows))}.")


KINDS = {
    "arithmetic": "Arithmetic: follows from the link and the construction alone",
    "calibrated": "Calibrated: a parameter was set by it",
    "predicted": "Predicted: nothing was set by it",
    "reported": "Reported: shown, not scored",
}


def _records_of(rows: Sequence[Mapping[str, Any]], title: str, scored: bool) -> None:
    columns = {**_PUBLISHED_AND_OURS, "why it is not scored": ("reason", str)}
    if scored:
        columns = {
            **_PUBLISHED_AND_OURS,
            "agrees from, to": ("tolerance", _agrees),
            "verdict": ("verdict", str),
        }
    more = [
        {"tolerance": row.get("tolerance"), "verdict": _verdict(row), "reason": row.get("reason") or ""}
        for row in rows
    ]
    listed(columns, [{**_said(row), **own} for row, own in zip(rows, more, strict=True)], title)


def _agrees(limits: Sequence[float] | None) -> str:
    if limits is None:
        return "-"
    low, high = limits
    return "exactly" if low == high else f"{measured(low)} to {measured(high)}"


def _verdict(row: Mapping[str, Any]) -> str:
    verdict = {True: "agrees", False: "DOES NOT AGREE", None: "NOT MEASURED"}[row.get("within")]
    return f"{verdict} (set {row['parameter']})" if row.get("parameter") else verdict
