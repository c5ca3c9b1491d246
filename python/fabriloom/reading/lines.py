"""The lines of a text that may be too long to be held as a whole."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from fabriloom.reading.errors import Place, ReadError
from fabriloom.reading.texts import code_of, no_text, opened

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
                raise no_text(
                    code, begin + error.object, len(begin) + error.start, number, str(path)
                ) from None
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
