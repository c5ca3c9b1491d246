"""The table of slots of a SpaceWire-D schedule, with the slack of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import units

if TYPE_CHECKING:
    import polars as pl


def slots(marks: pl.DataFrame, program: Mapping[str, Any]) -> pl.DataFrame:
    """Return one row per entry of the schedule, in its order; no rows for other programs.

    ``marks``: one per entry and epoch, at the end of the entry; its number is the entry's, from 1.
    """
    import polars as pl

    length_ns = units.parse_time_ps(program.get("slot", "0 s")) / 1000
    rows = []
    for place, entry in enumerate(program.get("schedule", [])):
        ended = marks.filter(pl.col("mark") == place + 1)["at_ns"].to_list()
        used = [at - (epoch * 64 + entry["slot"]) * length_ns for epoch, at in enumerate(ended)]
        longest = max(used, default=None)
        rows.append(
            {
                "slot": entry["slot"],
                "initiator": str(entry["initiator"]),
                "target": str(entry["target"]),
                "command": entry["command"],
                "transactions": entry["transactions"],
                "epochs": len(used),
                "used_ns_max": longest,
                "slack_ns_min": None if longest is None else length_ns - longest,
                "overruns": sum(one > length_ns for one in used),
            }
        )
    numbers = dict.fromkeys(("slot", "transactions", "epochs", "overruns"), pl.Int64)
    texts = dict.fromkeys(("initiator", "target", "command"), pl.String)
    times = dict.fromkeys(("used_ns_max", "slack_ns_min"), pl.Float64)
    order = ("slot", "initiator", "target", "command", "transactions", "epochs", *times, "overruns")
    kinds = {**numbers, **texts, **times}
    return pl.DataFrame(rows, schema={name: kinds[name] for name in order})
