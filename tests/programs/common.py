"""What these tests share: small fabrics of both kinds, and programs on them."""

from __future__ import annotations

import itertools
from typing import Any

from fabriloom import Results, Scenario, run
from fabriloom.compile import compile
from fabriloom.programs import Programs

CROSSBAR = {"kind": "crossbar", "terminals": 8}
RING = {"kind": "sci-ring", "terminals": 8}
CLOS = {"kind": "clos", "terminals": 16, "terminals_per_switch": 4}

READY: dict[str, dict[str, Any]] = {
    "ping-pong": {"kind": "ping-pong", "size": "200 B", "rounds": 5, "pairs": 2},
    "out-farming": {"kind": "out-farming", "size": "200 B", "rounds": 5},
    "funnel-in": {"kind": "funnel-in", "size": "200 B", "rounds": 5},
    "all-to-all": {"kind": "all-to-all", "size": "200 B", "rounds": 3},
    "all-to-all, together": {
        "kind": "all-to-all",
        "size": "200 B",
        "rounds": 3,
        "barrier": True,
        "order": "same",
    },
    "fixed-pairs": {"kind": "fixed-pairs", "size": "200 B", "rounds": 5},
    "random-pairs": {"kind": "random-pairs", "size": "200 B", "messages": 10},
    "level-2": {
        "kind": "level-2",
        "block": "300 B",
        "events": 20,
        "sources_per_block": 2,
        "blocks_per_event": 2,
    },
    "level-2, attempted": {"kind": "level-2", "block": "300 B", "events": 20, "rate": "10 kHz"},
    "level-2, supervised": {
        "kind": "level-2",
        "block": "300 B",
        "events": 20,
        "sources": 3,
        "target_choice": "supervisor",
    },
    "level-3": {"kind": "level-3", "fragment": "100 B", "events": 20},
    "level-3, some": {"kind": "level-3", "fragment": "100 B", "events": 20, "sources_per_event": 2},
    "pull-level-3": {"kind": "pull-level-3", "fragment": "100 B", "events": 20},
    "pull-level-3, two": {"kind": "pull-level-3", "fragment": "100 B", "events": 20, "requests_at_once": 2},
    "barrel-shifter": {"kind": "barrel-shifter", "fragment": "100 B", "events": 20, "slot": "30 us"},
    "credit": {"kind": "credit", "fragment": "100 B", "events": 20, "sources": 3},
}
"""Every ready program but the replay of a file."""


def scenario(program: dict[str, Any], topology: dict[str, Any] = CROSSBAR, **sections: Any) -> Scenario:
    """A scenario of a program; ``protocol`` and others may be added."""
    return Scenario.from_dict({"topology": topology, "program": program, **sections})


def results(program: dict[str, Any], topology: dict[str, Any] = CROSSBAR, **sections: Any) -> Results:
    """Its results."""
    return run(scenario(program, topology, **sections))


def programs(program: dict[str, Any], topology: dict[str, Any] = CROSSBAR, **sections: Any) -> Programs:
    """Its operations."""
    found = compile(scenario(program, topology, **sections)).programs
    assert found is not None
    return found


def lists(found: Programs) -> list[list[str]]:
    """The operations of each terminal as they are written."""
    start = found.start.tolist()
    pairs = itertools.pairwise(start)
    return [[found.text(row) for row in range(first, last)] for first, last in pairs]


def operations(**terminals: list[str]) -> dict[str, Any]:
    """A program of operations; ``t0`` is terminal 0."""
    tables = [{"terminal": int(name[1:]), "do": do} for name, do in terminals.items()]
    return {"kind": "operations", "terminals": tables}
