"""What tests of all rooms share: seeds."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest
import soaked

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So a shell starts what it puts into the background, and so would everything be that a test starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def seeds(request: pytest.FixtureRequest) -> Iterator[Callable[[int], Iterator[int]]]:
    """The seeds of a random test, which has the mark ``seeds``: the first so many.

    ``FABRILOOM_SEEDS=7..9`` gives others instead. With ``FABRILOOM_SOAK_SECONDS=600``, set by ``make soak``,
    they are fresh and come for so long.
    """
    soak = os.environ.get("FABRILOOM_SOAK_SECONDS")
    chosen = os.environ.get("FABRILOOM_SEEDS")

    def of(usual: int) -> Iterator[int]:
        if chosen is not None:
            low, _, high = chosen.partition("..")
            yield from range(int(low), int(high))
        elif soak is not None:
            end = time.monotonic() + float(soak)
            for seed in itertools.count(int(time.time()) << 20):
                if time.monotonic() > end:
                    return
                yield seed
        else:
            yield from range(usual)

    count = itertools.count()

    def counted(usual: int) -> Iterator[int]:
        for seed in of(usual):
            next(count)
            yield seed

    yield counted
    soaked.tried(str(request.path.relative_to(request.config.rootpath)), next(count))
