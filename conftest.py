"""What all tests share: one browser, seeds, and the runs of the experiments, which two places need."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest
import soaked
from fabriloom.output import Pieces
from hypothesis import settings
from page.browser import PROGRAM, Browser, browser

# How long an example takes depends on what else this machine does.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Pieces:
    """Finished runs of experiments, kept in one folder for all processes of this test run."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    return Pieces.at(folder / "experiments")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser of all tests of a process: to open it takes longer than most of them."""
    if PROGRAM is None:
        pytest.skip("no Chromium here: nothing is looked at in a browser")
    with browser() as running:
        yield running


EXAMPLES = ("test_docs.py", "test_scenarios.py")
"""Their tests take long and share nothing."""


@pytest.hookimpl(tryfirst=True)  # before the plug-in that runs groups reads them
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say what one process runs: the tests of a file, which share servers and networks, and all those of the
    papers, because every other process would simulate the papers again.
    """
    for item in items:
        if "finished" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("papers"))
        elif item.path.name not in EXAMPLES:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So a shell starts what it puts into the background, and so would everything be that a test starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _no_wait_for_the_disk() -> Iterator[None]:
    """What is written outlives its process; ``tests/output/disk.py`` plays what a power cut leaves."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture
def seeds(request: pytest.FixtureRequest) -> Iterator[Callable[[int], Iterator[int]]]:
    """The seeds of a random test, which has the mark ``seeds``: as many as it usually tries.

    ``FABRILOOM_SEEDS=7..9`` gives others instead. With ``FABRILOOM_SOAK_SECONDS=600``, set by ``make soak``,
    they are fresh and come for that time.
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
