"""What failed links did to a run: packets lost by place and cause, and how long links were down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import tables
from .figures import figures, in_percent

if TYPE_CHECKING:
    from ..topology.graph import Graph


def has_faults(native: Mapping[str, Any]) -> bool:
    """Whether links failed in a run, or were to."""
    return len(tables.column(native, "fault_link")) > 0


def down_ticks(native: Mapping[str, Any], links: int) -> NDArray[np.int64]:
    """Per link: for how much of the measuring window it did not run."""
    end = int(native["end_time_ticks"])
    start = end - tables.window_ticks(native)
    down, up = (tables.column(native, f"fault_{name}_ticks").astype(np.int64) for name in ("down", "up"))
    inside = np.clip(up, start, end) - np.clip(down, start, end)
    found = np.zeros(links, np.int64)
    np.add.at(found, tables.column(native, "fault_link").astype(np.int64), inside)
    return found


def summary(native: Mapping[str, Any], graph: Graph) -> dict[str, Any]:
    """The keys of ``columns.FAULT_SUMMARY`` but for the packets."""
    cut, discarded = (tables.column(native, f"link_{what}").astype(np.int64) for what in ("cut", "discarded"))
    window, down = tables.window_ticks(native), down_ticks(native, graph.links)
    lost = cut + discarded
    return {
        "links": int(np.count_nonzero(down)),
        "cut": int(cut.sum()),
        "discarded": int(discarded.sum()),
        "worst_link": graph.link_names[int(np.argmax(lost))] if lost.any() else "",
        "availability": 1.0 - float(down.mean()) / window if window else None,
    }


def link_columns(native: Mapping[str, Any], links: int, tick_ns: float) -> dict[str, Any]:
    """The columns of ``columns.FAULT_LINKS``."""
    return {
        "cut_packets": tables.column(native, "link_cut").astype(np.int64),
        "discarded_packets": tables.column(native, "link_discarded").astype(np.int64),
        "down_ns": down_ticks(native, links) * tick_ns,
    }


def lost_text(faults: Mapping[str, Any]) -> str:
    """How many packets were lost, how and where, as a part of a sentence."""
    worst = f"; most at {faults['worst_link']}" if faults["worst_link"] else ""
    return f"{faults['cut']:,} cut, {faults['discarded']:,} discarded{worst}"


def verdict(summary: Mapping[str, Any]) -> str:
    """What a run says of a network in which links failed."""
    faults, offered = summary["faults"], summary["offered_mbytes_per_s"]
    accepted = summary["accepted_mbytes_per_s"]
    links = f"{faults['links']} of {summary['network']['links']:,} links down for a time"
    share = f", {in_percent(accepted / offered)} of what was offered" if offered else ""
    return f"With {links}, accepts {figures(accepted)} MB/s{share}; lost: {lost_text(faults)}"
