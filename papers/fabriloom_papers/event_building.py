"""Event building on a Cray XC40, 16 senders to 16 receivers: fitted, explained, and predicted for more nodes.

The page is ``docs/background/event-building-xc40.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from fabriloom import simulate
from fabriloom.fit.model import Model, build
from fabriloom.fit.samples import Samples
from fabriloom.report.page import Axis, Chart, Series
from fabriloom.scenario import Scenario

from .published import measured

DATA = "event-building-xc40-16-senders"
SENDERS = 16
MORE = (32, 40)
_ROUNDS = 12


def samples() -> Samples:
    """Return the time per message of a round, in which each sender sends to each receiver in turn.

    The tolerance is half the difference between the slowest and the fastest sender.
    """
    found = Samples(sources=[DATA])
    for row in measured(DATA):
        spread = (row["round_us_max"] - row["round_us_min"]) / 2
        noise_ns = 1000 * spread / SENDERS / 3
        found.put("turn", int(row["bytes"]), 1000 * row["round_us_mean"] / SENDERS, noise_ns)
    return found


@cache
def model() -> Model:
    """Return the model, fitted to the 16 senders only."""
    return build(samples())


def scenario(senders: int, size: int, order: str = "rotating") -> Scenario:
    """Return senders and receivers on one crossbar; in a round each sender sends one message to each
    receiver.

    Args:
        senders: number of senders, and of receivers.
        size: message size in bytes.
        order: ``rotating``: sender i begins with receiver i; ``same``: all begin with the first.
    """
    first = {"rotating": range(senders), "same": [0] * senders}[order]
    sections = model().sections()
    programs: list[dict[str, Any]] = []
    for sender in range(senders):
        targets = [senders + (first[sender] + step) % senders for step in range(senders)]
        body = [f"send {target} {size} B" for target in targets]
        programs.append({"terminal": sender, "do": [f"repeat {_ROUNDS}", "mark 0", *body, "end"]})
    take = [f"repeat {_ROUNDS * senders}", "receive any", "end"]
    programs.append({"terminal": list(range(senders, 2 * senders)), "do": take})
    return Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": 2 * senders},
            "technology": sections["technology"],
            "protocol": {**sections["protocol"], "messages_at_once": senders},
            "program": {"kind": "operations", "terminals": programs},
            "run": {"duration": "1000 s"},
            "output": {"links": False, "flows": False},
        }
    )


def round_us(senders: int, size: int, order: str = "rotating") -> float:
    """Return the median time of a sender's round in us, over senders and rounds."""
    (span,) = simulate.run(scenario(senders, size, order)).summary["spans"]
    return float(span["ns_p50"]) / 1000


def table(sizes: Sequence[int] = ()) -> list[dict[str, float]]:
    """Return, per size, the rounds of 16 senders, measured and modelled, in us, and a sender's rates."""
    found = []
    for row in measured(DATA):
        size = int(row["bytes"])
        if sizes and size not in sizes:
            continue
        line = {"bytes": float(size), "measured_us": row["round_us_mean"]}
        for senders in (SENDERS, *MORE):
            line[f"{senders}_us"] = us = round_us(senders, size)
            line[f"{senders}_mbytes_per_s"] = senders * size / us
        found.append(line)
    return found


def picture(rows: Sequence[dict[str, float]]) -> Chart:
    """Return a chart of rounds by size: measured, and by the model for 16, 32 and 40 senders."""
    points = [
        [row["bytes"], row["round_us_mean"], row["round_us_min"], row["round_us_max"], ""]
        for row in measured(DATA)
    ]
    series = [Series("16 senders, measured", points, "published")]
    for senders in (SENDERS, *MORE):
        line = [[row["bytes"], row[f"{senders}_us"], None, None, ""] for row in rows]
        series.append(Series(f"{senders} senders, model", line, "line"))
    axes = Axis("message (B)", log=True), Axis("round (µs)", log=True)
    note = "Nothing was set by 32 and 40 senders."
    return Chart("Event building on a Cray XC40", *axes, series, note)
