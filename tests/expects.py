"""Files of cases in archives, a subject to an archive; wrong ones with their message at the head, under
``# expects:``.

An archive ``.txtar`` is text: a line ``-- name --`` before each file in it, as in Go's package of that name.
A name that ends in ``.base64`` stands for a file that is no text. A format without comments has the message
in a file ``.expected``.
``FABRILOOM_EXPECT=write`` writes the messages anew after a change of words; then read the difference.
"""

from __future__ import annotations

import atexit
import base64
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

CASES = Path(__file__).resolve().parent / "cases"

_NAME = re.compile(r"^-- (\S+) --\n", re.MULTILINE)
_BYTES = ".base64"
_HEAD = "# expects:\n"
_MARK = "#   "


def names_in(folder: Path) -> list[str]:
    """The names of the files in the archives of a folder."""
    written = [name for archive in folder.glob("*.txtar") for name in _NAME.findall(_text(archive))]
    found = [name.removesuffix(_BYTES) for name in written]
    assert len(found) == len(set(found)), "two files share a name"
    return sorted(found)


def unpack(folder: Path, out: Path) -> Path:
    """Write what is in the archives of a folder, and what lies beside them, into another; returns that."""
    for file in folder.iterdir():
        if file.suffix != ".txtar":
            shutil.copy(file, out)
            continue
        _, *parts = _NAME.split(_text(file))
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            data = base64.b64decode(text) if name.endswith(_BYTES) else text.encode()
            (out / name.removesuffix(_BYTES)).write_bytes(data)
    return out


@cache
def unpacked(folder: str) -> Path:
    """A temporary folder with all files of a folder of cases."""
    out = tempfile.TemporaryDirectory()
    atexit.register(out.cleanup)
    return unpack(CASES / folder, Path(out.name))


def expected(file: Path) -> str:
    """The message that a wrong file is to give."""
    beside = file.with_suffix(".expected")
    if beside.exists():
        return "".join(line.rstrip() + "\n" for line in beside.read_text(encoding="utf-8").splitlines())
    head, *_ = _split(file)
    return head


def assert_told(file: Path, message_of: Callable[[Path], str], folder: Path) -> None:
    """Assert that a wrong file of a folder of archives gives its message, short and without a traceback."""
    if os.environ.get("FABRILOOM_EXPECT") == "write":
        # A head of another length moves the lines that the message names: the second time it is right.
        for _ in range(2):
            put(_write(file, message_of(file)), folder)
    message = message_of(file)
    # A comment keeps no space at its end.
    assert [line.rstrip() for line in message.splitlines()] == expected(file).splitlines()
    assert "Traceback" not in message
    assert len(message.splitlines()) <= 24


def _text(archive: Path) -> str:
    return archive.read_bytes().decode()


def _split(file: Path) -> tuple[str, str]:
    """The message at the head of a file, and what follows."""
    text = file.read_text(encoding="utf-8", errors="replace")
    if not text.startswith(_HEAD):
        return "", text
    head, _, rest = text[len(_HEAD) :].partition("\n\n")
    return "".join(line.removeprefix("#").removeprefix(_MARK[1:]) + "\n" for line in head.splitlines()), rest


def _write(file: Path, message: str) -> Path:
    """Write a message where it belongs; returns the file that was written."""
    beside = file.with_suffix(".expected")
    if beside.exists() or file.suffix == ".json":
        beside.write_text(message, encoding="utf-8")
        return beside
    head = "".join(f"{_MARK}{line}".rstrip() + "\n" for line in message.splitlines())
    file.write_text(f"{_HEAD}{head}\n{_split(file)[1]}", encoding="utf-8")
    return file


def put(file: Path, folder: Path) -> None:
    """Write a file back into the archive that holds it."""
    for archive in folder.glob("*.txtar"):
        parts = _NAME.split(_text(archive))
        if file.name in parts[1::2]:
            parts[parts.index(file.name) + 1] = _text(file)
            pairs = zip(parts[1::2], parts[2::2], strict=True)
            text = parts[0] + "".join(f"-- {name} --\n{body}" for name, body in pairs)
            archive.write_bytes(text.encode())
            return
    shutil.copy(file, folder)
