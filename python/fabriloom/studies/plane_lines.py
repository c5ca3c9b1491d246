"""Lines of ``fabriloom check`` on the planes of a network."""

from __future__ import annotations

from typing import Any

from ..results.figures import figures


def plane_lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return lines about the ports of terminals and the capacity of each plane."""
    network = found["network"]
    if "planes" not in found:
        return []
    bounds = [
        f"{plane['plane']} at most {figures(plane['accepted_mbytes_per_s_bound'])} MB/s"
        for plane in found["planes"]
        if plane["busiest_link"] is not None
    ]
    return [
        ("terminals", f"{several(network['ports'], 'port')} in {several(network['planes'], 'plane')}"),
        ("planes", "; ".join(bounds)),
    ]


def several(count: int, what: str, plural: str = "s") -> str:
    """Return a count with the thing counted, in the singular or the plural."""
    return f"{count:,} {what}{'' if count == 1 else plural}"
