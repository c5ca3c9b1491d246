"""What only terminals of several ports have in a summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .figures import in_percent

if TYPE_CHECKING:
    from ..topology.graph import Graph


def add(summary: dict[str, Any], native: Mapping[str, Any], graph: Graph) -> None:
    """Add the keys of ``columns.PORT_SUMMARY``."""
    summary["network"] |= {"ports": graph.ports, "planes": len(graph.planes)}
    summary["packets"]["overtaken"] = int(native["overtaken"])


def doubts(summary: Mapping[str, Any]) -> list[str]:
    """A sentence about packets that overtook each other, if any did."""
    late, measured = summary["packets"].get("overtaken", 0), summary["packets"]["measured"]
    if not late:
        return []
    return [
        f"{late:,} packets ({in_percent(late / measured)}) came behind a later one of the same pair of "
        "terminals, by another port or another way: who needs them in order has to sort them"
    ]
