"""Speed of the engine on networks of links of every kind, written to ``benches/PRESETS.md``: never asserted.

One grid of 1024 terminals for each technology that the README names, at three packet lengths, saturated and
at half of that. ``--against PYTHON`` measures each case in turn with the build that another interpreter
imports, and prints the ratio; ``--instructions`` counts machine instructions too, where valgrind is
installed, because a clock of a shared machine says little. ``--quick`` runs the small grid only and writes
nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from run import LENGTHS_BYTES, WARMUP_ROUNDS, hops_per_s, scenario, simulation, write

TECHNOLOGIES: dict[str, dict[str, Any]] = {
    "ds-link-c104": {"preset": "ds-link-c104"},
    "ds-link-c104, link-rate crossbar": {"preset": "ds-link-c104", "crossbar": "link-rate"},
    "spacewire-200": {"preset": "spacewire-200"},
    "generic": {"preset": "generic"},
}
FLIT_BYTES = 8
"""``generic`` counts flits of 8 B: its packets have as many flits as those of the others have bytes."""
SLICES = 3
PAIRS = 3
COUNTED_HOPS = (20_000, 80_000)
"""Instructions are counted twice, up to these numbers of hops; the difference leaves out the start."""


@dataclass(frozen=True)
class Case:
    """One network: ``load`` of what a link carries, none for sources that always have a packet."""

    technology: str
    terminals: int
    length: int
    load: float | None = None

    def bytes(self) -> int:
        """Payload of a packet."""
        return self.length * (FLIT_BYTES if self.technology == "generic" else 1)

    def scenario(self) -> dict[str, Any]:
        """The case as a scenario without an end."""
        return scenario(self.terminals, self.bytes(), self.load, TECHNOLOGIES[self.technology])


def started(case: Case) -> tuple[Any, Any]:
    """The compiled scenario and an engine that has simulated nothing yet."""
    from fabriloom.compile import compile as compile_scenario
    from fabriloom.scenario import Scenario

    compiled = compile_scenario(Scenario.from_dict(case.scenario()))
    return compiled, simulation(compiled)


def timed(case: Case) -> dict[str, Any]:
    """Run and time one case in this process; ``accepted`` is a share of what a terminal's link carries."""
    compiled, engine = started(case)
    while engine.progress()[2] < WARMUP_ROUNDS * case.terminals:
        engine.advance(50_000)
    before, pieces = engine.progress(), engine.result()["extensions"]
    speeds = [hops_per_s(engine) for _ in range(SLICES)]
    after = engine.progress()
    ticks, events, packets, hops = (last - first for last, first in zip(after, before, strict=True))
    length_bytes = case.bytes()
    per_terminal = packets * length_bytes / (ticks * compiled.arrays["tick_ps"] / 1e12) / case.terminals
    return {
        "hops_per_s": statistics.median(speeds),
        "events_per_hop": events / hops,
        "pieces_per_hop": (engine.result()["extensions"] - pieces) / hops,
        "accepted": per_terminal / compiled.technology.payload_bytes_per_s(length_bytes),
    }


def counted(case: Case, until_hops: int) -> int:
    """Run a case up to a number of hops and return how many it were; for the instruction counter."""
    _, engine = started(case)
    while engine.progress()[3] < until_hops:
        engine.advance(10_000)
    return engine.progress()[3]


def in_process(
    python: str, case: Case, *prefix: str, until_hops: int = 0
) -> subprocess.CompletedProcess[str]:
    """One case in an interpreter of its own: ``python`` decides which build it is."""
    command = [*prefix, python, __file__, "--case", json.dumps(asdict(case)), "--until-hops", str(until_hops)]
    # The order of sets would change the count.
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment)


def measured(python: str, case: Case) -> dict[str, Any]:
    """The speed of one case in a process of its own."""
    return json.loads(in_process(python, case).stdout)


