"""A result in a notebook cell."""

from __future__ import annotations

from html import escape
from typing import Any


def _measured(value: float | None, ci95: float | None, unit: str, digits: int = 4) -> str:
    if value is None:
        return "–"
    text = f"{value:.{digits}g}" if abs(value) < 10**digits else f"{value:.0f}"
    if ci95 is not None:
        text += f" ± {ci95:.2g}" if ci95 < 99.5 else f" ± {ci95:.0f}"
    return f"{text} {unit}"


def time_unit(value_ns: float | None) -> tuple[str, float]:
    """The unit that suits a time, and how many nanoseconds it has: networks on chip take nanoseconds."""
    return ("ns", 1.0) if value_ns is not None and value_ns < 1000 else ("us", 1e3)


def rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """The lines that a reader wants first: (what, value)."""
    latency, packets = summary["latency_ns"], summary["packets"]
    unit, divisor = time_unit(latency["mean"])
    scale = lambda value: None if value is None else value / divisor  # noqa: E731
    return [
        ("ended", f"{summary['end']['reason']} – {summary['end']['message']}"),
        ("offered", _measured(summary["offered_mbytes_per_s"], None, "MB/s")),
        (
            "accepted",
            _measured(summary["accepted_mbytes_per_s"], summary["accepted_mbytes_per_s_ci95"], "MB/s"),
        ),
        ("latency, mean", _measured(scale(latency["mean"]), scale(latency["mean_ci95"]), unit)),
        *(
            (f"latency, {label}", _measured(scale(latency[key]), None, unit))
            for key, label in (
                ("min", "shortest"),
                ("p50", "50 %"),
                ("p99", "99 %"),
                ("p99_9", "99.9 %"),
                ("max", "longest"),
            )
        ),
        (
            "packets",
            f"{packets['offered']:,} offered = {packets['delivered']:,} delivered"
            f" + {packets['refused']:,} refused + {packets['in_flight']:,} in flight"
            + (f" + {packets['scrubbed']:,} scrubbed" if packets.get("scrubbed") else ""),
        ),
        *(_sci(summary["sci"], summary["network"]["buses"]) if "sci" in summary else []),
    ]


def _sci(sci: dict[str, Any], buses: int) -> list[tuple[str, str]]:
    """What only rings have."""
    retries, echoes = (f"{100 * sci[f'{what}_share']:.3g} %" for what in ("retry", "echo"))
    given_up = f", {sci['timed_out']:,} transactions timed out" if sci["timed_out"] else ""
    found = [
        (
            "links",
            f"the busiest {100 * sci['link_utilisation_max']:.3g} % in use; {retries} of all traffic are "
            f"retries, {echoes} echoes",
        ),
        ("busied", f"{sci['busied']:,} packets{given_up}"),
    ]
    if buses:
        found.append(("buses", f"the busiest {100 * sci['bus_utilisation_max']:.3g} % in use"))
    return found


def repr_html(summary: dict[str, Any]) -> str:
    """A small table, escaped, for ``_repr_html_``."""
    left = "style='text-align:left'"
    body = "".join(
        f"<tr><th {left}>{escape(what)}</th><td {left}>{escape(value)}</td></tr>"
        for what, value in rows(summary)
    )
    return (
        f"<table><caption>{escape(summary['name'])} · seed {summary['seed']} · "
        f"{escape(summary['scenario_sha256'][:12])}</caption>{body}</table>"
        f"<small>Latency: from {escape(summary['latency_ns']['from'])} "
        f"to {escape(summary['latency_ns']['to'])}.</small>"
    )
