"""The message about a wrong file stands at its own head, as comments under ``# expects:``.

A format without comments has the message beside it, in a file ``.expected``. ``FABRILOOM_EXPECT=write``
writes the messages anew after a change of words; then read the difference.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

_HEAD = "# expects:\n"
_MARK = "#   "


def expected(file: Path) -> str:
    """The message that a wrong file is to give."""
    beside = file.with_suffix(".expected")
    if beside.exists():
        return "".join(line.rstrip() + "\n" for line in beside.read_text(encoding="utf-8").splitlines())
    head, *_ = _split(file)
    return head


def assert_told(file: Path, message_of: Callable[[Path], str]) -> None:
    """Assert that a wrong file gives its message, short and without a traceback."""
    if os.environ.get("FABRILOOM_EXPECT") == "write":
        # A head of another length moves the lines that the message names: the second time it is right.
        for _ in range(2):
            _write(file, message_of(file))
    message = message_of(file)
    # A comment keeps no space at its end.
    assert [line.rstrip() for line in message.splitlines()] == expected(file).splitlines()
    assert "Traceback" not in message
    assert len(message.splitlines()) <= 24


def _split(file: Path) -> tuple[str, str]:
    """The message at the head of a file, and what follows."""
    text = file.read_text(encoding="utf-8", errors="replace")
    if not text.startswith(_HEAD):
        return "", text
    head, _, rest = text[len(_HEAD) :].partition("\n\n")
    return "".join(line.removeprefix("#").removeprefix(_MARK[1:]) + "\n" for line in head.splitlines()), rest


def _write(file: Path, message: str) -> None:
    beside = file.with_suffix(".expected")
    if beside.exists() or file.suffix == ".json":
        beside.write_text(message, encoding="utf-8")
        return
    head = "".join(f"{_MARK}{line}".rstrip() + "\n" for line in message.splitlines())
    file.write_text(f"{_HEAD}{head}\n{_split(file)[1]}", encoding="utf-8")
