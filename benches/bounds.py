"""What guaranteed bounds cost by flows and routers, a table of ``RESULTS.md``, never asserted.

``.venv/bin/python benches/bounds.py`` takes some seconds; ``--quick`` measures one case and writes nothing.
Processor time of compiling the network and of the bounds of all flows; the least of three.
"""

from __future__ import annotations

import argparse
import random
import time
from typing import Any

import fabriloom
from common import PAGE, put
from fabriloom import Scenario
from fabriloom.compile import Compiled, compile

HEADER = ["network", "building, s", "bounds of all flows, s", "greatest bound, ms"]
CASES: dict[str, tuple[dict[str, Any], int]] = {
    "grid of 40 routers, 500 flows": ({"kind": "grid", "shape": [8, 5], "terminals_per_switch": 4}, 500),
    "grid of 40 routers, 2000 flows": ({"kind": "grid", "shape": [8, 5], "terminals_per_switch": 4}, 2000),
    "tree of 40 routers, 500 flows": (
        {"kind": "tree", "arity": 3, "depth": 3, "terminals_per_switch": 6},
        500,
    ),
    "two centres of a Clos, 500 flows": ({"kind": "clos", "terminals": 128, "switch_ports": 16}, 500),
    "grid of 10 routers, 100 flows": ({"kind": "grid", "shape": [5, 2], "terminals_per_switch": 4}, 100),
}


def scenario(topology: dict[str, Any], flows: int) -> Scenario:
    """SpaceWire, packets of 64 B to 4 kB between random terminals, one flow a pair."""
    base = {"technology": {"preset": "spacewire-200"}, "topology": topology}
    terminals = compile(Scenario.from_dict(base)).graph.terminals
    dice = random.Random(1)
    pairs = [divmod(pair, terminals - 1) for pair in dice.sample(range(terminals * (terminals - 1)), flows)]
    listed = [
        {
            "source": source,
            "target": other + (other >= source),
            "length": f"{dice.choice((64, 256, 1024, 4096))} B",
            "period": "20 ms",
        }
        for source, other in pairs
    ]
    return Scenario.from_dict({**base, "traffic": {"pattern": {"kind": "flows", "flows": listed}}})


def least_s(act: Any) -> float:
    """Processor time, the least of three."""
    found = []
    for _ in range(3):
        began = time.process_time()
        act()
        found.append(time.process_time() - began)
    return min(found)


def row(name: str) -> list[str]:
    """One case, measured."""
    asked = scenario(*CASES[name])
    compiled: Compiled = compile(asked)
    build_s = least_s(lambda: compile(scenario(*CASES[name])))
    bound_s = least_s(lambda: fabriloom.bound(compiled))
    worst_ns = max(fabriloom.bound(compiled).pairs_ns().values())
    return [name, f"{build_s:.2f}", f"{bound_s:.2f}", f"{worst_ns / 1e6:.1f}"]


def main() -> None:
    """Measure all and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="measure one case, and write nothing")
    if parser.parse_args().quick:
        print(row(min(CASES, key=len)))
        return
    put(PAGE, "bounds", [[HEADER, *map(row, CASES)]])


if __name__ == "__main__":
    main()
