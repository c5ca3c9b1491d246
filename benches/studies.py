"""What a study costs besides its runs, and how large it may be: tables of ``RESULTS.md``.

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

from common import PAGE, Rows, put
from fabriloom import Scenario, _native, simulate
from fabriloom.studies.folder import Folder
from fabriloom.studies.plan import Plan
from fabriloom.studies.run import one
from fabriloom.studies.run_all import finished, run_asked, team
from fabriloom.studies.store import MOST, Key, loaded, program, written

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
        run_asked(folder, asked, team(jobs, None))
        wall_s, cpu_s = time.monotonic() - began, time.process_time() - used
    simulate._native.Simulation = Timed.real
    return wall_s, cpu_s, Timed.engine_s, 1e3 * (cpu_s - Timed.engine_s) / count


def efficiencies(place: Path) -> Rows:
    """The table of what is spent besides the runs."""
    rows: Rows = [
        ["points", "of", "jobs", "clock s", "processors s", "of it in the engine", "besides, ms a point"]
    ]
    for count, duration in ((POINTS, "1 ms"), (POINTS // 10, "20 ms"), (POINTS // 100, "200 ms")):
        for jobs in (1, 2):
            wall, cpu, engine, besides = efficiency(duration, count, jobs, place)
            share = f"{100 * engine / cpu:.0f} %"
            rows.append([count, duration, jobs, f"{wall:.1f}", f"{cpu:.1f}", share, f"{besides:.1f}"])
    return rows


def many(place: Path) -> Rows:
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
    size = sum(path.stat().st_size for path in (place / "segments").iterdir()) / 1e6
    rows: Rows = [["of 100,000 points", "processor s"]]

    def timed(what: str, act: Any) -> Any:
        began = time.process_time()
        found = act()
        rows.append([what, f"{time.process_time() - began:.1f}"])
        return found

    timed(f"index made anew from the segments of {size:.0f} MB", lambda: Folder(place, take=True).close())
    timed("opened to look at", lambda: Folder(place).close())
    with Folder(place, take=True) as folder:
        asked = folder.studies()[0]
        timed("taken up again, with nothing left to run", lambda: run_asked(folder, asked, team(2, None)))
        table = timed("one table", lambda: finished(folder, asked)).table
        timed("written as Parquet", lambda: table.write_parquet(place / "points.parquet"))
    return rows


def main() -> None:
    """Measure, and write the page."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "study"
        put(PAGE, "studies", [efficiencies(place), many(place)])


if __name__ == "__main__":
    main()
