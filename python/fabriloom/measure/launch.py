"""Start, watch and end the processes of a measurement."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from .. import output, reading
from ..process import children
from ..reading import ReadError
from .plan import MeasureError, Plan
from .records import Rounds

INSTALL = (
    "pip install 'fabriloom[measure]' brings one along, in this repository `make setup-measure`; an MPI of "
    "the machine itself is used if mpiexec is on the path"
)
_MOST_HOSTS = 1 << 20
_HOST = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:(?::|\s+slots\s*=\s*)(\d{1,6}))?")


@dataclass(frozen=True)
class Settings:
    ranks: int | None = None
    """Number of processes; None: one per terminal that takes part."""
    hosts: Path | None = None
    """A file with one machine per line, ``name:processes``."""
    runner: str = "auto"
    """``c``, ``python``, or ``auto``: C if it can be compiled."""
    warm_ups: int = 2
    rounds: int = 5
    oversubscribe: bool = False
    """Whether to allow more processes than cores; the result is then not a measurement."""
    patience_s: int = 60
    """Time without progress after which the measurement is ended."""
    start_s: int = 60
    """Time within which all hosts have to answer."""


@dataclass(frozen=True)
class Host:
    """A machine and the number of its processes."""

    name: str
    slots: int


@dataclass(frozen=True)
class Mpi:
    """An MPI: its launcher, and its compiler if it has one."""

    mpiexec: str
    mpicc: str | None
    bundled: bool
    """Whether this is the MPI from the package registry, installed beside this Python."""


def mpi() -> Mpi:
    """Return the MPI installed beside this Python, or else the user's own. Raises :class:`MeasureError`."""
    beside = Path(sys.executable).parent
    own = [name for name in ("mpiexec.hydra", "mpiexec", "mpirun") if (beside / name).is_file()]
    if own:
        compiler = beside / "mpicc"
        return Mpi(str(beside / own[0]), str(compiler) if compiler.is_file() else None, True)
    found = shutil.which("mpiexec") or shutil.which("mpirun")
    if found is None:
        raise MeasureError(f"there is no MPI on this machine\n  = {INSTALL}")
    compiler = Path(found).parent / "mpicc"
    return Mpi(found, str(compiler) if compiler.is_file() else shutil.which("mpicc"), False)


def runner_of(wanted: str, found: Mpi, folder: Path) -> tuple[str, list[str]]:
    """Return ``c`` or ``python``, and the command of a process. Raises :class:`MeasureError`."""
    if wanted != "python" and found.mpicc is not None:
        program, why = compiled(found.mpicc, folder)
        if program is not None:
            return "c", [str(program)]
        if wanted == "c":
            raise MeasureError(f"the runner in C cannot be compiled by {found.mpicc}: {why}")
    elif wanted == "c":
        raise MeasureError("the runner in C needs mpicc, which this MPI has not\n  = leave --runner out")
    if importlib.util.find_spec("mpi4py") is None:
        raise MeasureError(f"the runner in Python needs mpi4py, which is not installed\n  = {INSTALL}")
    return "python", children.command("fabriloom.measure.runner")


def version() -> int:
    """Return a number for the version of the runners' sources; all processes must have the same."""
    room = resources.files("fabriloom.measure")
    texts = [room.joinpath(name).read_bytes() for name in ("runner.c", "runner.py")]
    return int.from_bytes(hashlib.sha256(b"".join(texts)).digest()[:7], "big")


