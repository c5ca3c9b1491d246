"""The output folder of a command: written beside its target, then renamed in one step."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from . import manifest
from .manifest import OutputError
from .whole import Pieces
from .working import Working

_OTHER_NAMES = 1000
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EBUSY)


class Output(Working):
    """Results are written to ``DIR.partial``; ``finish`` renames that to ``DIR`` in one step.

    An existing ``DIR`` is replaced only if its list proves that the program wrote all of it.
    """

    def __init__(
        self, out: Path, command: str, version: str, force: bool = False, kept: str = "", forget: bool = False
    ) -> None:
        """Check the folder and lock it.

        Args:
            out: the folder as the user writes it; ``~`` is the home folder.
            command: the command that writes; only the same command resumes an unfinished folder.
            version: version of the program.
            force: replace an earlier result, or unfinished work of another command.
            kept: name of the subfolder of finished pieces, if unfinished work can be resumed.
            forget: remove the pieces when the result is finished.

        Raises:
            OutputError: the folder cannot be used; the text gives the reason.
            OSError: the folder cannot be written.
        """
        self.target = target_of(out)
        self._kept_name, self._force, self._forget = kept, force, forget
        self.target.parent.mkdir(parents=True, exist_ok=True)
        self._end_swap(command, version)
        super().__init__(self._beside("partial"), command, version)
        self.kept = Pieces(self, self.path / kept, self.target / kept) if kept else None
        try:
            self._check_target()
            self._check_leftovers()
        except BaseException:
            super().release()
            raise

    def __enter__(self) -> Output:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Release the folder; of unfinished results only the finished pieces remain.

        Where the list says that they are finished, as after a disk that was full when it had been written,
        they stay: the next command gives them their name.
        """
        if self._locked is not None:
            with contextlib.suppress(OSError):
                left = manifest.read(self.path)
                if not (left and left.finished):
                    self._drop_all_but(self._kept_name)
        super().release()

    def _beside(self, word: str) -> Path:
        return self.target.with_name(f"{self.target.name}.{word}")

    def _end_swap(self, command: str, version: str) -> None:
        """Complete the renaming that a killed process left unfinished."""
        replaced, partial = self._beside("replaced"), self._beside("partial")
        left = manifest.read(partial)
        if not _is_there(replaced) and not (left and left.finished):
            return
        working = Working(partial, command, version)
        if not _is_there(self.target) and working.before is not None and working.before.finished:
            working.move(self.target)
        working.release()
        if _is_there(replaced):
            found = manifest.content(replaced)
            if found.foreign:
                raise OutputError(f"{replaced} is in the way; move it away")
            manifest.remove(replaced) if _is_there(self.target) else replaced.rename(self.target)

    def _check_target(self) -> None:
        """Raise OutputError if the target folder must not be replaced."""
        target = self.target
        if not _is_there(target):
            return
        if target.is_symlink():
            raise OutputError("this is a symbolic link; name the folder itself")
        if not target.is_dir():
            raise OutputError("there is a file of this name; name a folder")
        if os.path.ismount(target):
            raise OutputError("a disk is mounted here, which cannot be replaced as one; name a folder in it")
        if _is_here(target):
            raise OutputError("this is the working folder, which cannot be replaced; name a folder in it")
        if not any(target.iterdir()):
            return
        before, found = manifest.read(target), manifest.content(target)
        if found.foreign:
            raise OutputError(
                f"the folder holds {found.named()}, which fabriloom did not write; your files are "
                "never replaced, so name another folder"
            )
        resumed = before and self._kept_name and not before.finished and before.command == self._command
        if not self._force and not resumed:
            what = f"an earlier result of {before.command}" if before else "something"
            raise OutputError(f"the folder holds {what}; name another one, or add --force to replace it")

    def _check_leftovers(self) -> None:
        """Take over the finished pieces of a killed command and remove its other files."""
        if self.before is None:
            return
        pieces = any("/" in name for name in self.listed)
        if pieces and self.before.command != self._command:
            if not self._force:
                raise OutputError(
                    f"{self.path} holds an unfinished {self.before.command}; give that command again, "
                    "or add --force to give it up"
                )
            self._drop_all_but("")
        self._drop_all_but(self._kept_name)
        self.seal(finished=False)

    def _drop_all_but(self, folder: str) -> None:
        """Remove all written files except those in ``folder``."""
        for name in list(self.listed):
            if name.rpartition("/")[0] != folder or not folder:
                self.drop(name)

    def finish(self, finished: bool = True) -> Path:
        """Rename the results to their final name and return their path. Raises OSError.

        ``finished`` false: the pieces stay, so that the same command can continue. If a file of the user has
        appeared at the target meanwhile, it stays, and the results get another name beside it.
        """
        if finished and self.kept is not None:
            for name in [name for name in self.listed if "/" in name]:
                if self._forget or Path(name).name not in self.kept.used:
                    self.drop(name)
        self.seal(finished)
        replaced = self._beside("replaced")
        if _is_there(self.target) and _is_proven(self.target):
            self.target.rename(replaced)
        self._move_to_free_name()
        if _is_there(replaced):
            with contextlib.suppress(OutputError):
                manifest.remove(replaced)
        return self.path

    def _move_to_free_name(self) -> None:
        for number in range(1, _OTHER_NAMES):
            place = self.target if number == 1 else self._beside(str(number))
            if _is_there(place):
                continue
            try:
                return self.move(place)
            except OSError as error:
                if error.errno not in _TAKEN:
                    raise
        raise OutputError(f"there is no free name beside it; the results are in {self.path}")


def _is_proven(folder: Path) -> bool:
    """Whether a folder is empty or holds only files that the program wrote."""
    return not folder.is_symlink() and folder.is_dir() and not manifest.content(folder).foreign


def target_of(out: Path) -> Path:
    """Return the full path of an output folder, with links in its parents resolved. Raises OutputError."""
    try:
        path = out.expanduser()
    except RuntimeError:
        name = out.parts[0]
        raise OutputError(f"there is no user {name[1:]}; write ./{name} for a folder of this name") from None
    if path.name in ("", ".."):
        return Path(os.path.realpath(path))
    return Path(os.path.realpath(path.parent), path.name)


def _is_there(path: Path) -> bool:
    """Whether something exists at the path, including a broken link."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True


def _is_here(path: Path) -> bool:
    with contextlib.suppress(OSError):
        here = Path.cwd()
        return any(one.samefile(path) for one in (here, *here.parents))
    return False
