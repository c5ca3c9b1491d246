"""What a soak has tried: every test adds a line; the table beside ``how-it-is-tested.md`` sums up.

``python tests/soaked.py TALLY MINUTES`` writes that table; ``make soak`` does so at its end.
"""

from __future__ import annotations

import csv
import os
import sys
from collections import Counter
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "docs" / "background" / "how-it-is-tested.csv"
MEANS = {
    "tests/twin/test_random.py": "scenarios in the engine and its twin",
    "tests/twin/": "scenarios drawn for laws",
    "tests/programs/test_plain.py": "programs in the engine and a plain interpreter",
    "tests/output/test_crashes.py": "crashes of a simulated disk",
    "tests/fuzz/": "damaged files",
    "kills": "commands and workers of the page killed",
    "": "seeds of other tests",
}
"""By the beginning of the path of a test, or what it gives instead; the first that fits."""


def tried(path: str, count: int) -> None:
    """Add what a test has tried, if somebody counts."""
    if (file := os.environ.get("FABRILOOM_SOAK_TALLY")) and count:
        with Path(file).open("a", encoding="utf-8") as out:
            out.write(f"{path},{count}\n")


def summed(tally: str) -> Counter[str]:
    """What was tried, by means."""
    found: Counter[str] = Counter()
    for path, count in csv.reader(tally.splitlines()):
        found[next(MEANS[begin] for begin in MEANS if path.startswith(begin))] += int(count)
    return found


if __name__ == "__main__":
    counts = summed(Path(sys.argv[1]).read_text(encoding="utf-8"))
    rows = [("tried", "count"), *((one, counts[one]) for one in MEANS.values() if counts[one])]
    rows.append(("minutes of the soak", sys.argv[2]))
    TABLE.write_text("".join(f"{one},{count}\n" for one, count in rows), encoding="utf-8")
