"""Run points on a cluster with Dask; requires the extra ``fabriloom[cluster]``.

A worker stores its points in the study folder, which all machines share, and returns only their hashes. So
no result is lost with a worker, and the scheduler holds none.

Who can talk to a scheduler can run programs as its user. So every connection of a cluster that is started
here is encrypted, and only who holds the key of this study, made when it starts, is answered.
"""

from __future__ import annotations

import json
import shutil
import socket
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ..scenario import Scenario
from .asked import MARK, StudyError
from .folder import store_at
from .plan import Plan
from .points import Watch
from .run import Done, one
from .store import Store, program

Client = Any
"""A Dask client; Dask need not be installed."""
KINDS = ("local-cluster", "slurm", "htcondor")
CONNECT_S = 10.0
QUEUE_S = 3600.0
"""Longest time that the first job may wait in the queue of a batch system."""
DEATHS = 3
"""Number of dead workers, with the point alone on them, after which the point is blamed."""
TASK_S, LOCAL_TASK_S = 60.0, 1.0
"""Target length of a task, once the time per point is known."""
_NO_PAGE = "127.0.0.1:0"
"""Dask cannot be kept from opening a port for its pages: this one, where nothing is served."""
_OURS = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.worker-saturation": 1.0,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.deploy.lost-worker-timeout": "600 s",
}
"""Settings of schedulers that we start. Dask blames every task of a dead worker; instead we submit the points
again one by one and count deaths ourselves. Workers get no task in advance. A dead one starts again, however
long a busy machine takes for it; after 15 s it would be given up."""
_PLAIN, _TLS = "dask://", "tls://"


@dataclass(frozen=True)
class Cluster:
    """The machines that run a study."""

    on: str
    """``local-cluster``, ``slurm``, ``htcondor``, ``tls://address`` or ``dask://address``."""
    jobs: int
    """Number of workers; a running scheduler has its own number."""
    walltime_min: int = 60
    """Time limit of a batch job; its worker ends five minutes earlier."""
    queue: str = ""
    """Queue or partition of the batch system, if it needs one."""
    memory: str = "2 GB"

    def workers(self, plan: Plan, store: Store, watch: Watch) -> DaskWorkers:
        """Connect and check that all workers have this version. Raises StudyError."""
        client, close = self._connect(store)
        try:
            return DaskWorkers(client, close, plan, store, 0 if self._is_theirs else self.jobs)
        except BaseException:
            close()
            raise

    @property
    def _is_theirs(self) -> bool:
        return self.on.startswith((_PLAIN, _TLS))

    def _connect(self, store: Store) -> tuple[Client, Callable[[], None]]:
        try:
            distributed = import_module("distributed")
        except ImportError:
            message = f"--on {self.on}: Dask is not installed; `make setup-cluster` installs it, or"
            raise StudyError(f"{message} `pip install fabriloom[cluster]`") from None
        if self._is_theirs:
            return _to_scheduler(self.on)
        with ExitStack() as opening:
            opening.enter_context(import_module("dask").config.set(_OURS))
            cluster = self._started(store)
            opening.callback(_remove_key, cluster)
            opening.enter_context(closing(cluster))
            client = opening.enter_context(closing(distributed.Client(cluster, set_as_default=False)))
            return client, opening.pop_all().close

    def _started(self, store: Store) -> Any:
        """Start a scheduler in this process and a fixed number of workers."""
        if self.on == "local-cluster":
            workers = {"n_workers": self.jobs, "threads_per_worker": 1, "processes": True}
            scheduler = {"dashboard": False, "dashboard_address": _NO_PAGE}
            start = import_module("distributed").LocalCluster
            return start(**workers, security=_temporary(), scheduler_kwargs=scheduler, silence_logs=40)
        if self.on not in KINDS:
            raise StudyError(f"--on {self.on}: choose from {', '.join(KINDS)} and tls://ADDRESS:PORT")
        needed = {"slurm": "sbatch", "htcondor": "condor_submit"}[self.on]
        if shutil.which(needed) is None:
            message = f"--on {self.on}: the command {needed} is not on this machine"
            raise StudyError(
                f"{message}; log in where jobs are submitted, or use --emit {self.on.removeprefix('ht')}"
            )
        assert store.place is not None
        return self._batch(store.place / "jobs")

    def _batch(self, jobs: Path) -> Any:
        """Submit the jobs; they read the key from files in a folder that only this user may read."""
        dask_jobqueue: Any = import_module("dask_jobqueue")
        jobs.mkdir(exist_ok=True)
        life = [f"--lifetime={max(1, self.walltime_min - 5)}m", "--lifetime-stagger=2m"]
        common = {
            "security": _temporary(),
            "shared_temp_directory": str(jobs),
            "scheduler_options": {"dashboard": False, "dashboard_address": _NO_PAGE},
            "job_script_prologue": ["export DASK_DISTRIBUTED__WORKER__HTTP__ROUTES=[]"],
            "cores": 1,
            "processes": 1,
            "memory": self.memory,
            "worker_extra_args": [*life, "--no-dashboard", f"--dashboard-address={_NO_PAGE}"],
            "death_timeout": 120,
        }
        if self.on == "slurm":
            options = {"walltime": f"{self.walltime_min // 60:02}:{self.walltime_min % 60:02}:00"}
            options |= {"queue": self.queue} if self.queue else {}
            cluster = dask_jobqueue.SLURMCluster(**common, **options)
        else:
            extra = {"+MaxRuntime": str(60 * self.walltime_min)}
            cluster = dask_jobqueue.HTCondorCluster(**common, disk="1 GB", job_extra_directives=extra)
        cluster.scale(jobs=self.jobs)  # a fixed number: adapting starts and ends jobs in a loop
        return cluster


