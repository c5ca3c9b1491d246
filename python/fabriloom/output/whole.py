"""One file: it appears whole, instead of an earlier one, or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Files(Protocol):
    """Where several files are written: a folder of any kind."""

    def file(self, name: str) -> AbstractContextManager[BinaryIO]:
        """A file of this name, to be written in the block."""
        ...


class Plain:
    """A folder that the caller answers for: files are written over those of the same name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def file(self, name: str) -> AbstractContextManager[BinaryIO]:
        """A file in the folder, which is made if it is not there. Raises OSError."""
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return file(path)


def encoded(text: str) -> bytes:
    """UTF-8; half a character, as JSON may hold in an escape, stays that escape."""
    return text.encode("utf-8", "backslashreplace")


@contextmanager
def file(path: Path) -> Iterator[BinaryIO]:
    """A file that is at ``path`` once the block has ended well; before that, what was there stays.

    Devices and pipes are written as it comes. A symbolic link is not followed: its target may be anything.
    Raises OSError.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, "it is a symbolic link; name the file itself", str(path))
    if stat.S_ISREG(mode):
        partial = path.with_name(f".{secrets.token_hex(8)}.partial")
        with replacing(partial, path) as out:
            yield out
    else:
        with path.open("wb") as out:
            yield out


@contextmanager
def replacing(partial: Path, path: Path) -> Iterator[BinaryIO]:
    """A new file ``partial`` that takes the place of ``path`` at the end, and is removed if that fails."""
    try:
        descriptor = os.open(partial, NEW, 0o666)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None  # the name that the user knows
    try:
        with os.fdopen(descriptor, "wb") as out:
            yield out
            out.flush()
            os.fsync(descriptor)  # some places tell only now that they are full
        partial.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise


def remove(path: Path) -> None:
    """Remove a file that the program wrote, if it is there."""
    path.unlink(missing_ok=True)


def settle(folder: Path) -> None:
    """Have the names in a folder on the disk before anything else is done."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # some file systems cannot
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
