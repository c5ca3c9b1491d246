"""After a crash at any operation on the disk, or a kill, the same command gives the same bytes."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
import soaked
from commands import command
from fabriloom import simulate
from fabriloom.cli import exits
from fabriloom.cli.app import app
from fabriloom.output import manifest, whole

from . import disk

SCENARIO = """
name = "Small"
[topology]
kind = "crossbar"
terminals = 4
[traffic]
load = 0.2
[run]
duration = "20 us"
warmup = "10 us"
precision = 0.0
"""
STUDY = SCENARIO + '[sweep]\n"traffic.load" = [0.1, 0.2, 0.3]\n'
SEARCH = (
    SCENARIO
    + """
[study.search]
maximise = "accepted_mbytes_per_s"
trials = 4
batch = 2
[study.search.over]
"traffic.load" = { from = 0.1, to = 0.9 }
"""
)
NEEDS = """
[require]
terminals = 4
[traffic]
rate = "4 MB/s"
length = "64 B"
[cost]
switch = 100
cable = 5
[run]
duration = "1 ms"
warmup = "100 us"
precision = 0.0
[families]
crossbar = {}
"""
PROGRAM = """
[topology]
kind = "crossbar"
terminals = 2
[program]
kind = "ping-pong"
size = "8 B"
rounds = 3
[sweep]
"program.size" = ["1 B", "64 B", "1 kB"]
"""
FILES = {
    "program.toml": PROGRAM,
    "one.toml": SCENARIO,
    "study.toml": STUDY,
    "fewer.toml": STUDY.replace("[0.1, 0.2, 0.3]", "[0.1]"),
    "search.toml": SEARCH,
    "needs.toml": NEEDS,
}
LEFT = ("index.sqlite", "index.sqlite-journal", ".lock", "reports")
"""What is derived from the rest."""

LIST = f"out/{manifest.NAME}"
NO_ROOM_NEEDED = ("unlink", "remove", "rmdir")


@dataclass(frozen=True)
class Case:
    """A command, what was done before it, and what shows what is in its folder."""

    words: str
    before: tuple[str, ...] = ()
    timed: bool = False
    """Whether it takes times of this machine, which never repeat: only names are compared."""


CASES = {
    "run": Case("run one.toml --out out"),
    "again": Case("run one.toml --out out --force", ("run one.toml --out out --seed 2",)),
    "curve": Case("curve one.toml --loads 0.1,0.2 --jobs 1 --out out"),
    "study": Case("study run study.toml --jobs 1 --out out"),
    "search": Case("study run search.toml --jobs 1 --out out"),
    "pack": Case("study pack out", ("study run study.toml --jobs 1 --out out",)),
    "design": Case("design needs.toml --jobs 1 --out out"),
    "seeds": Case("run one.toml --seeds 3 --jobs 1 --out out"),
    "saturate": Case("saturate one.toml --jobs 1 --out out"),
    "clean": Case(
        "study clean out",
        (
            "study run study.toml --jobs 1 --out out",
            "study pack out",
            "study run fewer.toml --jobs 1 --out out",
        ),
    ),
}

KILLED = {
    **{name: Case(case.words.replace("--jobs 1", "--jobs 2"), case.before) for name, case in CASES.items()},
    "compare": Case("compare one.toml fewer.toml --loads 0.1,0.3 --out out"),
    "reproduce": Case("reproduce sci-retry --quick --out out"),
    "measure": Case(
        "measure program.toml --oversubscribe --rounds 1 --warm-ups 0 --out out --force", timed=True
    ),
}


def tree(root: Path, timed: bool = False) -> dict[str, bytes]:
    """All that counts."""
    return {
        str(path.relative_to(root)): b"" if timed else path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not set(path.relative_to(root).parts) & set(LEFT)
    }


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder of all commands. What takes time takes a second, and the clock of files jumps."""
    steps, dice = itertools.count(), random.Random(1)
    monkeypatch.setattr(simulate, "time", SimpleNamespace(perf_counter=lambda: float(next(steps))))
    jumps = lambda: time.time() + dice.choice((-1e8, -3600, 3600, 1e9))  # noqa: E731
    monkeypatch.setattr(whole, "time", SimpleNamespace(time=jumps))
    (tmp_path / "root").mkdir()
    monkeypatch.chdir(tmp_path / "root")
    return tmp_path / "root"


def begun(root: Path, case: Case) -> None:
    """Make the folder as it is before the command."""
    disk.Disk().written(root)
    os.chdir(root)
    for name, text in FILES.items():
        (root / name).write_text(text, encoding="utf-8")
    for words in case.before:
        assert command(*words.split()).exit_code != exits.MISTAKE


def check(
    root: Path, case: Case, code: int, expected: dict[str, bytes], context: str, warned: bool = False
) -> None:
    """The command ends the work, or says that it is done; then everything is as without a crash."""
    os.chdir(root)
    done = command(*case.words.split())
    said = f"{context}: {done.output[-600:]}"
    assert "fault" not in done.output, said
    assert done.exit_code == code or "holds an earlier result" in done.output, said
    found = tree(root, case.timed)
    lost = expected.keys() - found.keys()
    if warned:  # of points that could not be kept, which the finished result does not need
        assert all(name.startswith("out/points/") for name in lost), said
        expected = {name: content for name, content in expected.items() if name not in (*lost, LIST)}
        found.pop(LIST)
    assert sorted(found) == sorted(expected), said
    assert not [name for name in found if found[name] != expected[name]], said


