"""The grids of terminals that ``run.py`` and ``presets.py`` measure."""

from __future__ import annotations

from typing import Any

SIDES = {64: 2, 256: 4, 1024: 8, 4096: 16, 16384: 32}
"""Terminals: side of the square grid of switches with 16 terminals each and 4 links per edge."""
LENGTHS_BYTES = (8, 64, 1000)
WARMUP_ROUNDS = 6
"""Packets per terminal before measuring, so that the network is as full as it will be."""


def grid(
    terminals: int, length_bytes: int, load: float | None, technology: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A grid of C104 or of what is given, random traffic; no load: every terminal always has a packet."""
    arrivals: dict[str, Any] = {"arrivals": "backlog"}
    if load is not None:
        arrivals = {"arrivals": "poisson", "load": load}
    return {
        "name": f"grid of {terminals}",
        "seed": 1,
        "topology": {
            "kind": "grid",
            "shape": [SIDES[terminals], SIDES[terminals]],
            "terminals_per_switch": 16,
            "links_per_edge": 4,
        },
        "technology": technology or {"preset": "ds-link-c104"},
        "traffic": {"pattern": "uniform", "length": f"{length_bytes} B", **arrivals},
        "run": {"duration": "100 s", "warmup": "0 ns", "precision": 0},
    }