def instructions_per_hop(python: str, case: Case) -> float:
    """Machine instructions per packet-hop, by valgrind: the same in every run of one build."""
    seen = []
    for hops in COUNTED_HOPS:
        valgrind = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")
        done = in_process(python, case, *valgrind, until_hops=hops)
        count = re.search(r"Collected : (\d+)", done.stderr)
        if count is None:
            raise RuntimeError(f"valgrind counted nothing:\n{done.stderr}")
        seen.append((int(count[1]), json.loads(done.stdout)))
    (first, before), (last, after) = seen
    return (last - first) / (after - before)


def rows(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Every case: saturation first, then half of what was accepted there."""
    for technology in TECHNOLOGIES:
        for length in LENGTHS_BYTES:
            full = Case(technology, 64 if arguments.quick else 1024, length)
            row = one_row(full, arguments)
            yield row
            half = Case(technology, full.terminals, length, round(0.5 * row["accepted"], 4))
            yield one_row(half, arguments)


def one_row(case: Case, arguments: argparse.Namespace) -> dict[str, Any]:
    """What is told of one case; with ``--against`` the median of the ratios of pairs measured in turn."""
    row = {**asdict(case), **measured(sys.executable, case)}
    if arguments.against:
        ratios = []
        for _ in range(PAIRS):
            other, ours = (measured(python, case) for python in (arguments.against, sys.executable))
            ratios.append(ours["hops_per_s"] / other["hops_per_s"])
        row["ratio"] = statistics.median(ratios)
    if arguments.instructions:
        row["instructions"] = instructions_per_hop(sys.executable, case)
    return row


HEADER = (
    "| technology | packet | at | packet-hops/s | wake-ups per hop | pieces per hop | instructions per hop "
    "| times the build before |\n|---|---:|---|---:|---:|---:|---:|---:|"
)


def line(row: dict[str, Any]) -> str:
    """One row of the table."""
    at = "saturation" if row["load"] is None else "50 %"
    unit = "flits" if row["technology"] == "generic" else "B"
    instructions = f"{row['instructions']:.0f}" if "instructions" in row else "-"
    ratio = f"{row['ratio']:.2f}" if "ratio" in row else "-"
    return (
        f"| {row['technology']} | {row['length']} {unit} | {at} | {row['hops_per_s'] / 1e6:.2f} M "
        f"| {row['events_per_hop']:.2f} | {row['pieces_per_hop']:.2f} | {instructions} | {ratio} |"
    )


NOTES = """The grid of 1024 terminals of [RESULTS.md](RESULTS.md): 8 x 8 switches with 16 terminals each and
4 links per edge, random traffic, statistics on. 50 %: Poisson arrivals at half of what is accepted at
saturation.

* A hop is a packet granted an output of a switch. Seconds are of processor time, the median of three
  stretches.
* A wake-up is an event handled. A piece is a straight run of characters worked out at such a wake-up.
* Instructions are counted by valgrind between 20,000 and 80,000 hops. Other work on the machine does not
  change them, so they are what to compare builds by.
* Against the build before: the median of three pairs, measured in turn."""


def asked() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", help="run this one here and print it as JSON")
    parser.add_argument("--until-hops", type=int, default=0, help="with --case: only run up to so many hops")
    parser.add_argument(
        "--against", metavar="PYTHON", help="interpreter that imports the build to compare with"
    )
    parser.add_argument(
        "--instructions", action="store_true", help="count machine instructions too (valgrind)"
    )
    parser.add_argument("--quick", action="store_true", help="the small grid only; write nothing")
    return parser.parse_args()


def main() -> None:
    """Run one case, or all."""
    arguments = asked()
    if arguments.case:
        case = Case(**json.loads(arguments.case))
        print(json.dumps(counted(case, arguments.until_hops) if arguments.until_hops else timed(case)))
        return
    if arguments.instructions and shutil.which("valgrind") is None:
        sys.exit("--instructions needs valgrind: install it, or leave that away")
    print(HEADER, flush=True)
    lines = []
    for row in rows(arguments):
        lines.append(line(row))
        print(lines[-1], flush=True)
    if not arguments.quick:
        write("PRESETS.md", "Speed on every preset", [NOTES, "\n".join([HEADER, *lines])])


if __name__ == "__main__":
    main()