def full(root: Path, case: Case, number: int, dice: random.Random) -> bool:
    """Run the command with no room for one call on the disk, or for all from there on.

    Returns whether it has said that points are not kept.
    """
    once = dice.random() < 0.5
    fails = lambda at, name: name not in NO_ROOM_NEEDED and (at == number if once else at >= number)  # noqa: E731
    os.chdir(root)
    with disk.recorded(root, fails):
        done = command(*case.words.split())
    assert done.exit_code != exits.FAULT, done.output
    return "no longer kept" in done.output


def crashed(root: Path, case: Case, seeds: Iterator[int]) -> int:
    """Try moments and states in which a crash leaves the disk; returns how many."""
    begun(root, case)
    with disk.recorded(root) as recorder:
        code = command(*case.words.split()).exit_code
    expected, ops = tree(root), recorder.ops
    assert code != exits.MISTAKE
    first = ops.index(disk.Op("sync", ".")) + 1
    count = 0
    for seed in seeds:
        dice, warned = random.Random(f"{case.words} {seed}"), False
        at, kind = dice.randint(first, len(ops)), dice.choice((disk.killed, disk.cut, full))
        if kind is full:
            disk.killed(ops[:first], dice).written(root)
            warned = full(root, case, at - first, dice)
        else:
            kind(ops[:at], dice).written(root)
        context = f"{case.words}, seed {seed}: {kind.__name__} at {at} of {len(ops)}"
        check(root, case, code, expected, context, warned)
        count += 1
    return count


@pytest.mark.seeds
@pytest.mark.parametrize("name", CASES)
def test_after_a_crash_the_same_command_gives_the_same_bytes(
    root: Path, name: str, seeds: Callable[[int], Iterator[int]]
) -> None:
    print(f"{name}: {crashed(root, CASES[name], seeds(8))} crashes")


SECONDS = float(os.environ.get("FABRILOOM_SOAK_SECONDS", "30"))
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        *(f"fabriloom.{room}" for room in ("cli.app", "design", "measure", "report", "simulate", "studies")),
        *(
            "fabriloom_papers.evidence",
            "fabriloom_papers.sci_retry.delays",
            "fabriloom_papers.sci_retry.parts",
        ),
        *(__name__, "jinja2", "optuna", "polars", "rich.table", "starlette.requests"),
    ]
)
"""Kills come within the work: the process that forks has imported what takes longest."""


def ended(words: str, root: Path) -> None:
    """Run a command, as the fixture ``root`` has it."""
    steps, said = itertools.count(), os.open(root.with_name("said"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    simulate.time = SimpleNamespace(perf_counter=lambda: float(next(steps)))  # type: ignore[assignment]
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.chdir(root)
    tempfile.tempdir = str(root.parent)  # where what is killed leaves what it has compiled
    app(words.split())


def killed(words: str, root: Path, after_s: float) -> bool:
    """Run a command in a process of its own, and kill it after so long; false if it has ended before."""
    process = FORKS.Process(target=ended, args=(words, root))
    process.start()
    process.join(after_s)
    process.kill()
    process.join()
    assert process.exitcode != exits.FAULT, root.with_name("said").read_text(encoding="utf-8")
    return process.exitcode == -signal.SIGKILL


def assert_whole(out: Path) -> None:
    """Of a finished result everything is there that its list names, and nothing else."""
    told = manifest.read(out)
    if told is not None and told.finished:
        content = manifest.content(out)
        assert not content.foreign
        assert set(content.checksums) == set(told.listed)


@pytest.mark.soak
@pytest.mark.parametrize("name", KILLED)
def test_killed_at_any_moment_the_same_command_gives_the_same_bytes(root: Path, name: str) -> None:
    """A command is killed some times, then it ends the work."""
    case, dice, kills = KILLED[name], random.Random(), 0
    begun(root, case)
    kept = shutil.copytree(root, root.with_name("kept"))
    killed(case.words, root, 0.0)  # so that the process which forks has imported everything
    began = time.monotonic()
    assert not killed(case.words, root, 600.0)
    took_s, expected = time.monotonic() - began, tree(root, case.timed)
    until = time.monotonic() + SECONDS / len(KILLED)
    while time.monotonic() < until:
        os.chdir(kept)
        shutil.rmtree(root)
        shutil.copytree(kept, root)
        for _ in range(dice.randint(1, 4)):
            kills += killed(case.words, root, dice.uniform(0.0, 1.1) * took_s)
            assert_whole(root / "out")
        check(root, case, exits.OK, expected, f"{name}, after {kills} kills")
        assert_whole(root / "out")
    soaked.tried("kills", kills)
    print(f"{name}: {kills} kills")
