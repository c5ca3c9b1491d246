"""What the benches share: grids, processes, the clock, instructions, builds in pairs, tables on pages.

Every case runs in a process of its own, so its peak memory is its own, and another interpreter runs it with
another build. A case is anything that JSON can hold.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = HERE / "RESULTS.md"
ROUNDS = 2
"""How often everything is measured."""
PAIRS = 3
SLICES = 5
"""Stretches that are timed one by one; the median counts, so that a disturbance of one does not."""
SLICE_HOPS = 300_000
OPTIONS = {"until": 1 << 60, "warmup": 0, "precision": 0.0, "packets": 0, "batch": 1 << 14}
VALGRIND = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")

Row = dict[str, Any]


@dataclass(frozen=True)
class Bench:
    """A script with cases. ``round`` yields the rows of all of them, given what measures one."""

    script: str
    compiled: Callable[[Any], Any]
    timed: Callable[[Any, bool], Row]
    """What is measured of a case in this process; with True its speed alone."""
    span: Callable[[Any], tuple[int, int]]
    """The packet-hops between which instructions are counted."""
    round: Callable[[Callable[[Any], Row]], Iterator[Row]]
    header: tuple[str, ...]
    cells: Callable[[Row], tuple[str, ...]]


def started() -> float:
    """The clock at which a start begins: what compiles and simulates is imported before."""
    import fabriloom.compile
    import fabriloom.scenario
    import fabriloom.simulate  # noqa: F401

    return time.perf_counter()


def compiled_of(scenario: Row) -> Any:
    """The arrays of a scenario."""
    from fabriloom.compile import compile as compile_scenario
    from fabriloom.scenario import Scenario

    return compile_scenario(Scenario.from_dict(scenario))


def options(compiled: Any) -> Row:
    """What a run counts by default: latencies, links, and flows unless there are too many."""
    from fabriloom.simulate import options_of

    return {**OPTIONS, "drain": False, "flows": options_of(compiled)["flows"], "trace": 0}


def simulation(compiled: Any) -> Any:
    """The engine, which has simulated nothing yet."""
    from fabriloom import _native

    return _native.Simulation(compiled.arrays, **options(compiled))


def hops_per_s(engine: Any, hops: int = SLICE_HOPS) -> float:
    """Packet-hops per second of processor time, over one stretch."""
    first, begin = engine.progress()[3], time.process_time()
    while engine.progress()[3] - first < hops:
        engine.advance(min(50_000, hops))
    return (engine.progress()[3] - first) / (time.process_time() - begin)


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


def asked(description: str | None) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--against", metavar="PYTHON", help="interpreter with a build to compare with in pairs"
    )
    parser.add_argument(
        "--instructions",
        action=argparse.BooleanOptionalAction,
        default=shutil.which("valgrind") is not None,
        help="count machine instructions, too (default: where valgrind is installed)",
    )
    parser.add_argument("--quick", action="store_true", help="small networks only, once; write nothing")
    parser.add_argument("--case", help="run this one here and print it as JSON")
    parser.add_argument("--speed", action="store_true", help="with --case: its speed alone")
    parser.add_argument("--arrays", help="with --case: only write its arrays to this file")
    return parser.parse_args()


def said(python: str, script: str | Path, *arguments: str, prefix: tuple[str, ...] = ()) -> tuple[str, str]:
    """What a script prints in a fresh interpreter, whose build it then measures, and its errors."""
    # The order of sets, and threads of numpy that wait in a loop, would change the count of instructions.
    environment = {**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    command = [*prefix, python, str(script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout, done.stderr


def told(python: str, script: str | Path, *arguments: str) -> Any:
    """What a script prints as JSON."""
    return json.loads(said(python, script, *arguments)[0])


def counted(python: str, runs: list[tuple[str, int]]) -> list[tuple[int, int]]:
    """Instructions of processes that run arrays of files up to so many packet-hops, and how many it were."""
    arguments = [str(one) for run in runs for one in run]
    lines, errors = said(python, HERE / "counted.py", *arguments, prefix=VALGRIND)
    found = re.findall(r"==(\d+)==.*I\s+refs:\s+([\d,]+)", errors)
    count = {int(process): int(refs.replace(",", "")) for process, refs in found}
    try:
        return [(count[process], hops) for process, hops in map(json.loads, lines.splitlines())]
    except KeyError:
        sys.exit(f"valgrind counted nothing:\n{errors}")


def per_hop(ends: list[tuple[int, int]]) -> float:
    """Machine instructions per packet-hop between two ends of a run, so that the start is not in them."""
    (before, first), (after, last) = ends
    return (after - before) / (last - first)


def instructions(python: str, bench: Bench, case: Any) -> float:
    """Machine instructions per packet-hop over a stretch of a run."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "arrays")
        said(python, bench.script, "--case", json.dumps(case), "--arrays", file)
        return per_hop(counted(python, [(file, hops) for hops in bench.span(case)]))


def compared(bench: Bench, case: Any, arguments: argparse.Namespace) -> Row:
    """Instructions of a case, of both builds if there are two; how many times as fast this one is."""
    row: Row = {}
    speed = ("--case", json.dumps(case), "--speed")
    if arguments.instructions:
        row["instructions"] = instructions(sys.executable, bench, case)
    if arguments.instructions and arguments.against:
        row["before"] = instructions(arguments.against, bench, case)
    if arguments.against:
        pairs = [
            [
                told(python, bench.script, *speed)["hops_per_s"]
                for python in (arguments.against, sys.executable)
            ]
            for _ in range(PAIRS)
        ]
        row["ratio"] = statistics.median(ours / other for other, ours in pairs)
    return row


