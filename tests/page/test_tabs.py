"""Tabs that are closed, come again, or are several; and a worker that dies under one: in a real browser."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest
from fabriloom.page import sessions
from fabriloom.page.server import application
from fabriloom.page.sessions import Session

from .browser import Browser, Tab
from .laboratory import LONG, SMALL, drop
from .serving import at, served

APP = application()
PATIENCE_S = 60.0
QUIET = "document.querySelector('#status').textContent === '' && !document.querySelector('#run').disabled"
GOING_ON = "document.querySelector('.measured dd')?.textContent.endsWith('MB/s')"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The page of a server in this process, whose sessions can be looked at."""
    with served(APP) as port:
        yield f"http://127.0.0.1:{port}{at(port, '/')}"
        APP.state.sessions.hang_up()


def started(chromium: Browser, address: str, text: str = LONG) -> Tab:
    """A tab in which a run goes on."""
    tab = chromium.tab()
    tab.open(address)
    drop(tab, "mine.toml", text)
    tab.until(f"{QUIET} && document.querySelector('#title').textContent === 'Mine'")
    tab.click("#run")
    tab.until(GOING_ON)
    return tab


def session_of(tab: Tab) -> Session:
    name = tab.js("JSON.parse(sessionStorage.getItem('fabriloom')).session")
    session = APP.state.sessions.get(name)
    assert session is not None
    return session


def comes_true(what: str, condition: object, patience_s: float = PATIENCE_S) -> None:
    assert callable(condition)
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < patience_s, what
        time.sleep(0.05)


def test_the_run_of_a_closed_tab_is_given_up(
    chromium: Browser, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = started(chromium, address)
    session = session_of(tab)
    assert session.worker is not None
    pid = session.worker.pid
    monkeypatch.setattr(sessions, "ALONE_S", 0.5)
    chromium.close(tab)
    comes_true("nobody listens any more", lambda: not session.listeners)
    comes_true("the run is given up", lambda: not session.running)
    comes_true("its process has ended", lambda: not _lives(pid))


def test_a_tab_that_comes_again_finds_its_run(chromium: Browser, address: str) -> None:
    tab = started(chromium, address)
    session = session_of(tab)
    tab.open(address)
    tab.until(GOING_ON)
    assert session_of(tab) is session
    assert session.running
    tab.click("#cancel")
    tab.until("document.querySelector('#status').textContent.startsWith('Cancelled')")
    chromium.close(tab)


def test_two_tabs_run_at_the_same_time_and_a_third_is_told_to_wait(chromium: Browser, address: str) -> None:
    tabs = [started(chromium, address), started(chromium, address)]
    assert [session_of(tab).running for tab in tabs] == [True, True]
    third = chromium.tab()
    third.open(address)
    drop(third, "mine.toml", SMALL)
    third.until(f"{QUIET} && document.querySelector('#title').textContent === 'Mine'")
    third.click("#run")
    third.until("document.querySelector('#said').innerText.includes('2 runs are in progress in other tabs')")
    tabs[0].click("#cancel")
    tabs[0].until("document.querySelector('#status').textContent.startsWith('Cancelled')")
    assert session_of(tabs[1]).running
    third.click("#run")
    third.until("document.querySelector('#status').textContent === 'Done.'")
    tabs[1].click("#cancel")
    for tab in (*tabs, third):
        assert not tab.complaints or tab is third  # a refusal stands in the console as one
        chromium.close(tab)


def test_a_killed_worker_is_said_on_the_page_and_the_next_run_has_another(
    chromium: Browser, address: str
) -> None:
    tab = started(chromium, address)
    worker = session_of(tab).worker
    assert worker is not None
    os.kill(worker.pid, signal.SIGKILL)
    tab.until("document.querySelector('#said').innerText.includes('Press Run to start again')")
    assert "SIGKILL" in tab.text("#said")
    tab.click("#run")
    tab.until(f"document.querySelector('#said').hidden && {GOING_ON}")
    tab.click("#cancel")
    chromium.close(tab)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
