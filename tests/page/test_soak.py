"""The page for as long as one likes: workers that are killed, and requests made of anything."""

from __future__ import annotations

import os
import random
import signal
import socket
import time
from collections.abc import Iterator

import pytest
import soaked
from fabriloom.page.server import application

from .laboratory import KEYS, served
from .test_attacks import owner_gets_in
from .test_server import LONG, PATIENCE_S, ask, session

pytestmark = pytest.mark.soak

SECONDS = float(os.environ.get("FABRILOOM_SOAK_SECONDS", "30"))
APP = application()
PIECES = (
    b"GET ",
    b"POST ",
    b"/",
    b"/KEY/api/look",
    b"/KEY/api/session",
    b"/KEY/api/events?session=",
    b"/KEY/page/",
    b"%2e%2e/",
    b"..",
    b" HTTP/1.1\r\n",
    b"host: HOST\r\n",
    b"host: [\r\n",
    b"origin: http://[\r\n",
    b"origin: http://HOST\r\n",
    b"content-type: application/json\r\n",
    b"content-length: 30\r\n",
    b"content-length: -1\r\n",
    b"\r\n",
    b"\r\n\r\n",
    b"transfer-encoding: chunked\r\n",
    b"5\r\nabcde\r\n",
    b'{"first": {"text": "',
    b'"settings": [',
    b"\x00\xff",
    b"1" * 5000,
    b"upgrade: websocket\r\nconnection: upgrade\r\n",
    b"expect: 100-continue\r\n",
    b"connection: close\r\n",
)
"""Requests are drawn from these; whole ones come of it often enough."""


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    with served(APP) as port:
        yield port


def test_workers_that_are_killed_are_replaced(server: int) -> None:
    drawn, until, kills = random.Random(), time.monotonic() + SECONDS, 0
    with session(server) as (name, listener):
        job = {"session": name, "do": "run", "first": {"file": "a.toml", "text": LONG}}
        while time.monotonic() < until:
            assert ask(server, "POST", "/api/begin", job)[0] == 200
            time.sleep(drawn.uniform(0.0, 0.5))
            worker = APP.state.sessions.get(name).worker
            if worker is None:
                ask(server, "POST", "/api/cancel", {"session": name})
            else:
                os.kill(worker.pid, signal.SIGKILL)
                assert "SIGKILL" in listener.until("error")["text"]
                kills += 1
            began = time.monotonic()
            while APP.state.sessions.get(name).running:
                assert time.monotonic() - began < PATIENCE_S
                time.sleep(0.01)
    owner_gets_in(server)
    soaked.tried("kills", kills)
    print(f"{kills} kills")


def test_requests_made_of_anything_are_answered_or_dropped(
    server: int, capfd: pytest.CaptureFixture[str]
) -> None:
    seed = random.SystemRandom().randrange(2**32)
    drawn, until, sent = random.Random(seed), time.monotonic() + SECONDS, 0
    print(f"seed {seed}")
    while time.monotonic() < until:
        with socket.create_connection(("127.0.0.1", server), timeout=10) as one:
            host, key = f"127.0.0.1:{server}".encode(), KEYS[server].encode()
            count = drawn.randrange(1, 12)
            one.sendall(
                b"".join(drawn.choices(PIECES, k=count)).replace(b"HOST", host).replace(b"KEY", key)
                + b"\r\n\r\n"
            )
            one.shutdown(socket.SHUT_WR)
            answer = one.recv(1 << 16)
            assert not answer or answer.startswith(b"HTTP/1.1 "), (seed, answer)
            assert not answer.startswith(b"HTTP/1.1 500"), (seed, answer)
            sent += 1
    owner_gets_in(server)
    assert "Traceback" not in capfd.readouterr().err
    print(f"{sent} requests")