def compiled(mpicc: str, folder: Path) -> tuple[Path | None, str]:
    """Compile the runner in C into a folder. Returns its path, or None with the compiler's message."""
    program = folder / f"fabriloom-runner-{version():x}"
    source = resources.files("fabriloom.measure").joinpath("runner.c")
    with resources.as_file(source) as path:
        command = [mpicc, "-O2", f"-DVERSION={version()}LL", "-o", str(program), str(path), "-lpthread"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return None, str(error)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[0] if done.stderr.strip() else "no reason was given"
    return program, ""


def hosts_in(path: Path) -> list[Host]:
    """Return the machines of a file: per line a name, ``:4`` or ``slots=4``. Raises :class:`MeasureError`."""
    try:
        text = reading.text_of(reading.content(path, _MOST_HOSTS, "1 MB", "name a list of hosts"), str(path))
    except ReadError as error:
        raise MeasureError(f"--hosts {path}: {error}\n  = {error.hint}") from error
    found: list[Host] = []
    for number, line in enumerate(text.splitlines(), 1):
        plain = line.partition("#")[0].strip()
        if not plain:
            continue
        match = _HOST.fullmatch(plain)
        if match is None or match[2] == "0":
            raise MeasureError(
                f'{path}:{number}: "{plain[:60]}" is not a host\n  = write a name and how many processes, '
                "such as node1:4"
            )
        found.append(Host(match[1], int(match[2] or 1)))
    if not found:
        message = f"--hosts {path}: it names no host\n  = write a name in each line, such as node1:4"
        raise MeasureError(message)
    return found


def check_hosts(hosts: list[Host]) -> None:
    """Refuse names that cannot be resolved. Raises :class:`MeasureError`."""
    for host in hosts:
        try:
            socket.getaddrinfo(host.name, None)
        except OSError as error:
            raise MeasureError(
                f'the host "{host.name}" is not known: {error.strerror or error}\n  = check its name; '
                f"`ssh {host.name} true` has to work without a password"
            ) from error


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


_POLL_S = 0.05
_CHUNK = 1 << 16


@dataclass
class Said:
    """What the processes wrote to standard error."""

    lines: list[str] = field(default_factory=list)

    def of(self, word: str) -> list[str]:
        """Return the texts after one of the runners' key words."""
        return [line.split(" ", 1)[1] for line in self.lines if line.startswith(f"FABRILOOM-{word} ")]

    @property
    def others(self) -> str:
        """Return the first line that did not come from a runner."""
        theirs = [line for line in self.lines if line.strip() and not line.startswith("FABRILOOM-")]
        return theirs[0][:200] if theirs else "nothing was said"


def command(
    found: Mpi, ranks: int, runner: list[str], hosts: list[Host], folder: Path, crowded: bool
) -> list[str]:
    options: list[str] = []
    open_mpi = not found.bundled and "Open MPI" in _version(found.mpiexec)
    if hosts:
        between = " slots=" if open_mpi else ":"
        lines = [f"{host.name}{between}{host.slots}" for host in hosts]
        with output.file(folder / "hosts") as out:
            out.write(output.encoded("\n".join(lines) + "\n"))
        options += ["--hostfile" if open_mpi else "-f", str(folder / "hosts")]
    if open_mpi and crowded:
        options.append("--oversubscribe")
    return [found.mpiexec, "-n", str(ranks), *options, *runner]


def _version(mpiexec: str) -> str:
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run(
            [mpiexec, "--version"], capture_output=True, text=True, timeout=20, check=False
        ).stdout
    return ""


def run(
    parts: list[str], plan: Plan, settings: Settings, names: list[str], advance: Callable[[int], None]
) -> tuple[Rounds, str]:
    """Run all rounds of a plan. Returns them with a word for what went wrong: empty, or ``interrupted``.

    Args:
        parts: the command.
        plan: what to do.
        settings: how long to wait.
        names: per process, the terminal that it represents.
        advance: called from time to time with the number of finished rounds.

    Raises:
        MeasureError: the processes failed before a round was finished; the message gives the reason.
    """
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(parts, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
    except OSError as error:
        raise MeasureError(f"{parts[0]} cannot be started: {error.strerror or error}") from error
    rounds, said = Rounds(plan), Said()
    threads = [
        threading.Thread(target=work, args=(process, what), daemon=True)
        for work, what in ((_feed, plan.to_bytes()), (_hear, said), (_take, rounds))
    ]
    wrong = ""
    try:
        for thread in threads:
            thread.start()
        wrong = _watch(process, rounds, settings, advance)
    except KeyboardInterrupt:
        wrong = "interrupted"
    finally:
        _end(process)
        for thread in filter(threading.Thread.is_alive, threads):
            thread.join(5)
    return rounds, wrong if wrong == "interrupted" else _judge(process, rounds, said, wrong, names)


def _watch(
    process: subprocess.Popen[bytes], rounds: Rounds, settings: Settings, advance: Callable[[int], None]
) -> str:
    """Wait for the end; report what takes too long."""
    begin = time.monotonic()
    while process.poll() is None:
        time.sleep(_POLL_S)
        advance(rounds.finished)
        if not rounds.begun and time.monotonic() - begin > settings.start_s:
            return "start"
    return ""


def _judge(process: subprocess.Popen[bytes], rounds: Rounds, said: Said, wrong: str, names: list[str]) -> str:
    """Raise the error of the processes, unless at least one round is finished."""
    if process.returncode == 0 and rounds.complete:
        return ""
    if rounds.finished:
        return "interrupted"
    if refused := said.of("REFUSED"):
        where = "".join(f": that of process {told}" for told in said.of("VERSIONS")[:1])
        hint = "\n  = install the same Fabriloom on all hosts" if where else ""
        raise MeasureError(f"{refused[0]}{where}{hint}")
    if waits := said.of("WAITS"):
        told = [_waits(text, names, rounds.plan) for text in sorted(waits)]
        shown = "; ".join(([one for one in told if "operation" in one] or told)[:4])
        raise MeasureError(
            f"no progress for {rounds.plan.head['patience_s']} s: {shown}\n  = a program that waits for "
            "ever, or give it longer with --patience"
        )
    if wrong == "start":
        raise MeasureError(
            f"the processes did not answer in time; {_named(process)} said: {said.others}\n  = check that "
            "`ssh HOST true` works without a password for each host of --hosts and that Fabriloom is "
            "installed there"
        )
    code = process.returncode
    raise MeasureError(
        f"{_named(process)} ended with {code} before anything was measured; it said: {said.others}\n"
        "  = see what it said; with --hosts, `ssh HOST true` has to work without a password"
    )


def _named(process: subprocess.Popen[bytes]) -> str:
    return Path(str(process.args[0])).name  # type: ignore[index]


def _waits(text: str, names: list[str], plan: Plan) -> str:
    """Return which process waits for what, from ``rank row``."""
    match = re.fullmatch(r"(\d+) (\d+)", text)
    if match is None or int(match[1]) >= len(names):
        return "somebody waits"
    rank, row = int(match[1]), int(match[2])
    rows = int(plan.start[rank + 1] - plan.start[rank])
    what = f"waits in its operation {row + 1}" if row < rows else "waits for the others to end"
    return f"{names[rank]} {what}"


def _feed(process: subprocess.Popen[bytes], content: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.write(content)
        process.stdin.close()


def _hear(process: subprocess.Popen[bytes], said: Said) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if len(said.lines) < 10_000:
            said.lines.append(line.decode("utf-8", "replace").rstrip("\r\n"))


def _take(process: subprocess.Popen[bytes], rounds: Rounds) -> None:
    assert process.stdout is not None
    while content := os.read(process.stdout.fileno(), _CHUNK):
        rounds.feed(content)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the launcher and with it all processes."""
    if process.poll() is not None:
        return
    for number, patience_s in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 3.0)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            process.wait(patience_s)
            return
        except subprocess.TimeoutExpired:
            continue
