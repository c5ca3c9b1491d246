"""Speed and memory of the engine, written to ``benches/RESULTS.md``: measured, never asserted.

Every case runs in a process of its own, so its peak memory is its own. ``python benches/run.py`` takes a
few minutes; ``--quick`` tries the small networks only and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SIDES = {64: 2, 256: 4, 1024: 8, 4096: 16, 16384: 32}
"""Terminals: side of the square grid of switches with 16 terminals each and 4 links per edge."""
LENGTHS_BYTES = (8, 64, 1000)
ROUNDS = 2
"""How often everything is measured."""
SLICES = 5
"""Stretches that are timed one by one; the median counts, so that a disturbance of one does not."""
SLICE_HOPS = 300_000
TWIN_HOPS = {8: 60_000, 64: 40_000, 1000: 6_000}
TWIN_UP_TO = 1024
"""Largest network that the slow twin runs."""
WARMUP_ROUNDS = 6
"""Packets per terminal before measuring, so that the network is as full as it will be."""


def scenario(
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


def simulation(compiled: Any) -> Any:
    """The engine with what a run counts by default: latencies, links, and flows unless there are too many."""
    from fabriloom import _native
    from fabriloom.simulate import options_of

    return _native.Simulation(
        compiled.arrays,
        until=1 << 60,
        warmup=0,
        precision=0.0,
        packets=0,
        batch=1 << 14,
        drain=False,
        flows=options_of(compiled)["flows"],
        trace=0,
    )


def run_case(terminals: int, length_bytes: int, load: float | None) -> dict[str, Any]:
    """Build, run and time one case in this process."""
    from fabriloom.compile import compile as compile_scenario
    from fabriloom.scenario import Scenario

    begin = time.perf_counter()
    compiled = compile_scenario(Scenario.from_dict(scenario(terminals, length_bytes, load)))
    engine = simulation(compiled)
    engine.advance(1)
    start_s = time.perf_counter() - begin
    while engine.progress()[2] < WARMUP_ROUNDS * terminals:
        engine.advance(50_000)
    before, extensions = engine.progress(), engine.result()["extensions"]
    speeds = [hops_per_s(engine) for _ in range(SLICES)]
    after, result = engine.progress(), engine.result()
    ticks, events, packets, hops = (last - first for last, first in zip(after, before, strict=True))
    simulated_s = ticks * compiled.arrays["tick_ps"] / 1e12
    case = {
        "terminals": terminals,
        "length_bytes": length_bytes,
        "load": load,
        "start_s": start_s,
        "hops_per_s": statistics.median(speeds),
        "events_per_hop": events / hops,
        "pieces_per_hop": (result["extensions"] - extensions) / hops,
        "accepted_bytes_per_s": packets * length_bytes / simulated_s / terminals,
        "most_bytes_per_s": compiled.technology.payload_bytes_per_s(length_bytes),
        "peak_mbytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    if terminals <= TWIN_UP_TO:
        case["ratio"] = twin_ratio(compiled, TWIN_HOPS[length_bytes])
    return case


def hops_per_s(engine: Any) -> float:
    """Packet-hops per second of processor time, over one slice."""
    hops, begin = engine.progress()[3], time.process_time()
    while engine.progress()[3] - hops < SLICE_HOPS:
        engine.advance(50_000)
    return (engine.progress()[3] - hops) / (time.process_time() - begin)


def twin_ratio(compiled: Any, hops: int) -> float:
    """How many times longer the slow twin takes for the same stretch of the same run."""
    from fabriloom import _native

    engine = simulation(compiled)
    begin = time.process_time()
    while engine.progress()[3] < hops:
        engine.advance(2_000)
    fast_s = time.process_time() - begin
    now, _, delivered, _ = engine.progress()
    begin = time.process_time()
    twin = _native.run_twin(compiled.arrays, False, now)
    slow_s = time.process_time() - begin
    if twin["delivered"] != delivered:
        raise RuntimeError(f"the engines disagree: {delivered} and {twin['delivered']} packets delivered")
    return slow_s / fast_s


def in_own_process(script: str, *arguments: str) -> dict[str, Any]:
    """What a script says of one case in a fresh interpreter."""
    command = [sys.executable, script, *arguments]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def case_of(terminals: int, length_bytes: int, load: float | None) -> dict[str, Any]:
    """One case, measured in a process of its own."""
    return in_own_process(__file__, "--case", json.dumps([terminals, length_bytes, load]))


def best_of(rounds: Iterable[Iterable[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Each case as it was in the round in which it was fastest."""
    return [max(same, key=lambda case: case["hops_per_s"]) for same in zip(*rounds, strict=True)]


def all_cases(quick: bool) -> list[dict[str, Any]]:
    """Each case in its best round."""
    return best_of([one_round(quick) for _ in range(1 if quick else ROUNDS)])


def one_round(quick: bool) -> list[dict[str, Any]]:
    """Saturation first, then half of what was accepted there."""
    cases = []
    for terminals in list(SIDES)[: 2 if quick else None]:
        for length_bytes in LENGTHS_BYTES:
            full = case_of(terminals, length_bytes, None)
            half_load = round(0.5 * full["accepted_bytes_per_s"] / full["most_bytes_per_s"], 4)
            half = case_of(terminals, length_bytes, half_load)
            for case in (full, half):
                cases.append(case)
                print(line(case), flush=True)
    return cases


