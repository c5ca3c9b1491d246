"""What all tests share: the runs of the experiments, each of which is needed in two places."""

from __future__ import annotations

import os

import pytest
from fabriloom.output import Pieces


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Pieces:
    """Finished runs of experiments, kept in one folder for all processes of this test run."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    return Pieces.at(folder / "experiments")
