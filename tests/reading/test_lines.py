"""Texts that are read line by line, in blocks, are those that are read whole."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from fabriloom import reading
from fabriloom.reading import ReadError
from fabriloom.reading.lines import _BLOCK_BYTES

WIDE = "ä€😀"


def lines(path: Path, most_bytes: int = 1 << 24) -> list[str]:
    return list(reading.lines(path, most_bytes, "16 MB", "split it"))


@pytest.mark.parametrize("code", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_those_of_the_whole_text(code: str, end: str, tmp_path: Path) -> None:
    """Characters and ends of lines lie across the borders of blocks."""
    draw, path = random.Random(f"{code} {end!r}"), tmp_path / "long"
    for size in (0, 1, _BLOCK_BYTES // 40, _BLOCK_BYTES // 9):
        told = ["".join(draw.choices(WIDE + "abc ", k=draw.randrange(40))) for _ in range(size)]
        path.write_bytes(end.join(told).encode(code))
        assert lines(path) == (told or [""])


def test_a_byte_that_is_no_text_has_the_place_that_it_has_in_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "wrong"
    for before in (0, 3, _BLOCK_BYTES - 3, _BLOCK_BYTES - 1, 3 * _BLOCK_BYTES):
        whole = b"ab\n" * (before // 3) + WIDE.encode() + b" \xff here\nmore\n"
        path.write_bytes(whole)
        with pytest.raises(ReadError, match="byte 0xff") as ours:
            lines(path)
        with pytest.raises(ReadError, match="byte 0xff") as theirs:
            reading.text_of(whole, str(path))
        assert ours.value.place == theirs.value.place


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x" * (1 << 21), "a line of more than 1,048,576 characters"),
        (b"\x1f\x8bmore", "compressed by gzip"),
        (b"ab\0", "holds NUL bytes"),
        (b"\xff\xfeabc", "not whole text in UTF-16"),
        (b"a\n" * (1 << 24), "larger than 16 MB"),
    ],
)
def test_what_is_no_such_text_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "wrong").write_bytes(content)
    with pytest.raises(ReadError, match=message):
        lines(tmp_path / "wrong")


def test_a_line_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "three"
    path.write_text("one\ntwo\n", encoding="utf-8")
    assert reading.numbered_line(path, 2) == (str(path), 2, 1, 3, "two")
    assert reading.numbered_line(path, 3)[4] == reading.numbered_line(path, 9)[4] == ""
