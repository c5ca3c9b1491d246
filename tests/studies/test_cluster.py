"""Points on a cluster of Dask: the same bytes as here, whatever dies."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fabriloom.cli import exits
from fabriloom.studies import StudyError, cluster
from fabriloom.studies.emit import work_on
from fabriloom.studies.folder import Folder
from fabriloom.studies.points import Watch

from .small import command, text

pytest.importorskip("distributed", reason="make setup-cluster")

SMALL = text("2 ms", 4)


def content(place: Path) -> dict[str, bytes]:
    """All points of a folder."""
    return {path.name: path.read_bytes() for path in (place / "points").glob("*.json")}


@pytest.fixture
def here(file: Path, tmp_path: Path) -> dict[str, bytes]:
    """What a run in threads gives."""
    assert command("run", file, "--out", tmp_path / "here").exit_code == exits.OK
    return content(tmp_path / "here")


def test_a_local_cluster_gives_the_same_bytes_while_its_workers_die(
    file: Path, tmp_path: Path, here: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "LOCAL_TASK_S", 0.05)
    killed: list[int] = []
    dice = random.Random(1)
    original = cluster.DaskWorkers.submit

    def deadly(self: Any, numbers: list[int]) -> Any:
        if len(killed) < 2 and dice.random() < 0.4:
            told = self._client.run(os.getpid, on_error="return").values()
            pid = next(pid for pid in told if isinstance(pid, int) and pid not in killed)
            killed.append(pid)
            threading.Timer(0.05, lambda: os.kill(pid, signal.SIGKILL)).start()
        return original(self, numbers)

    monkeypatch.setattr(cluster.DaskWorkers, "submit", deadly)
    place = tmp_path / "there"
    done = command("run", file, "--out", place, "--on", "local-cluster", "--jobs", 2)
    assert done.exit_code == exits.OK, done.stderr
    assert killed
    assert content(place) == here


@pytest.fixture(params=["dask", "tls"])
def scheduler(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """A scheduler and a worker, each a process of its own; how to reach it."""
    scheme = {"dask": "tcp", "tls": "tls"}[request.param]
    settings = key_in_files(tmp_path, monkeypatch) if scheme == "tls" else contextlib.nullcontext()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    dask = [str(Path(sys.executable).with_name("dask"))]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    words = ["scheduler", "--host", "127.0.0.1", "--port", address.partition(":")[2], "--no-dashboard"]
    running = [subprocess.Popen([*dask, *words, "--protocol", scheme], **quiet)]
    more = ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
    running.append(subprocess.Popen([*dask, "worker", f"{scheme}://{address}", *more], **quiet))
    with settings:
        yield f"{request.param}://{address}"
    for process in running:
        process.kill()
        process.wait()


def key_in_files(place: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A key in files that Dask's settings name, for this process in a block and for those that it starts."""
    import dask
    from distributed import Security

    made = Security.temporary()
    for name, content in (("cert", made.tls_client_cert), ("key", made.tls_client_key)):
        (place / f"{name}.pem").write_text(content)
    named = {"ca-file": "cert"}
    named |= {
        f"{role}.{name}": name for role in ("scheduler", "worker", "client") for name in ("cert", "key")
    }
    for path, name in named.items():
        variable = f"DASK_DISTRIBUTED__COMM__TLS__{path.upper().replace('.', '__').replace('-', '_')}"
        monkeypatch.setenv(variable, str(place / f"{name}.pem"))
    return dask.config.set(
        {f"distributed.comm.tls.{path}": str(place / f"{name}.pem") for path, name in named.items()}
    )


def test_a_scheduler_that_runs_already(
    file: Path, tmp_path: Path, here: dict[str, bytes], scheduler: str
) -> None:
    place = tmp_path / "there"
    for _ in range(20):  # it takes seconds to start
        done = command("run", file, "--out", place, "--on", scheduler)
        if done.exit_code == exits.OK:
            break
        time.sleep(1)
    assert done.exit_code == exits.OK, done.stderr
    assert content(place) == here
    if scheduler.startswith("tls"):
        assert refused(scheduler)


