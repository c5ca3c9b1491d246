"""What all tests share: the runs of the experiments, each of which is needed in two places."""

from __future__ import annotations

import os

import pytest
from fabriloom.output import Pieces
from hypothesis import settings

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
