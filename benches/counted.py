"""Runs arrays of a file up to a number of packet-hops, and prints how many it were.

``common.py`` has valgrind count its instructions, so it imports as little as possible.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

from fabriloom import _native


def main() -> None:
    """Run ``FILE`` up to ``HOPS``, or to the end of the run."""
    arrays, options = pickle.loads(Path(sys.argv[1]).read_bytes())
    engine = _native.Simulation(arrays, **options)
    while engine.progress()[3] < int(sys.argv[2]) and not engine.advance(10_000):
        pass
    print(engine.progress()[3])


if __name__ == "__main__":
    main()
