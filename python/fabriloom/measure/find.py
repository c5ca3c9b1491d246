"""Find the installed MPI, the machines and the runner."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from .. import reading
from ..process import children
from ..reading import ReadError
from .plan import MeasureError

INSTALL = (
    "pip install 'fabriloom[measure]' brings one along, in this repository `make "
    "setup-measure`; an MPI of the "
    "machine itself is used if mpiexec is on the path"
)
_MOST_HOSTS = 1 << 20
_HOST = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:(?::|\s+slots\s*=\s*)(\d{1,6}))?")


@dataclass(frozen=True)
class Settings:
    """Settings of a measurement."""

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
    compiler_of_it = Path(found).parent / "mpicc"
    compiler_there = str(compiler_of_it) if compiler_of_it.is_file() else shutil.which("mpicc")
    return Mpi(found, compiler_there, False)


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
    texts = [
        resources.files("fabriloom.measure").joinpath(name).read_bytes() for name in ("runner.c", "runner.py")
    ]
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
                f'{path}:{number}: "{plain[:60]}" is not a host\n  = write a name and how many '
                "processes, such as "
                "node1:4"
            )
        found.append(Host(match[1], int(match[2] or 1)))
    if not found:
        raise MeasureError(
            f"--hosts {path}: it names no host\n  = write a name in each line, such as node1:4"
        )
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
