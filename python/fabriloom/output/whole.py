"""Write one file atomically: it appears complete, replacing an earlier one, or not at all."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

_PARTIAL = ".partial"
_BORN_S = 1.0
"""A younger file may be one whose writer is just about to lock it."""
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Files(Protocol):
    """A folder into which several files are written."""

    def file(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open a file of this name for writing, as a context manager."""
        ...


class Plain:
    """A folder for which the caller is responsible: existing files of the same name are replaced."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def file(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open a file in the folder, which is created if needed. Raises OSError."""
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return file(path)


def encoded(text: str) -> bytes:
    """Encode as UTF-8; a lone surrogate, which a JSON escape may contain, stays an escape."""
    return text.encode("utf-8", "backslashreplace")


@contextmanager
def file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that replaces ``path`` when the block ends without an error; until then ``path`` is
    unchanged.

    Devices and pipes are written directly. A symbolic link is refused: its target may be anything.
    Raises OSError.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, "it is a symbolic link; name the file itself", str(path))
    if stat.S_ISREG(mode):
        partial = path.with_name(f".{secrets.token_hex(8)}{_PARTIAL}")
        with replacing(partial, path) as out:
            yield out
    else:
        with path.open("wb") as out:
            yield out


@contextmanager
def replacing(partial: Path, path: Path) -> Iterator[BinaryIO]:
    """Open a new file ``partial``, which replaces ``path`` at the end and is removed on failure.

    It is locked as long as it is written, see :func:`sweep`.
    """
    try:
        descriptor = os.open(partial, NEW, 0o666)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None  # the name that the user knows
    try:
        with os.fdopen(descriptor, "wb") as out:
            with contextlib.suppress(OSError):  # some file systems have no locks
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield out
            out.flush()
            os.fsync(descriptor)  # some places tell only now that they are full
        partial.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise


def sweep(folder: Path) -> None:
    """Remove the files that killed processes left incomplete in a folder; those being written are locked."""
    for path in folder.glob(f".*{_PARTIAL}"):
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if abs(time.time() - os.fstat(descriptor).st_mtime) > _BORN_S:
                    path.unlink()
            finally:
                os.close(descriptor)


def remove(path: Path) -> None:
    """Remove a file that the program wrote, if it exists."""
    path.unlink(missing_ok=True)


def settle(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some file systems cannot
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
