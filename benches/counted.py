"""Runs arrays of files up to numbers of packet-hops; prints as JSON in which process and how many it were.

``common.py`` has valgrind count the instructions of each process, so this imports as little as possible. All
are forked from one, whose start then counts once.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from pathlib import Path

from fabriloom import _native


def run(file: str, hops: int) -> int:
    """Run the arrays of a file up to a number of packet-hops, or to the end of the run."""
    arrays, options = pickle.loads(Path(file).read_bytes())
    engine = _native.Simulation(arrays, **options)
    while engine.progress()[3] < hops and not engine.advance(10_000):
        pass
    return engine.progress()[3]


def main() -> None:
    """Run each ``FILE`` up to its ``HOPS``."""
    for file, hops in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        if os.fork() == 0:
            print(json.dumps([os.getpid(), run(file, int(hops))]), flush=True)
            os._exit(0)
        os.wait()


if __name__ == "__main__":
    main()
