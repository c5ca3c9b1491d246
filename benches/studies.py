"""What a study costs besides its runs, and how large it may be: writes the tables of STUDIES.md.

``.venv/bin/python benches/studies.py`` takes some minutes. Times of processors are used where there are
any: the clock of a machine that has other work says little.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from fabriloom import Scenario, _native, simulate
from fabriloom.studies.folder import Folder
from fabriloom.studies.plan import Plan
from fabriloom.studies.run import one
from fabriloom.studies.run_all import finished, run_asked, threads
from fabriloom.studies.store import MOST, Key, loaded, program, written

PAGE = Path(__file__).with_name("STUDIES.md")
MARK = "<!-- measured: written by benches/studies.py -->"
POINTS = 1000
MANY = 100_000
LOADS = {"traffic.load": {"from": 0.00001, "to": 0.1, "count": 10_000}}


def clos(duration: str, count: int) -> Scenario:
    """A 64-terminal Clos of C104 switches with uniform traffic at load 0.3, by seeds."""
    return Scenario.from_dict(
        {
            "name": "Clos",
            "topology": {"kind": "clos", "terminals": 64},
            "traffic": {"load": 0.3},
            "run": {"duration": duration, "warmup": "50 us", "precision": 0.0},
            "sweep": {"seed": {"from": 1, "to": count}},
        }
    )


class Timed:
    """The engine, with the processor time that it takes."""

    real: Any = _native.Simulation
    engine_s = 0.0

    def __init__(self, *arrays: Any, **options: Any) -> None:
        began = time.thread_time()
        self._simulation = Timed.real(*arrays, **options)
        Timed.engine_s += time.thread_time() - began

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._simulation, name)

        def timed(*arguments: Any) -> Any:
            began = time.thread_time()
            found = inner(*arguments)
            Timed.engine_s += time.thread_time() - began
            return found

        return timed


def efficiency(duration: str, count: int, jobs: int, place: Path) -> tuple[float, float, float, float]:
    """Of a study in threads: seconds by the clock, of processors, in the engine, and ms besides per point."""
    shutil.rmtree(place, ignore_errors=True)
    simulate._native.Simulation = Timed
    with Folder(place, take=True, make=True) as folder:
        asked = folder.ask(clos(duration, count))
        one(asked.plan, 0, folder.store, lambda _: None)  # what is imported and built once
        Timed.engine_s, began, used = 0.0, time.monotonic(), time.process_time()
        run_asked(folder, asked, threads(jobs))
        wall_s, cpu_s = time.monotonic() - began, time.process_time() - used
    simulate._native.Simulation = Timed.real
    return wall_s, cpu_s, Timed.engine_s, 1e3 * (cpu_s - Timed.engine_s) / count


def efficiencies(place: Path) -> list[str]:
    """The table of what is spent besides the runs."""
    lines = ["| points | of | jobs | clock s | processors s | of it in the engine | besides, ms a point |"]
    lines.append("|---|---|---|---|---|---|---|")
    for count, duration in ((POINTS, "1 ms"), (POINTS // 10, "20 ms"), (POINTS // 100, "200 ms")):
        for jobs in (1, 2):
            wall, cpu, engine, besides = efficiency(duration, count, jobs, place)
            share = 100 * engine / cpu
            lines.append(
                f"| {count} | {duration} | {jobs} | {wall:.1f} | {cpu:.1f} | {share:.0f} % | {besides:.1f} |"
            )
    return lines


def many(place: Path) -> list[str]:
    """The table of what is done with 100,000 points: copies of one, under names of their own."""
    shutil.rmtree(place, ignore_errors=True)
    scenario = clos("1 ms", 1).with_settings({"study.replications": MANY // 10_000, "sweep": LOADS})
    with Folder(place, take=True, make=True) as folder:
        asked = folder.ask(scenario)
        done = one(Plan(scenario), 0, folder.store, lambda _: None)
        key = Key("point", program(), done.content)
        text = (place / "points" / key.name).read_text(encoding="utf-8")
        _, value = loaded(text) or sys.exit("the point is broken")
        keys = [Key("point", program(), f"{number:064x}") for number in range(MANY)]
        for at in range(0, MANY, MOST):
            folder.segments.add([(key.name, written(key, value)) for key in keys[at : at + MOST]])
        folder.index.planned(asked.fingerprint, [(number, key.content) for number, key in enumerate(keys)])
    rows = []

    def timed(what: str, act: Any) -> Any:
        began = time.process_time()
        found = act()
        rows.append(f"| {what} | {time.process_time() - began:.1f} |")
        return found

    timed("index made anew from the segments", lambda: Folder(place, take=True).close())
    timed("opened to look at", lambda: Folder(place).close())
    with Folder(place, take=True) as folder:
        asked = folder.studies()[0]
        timed("taken up again, with nothing left to run", lambda: run_asked(folder, asked, threads(2)))
        table = timed("one table", lambda: finished(folder, asked)).table
        timed("written as Parquet", lambda: table.write_parquet(place / "points.parquet"))
    size = sum(path.stat().st_size for path in (place / "segments").iterdir()) / 1e6
    return ["| of 100,000 points | processor s |", "|---|---|", *rows, "", f"{size:.0f} MB in segments."]


def main() -> None:
    """Measure, and write the page."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "study"
        tables = [*efficiencies(place), "", *many(place)]
    text = PAGE.read_text(encoding="utf-8").split(MARK)[0]
    PAGE.write_text(f"{text}{MARK}\n\n" + "\n".join(tables) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
