"""Write one file atomically: it appears complete, replacing an earlier one, or not at all."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
import time
import warnings
from collections.abc import Iterable, Iterator
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


# Finished pieces of longer work, one file each, from which the work can be resumed.


def stamp(status: os.stat_result) -> str:
    """Return a string that changes whenever the file changes."""
    return f"{status.st_size} {status.st_mtime_ns}"


class Pieces:
    """Texts by name, stored in a folder of ``files``; ``earlier`` may hold some of an earlier call."""

    def __init__(self, files: Files, folder: Path, earlier: Path | None = None, needed: bool = False) -> None:
        """``needed``: a piece that cannot be stored is an error, because there is no other result."""
        self.used: set[str] = set()
        """Names that were read or written."""
        self._files, self._needed = files, needed
        self._folders = (folder, earlier) if earlier else (folder,)

    @classmethod
    def at(cls, folder: Path, needed: bool = False) -> Pieces:
        """Use a folder for which the caller is responsible."""
        return cls(Plain(folder.parent), folder, needed=needed)

    def stamps(self) -> dict[str, str]:
        """Return the stamp of every piece by its name; see :func:`stamp`."""
        with contextlib.suppress(FileNotFoundError), os.scandir(self._folders[0]) as entries:
            return {one.name: stamp(one.stat()) for one in entries if one.name.endswith(".json")}
        return {}

    def drop(self, names: Iterable[str]) -> None:
        """Remove pieces."""
        for name in names:
            (self._folders[0] / name).unlink(missing_ok=True)

    def get(self, name: str) -> str | None:
        """Return the text stored under a name, whatever is in it, or None."""
        for folder in self._folders:
            with contextlib.suppress(OSError):
                descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                with os.fdopen(descriptor, encoding="utf-8", errors="replace") as stream:
                    text = stream.read()
                if folder is self._folders[0]:
                    self.used.add(name)
                else:
                    self.put(name, text)
                return text
        return None

    def put(self, name: str, text: str) -> None:
        """Store a text. If it cannot be stored, warn and continue.

        Raises OSError instead if the pieces are ``needed``.
        """
        self.used.add(name)
        folder = self._folders[0]
        try:
            with self._files.file(f"{folder.name}/{name}") as out:
                out.write(encoded(text))
        except OSError as error:
            if self._needed:
                raise
            why = (error.strerror or str(error)).lower()
            warnings.warn(f"{folder}: finished runs are no longer kept here: {why}", stacklevel=2)
