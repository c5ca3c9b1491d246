"""A folder in which one command works, protected by a lock that its process releases when it ends."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from . import manifest
from .manifest import OutputError
from .whole import encoded, replacing, settle

_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)
"""Errors of file systems without locks: the command continues without one."""
_TRIES = 100


class Working:
    """A folder with a list of its files; each file is listed before it appears.

    A process that is killed at any moment therefore leaves no file that is not in the list.
    """

    def __init__(self, path: Path, command: str, version: str) -> None:
        """Create the folder, or take over that of a dead process. Raises OutputError and OSError."""
        self.path = path
        self._command, self._version = command, version
        self.before: manifest.Manifest | None = None
        """The list as it was when the folder was taken over."""
        self.listed: dict[str, str] = {}
        """Checksums of the written files by name, without the folder's own files."""
        self._one = threading.Lock()
        if manifest.read(path) is None:
            _refuse_foreign(path)
        self._locked: int | None = lock(path)
        try:
            _refuse_foreign(path)
            self._begin()
        except BaseException:
            self.release()
            raise

    def _begin(self) -> None:
        """Write the head of the list, and delete a file that a killed process left incomplete."""
        self.before = manifest.read(self.path)
        self.listed = manifest.content(self.path).checksums
        with contextlib.suppress(FileNotFoundError):
            (self.path / manifest.WRITING).unlink()
        if self.before is None:
            with contextlib.suppress(FileNotFoundError):  # what a power cut left of a first line
                (self.path / manifest.NAME).unlink()
            self._append(manifest.head(self._version, self._command, manifest.UNFINISHED))
            settle(self.path)  # or a file may outlast the list that proves it

    def _append(self, text: str) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
        descriptor = os.open(self.path / manifest.NAME, flags, 0o666)
        with os.fdopen(descriptor, "ab") as out:
            out.write(encoded(text))
            out.flush()
            os.fsync(descriptor)

    @contextmanager
    def file(self, name: str) -> Iterator[BinaryIO]:
        """Open a file of the folder or a subfolder; it appears complete or not at all. Raises OSError."""
        path, writing = self.path / name, self.path / manifest.WRITING
        with self._one, replacing(writing, path) as out:
            yield out
            out.flush()
            checksum = manifest.checksum(writing)
            self._append(f"\n{checksum}  {name}\n")  # after a line that a full disk has cut short
            path.parent.mkdir(exist_ok=True)
            self.listed[name] = checksum

    def drop(self, name: str) -> None:
        """Remove a written file, and its subfolder if that is then empty."""
        (self.path / name).unlink(missing_ok=True)
        self.listed.pop(name, None)
        if "/" in name:
            with contextlib.suppress(OSError):
                (self.path / name).parent.rmdir()

    def seal(self, finished: bool) -> None:
        """Write the final list of files, and whether the results are complete. Raises OSError."""
        state = manifest.FINISHED if finished else manifest.UNFINISHED
        head = manifest.head(self._version, self._command, state)
        lines = [f"{checksum}  {name}\n" for name, checksum in sorted(self.listed.items())]
        for folder in {(self.path / name).parent for name in self.listed} | {self.path}:
            settle(folder)  # or the list may outlast the names of files
        with replacing(self.path / manifest.WRITING, self.path / manifest.NAME) as out:
            out.write(encoded(head + "".join(lines)))
        settle(self.path)

    def discard(self) -> None:
        """Remove the written files and release the folder."""
        for name in list(self.listed):
            self.drop(name)
        self.release()

    def release(self) -> None:
        """Release the folder; remove it if nothing was written."""
        if self._locked is None:
            return
        with contextlib.suppress(OSError, OutputError):
            if not manifest.content(self.path).checksums:
                manifest.remove(self.path)
        os.close(self._locked)
        self._locked = None

    def move(self, place: Path) -> None:
        """Rename the folder to its final name and release the lock. Raises OSError."""
        self.path.rename(place)
        self.path = place
        settle(place.parent)
        with contextlib.suppress(OSError):
            (place / manifest.LOCK).unlink()
        if self._locked is not None:
            os.close(self._locked)
            self._locked = None


def _refuse_foreign(path: Path) -> None:
    """Raise OutputError if the folder holds something that fabriloom did not write."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(mode):
        raise OutputError(f"{path} is in the way, where results are written first; move it away")
    found = manifest.content(path)
    just_made = {manifest.LOCK, *([manifest.NAME] if manifest.is_begun(path) else [])}
    if found.foreign and (manifest.read(path) is not None or not just_made.issuperset(found.foreign)):
        raise OutputError(
            f"results are written first to {path}, which holds {found.named()}: fabriloom did not write "
            "that; move it away"
        )


def lock(path: Path) -> int:
    """Lock a folder, which is created if needed, and return the lock's descriptor. Raises OutputError if
    locked.

    Another process may meanwhile rename the folder, and our lock with it: then try again.
    """
    for _ in range(_TRIES):
        with contextlib.suppress(FileExistsError):
            path.mkdir()
        try:
            descriptor = os.open(path / manifest.LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            message = "another command is writing there; wait for it, or name another folder"
            raise OutputError(message) from None
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                os.close(descriptor)
                raise
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), (path / manifest.LOCK).lstat()):
                return descriptor
        os.close(descriptor)
    raise OutputError("other commands are writing there; name another folder")
