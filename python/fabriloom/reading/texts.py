"""The bytes and the text of a file."""

from __future__ import annotations

import codecs
import io
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from fabriloom.reading.errors import Place, ReadError


def content(path: Path, most_bytes: int, most: str, instead: str) -> bytes:
    """Read the bytes of a regular file.

    Args:
        path: the file.
        most_bytes: largest accepted size; a larger file is refused before it is read.
        most: this size as text, such as "8 MB".
        instead: advice for a larger file.

    Raises:
        ReadError: the file is missing, unreadable or too large, or is a folder, a pipe or a device; ``cause``
            holds the OSError.
    """
    with opened(path, most_bytes, most, instead) as file:
        return file.read()


@contextmanager
def opened(path: Path, most_bytes: int, most: str, instead: str) -> Iterator[BinaryIO]:
    """Open a regular file, to read its bytes in parts: see :func:`content`."""
    try:
        about = path.stat()
        if stat.S_ISDIR(about.st_mode):
            raise ReadError("this is a folder", "name a file in it")
        if not stat.S_ISREG(about.st_mode):
            # A pipe would be waited for, a device may never end.
            raise ReadError("this is a pipe or a device, not a file", "save what it holds as a file")
        if about.st_size > most_bytes:
            raise ReadError(f"the file is larger than {most}", instead)
        with path.open("rb") as file:
            yield file
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise ReadError(f"cannot be read: {reason}", "check the file and its permissions") from error
    except ValueError:
        if "\0" not in str(path):
            raise
        raise ReadError("the name of the file holds a NUL character", "name another file") from None


UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""The byte-order marks of UTF-16, which spreadsheet programs call Unicode text."""
_HEAD_BYTES = 1024
_NO_TEXT = {
    b"PK\x03\x04": ("a spreadsheet or another packed file", "save its sheet as CSV in UTF-8"),
    b"\xd0\xcf\x11\xe0": ("an old spreadsheet or document", "save its sheet as CSV in UTF-8"),
    b"PAR1": ("a Parquet file", "name it .parquet"),
    b"\x1f\x8b": ("compressed by gzip", "unpack it"),
    b"BZh": ("compressed by bzip2", "unpack it"),
    b"\x28\xb5\x2f\xfd": ("compressed by zstd", "unpack it"),
    b"%PDF": ("a PDF document", "save the table in it as CSV in UTF-8"),
    b"SQLite format 3": ("a database", "export its table as CSV in UTF-8"),
}
"""How files begin that people give names of text files."""


def text_of(content: bytes, file: str) -> str:
    """Decode text in UTF-8, or in UTF-16 with a byte-order mark. Raises :class:`ReadError`."""
    code = code_of(content[:_HEAD_BYTES])
    try:
        return content.decode(code)
    except UnicodeDecodeError as error:
        raise no_text(code, content, error.start, 1, file) from None


def code_of(head: bytes) -> str:
    """Return the code of a text that begins so. Raises :class:`ReadError` for what is no text."""
    for magic, (what, hint) in _NO_TEXT.items():
        if head.startswith(magic):
            raise ReadError(f"not text: the file is {what}", hint)
    if head.startswith(UTF_16):
        return "utf-16"
    if b"\0" in head:
        raise ReadError("not text: it holds NUL bytes", "save the file as text in UTF-8")
    return "utf-8-sig"


def no_text(code: str, content: bytes, at: int, first: int, file: str) -> ReadError:
    """Return the error for a byte that is no text; ``first`` is the number of the content's first line."""
    if code == "utf-16":
        return ReadError("not whole text in UTF-16", "save the file as UTF-8")
    line = content.count(b"\n", 0, at) + first
    begin = content.rfind(b"\n", 0, at) + 1
    end = content.find(b"\n", at)
    shown = content[begin : end if end >= 0 else len(content)].rstrip(b"\r")
    column = len(content[begin:at].decode("utf-8", "replace")) + 1
    place = (file, line, column, 1, shown.decode("utf-8", "replace"))
    return ReadError(f"not UTF-8 text (byte {content[at]:#04x})", "save the file as UTF-8", place)


def place_at(text: str, offset: int, length: int, file: str) -> Place:
    """Return the place of a part of the text, given its offset."""
    begin = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = text[begin : end if end >= 0 else len(text)].rstrip("\r")
    return file, text.count("\n", 0, offset) + 1, offset - begin + 1, max(1, length), line


def line_of(text: str, line: int, file: str) -> Place:
    """Return the place of a whole line; lines count from 1."""
    begin = 0
    for _ in range(line - 1):
        begin = text.find("\n", begin) + 1
        if not begin:
            return file, line, 1, 1, ""
    end = text.find("\n", begin)
    shown = text[begin : end if end >= 0 else len(text)].rstrip("\r")
    return file, line, 1, max(1, len(shown)), shown


# Control characters: a terminal obeys them, so a name that contains them could forge what is printed.

# Control characters but line ends and tabs; separators of lines; turns of direction; halves of characters;
# and the two that are no characters, which XML cannot hold.
_OBEYED = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff"
)
_CONTROL = re.compile(f"[{_OBEYED}]")
_IN_NAMES = re.compile(f"[{_OBEYED}\t\n]")


def escaped(text: str) -> str:
    """Return the text with control characters written as JSON writes them, such as ``\\u001b``."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def refused_in(text: str, lines: bool = False) -> str:
    """Return the first forbidden character of a name, such as ``U+001B``, or an empty string.

    ``lines``: line breaks and tabs are allowed.
    """
    found = (_CONTROL if lines else _IN_NAMES).search(text.replace("\r", "") if lines else text)
    return f"U+{ord(found[0]):04X}" if found else ""


# The lines of a text that may be too long to be held as a whole.

_BLOCK_BYTES = 1 << 18
_LONGEST = 1 << 20


def lines(path: Path, most_bytes: int, most: str, instead: str) -> Iterator[str]:
    """Yield the lines of a file without their ends, whichever these are; behind the last end is a line, too.

    Some blocks are held at a time. Arguments and errors are those of :func:`content` and :func:`text_of`; a
    line of more than a million characters is refused.
    """
    with opened(path, most_bytes, most, instead) as file:
        block = file.read(_BLOCK_BYTES)
        code = code_of(block[:1024])
        decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(code)(), translate=True)
        rest, number = "", 1
        while True:
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                begin = rest.encode()
                at = len(begin) + error.start
                raise no_text(code, begin + error.object, at, number, str(path)) from None
            found = (rest + text).split("\n")
            rest = found.pop()
            number += len(found)
            if len(rest) > _LONGEST:
                message = f"a line of more than {_LONGEST:,} characters"
                raise ReadError(message, "is this a text?", (str(path), number, 1, 1, rest[:80]))
            yield from found
            if not block:
                break
            block = file.read(_BLOCK_BYTES)
        yield rest


def numbered_line(path: Path, number: int) -> Place:
    """Return the place of a whole line of such a text, which is read again up to it; lines count from 1."""
    found = lines(path, 1 << 62, "", "")
    shown = next(islice(found, number - 1, None), "")
    return str(path), number, 1, max(1, len(shown)), shown
