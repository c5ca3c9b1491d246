"""The list by which a folder proves what the program wrote, in the form that ``sha256sum -c`` reads."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .refusal import OutputError

NAME = "fabriloom.sha256"
LOCK = ".lock"
WRITING = ".writing"
"""The file under way, in a folder under a lock."""
OWN = (NAME, LOCK, WRITING)
UNFINISHED, FINISHED = "unfinished", "finished"

_HEAD = re.compile(r"# Written by fabriloom (\S+): (\S+), (unfinished|finished)\n")
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")
_SHOWN = 3


@dataclass
class Manifest:
    """What a folder says of itself."""

    command: str
    finished: bool
    listed: dict[str, set[str]] = field(default_factory=dict)
    """Checksums by name: a file that is written again has two for a moment."""


@dataclass
class Content:
    """What is in a folder: what the list proves, and what it does not."""

    checksums: dict[str, str] = field(default_factory=dict)
    """Of the listed files by name."""
    own: list[str] = field(default_factory=list)
    """What the folder needs for itself."""
    folders: list[str] = field(default_factory=list)
    """Those of listed files, the outer ones first."""
    foreign: list[str] = field(default_factory=list)

    def named(self) -> str:
        """What is not proven, in words."""
        shown = ", ".join(sorted(self.foreign)[:_SHOWN])
        more = len(self.foreign) - _SHOWN
        return f"{shown} and {more} more" if more > 0 else shown


def head(version: str, command: str, state: str) -> str:
    """The first line of a list; such lines are comments to ``sha256sum``."""
    return f"# Written by fabriloom {version}: {command}, {state}\n"


def read(folder: Path) -> Manifest | None:
    """The list of a folder; none if it has none that can be read."""
    try:
        descriptor = os.open(folder / NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, encoding="utf-8", errors="surrogateescape") as lines:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        found = _HEAD.fullmatch(lines.readline(200))
        if found is None:
            return None
        manifest = Manifest(found[2], found[3] == FINISHED)
        for line in lines:
            if entry := _LINE.fullmatch(line.removesuffix("\n")):
                manifest.listed.setdefault(entry[2], set()).add(entry[1])
    return manifest


def content(folder: Path) -> Content:
    """Look at everything in a folder; no link is followed."""
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
    """Names below a folder with their modes; folders in which nothing is listed are not gone into."""
    with os.scandir(top / inside) as entries:
        for entry in entries:
            path, mode = inside / entry.name, entry.stat(follow_symlinks=False).st_mode
            yield path, mode
            if stat.S_ISDIR(mode) and str(path) in above:
                yield from _walk(top, path, above)


def checksum(path: Path) -> str:
    """SHA-256 of a file; empty if it is a link or cannot be read."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return ""


def remove(folder: Path) -> None:
    """Remove a folder of which everything is proven. Raises OutputError, and then nothing was removed.

    What comes into it meanwhile stays, and the folder with it.
    """
    found = content(folder)
    if found.foreign:
        raise OutputError(f"{folder} holds {found.named()}, which fabriloom did not write")
    for name in found.checksums:
        (folder / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        for name in reversed(found.folders):
            (folder / name).rmdir()
        for name in sorted(found.own, key=OWN.index, reverse=True):  # the proof last
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
