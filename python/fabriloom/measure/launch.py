"""Start, watch and end the processes of a measurement."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .. import output
from .find import Host, Mpi, Settings
from .plan import MeasureError, Plan
from .records import Rounds

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
    """Return the whole command."""
    options: list[str] = []
    open_mpi = not found.bundled and "Open MPI" in _version(found.mpiexec)
    if hosts:
        lines = [
            f"{host.name} slots={host.slots}" if open_mpi else f"{host.name}:{host.slots}" for host in hosts
        ]

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
    try:
        process = subprocess.Popen(
            parts,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
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
            f"no progress for {rounds.plan.head['patience_s']} s: {shown}\n  = a "
            "program that waits for ever, "
            "or give it longer with --patience"
        )
    if wrong == "start":
        raise MeasureError(
            f"the processes did not answer in time; {_named(process)} said: {said.others}\n  = "
            "check that `ssh HOST "
            "true` works without a password for each host of --hosts and that Fabriloom is installed there"
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