def _remove_key(cluster: Any) -> None:
    """Remove the files of the key, which otherwise live as long as the object."""
    for name in ("ca_file", "cert", "key"):
        if (kept := getattr(cluster, f"_job_{name}", None)) is not None:
            kept.close()


def _temporary() -> Any:
    """Return a key that exists as long as this process. Raises StudyError."""
    try:
        return import_module("distributed").Security.temporary()
    except ImportError:
        message = "the package cryptography, without which connections cannot be protected, is not installed"
        raise StudyError(f"{message}; `make setup-cluster` or `pip install fabriloom[cluster]`") from None


def _to_scheduler(on: str) -> tuple[Client, Callable[[], None]]:
    distributed = import_module("distributed")
    address = on.partition("://")[2]
    security, scheme = None, "tcp://"
    if on.startswith(_TLS):
        security, scheme = distributed.Security(require_encryption=True), _TLS
        if not (security.tls_ca_file and security.tls_client_cert):
            names = "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, …__TLS__CLIENT__CERT and …__TLS__CLIENT__KEY"
            message = f"--on {on}: no certificate is set; name the files that the scheduler trusts in {names}"
            raise StudyError(f"{message}, or in Dask's configuration; see docs/guides/cluster.md")
    elif address.rpartition(":")[0] not in ("127.0.0.1", "localhost", "[::1]"):
        message = f"--on {on}: who reaches this scheduler can run programs as you, here and there"
        warnings.warn(f"{message}; use tls://, see docs/guides/cluster.md", stacklevel=2)
    try:
        at = f"{scheme}{address}"
        client = distributed.Client(at, timeout=CONNECT_S, set_as_default=False, security=security)
    except (OSError, ValueError) as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        message = f"--on {on}: no scheduler answered within {CONNECT_S:g} s ({why[:100]})"
        what = "is `dask scheduler` running there, is this its address and port, and is no firewall between?"
        raise StudyError(f"{message}; check: {what}") from None
    return client, client.close


