"""A simulated disk: what a command does to a folder is recorded once, and every state is made that the disk
may have after a crash.

Names and contents are apart, as on disks. A killed process leaves all that it did. After a power cut only
synced contents are whole; others are old, torn, empty or whole. Names are there in order up to some moment,
or single ones of those that no sync of their folder has settled are lost.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

HOOKED = ("open", "mkdir", "rmdir", "unlink", "remove", "rename", "replace", "fsync")
"""Calls at which the folder is looked at; what libraries write without Python is seen at the next one."""
_BLOCK = 512


@dataclass(frozen=True)
class Op:
    """One change: ``make``, ``gone``, ``rename`` of a name, ``write`` of a content, ``sync`` of either."""

    what: str
    path: str
    file: int = -1
    """Number of the file, -1 for a folder."""
    content: bytes = b""
    to: str = ""


@dataclass
class Recorder:
    """The names below a folder and the contents of its files, and the changes so far."""

    root: Path
    ops: list[Op] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)
    seen: dict[int, tuple[Any, bytes]] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def look(self) -> None:
        """Record what has changed since the last look."""
        there = {str(path.relative_to(self.root)): path for path in sorted(self.root.rglob("*"))}
        for name in sorted(self.names.keys() - there.keys(), reverse=True):
            self.ops.append(Op("gone", name, self.names.pop(name)))
        for name, path in there.items():
            number = self.names.get(name)
            if number is None:
                number = self.names[name] = -1 if path.is_dir() else next(self.numbers)
                self.ops.append(Op("make", name, number))
            if number >= 0:
                status = path.stat()
                stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
                if self.seen.get(number, (None,))[0] != stamp:
                    content = path.read_bytes()
                    if content != self.seen.get(number, (None, b""))[1]:
                        self.ops.append(Op("write", name, number, content))
                    self.seen[number] = (stamp, content)

    def renamed(self, path: str, to: str) -> None:
        moved = [name for name in self.names if name == path or name.startswith(f"{path}/")]
        self.ops.append(Op("rename", path, self.names[path], to=to))
        for name in moved:
            self.names[to + name.removeprefix(path)] = self.names.pop(name)

    def below(self, path: Any) -> str | None:
        """The name of a path or a descriptor, if it is below the folder."""
        place = os.readlink(f"/proc/self/fd/{path}") if isinstance(path, int) else os.path.abspath(path)
        name = os.path.relpath(place, self.root)
        return None if name.startswith("..") else name


@contextmanager
def recorded(
    root: Path, fails: Callable[[int, str], bool] = lambda number, name: False
) -> Iterator[Recorder]:
    """Record what is done below a folder; the call for which ``fails`` says so finds no room."""
    recorder, calls = Recorder(root), itertools.count()
    recorder.look()
    recorder.ops += [Op("sync", name, number) for name, number in recorder.names.items()]
    recorder.ops.append(Op("sync", "."))

    def hooked(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def inner(path: Any, *more: Any, **options: Any) -> Any:
            inside = recorder.below(path)
            if inside is None or (name == "open" and not more[0] & os.O_CREAT):
                return real(path, *more, **options)
            recorder.look()
            if fails(next(calls), name):
                raise OSError(28, "No space left on device", str(path))
            result = real(path, *more, **options)
            if name in ("rename", "replace"):
                recorder.renamed(inside, recorder.below(more[0]) or "")
            elif name == "fsync":
                recorder.ops.append(Op("sync", inside, recorder.names.get(inside, -1)))
            recorder.look()
            return result

        return inner

    with pytest.MonkeyPatch.context() as patch:
        for name in HOOKED:
            patch.setattr(os, name, hooked(name, getattr(os, name)))
        yield recorder
    recorder.look()


@dataclass
class Disk:
    """Names, and what is in the files."""

    names: dict[str, int] = field(default_factory=dict)
    contents: dict[int, bytes] = field(default_factory=dict)

    def name(self, op: Op) -> None:
        """Change a name, if what it needs is there: a name before it may be lost."""
        above = str(PurePosixPath(op.to or op.path).parent)
        if above != "." and above not in self.names:
            return
        if op.what == "make":
            self.names[op.path] = op.file
        elif op.what == "gone" and not any(name.startswith(f"{op.path}/") for name in self.names):
            self.names.pop(op.path, None)
        elif op.what == "rename" and op.path in self.names:
            for name in [one for one in self.names if one == op.path or one.startswith(f"{op.path}/")]:
                self.names[op.to + name.removeprefix(op.path)] = self.names.pop(name)

    def written(self, root: Path) -> None:
        """Make the folder look so."""
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        for name, number in sorted(self.names.items()):
            if number < 0:
                (root / name).mkdir()
            else:
                (root / name).write_bytes(self.contents.get(number, b""))


def torn(old: bytes, new: bytes, dice: random.Random) -> bytes:
    """A write that was not synced: cut, or with blocks of what was there before, or of zeros.

    What a write adds to a file takes nothing from it.
    """
    kept = len(old) if new.startswith(old) else 0
    if dice.random() < 0.5:
        return new[: dice.randint(kept, len(new))]
    blocks = range(0, len(new), _BLOCK)
    mixed = (dice.choice((new, old.ljust(len(new), b"\0")))[at : min(at + _BLOCK, len(new))] for at in blocks)
    return b"".join(mixed)


def killed(ops: list[Op], dice: random.Random) -> Disk:
    """The disk after the process was killed behind these operations, the last write perhaps cut short."""
    disk = Disk()
    for op in ops:
        old = disk.contents.get(op.file, b"")
        if op.what == "write":
            disk.contents[op.file] = torn(old, op.content, dice) if op is ops[-1] else op.content
        elif op.what != "sync":
            disk.name(op)
    return disk


def cut(ops: list[Op], dice: random.Random) -> Disk:
    """The disk after a power cut behind these operations."""
    disk, ordered = Disk(), dice.random() < 0.5
    last = max((at for at, op in enumerate(ops) if op.what == "sync"), default=0)
    until = dice.randint(last, len(ops))  # a journal keeps the order of names, and every sync writes it
    lost = dice.choice((0.1, 0.5, 1.0))
    synced: set[tuple[str, int]] = set()
    safe: set[int] = set()
    for at in range(len(ops) - 1, -1, -1):
        op = ops[at]
        if op.what == "sync":
            synced.add((op.path, op.file) if op.file < 0 else ("", op.file))
        elif op.what == "write":
            safe |= {at} if ("", op.file) in synced else set()
        else:
            folders = {(str(PurePosixPath(one).parent), -1) for one in (op.path, op.to or op.path)}
            if folders <= synced or (op.what == "make" and op.file >= 0 and ("", op.file) in synced):
                safe.add(at)
    for at, op in enumerate(ops):
        if op.what == "write":
            old = disk.contents.get(op.file, b"")
            may = (op.content,) if at in safe else (op.content, old, torn(old, op.content, dice))
            disk.contents[op.file] = dice.choice(may)
        elif op.what != "sync" and (at in safe or (at < until if ordered else dice.random() > lost)):
            disk.name(op)
    return disk
