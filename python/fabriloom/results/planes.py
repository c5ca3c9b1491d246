"""Keys of the summary that exist only for terminals with several ports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..topology.graph import Graph
from .figures import in_percent


def add(
    summary: dict[str, Any], native: Mapping[str, Any], graph: Graph, programs: bool, spreads: bool
) -> None:
    """Add the keys of ``columns.PORT_SUMMARY``, except those of messages."""
    summary["network"] |= {"ports": graph.ports, "planes": len(graph.planes)}
    if not programs:
        summary["packets"]["overtaken"] = int(native["overtaken"])
    elif spreads:
        summary["packets"]["overtaken"] = int(native["message_packets_overtaken"])


def doubts(summary: Mapping[str, Any]) -> list[str]:
    """Return a sentence about packets that overtook each other, if any did."""
    sort = "who needs them in order has to sort them"
    stored = "a receiver stores each in its place in the message" if "messages" in summary else sort
    return [
        f"{late:,} {what} ({in_percent(late / summary[what]['measured'])}) came behind a later one of the "
        f"same pair of terminals, by another port or another way: {who}"
        for what, who in (("packets", stored), ("messages", sort))
        if (late := summary.get(what, {}).get("overtaken", 0))
    ]