class DaskWorkers:
    """The workers of a cluster. A point is blamed only after three workers died with it alone on them."""

    def __init__(
        self, client: Client, close: Callable[[], None], plan: Plan, store: Store, jobs: int
    ) -> None:
        self._client, self._end = client, close
        self._folder = str(store.place)
        base = plan.scenario
        self._scenario = (json.dumps(base.raw), str(base.base_dir.resolve()))
        self._tried = plan.tried
        self._check_workers()
        self.places = jobs or sum(client.nthreads().values())
        self._task_s = TASK_S if client.cluster is None or self._batched else LOCAL_TASK_S
        self._points = self._seconds = 0.0
        self._futures: set[Any] = set()

    @property
    def _batched(self) -> bool:
        return type(self._client.cluster).__name__ != "LocalCluster"

    @property
    def chunk(self) -> int:
        """Points per task, from the time that earlier points took."""
        return max(1, int(self._task_s * self._points / self._seconds)) if self._seconds else 1

    def _check_workers(self) -> None:
        """Raise StudyError if no worker starts, or one has another version or does not see the folder."""
        wait_s = QUEUE_S if self._client.cluster is not None and self._batched else CONNECT_S
        try:
            self._client.wait_for_workers(1, timeout=wait_s)
        except TimeoutError:
            message = f"no worker came within {wait_s:g} s; look into the queue of the batch system, or start"
            raise StudyError(f"{message} `dask worker ADDRESS:PORT` on each machine") from None
        try:
            self._client.run(check, self._folder, program())
        except StudyError:
            raise
        except Exception as error:
            message = f"a worker cannot use this version of fabriloom ({type(error).__name__}: {error})"
            raise StudyError(f"{message}; install the same on all machines") from None

    def submit(self, numbers: list[int]) -> Future[list[Done]]:
        """Submit points; those whose worker dies are submitted again one by one."""
        result: Future[list[Done]] = Future()
        self._hand_out([(number, -1) for number in numbers], [], result)
        return result

    def _hand_out(self, left: list[tuple[int, int]], done: list[Done], result: Future[Any]) -> None:
        """Submit points, each with the number of workers that died while they ran it alone.

        -1: the point does not have to run alone.
        """
        alone = any(deaths >= 0 for _, deaths in left)
        now, later = (left[:1], left[1:]) if alone else (left, [])
        numbers = [number for number, _ in now]
        plan = (*self._scenario, json.dumps(self._tried))
        sent = self._client.submit(work, self._folder, program(), *plan, numbers, pure=False)
        self._futures.add(sent)
        sent.add_done_callback(lambda ended: self._ended(ended, now, later, done, result))

    def _ended(
        self,
        ended: Any,
        now: list[tuple[int, int]],
        later: list[tuple[int, int]],
        done: list[Done],
        result: Future[Any],
    ) -> None:
        killed = import_module("distributed.scheduler").KilledWorker
        self._futures.discard(ended)
        if ended.status == "finished":
            seconds, found = ended.result()
            self._points, self._seconds = self._points + len(found), self._seconds + seconds
            done = done + found
        elif ended.status == "cancelled":
            result.cancel()
            return
        elif ended.status != "error":
            # The worker died with what it had found. It has stored the points: another one only reads them.
            later = now + later
        elif not isinstance(error := ended.exception(), killed):
            result.set_exception(error)
            return
        elif len(now) == 1 and now[0][1] + 1 >= DEATHS:
            why = f"its worker died {DEATHS} times with nothing else on it; perhaps it needs more memory"
            done = [*done, Done(now[0][0], error=why)]
        else:
            later = [(number, deaths + 1) for number, deaths in now] + later
        if later:
            self._hand_out(later, done, result)
        else:
            result.set_result(done)

    def close(self) -> None:
        """Abandon the submitted work; running tasks still store their points."""
        for sent in list(self._futures):
            sent.cancel()
        self._end()


def check(folder: str, expected: str) -> None:
    """Raise StudyError if a worker has another program version or does not see the study folder."""
    if program() != expected:
        message = f"the worker on {socket.gethostname()} has another version or build of fabriloom"
        raise StudyError(f"{message}; install the same on all machines, or points would differ")
    if not (Path(folder) / MARK).is_file():
        message = f"the worker on {socket.gethostname()} does not see {folder}"
        raise StudyError(f"{message}; a study folder has to be on a disk that all machines share")


@lru_cache(maxsize=4)
def _opened(folder: str, written: str, base: str, tried: str) -> tuple[Plan, Store]:
    return Plan(Scenario.from_dict(json.loads(written), base), json.loads(tried)), store_at(Path(folder))


def work(
    folder: str, expected: str, written: str, base: str, tried: str, numbers: list[int]
) -> tuple[float, list[Done]]:
    """Run points on a worker and store each before the next; returns the elapsed time. ``tried``: of a
    search, the settings of its trials so far, as JSON.
    """
    began = time.monotonic()
    check(folder, expected)
    plan, store = _opened(folder, written, base, tried)
    done = [one(plan, number, store, lambda _: None) for number in numbers]
    return time.monotonic() - began, done
