"""How long large networks take to load, to check, to start and after a failure: a part of ``RESULTS.md``.

``python benches/scale.py``; ``--quick`` the smallest ones only, and writes nothing. Each case runs in a
process of its own. What is refused is in the table, with the reason.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterator
from typing import Any

from common import asked, joined, simulation, told, write

SMALL: dict[str, dict[str, Any]] = {
    "torus": {"shape": [8, 8]},
    "clos": {"terminals": 1024},
    "fat_tree": {"arity": 16},
    "dragonfly": {"switches_per_group": 8},
}
"""What the smallest network of each family has."""
FAILURES = 60
"""Failures that are timed."""
FAILED = ("network", "terminals", "switches", "failures", "first look, s", "each, ms", "memory, MB")
CHECKED = ("network", "technology", "terminals", "switches", "check, s", "memory, MB")
ROUTED = ("network", "technology", "others", "jobs", "verdict, s", "all, s", "memory, MB")
PRESETS = ("infiniband-4x-edr", "spacewire-200")
"""With four lanes, and with one."""
HEADER = ("network", "terminals", "switches", "load and check, s", "start, s", "memory, MB", "M per s")


def cases() -> Iterator[dict[str, Any]]:
    """About 1,000, 16,000, 100,000 and a million terminals, as far as a family has them."""
    for side, each in ((8, 16), (32, 16), (80, 16), (64, 256), (128, 64), (256, 4), (512, 4)):
        yield {"kind": "torus", "shape": [side, side], "terminals_per_switch": each}
    for ports, terminals in ((64, 1024), (256, 16384), (640, 102400), (2048, 1048576)):
        yield {"kind": "clos", "terminals": terminals, "switch_ports": ports}
    for arity in (16, 26, 47, 85, 101):
        yield {"kind": "fat_tree", "arity": arity, "levels": 3}
    for switches in (8, 16, 24, 44):
        half = switches // 2
        yield {
            "kind": "dragonfly",
            "switches_per_group": switches,
            "global_links": half,
            "terminals_per_switch": half,
        }


def failing() -> Iterator[dict[str, Any]]:
    """Networks of about 1,000 switches, of which single cables and switches fail."""
    for each in (1, 16):
        yield {"kind": "torus", "shape": [32, 32], "terminals_per_switch": each}
    yield {"kind": "fat_tree", "arity": 16, "levels": 3}
    yield {"kind": "fat_tree", "arity": 18, "levels": 3}


def checked() -> Iterator[dict[str, Any]]:
    """Networks of 65,536 terminals and more, and some of no formula with all that presets choose."""
    for topology in large():
        yield scenario(topology)
    group = {"switches_per_group": 24, "global_links": 12, "terminals_per_switch": 12}
    for preset in PRESETS:
        for topology in (
            {"kind": "dragonfly", **group},
            {
                "kind": "dragonfly_plus",
                "leaves": 16,
                "spines": 16,
                "global_links": 16,
                "terminals_per_switch": 16,
            },
            {"kind": "torus", "shape": [80, 80], "terminals_per_switch": 16},
            {"kind": "slim_fly", "order": 29, "terminals_per_switch": 10},
            {"kind": "jellyfish", "switches": 1000, "degree": 12, "terminals_per_switch": 16},
        ):
            yield {"topology": topology, "technology": {"preset": preset}}


def routed() -> Iterator[dict[str, Any]]:
    """Networks of about 1,000 switches, with the routings that are looked at at once."""
    for topology in (
        {"kind": "fat_tree", "arity": 18, "levels": 3},
        {"kind": "torus", "shape": [10, 10, 10], "terminals_per_switch": 5},
        {"kind": "hyperx", "shape": [10, 10, 10], "terminals_per_switch": 5},
        {"kind": "dragonfly", "switches_per_group": 12, "global_links": 6, "terminals_per_switch": 6},
        {"kind": "slim_fly", "order": 23, "terminals_per_switch": 5},
        {"kind": "jellyfish", "switches": 1000, "degree": 10, "terminals_per_switch": 5},
    ):
        for jobs in (1, 2):
            yield {"topology": topology, "technology": {"preset": PRESETS[0]}, "jobs": jobs}


def large() -> Iterator[dict[str, Any]]:
    """Networks of 65,536 terminals and more."""
    for side, each in ((64, 16), (256, 1), (80, 16), (128, 64), (512, 4)):
        yield {"kind": "torus", "shape": [side, side], "terminals_per_switch": each}
    yield {"kind": "clos", "terminals": 102400, "switch_ports": 640}
    yield {"kind": "fat_tree", "arity": 47, "levels": 3}
    yield {"kind": "dragonfly", "switches_per_group": 24, "global_links": 12, "terminals_per_switch": 12}


def scenario(topology: dict[str, Any]) -> dict[str, Any]:
    """Uniform traffic over virtual cut-through, with the lanes that the family needs."""
    lanes = {"torus": 2, "dragonfly": 2}.get(topology["kind"], 1)
    routing: dict[str, Any] = {"kind": "auto"}
    if topology["kind"] == "torus":
        routing = {"kind": "dimension-order", "variant": "minimal", "lane_choice": "dateline"}
    elif topology["kind"] == "dragonfly":
        routing = {"kind": "hops"}
    return {
        "name": topology["kind"],
        "seed": 1,
        "topology": topology,
        "technology": {
            "preset": "generic",
            "lanes": lanes,
            "switching": "virtual-cut-through",
            "lane_sharing": "packet",
            "crossbar": "fast",
            "input_buffer_flits": 32,
        },
        "routing": routing,
        "traffic": {"length": "64 B", "load": 0.2},
        "run": {"duration": "10 us"},
        "output": {"links": False, "flows": False},
    }


def timed(topology: dict[str, Any]) -> dict[str, Any]:
    """Seconds of the steps, and memory, of one case in this process; or why it is refused."""
    from fabriloom.compile import compile
    from fabriloom.scenario import Scenario
    from fabriloom.scenario.errors import ScenarioError

    begin = time.process_time()
    try:
        compiled = compile(Scenario.from_dict(scenario(topology)))
        arrays = compiled.arrays
        free = compiled.routes.cycle is None
    except ScenarioError as error:
        return {"refused": error.message}
    loaded = time.process_time()
    engine = simulation(compiled)
    engine.advance(1)
    started = time.process_time()
    engine.advance(2_000_000)
    hops = engine.progress()[3] / (time.process_time() - started)
    return {
        "terminals": int(arrays["terminals"]),
        "switches": int(arrays["switches"]),
        "load_s": loaded - begin,
        "start_s": started - loaded,
        "free": free,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "hops_per_s": hops,
    }


def failed(topology: dict[str, Any]) -> dict[str, Any]:
    """Seconds for what some single failures leave, spread over all of a network, beside the first look."""
    from fabriloom.compile import compile
    from fabriloom.scenario import Scenario
    from fabriloom.studies.failures import failures
    from fabriloom.studies.kinds import inspection_of

    ways = inspection_of(compile(Scenario.from_dict(scenario(topology)))).ways()
    which = failures(ways.graph, "all")
    begin = time.process_time()
    ways.after("none", "", which[0][2][:0])
    first = time.process_time()
    some = which[:: max(1, len(which) // FAILURES)]
    for failure in some:
        ways.after(*failure)
    each = (time.process_time() - first) / len(some)
    return {"terminals": ways.graph.terminals, "switches": ways.graph.switches, "count": len(which)} | {
        "first_s": first - begin,
        "each_s": each,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def inspected(given: dict[str, Any]) -> dict[str, Any]:
    """Seconds and memory of all that ``fabriloom check`` says of a network."""
    from fabriloom.scenario import Scenario
    from fabriloom.studies.inspection import inspect

    begin = time.process_time()
    found = inspect(Scenario.from_dict(given))["network"]
    return {
        "terminals": found["terminals"],
        "switches": found["switches"],
        "check_s": time.process_time() - begin,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def looked(case: dict[str, Any]) -> dict[str, Any]:
    """Seconds by the clock, and memory, of ``fabriloom route`` with some jobs."""
    from fabriloom.scenario import Scenario
    from fabriloom.studies import route_choices

    given = {name: value for name, value in case.items() if name != "jobs"}
    times = [time.perf_counter()]
    found = route_choices.look(
        Scenario.from_dict(given), case["jobs"], lambda present: times.append(time.perf_counter())
    )
    return {
        "others": len(found["others"]),
        "verdict_s": times[1] - times[0],
        "route_s": time.perf_counter() - times[0],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def looked_cells(case: dict[str, Any], row: dict[str, Any]) -> list[str]:
    """A row of the table of other routings."""
    what = [_name(case["topology"]), case["technology"]["preset"], str(row["others"]), str(case["jobs"])]
    return [*what, f"{row['verdict_s']:.1f}", f"{row['route_s']:.1f}", f"{row['peak_mb']:,.0f}"]


def inspected_cells(given: dict[str, Any], row: dict[str, Any]) -> list[str]:
    """A row of the table of checks."""
    what = [_name(given["topology"]), given["technology"]["preset"]]
    counts = [f"{row[name]:,}" for name in ("terminals", "switches")]
    return [*what, *counts, f"{row['check_s']:.1f}", f"{row['peak_mb']:,.0f}"]


def failed_cells(topology: dict[str, Any], row: dict[str, Any]) -> list[str]:
    """A row of the table of failures."""
    counts = [f"{row[name]:,}" for name in ("terminals", "switches", "count")]
    times = [f"{row['first_s']:.1f}", f"{1000 * row['each_s']:.0f}", f"{row['peak_mb']:,.0f}"]
    return [_name(topology), *counts, *times]


def _name(topology: dict[str, Any]) -> str:
    return f"{topology['kind']} {', '.join(str(value) for name, value in topology.items() if name != 'kind')}"


def cells(topology: dict[str, Any], row: dict[str, Any]) -> list[str]:
    """A row of the table."""
    name = _name(topology)
    if "refused" in row:
        return [name, row["refused"], *[""] * 5]
    verdict = "" if row["free"] else " (can deadlock)"
    return [
        name,
        f"{row['terminals']:,}",
        f"{row['switches']:,}",
        f"{row['load_s']:.1f}{verdict}",
        f"{row['start_s']:.1f}",
        f"{row['peak_mb']:,.0f}",
        f"{row['hops_per_s'] / 1e6:.1f}",
    ]


ALL = (
    (
        "Large networks",
        """Processor time to load a scenario up to its arrays, with the proof that its routes arrive
