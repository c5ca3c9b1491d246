"""The checksum list that proves which files of a folder the program wrote; ``sha256sum -c`` reads it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .whole import settle


class OutputError(Exception):
    """An output folder that cannot be used; the text is the reason, to be printed after the folder's name."""


NAME = "fabriloom.sha256"
LOCK = ".lock"
WRITING = ".writing"
"""Name of the file that is being written, in a locked folder."""
OWN = (NAME, LOCK, WRITING)
UNFINISHED, FINISHED = "unfinished", "finished"

_BEGIN, _LONGEST_HEAD = b"# Written by fabriloom ", 200
_HEAD = re.compile(r"# Written by fabriloom (\S+): (\S+), (unfinished|finished)\n")
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")
_SHOWN = 3


@dataclass
class Manifest:
    """The list of a folder."""

    command: str
    finished: bool
    listed: dict[str, set[str]] = field(default_factory=dict)
    """Checksums by name; a file that is being rewritten has two for a moment."""


@dataclass
class Content:
    """The content of a folder, divided into listed files and others."""

    checksums: dict[str, str] = field(default_factory=dict)
    """Checksums of the listed files by name."""
    own: list[str] = field(default_factory=list)
    """Files that the folder itself needs, such as its list."""
    folders: list[str] = field(default_factory=list)
    """Subfolders with listed files, outer ones first."""
    foreign: list[str] = field(default_factory=list)

    def named(self) -> str:
        """Describe the files that are not in the list."""
        shown = ", ".join(sorted(self.foreign)[:_SHOWN])
        more = len(self.foreign) - _SHOWN
        return f"{shown} and {more} more" if more > 0 else shown


def head(version: str, command: str, state: str) -> str:
    """Return the first line of a list, which is a comment for ``sha256sum``."""
    return f"# Written by fabriloom {version}: {command}, {state}\n"


def read(folder: Path) -> Manifest | None:
    """Read the list of a folder; None if there is no readable list."""
    try:
        descriptor = os.open(folder / NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, encoding="utf-8", errors="surrogateescape") as lines:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        found = _HEAD.fullmatch(lines.readline(_LONGEST_HEAD))
        if found is None:
            return None
        manifest = Manifest(found[2], found[3] == FINISHED)
        for line in lines:
            if entry := _LINE.fullmatch(line.removesuffix("\n")):
                manifest.listed.setdefault(entry[2], set()).add(entry[1])
    return manifest


def is_begun(folder: Path) -> bool:
    """Whether a list is only part of its first line, which a power cut or a full disk has cut short."""
    try:
        with os.fdopen(os.open(folder / NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as stream:
            regular = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
            text = stream.read(_LONGEST_HEAD).rstrip(b"\0") if regular else b"?"
    except OSError:
        return False
    return b"\n" not in text and (_BEGIN.startswith(text) or text.startswith(_BEGIN))


def content(folder: Path) -> Content:
    """Compare a folder with its list; links are not followed."""
    manifest = read(folder)
    listed = manifest.listed if manifest else {}
    above = {str(parent) for name in listed for parent in Path(name).parents}
    found = Content()
    for path, mode in _walk(folder, Path(), above):
        name = str(path)
        if stat.S_ISDIR(mode):
            (found.folders if name in above else found.foreign).append(name)
        elif not stat.S_ISREG(mode):
            found.foreign.append(name)
        elif manifest and name in OWN:
            found.own.append(name)
        elif name not in listed:
            found.foreign.append(name)
        elif (now := checksum(folder / path)) in listed[name]:
            found.checksums[name] = now
        else:
            found.foreign.append(f"{name} (changed since)")
    return found


def _walk(top: Path, inside: Path, above: set[str]) -> Iterator[tuple[Path, int]]:
    """Yield the names below a folder with their modes; subfolders without listed files are not entered."""
    with os.scandir(top / inside) as entries:
        for entry in entries:
            path, mode = inside / entry.name, entry.stat(follow_symlinks=False).st_mode
            yield path, mode
            if stat.S_ISDIR(mode) and str(path) in above:
                yield from _walk(top, path, above)


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file; an empty string for a link or an unreadable file."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return ""


def remove(folder: Path) -> None:
    """Remove a folder that holds only listed files. Raises OutputError, without removing any file, otherwise.

    Files that appear meanwhile stay, and the folder with them.
    """
    found = content(folder)
    if found.foreign:
        raise OutputError(f"{folder} holds {found.named()}, which fabriloom did not write")
    for name in found.checksums:
        (folder / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        for name in ("", *found.folders):
            settle(folder / name)  # or a file may outlast its proof
        for name in reversed(found.folders):
            (folder / name).rmdir()
        for name in sorted(found.own, key=OWN.index, reverse=True):  # the proof last
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
