"""What a program on this machine can do to the page, done: its owner always gets in, and nothing grows."""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fabriloom.page import limits
from fabriloom.page.limits import Refusal
from fabriloom.page.server import application
from fabriloom.page.sessions import Turns

from .laboratory import KEYS, at, served
from .test_server import SMALL, ask, session

FABRILOOM = Path(sys.executable).parent / "fabriloom"
SLOW = '[topology]\nkind = "torus"\nshape = [16, 16]\n'
MOST_WORKERS = limits.RUNNING + limits.LOOKING + 3
"""With one that is kept ahead, and idle ones."""
MOST_FILES = 256


@dataclass
class Running:
    """A server as its user starts it."""

    process: subprocess.Popen[bytes]
    port: int
    said: Path
    folder: Path

    def workers(self) -> list[int]:
        """Processes that it has started."""
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == self.process.pid:
                found.append(int(stat.parent.name))
        return found

    def memory_mb(self) -> float:
        """What it has in memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1000


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server that may open few files, in a folder full of modules that are not to be imported."""
    folder = tmp_path_factory.mktemp("trapped")
    for name in ("numpy", "statistics", "polars", "json", "fabriloom", "uvicorn", "random"):
        trap = f"open({str(folder / 'EXECUTED')!r}, 'w').close(); raise SystemExit(77)\n"
        (folder / f"{name}.py").write_text(trap, encoding="utf-8")
    said = folder / "said.txt"
    with said.open("wb") as stderr:
        process = subprocess.Popen(
            [FABRILOOM, "page", "--port", "0", "--no-browser"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (MOST_FILES, MOST_FILES)),
        )
    assert process.stdout is not None
    first = process.stdout.readline().decode()
    found = re.search(r":(\d+)/([\w-]+)/$", first.splitlines()[0])
    assert found, said.read_text(encoding="utf-8")
    KEYS[int(found[1])] = found[2]
    yield Running(process, int(found[1]), said, folder)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    assert not (folder / "EXECUTED").exists()
    assert said.stat().st_size < 100_000


def connection(port: int, first: bytes = b"") -> socket.socket:
    one = socket.create_connection(("127.0.0.1", port), timeout=30)
    one.sendall(first)
    return one


def _post(port: int, path: str) -> str:
    """The first lines of a request with JSON in it."""
    host = f"host: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n"
    return f"POST {at(port, path)} HTTP/1.1\r\n{host}"


def send_until_refused(one: socket.socket, piece: bytes, every_s: float) -> None:
    """Send the same again and again; raises OSError once nobody takes it."""
    for _ in range(200):
        one.sendall(piece)
        time.sleep(every_s)


def owner_gets_in(port: int) -> None:
    """The page, a tab, a look and a run of one's own."""
    assert ask(port, "GET", "/")[0] == 200
    with session(port) as (name, listener):
        job = {"session": name, "do": "run", "first": {"file": "a.toml", "text": SMALL}}
        assert ask(port, "POST", "/api/look", job)[2]["type"] == "look"
        assert ask(port, "POST", "/api/begin", job)[0] == 200
        assert listener.until("done")["report"]


def test_the_page_imports_nothing_from_the_present_folder(running: Running) -> None:
    owner_gets_in(running.port)
    assert not (running.folder / "EXECUTED").exists()


def test_many_looks_start_few_processes(running: Running) -> None:
    """Of 24 requests at once each had a process of its own."""
    answers: list[Any] = []

    def look() -> None:
        answers.append(ask(running.port, "POST", "/api/look", {"first": {"file": "a.toml", "text": SLOW}}))

    threads = [threading.Thread(target=look) for _ in range(24)]
    for thread in threads:
        thread.start()
    most = 0
    while any(thread.is_alive() for thread in threads):
        most = max(most, len(running.workers()))
        time.sleep(0.05)
    assert 0 < most <= MOST_WORKERS
    assert {status for status, _, _ in answers} <= {200, 409}
    assert 200 in {status for status, _, _ in answers}
    owner_gets_in(running.port)


def test_of_those_who_wait_the_newest_is_next() -> None:
    """So that whoever sends many keeps nobody waiting for long; the oldest are told."""
    said: list[str] = []

    async def one(turns: Turns, name: str) -> None:
        try:
            async with turns:
                await asyncio.sleep(0.01)
                said.append(name)
        except Refusal:
            said.append(f"{name} refused")

    async def all_at_once() -> None:
        turns = Turns(1, 3)
        tasks = [asyncio.create_task(one(turns, name)) for name in "abcdef"]
        await asyncio.sleep(0)
        tasks[3].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await one(turns, "again")

    asyncio.run(all_at_once())
    assert said == ["b refused", "c refused", "a", "f", "e", "again"]


