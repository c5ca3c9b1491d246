"""Lines of ``fabriloom check`` on the planes of a network."""

from __future__ import annotations

from typing import Any

from ..results.figures import figures

_CHOICES = {
    "round-robin": "each port in turn (choice round-robin)",
    "destination": "the port with the number of its destination (choice destination)",
    "shortest-queue": "the port with the fewest packets (choice shortest-queue)",
    "first-free": "the port that is free first (choice first-free)",
    "nominal": "the first port that leads there, the others are in reserve (choice nominal)",
    "nearest": "the port with the fewest links to its target (choice nearest)",
}


def plane_lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return lines about the ports of terminals and the capacity of each plane."""
    network = found["network"]
    if "planes" not in found:
        return []
    by_bound: dict[str, list[str]] = {}
    for plane in found["planes"]:
        if plane["busiest_link"] is not None:
            by_bound.setdefault(figures(plane["accepted_mbytes_per_s_bound"]), []).append(plane["plane"])
    bounds = []
    for bound, names in by_bound.items():
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        each = " each" if len(names) > 1 else ""
        bounds.append(f"{', '.join(names[:3])}{more} at most {bound} MB/s{each}")
    return [
        (
            "terminals",
            f"{several(network['ports'], 'port')} in {several(network['planes'], 'plane')}; "
            f"a packet leaves by {_CHOICES[found['port_choice']]}",
        ),
        ("planes", "; ".join(bounds)),
    ]


def several(count: int, what: str, plural: str = "s") -> str:
    """Return a count with the thing counted, in the singular or the plural."""
    return f"{count:,} {what}{'' if count == 1 else plural}"
