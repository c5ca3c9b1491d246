"""Damaged files: changes of good ones, drawn from a seed."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Sequence
from typing import Any

WORDS = [
    *("", "0", "-1", "1e999", "NaN", "inf", "-0.0", "1" * 30, "9" * 5000, "1e-400", "0x10", "1_000", "١٢"),
    *(
        '"',
        "'",
        ",",
        ";",
        "\n",
        "\r",
        "\r\n",
        "\t",
        "\0",
        "#",
        "=",
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        "&amp;",
        "&x;",
    ),
    *("t0", "t1", "sw(0,0)", "source", "target", "weight", "length", "wait", "kind", "path", "true", "null"),
    *("64 B", "1 ns", "-1 B", "1e18 s", "999999999 GB", "100 Mbit/s", "0 B", "18446744073709551616 B"),
    *("\ufeff", "\u202e", "é", "\U0001f600", "\\ud800", "\\u0000", "$a$", "%s", "{0}", "../..", "/dev/zero"),
    "x" * 300,
    "a." * 60,
    "[" * 60,
]
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**63), 10**30, 0.5, -0.0, 1e308, 5e-324),
    *("", "x", "t0", "\0", "é", "$a$", [], {}, [[]], [1], {"a": 1}, "1", "64 B", "1" * 400),
]


def damaged(good: bytes, others: Sequence[bytes], dice: random.Random) -> bytes:
    """``good`` with some changes; now and then a piece of one of the ``others``."""
    text = bytearray(good)
    for _ in range(dice.choice((1, 1, 1, 2, 3, 6, 15))):
        at = dice.randrange(len(text) + 1)
        length = min(dice.choice((1, 1, 2, 5, 20, 200)), len(text) - at)
        what = dice.randrange(7)
        if what == 0 and at < len(text):
            text[at] = dice.randrange(256)
        elif what == 1:
            del text[at : at + length]
        elif what == 2:
            text[at:at] = dice.choice(WORDS).encode("utf-8", "surrogatepass")
        elif what == 3:
            text[at : at + length] = dice.choice(WORDS).encode("utf-8", "surrogatepass")
        elif what == 4:
            text[at:at] = text[at : at + length] * dice.choice((1, 1, 2, 50))
        elif what == 5:
            other = dice.choice(others)
            begin = dice.randrange(len(other) + 1)
            text[at : at + length] = other[begin : begin + dice.choice((3, 30, 300))]
        else:
            del text[at:]
            text += dice.choice((b"", b"\n", b'"'))
    return bytes(text[:200_000])


def changed_fields(good: bytes, separator: bytes, dice: random.Random) -> bytes:
    """Fields of lines exchanged for words: it stays a table."""
    lines = [line.split(separator) for line in good.split(b"\n")]
    for _ in range(dice.choice((1, 1, 2, 4))):
        line = dice.choice(lines)
        at = dice.randrange(len(line) + 1)
        word = dice.choice(WORDS).encode("utf-8", "surrogatepass")
        if at == len(line):
            line.append(word)
        elif dice.random() < 0.2:
            del line[at]
        else:
            line[at] = word
    return b"\n".join(separator.join(line) for line in lines)


def changed_json(good: bytes, dice: random.Random) -> bytes:
    """Values within JSON exchanged: it stays JSON."""
    data = json.loads(good)
    for _ in range(dice.choice((1, 1, 2, 4))):
        holder, key = None, None
        at = data
        while isinstance(at, dict | list) and at and (holder is None or dice.random() < 0.7):
            holder, key = at, dice.choice(list(at) if isinstance(at, dict) else range(len(at)))
            at = holder[key]
        if holder is not None:
            holder[key] = copy.deepcopy(dice.choice(VALUES))
            if isinstance(holder, dict) and dice.random() < 0.2:
                holder[dice.choice(("kind", "x", "id", "\0", ""))] = copy.deepcopy(dice.choice(VALUES))
    return json.dumps(data).encode()