def test_a_turn_is_not_lost_with_a_client_that_goes_as_it_comes() -> None:
    """A client that left in the step in which it was next, or the oldest of too many, took the turn along."""

    async def leave(at_a_time: int, waiting: int, *, then_one_more: bool) -> None:
        turns, let_go = Turns(at_a_time, waiting), asyncio.Event()

        async def one() -> None:
            async with turns:
                await let_go.wait()

        tasks = [asyncio.create_task(one()) for _ in range(3)]
        await asyncio.sleep(0)
        let_go.set()
        if not then_one_more:
            await asyncio.sleep(0)
        for task in tasks[at_a_time:]:
            task.cancel()
        if then_one_more:
            tasks.append(asyncio.create_task(one()))
        said = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(error is None or isinstance(error, asyncio.CancelledError) for error in said)
        async with asyncio.timeout(5.0), turns:
            pass

    for more in (False, True):
        asyncio.run(leave(1, 2, then_one_more=more))
        asyncio.run(leave(2, 1, then_one_more=more))


def test_looks_of_those_who_have_gone_are_ended(running: Running) -> None:
    body = json.dumps({"first": {"file": "a.toml", "text": SLOW}}).encode()
    head = _post(running.port, "/api/look")
    for _ in range(24):
        connection(running.port, f"{head}content-length: {len(body)}\r\n\r\n".encode() + body).close()
    began = time.monotonic()
    owner_gets_in(running.port)
    assert time.monotonic() - began < 20.0
    assert len(running.workers()) <= MOST_WORKERS


@pytest.mark.parametrize("claimed", ["content-length: 100\r\n", ""])
def test_a_body_is_as_long_as_it_is_not_as_it_says(running: Running, claimed: str) -> None:
    """A length beside chunks was believed, and 600 MB were taken."""
    before = running.memory_mb()
    head = _post(running.port, "/api/session")
    one = connection(running.port, f"{head}{claimed}transfer-encoding: chunked\r\n\r\n".encode())
    piece = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    with pytest.raises(OSError, match=r"reset|Broken pipe"):
        send_until_refused(one, piece, 0.0)
    assert running.memory_mb() - before < 30
    owner_gets_in(running.port)


def test_tabs_that_nobody_opened_lock_nobody_out(running: Running) -> None:
    for _ in range(3 * limits.SESSIONS):
        assert ask(running.port, "POST", "/api/session", {})[0] == 200
    owner_gets_in(running.port)


def test_streams_of_all_tabs_lock_nobody_out(running: Running) -> None:
    streams = []
    for _ in range(limits.SESSIONS + 2):
        name = ask(running.port, "POST", "/api/session", {})[2]["session"]
        path = at(running.port, f"/api/events?session={name}")
        request = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{running.port}\r\n\r\n"
        streams += [connection(running.port, request.encode()) for _ in range(4)]
    owner_gets_in(running.port)
    for one in streams:
        one.close()


@pytest.mark.parametrize(
    "first", [b"", b"GET / HTTP/1.1\r\nhost: 127", b"POST /api/session HTTP/1.1\r\nhost: x"]
)
def test_half_open_requests_leave_room(running: Running, first: bytes) -> None:
    """At 1,024 of them the server stopped, and printed a traceback for every further one."""
    held = [connection(running.port, first) for _ in range(MOST_FILES + 50)]
    owner_gets_in(running.port)
    files = len(os.listdir(f"/proc/{running.process.pid}/fd"))
    assert files < limits.CONNECTIONS + 50
    for one in held:
        one.close()


@pytest.mark.parametrize("keep", [False, True])
def test_a_request_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch, keep: bool) -> None:
    """Also the second one of a connection, and one that comes a letter at a time."""
    monkeypatch.setattr(limits, "REQUEST_S", 0.6)
    with served(application()) as port:
        one = connection(port)
        if keep:
            one.sendall(f"GET {at(port, '/api/shelf')} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n\r\n".encode())
            assert one.recv(1 << 20).startswith(b"HTTP/1.1 200")
            time.sleep(0.2)
        began = time.monotonic()
        with pytest.raises(OSError, match=r"reset|Broken pipe"):
            send_until_refused(one, b"G", 0.1)
        assert time.monotonic() - began < 10.0


def test_the_log_is_bounded(running: Running) -> None:
    """The last test: what all of the above has made the server say.

    While no socket is left asyncio says so once a second, with a traceback.
    """
    assert running.said.read_text(encoding="utf-8").count("\n") < 500