HEADER = (
    "| terminals | packet | at | packet-hops/s | wake-ups per hop | pieces per hop | times the twin | start "
    "| peak memory |\n|---:|---:|---|---:|---:|---:|---:|---:|---:|"
)


def line(case: dict[str, Any]) -> str:
    """One row of the table."""
    at = "saturation" if case["load"] is None else "50 %"
    ratio = f"{case['ratio']:.0f}" if "ratio" in case else "-"
    return (
        f"| {case['terminals']} | {case['length_bytes']} B | {at} | {case['hops_per_s'] / 1e6:.2f} M "
        f"| {case['events_per_hop']:.2f} | {case['pieces_per_hop']:.2f} | {ratio} "
        f"| {case['start_s']:.2f} s | {case['peak_mbytes']:.0f} MB |"
    )


def summary(cases: list[dict[str, Any]]) -> list[str]:
    """The few numbers that are aimed at, each with what it should be."""

    def find(terminals: int) -> dict[str, Any]:
        wanted = (terminals, 64, None)
        return next(c for c in cases if (c["terminals"], c["length_bytes"], c["load"]) == wanted)

    middle, small, large = find(1024), find(256), find(16384)
    largest = [case for case in cases if case["terminals"] == 16384]
    worst = max(case["events_per_hop"] for case in cases)
    start, memory = (max(case[key] for case in largest) for key in ("start_s", "peak_mbytes"))
    rows = {
        "64 B, 1024 terminals, saturation: 5 M packet-hops/s, at least 3 M": (
            f"{middle['hops_per_s'] / 1e6:.2f} M"
        ),
        "at most 4 wake-ups per packet-hop": f"{middle['events_per_hop']:.2f} there, {worst:.2f} at worst",
        "at least 20 times the slow twin in the same run": f"{middle['ratio']:.0f} there",
        "a hop at 16384 terminals at most twice as dear as at 256": (
            f"{small['hops_per_s'] / large['hops_per_s']:.2f} times"
        ),
        "16384 terminals built, checked, started in under 10 s and 1 GB": f"{start:.1f} s, {memory:.0f} MB",
    }
    return ["| aim | measured |", "|---|---|", *(f"| {aim} | {measured} |" for aim, measured in rows.items())]


def processor() -> str:
    """Name of the processor, as far as the system tells."""
    try:
        for text in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if text.startswith("model name"):
                return text.split(":", 1)[1].strip()
    except OSError:
        return platform.machine()
    return platform.machine()


NOTES = """Grids of switches with 16 terminals each and 4 links per edge, DS-Links with C104, random
traffic; counted as in any run: latencies, links, flows up to 65,536 pairs. 50 %: Poisson arrivals at half
of what is accepted at saturation.

* A hop is a packet granted an output of a switch. Seconds are of processor time, so other work on the machine
  counts little; they are the median of five stretches. All cases are run twice, one after the other, and
  the best is given: the clock of a machine that others use, too, may fall to half for minutes.
* A wake-up is an event handled. A piece is a straight run of characters worked out on a link at such a
  wake-up.
* Start is, on the clock, from the scenario to the first event: topology, routes, checks, arrays, engine.
* Peak memory is that of the whole process, interpreter included.
* The twin simulates every character. Both ran the same stretch, from an empty network, and delivered the same
  packets."""


def write(name: str, title: str, parts: list[str]) -> None:
    """A page of results."""
    from fabriloom import _native

    system = f"{platform.system()}, Python {platform.python_version()}, Fabriloom {_native.__version__}"
    head = f"Written by `make bench`. One core of {processor()}, {system}."
    (HERE / name).write_text("\n\n".join([f"# {title}", head, *parts]) + "\n", encoding="utf-8")


def asked(description: str | None) -> argparse.Namespace:
    """``case``, one of which is run here and told as JSON, or none; ``quick``, which writes nothing."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--case", help="run this one here and print it as JSON")
    parser.add_argument("--quick", action="store_true", help="small networks only; write nothing")
    return parser.parse_args()


def run_named(
    script: str, names: Iterable[str], header: str, line: Callable[[dict[str, Any]], str], quick: bool
) -> str:
    """The table of cases that have names, each in a process of its own, printed as it grows."""
    print(header, flush=True)
    rounds: list[list[dict[str, Any]]] = []
    for _ in range(1 if quick else ROUNDS):
        rounds.append([])
        for name in names:
            rounds[-1].append(in_own_process(script, "--case", name, *(["--quick"] if quick else [])))
            print(line(rounds[-1][-1]), flush=True)
    return "\n".join([header, *map(line, best_of(rounds))])


def main() -> None:
    """Run one case as told, or all."""
    arguments = asked(__doc__)
    if arguments.case:
        print(json.dumps(run_case(*json.loads(arguments.case))))
        return
    print(HEADER, flush=True)
    cases = all_cases(arguments.quick)
    if not arguments.quick:
        table = "\n".join([HEADER, *map(line, cases)])
        write("RESULTS.md", "Speed and memory", ["\n".join(summary(cases)), NOTES, table])


if __name__ == "__main__":
    main()
