"""One page for all tests: to open it takes longer than most of these."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from .browser import Browser, Tab
from .laboratory import QUIET, SMALL, drop


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The page as the command serves it."""
    command = [sys.executable, "-u", "-m", "fabriloom", "page", "--port", "0", "--no-browser"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    )
    assert process.stdout is not None
    yield process.stdout.readline().rpartition(" ")[2].strip()
    process.terminate()
    assert process.wait(20) == 0


@pytest.fixture(scope="session")
def shared(chromium: Browser, address: str) -> Iterator[Tab]:
    """One tab for all tests: opening takes longer than most of them."""
    tab = chromium.tab()
    tab.open(address)
    yield tab
    assert not tab.complaints


@pytest.fixture
def tab(shared: Tab) -> Tab:
    """The tab with a scenario of our own in it."""
    drop(shared, "mine.toml", SMALL)
    shared.until(f"{QUIET} && document.querySelector('#title').textContent === 'Mine'")
    return shared