def refused(address: str) -> bool:
    """Whether a client with another key, and one without, is not answered."""
    import distributed

    where = address.partition("://")[2]
    for scheme, security in (("tls", distributed.Security.temporary()), ("tcp", distributed.Security())):
        with contextlib.suppress(OSError):
            settings = security.get_connection_args("client")
            asyncio.run(greeted(distributed.core.connect(f"{scheme}://{where}", timeout=3, **settings)))
            return False
    return True


async def greeted(connecting: Any) -> None:
    """Connect, as every client does first. Raises OSError if it is not answered."""
    (await connecting).abort()


def listening() -> list[tuple[str, int]]:
    """The addresses at which processes that this one started, and it, listen."""
    import psutil

    ours = [psutil.Process(), *psutil.Process().children(recursive=True)]
    found = [one.laddr for process in ours for one in process.net_connections() if one.status == "LISTEN"]
    return [(where.ip, where.port) for where in found]


def test_nobody_else_is_answered_by_a_cluster_that_we_start(tmp_path: Path) -> None:
    """Neither a client with another key nor one without; and no page is served anywhere."""
    with Folder(tmp_path / "s", take=True, make=True) as folder:
        before = listening()
        client, close = cluster.Cluster("local-cluster", 1)._connect(folder.store)
        try:
            client.wait_for_workers(1, timeout=60)
            opened = sorted({*listening()} - {*before})
            assert {ip for ip, _ in opened} == {"127.0.0.1"}
            assert 8787 not in {port for _, port in opened}
            answers = {port: pages(ip, port) for ip, port in opened}
            assert {answer for found in answers.values() for answer in found} == {404}
            protected = [port for port, found in answers.items() if not found]
            assert len(protected) >= 3, "the scheduler, a worker and what watches it"
            for port in protected:
                assert refused(f"tls://127.0.0.1:{port}"), port
        finally:
            close()


def pages(ip: str, port: int) -> list[int]:
    """The answers to a browser that asks for pages."""
    found = []
    for path in ("/", "/status", "/info/main/workers.html", "/json/counts.json", "/metrics"):
        asked = http.client.HTTPConnection(ip, port, timeout=5)
        with contextlib.suppress(OSError, http.client.HTTPException):
            asked.request("GET", path)
            found.append(asked.getresponse().status)
        asked.close()
    return found