COMPARED = {
    "instructions": ("instructions per hop", ".0f"),
    "before": ("before", ".0f"),
    "ratio": ("times as fast", ".2f"),
}


def measured(bench: Bench, arguments: argparse.Namespace) -> tuple[list[Row], str]:
    """All cases, each as in the round in which it was fastest, and their table, printed as it grows."""

    def measure(case: Any) -> Row:
        row = {**told(sys.executable, bench.script, "--case", json.dumps(case)), "case": case}
        print(joined(bench.cells(row)), flush=True)
        return row

    extra = [key for key in COMPARED if getattr(arguments, "against" if key != "instructions" else key)]
    extra = [key for key in extra if key != "before" or arguments.instructions]
    titles = [*bench.header, *(COMPARED[key][0] for key in extra)]
    head = f"{joined(titles)}\n|---|{'---:|' * (len(titles) - 1)}"
    print(head, flush=True)
    rounds = [list(bench.round(measure)) for _ in range(1 if arguments.quick else ROUNDS)]
    rows, lines = [], [head]
    for same in zip(*rounds, strict=True):
        best = max(same, key=lambda row: row["hops_per_s"])
        rows.append({**best, **compared(bench, best["case"], arguments)})
        lines.append(joined([*bench.cells(best), *(f"{rows[-1][key]:{COMPARED[key][1]}}" for key in extra)]))
        if extra:
            print(lines[-1], flush=True)
    return rows, "\n".join(lines)


def joined(cells: Any) -> str:
    """One row of a table."""
    return f"| {' | '.join(cells)} |"


def by_load(table: str) -> str:
    """The table with saturation and half of it, which are rows after each other, side by side."""
    head, _, *rows = ([cell.strip() for cell in row.strip("|").split("|")] for row in table.split("\n"))
    both = [
        [
            *full[:2],
            *(
                one if one == other else f"{one}; {other}"
                for one, other in zip(full[3:], half[3:], strict=True)
            ),
        ]
        for full, half in zip(rows[::2], rows[1::2], strict=True)
    ]
    titles = head[:2] + head[3:]
    return "\n".join([joined(titles), f"|---|{'---:|' * (len(titles) - 1)}", *map(joined, once(both))])


def once(rows: list[list[str]]) -> list[list[str]]:
    """The same rows, each without the first cells that the row above has too."""
    shared = [
        next((at for at, (one, other) in enumerate(zip(row, above, strict=True)) if one != other), 0)
        for above, row in pairwise(rows)
    ]
    return rows[:1] + [[""] * count + row[count:] for count, row in zip(shared, rows[1:], strict=True)]


def aims(rows: dict[str, str]) -> str:
    """The few numbers that are aimed at, each with what was measured."""
    return "\n".join(
        ["| aim | measured |", "|---|---|", *(f"| {aim} | {found} |" for aim, found in rows.items())]
    )


def run(bench: Bench, arguments: argparse.Namespace, page: Callable[[list[Row], str], None]) -> None:
    """One case as told, or all and their page."""
    if arguments.case:
        case = json.loads(arguments.case)
        if arguments.arrays:
            compiled = bench.compiled(case)
            Path(arguments.arrays).write_bytes(pickle.dumps((compiled.arrays, options(compiled))))
            print("null")
        else:
            print(json.dumps(bench.timed(case, arguments.speed)))
        return
    rows, table = measured(bench, arguments)
    if not arguments.quick:
        page(rows, table)


def processor() -> str:
    """Name of the processor, as far as the system tells."""
    try:
        for text in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if text.startswith("model name"):
                return text.split(":", 1)[1].strip()
    except OSError:
        return platform.machine()
    return platform.machine()


def write(title: str, parts: list[str]) -> None:
    """The section of the page of results with this title."""
    from fabriloom import _native

    system = f"{platform.system()}, Python {platform.python_version()}, Fabriloom {_native.__version__}"
    machine, text = f"One core of {processor()}, {system}.", PAGE.read_text(encoding="utf-8")
    usual = machine in text.partition("\n## ")[0]
    body = "\n\n".join(parts if usual else [machine, *parts])
    section = re.compile(rf"(\n## {re.escape(title)}\n).*?(\Z|\n## )", re.DOTALL)
    assert section.search(text), f"{PAGE} has no section {title}"
    PAGE.write_text(section.sub(lambda m: f"{m[1]}\n{body}\n{m[2]}", text), encoding="utf-8")


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


Rows = list[list[Any]]


def put(page: Path, mark: str, tables: list[Rows]) -> None:
    """Write tables between ``<!-- mark -->`` and the next ``<!-- end -->`` of a page."""
    text = page.read_text(encoding="utf-8")
    marks = re.compile(rf"(<!-- {re.escape(mark)} -->\n).*?(<!-- end -->)", re.DOTALL)
    assert marks.search(text), f"{page} has no mark {mark}"
    body = "\n\n".join(_table(rows) for rows in tables)
    page.write_text(marks.sub(lambda m: f"{m[1]}\n{body}\n\n{m[2]}", text), encoding="utf-8")


def _table(rows: Rows) -> str:
    head, *rest = map(joined, once([[str(cell) for cell in row] for row in rows]))
    return "\n".join([head, "|" + "---|" * len(rows[0]), *rest])
