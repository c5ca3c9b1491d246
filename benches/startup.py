"""Short commands from the shell to their result, a part of ``RESULTS.md``, never asserted.

The tutorial's network of 24 terminals is run for 5 ms, checked, bounded, drawn and compared. ``--quick`` runs
everything once and writes nothing.
"""

from __future__ import annotations

import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import PAIRS, VALGRIND, aims, asked, joined, write

TIMES = 11
NETWORK = """name = "My first network"
[topology]
kind = "grid"
shape = [3, 2]
terminals_per_switch = 4
[technology]
preset = "ds-link-c104"
[traffic]
length = "64 B"
load = 0.2
[run]
duration = "5 ms"
"""
RUN = "run of a small network"
SATURATE = ("saturate", "network.toml", "--definition", "backlog")
COMMANDS = {
    RUN: ("run", "network.toml"),
    "run of the same, with its tables and report": ("run", "network.toml", "--out", "result", "--force"),
    "check of the same": ("check", "network.toml"),
    "curve of two loads": ("curve", "network.toml", "--loads", "0.1,0.2", "--jobs", "1"),
    "saturation of the same, by backlog": (*SATURATE, "--jobs", "1"),
    "comparison with a torus": ("compare", "network.toml", "torus.toml", "--loads", "0.2", "--jobs", "1"),
    "bound, without a search": ("bound", "network.toml", "--tries", "0"),
    "drawing": ("draw", "network.toml"),
    "a scenario to start from": ("new", "grid"),
    "help": ("--help",),
}
"""Runs of several points are done in the one process, whose instructions are counted."""


def once(python: str, folder: str, arguments: tuple[str, ...]) -> tuple[float, float]:
    """Seconds on the clock and of processors that a command takes."""
    used, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    spoken((python, "-m", "fabriloom", *arguments), folder)
    wall_s, now = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall_s, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime


def spoken(command: tuple[str, ...], folder: str) -> str:
    """What a command that must succeed says on its error stream."""
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stderr


def instructions(python: str, folder: str, arguments: tuple[str, ...]) -> float:
    """Machine instructions of a command, in millions."""
    said = spoken((*VALGRIND, python, "-m", "fabriloom", *arguments), folder)
    found = re.search(r"I\s+refs:\s+([\d,]+)", said)
    return int(found[1].replace(",", "")) / 1e6 if found else float("nan")


def main() -> None:
    """Measure all commands, with another build in turn if there is one."""
    asks = asked(__doc__)
    builds = [sys.executable, *([asks.against] if asks.against else [])]
    titles = ["command", "clock", "processor", *(["M instructions"] if asks.instructions else [])]
    lines = [joined([*titles, *(["clock before"] if asks.against else [])])]
    lines.append(f"|---|{'---:|' * (lines[0].count('|') - 2)}")
    print("\n".join(lines), flush=True)
    clock = {}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "network.toml").write_text(NETWORK, encoding="utf-8")
        torus = NETWORK.replace("grid", "torus").replace("first", "other")
        (Path(folder) / "torus.toml").write_text(torus, encoding="utf-8")
        for name, arguments in COMMANDS.items():
            once(sys.executable, folder, arguments)
            times = 1 if asks.quick else TIMES * (PAIRS if asks.against else 1)
            rounds = [[once(python, folder, arguments) for python in builds] for _ in range(times)]
            medians = [
                [statistics.median(values) for values in zip(*build, strict=True)]
                for build in zip(*rounds, strict=True)
            ]
            clock[name], processor_s = medians[0]
            cells = [name, f"{clock[name]:.2f} s", f"{processor_s:.2f} s"]
            if asks.instructions:
                cells.append(f"{instructions(sys.executable, folder, arguments):.0f}")
            cells += [f"{build[0]:.2f} s" for build in medians[1:]]
            lines.append(joined(cells))
            print(lines[-1], flush=True)
    if not asks.quick:
        found = aims({"run of a small network: 0.40 s, at most 0.50 s": f"{clock[RUN]:.2f} s"})
        write("Short commands", [found, NOTES, "\n".join(lines)])


NOTES = f"""The network of the tutorial: 24 terminals, 5 ms of simulated time, the engine included. Medians of
{TIMES} runs and more. Modules were compiled before. Instructions are those of the whole process."""


if __name__ == "__main__":
    main()