and cannot deadlock, and to start the engine; the largest memory of the process; and packet-hops a
second in the first 2 M events at load 0.2. All tables are adaptive: they have an entry for each
pair of switches, and with more than 4 M of them runs of destinations with the same links. What is
too large is refused, with the reason in place of its numbers.""",
        HEADER,
        cases,
        timed,
        cells,
    ),
    (
        "### The whole check",
        """Processor time of all that `fabriloom check` says of a network: the proofs, the load of
every link under uniform traffic, and the latency of packets that meet no other. `generic` has lanes
and routing written out, the others what the preset chooses: with one lane up\\*/down\\* paths, with
four a lane per global link in groups, dimension order with datelines in tori, and minimal paths in
layers elsewhere.""",
        CHECKED,
        checked,
        inspected,
        inspected_cells,
    ),
    (
        "### Other routings",
        """Time by the clock of `fabriloom route` for networks of about 1,000 switches, with as many
routings at once as said: until it says whether the present one can deadlock, with the proof, and
until it has said the same of all others, with what they cost. The aim: a second.""",
        ROUTED,
        routed,
        looked,
        looked_cells,
    ),
    (
        "### After single failures",
        f"""Processor time of `fabriloom check --fault all` per failure, the mean of {FAILURES}
spread over all, beside that of the first look at all ways. The aim: a thousand failures of a
network of 1,000 switches in a minute.""",
        FAILED,
        failing,
        failed,
        failed_cells,
    ),
)
"""Heading, note, head, cases, measure of a case, and cells of its row, of each table."""


def main() -> None:
    """One case as told, or all and their page."""
    arguments = asked(__doc__)
    if arguments.case:
        number, case = json.loads(arguments.case)
        *_, measure, _ = ALL[number]
        print(json.dumps(measure(case)))
        return
    parts: list[str] = []
    for number, (heading, note, head, each, _, row) in enumerate(ALL[:1] if arguments.quick else ALL):
        lines = [joined(head), f"|---|{'---:|' * (len(head) - 1)}"]
        for case in each():
            if arguments.quick and case != {**case, **SMALL.get(case["kind"], {})}:
                continue
            found = told(sys.executable, __file__, "--case", json.dumps([number, case]))
            lines.append(joined(row(case, found)))
            print(lines[-1], flush=True)
        parts += [*([heading] if number else []), note, "\n".join(lines)]
    if not arguments.quick:
        write(ALL[0][0], parts)


if __name__ == "__main__":
    main()