def test_a_scheduler_that_is_not_there(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_S", 1.0)
    began = time.monotonic()
    done = command("run", file, "--out", tmp_path / "out", "--on", "dask://127.0.0.1:9")
    assert (done.exit_code, done.stderr.count("\n")) == (exits.MISTAKE, 1), done.stderr
    assert "no scheduler answered within 1 s" in done.stderr
    assert "is `dask scheduler` running there" in done.stderr
    assert time.monotonic() - began < 20
    for on, told in (
        ("slurm", "sbatch is not on this machine"),
        ("moon", "choose from local-cluster, slurm"),
        ("tls://127.0.0.1:9", "no certificate is set; name the files"),
    ):
        done = command("resume", tmp_path / "out", "--on", on)
        assert (done.exit_code, told in done.stderr) == (exits.MISTAKE, True)


def test_workers_of_another_version_or_without_the_disk(tmp_path: Path) -> None:
    with Folder(tmp_path / "s", take=True, make=True):
        cluster.check(str(tmp_path / "s"), cluster.program())
        with pytest.raises(StudyError, match="another version or build"):
            cluster.check(str(tmp_path / "s"), "another")
        with pytest.raises(StudyError, match="a disk that all machines share"):
            cluster.check(str(tmp_path / "elsewhere"), cluster.program())


def test_a_batch_system(
    file: Path, tmp_path: Path, here: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that starts every job at once, here: from a copy, as the script is gone when `sbatch` ends."""
    monkeypatch.setattr(cluster, "QUEUE_S", 120.0)
    (tmp_path / "bin").mkdir()
    for name, does in (("sbatch", f"sh {tmp_path}/job.sh >/dev/null 2>&1 & echo 7"), ("scancel", "exit 0")):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\ncp $1 {tmp_path}/job.sh; {does}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    place = tmp_path / "there"
    done = command("run", file, "--out", place, "--on", "slurm", "--jobs", 1, "--queue", "short")
    assert done.exit_code == exits.OK, done.stderr
    assert content(place) == here
    script = (tmp_path / "job.sh").read_text()
    for part in ("--tls-ca-file ", "--no-dashboard", "tls://"):
        assert part in script, script
    assert not [*(place / "jobs").glob(".dask*")], "the key is gone with the study"
    for part in ("#SBATCH -p short", "#SBATCH -t 01:00:00", "--lifetime 55m", "--lifetime-stagger"):
        assert part in script.replace("=", " "), script


class Killing:
    """A client whose worker dies of one point, whatever else it was given."""

    def __init__(self, deadly: int) -> None:
        self.deadly, self.cluster = deadly, None
        self.sent: list[list[int]] = []

    def submit(self, work: Any, *words: Any, **_: Any) -> Any:
        from distributed.scheduler import KilledWorker

        numbers = words[-1]
        self.sent.append(numbers)
        dies = self.deadly in numbers

        class Sent:
            status = "error" if dies else "finished"

            def exception(self) -> Exception:
                return KilledWorker("task", None, 0)

            def result(self) -> Any:
                return 1.0, [cluster.Done(number, "x") for number in numbers]

            def add_done_callback(self, call: Any) -> None:
                call(self)

        return Sent()


def test_only_the_point_that_died_alone_is_blamed(file: Path, tmp_path: Path) -> None:
    from fabriloom import load
    from fabriloom.studies.plan import Plan

    with Folder(tmp_path / "s", take=True, make=True) as folder:
        client: Any = Killing(3)
        team = cluster.DaskWorkers.__new__(cluster.DaskWorkers)
        team._client, team._futures, team._folder = client, set(), ""
        team._scenario, team._tried = ("", ""), []
        team._points = team._seconds = 0.0
        found = team.submit([1, 2, 3, 4]).result(timeout=5)
        assert Watch(1, None)
        assert len(Plan(load(file))) == 32
        assert folder.store.place is not None
    assert {done.number for done in found if not done.error} == {1, 2, 4}
    assert "died 3 times with nothing else on it" in next(done.error for done in found if done.error)
    assert client.sent == [[1, 2, 3, 4], [1], [2], [3], [3], [3], [4]]


def test_job_arrays_need_no_daemon(file: Path, tmp_path: Path, here: dict[str, bytes]) -> None:
    place = tmp_path / "there"
    done = command("run", file, "--out", place, "--emit", "slurm", "--jobs", 3)
    assert done.exit_code == exits.OK, done.stderr
    script = (place / "jobs" / "slurm.sh").read_text()
    assert "#SBATCH --array=0-2" in script
    assert f"study work {place.resolve()} --study Small --part" in script
    assert "`sbatch " in done.stdout
    for part in range(3):
        work_on(place, "Small", part, 3)
    assert content(place) == here
    finished = json.loads(command("status", place, "--json").stdout)["studies"][0]["finished"]
    assert finished == 32
    assert "Small: 32 of 32" in command("resume", place).stdout
    assert command("run", file, "--out", place, "--emit", "condor").exit_code == exits.OK
    assert "queue 10" in (place / "jobs" / "condor.sub").read_text()
    assert "choose slurm or condor" in command("run", file, "--out", place, "--emit", "pbs").stderr


def test_a_job_of_an_array_as_a_process(file: Path, tmp_path: Path) -> None:
    place = tmp_path / "there"
    command("run", file, "--out", place, "--emit", "slurm", "--jobs", 8)
    script = place / "jobs" / "slurm.sh"
    environment = {**os.environ, "SLURM_ARRAY_TASK_ID": "7"}
    done = subprocess.run(["sh", str(script)], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout == "Part 7 of 8: 4 points are finished, 0 cannot be run\n", done.stderr
    assert len(content(place)) == 4
