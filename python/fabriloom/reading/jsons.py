"""Strict JSON: numbers within range, strings that can be encoded, no duplicate keys."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any, NoReturn

from fabriloom.reading.errors import ReadError
from fabriloom.reading.texts import place_at

DEEPEST = 40
MOST_KEYS = 100_000
"""Most keys of a scenario; graphs, which are tables of nodes, have no limit."""
_LONGEST_NUMBER = 40
"""Most digits of a whole number; the largest that any reader accepts has 19."""
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_HINT = "names and strings need double quotes; no comma after the last entry"


class _Reader:
    """Hooks of the standard decoder, which gives no positions: they search the text for what they refuse."""

    def __init__(self, text: str, file: str, most_keys: int | None) -> None:
        self.text, self.file, self.most_keys = text, file, most_keys
        self.keys_left = len(text) if most_keys is None else most_keys

    def fail(self, message: str, hint: str, found: re.Match[str] | None) -> NoReturn:
        place = place_at(self.text, found.start(), len(found[0]), self.file) if found else None
        raise ReadError(message, hint, place)

    def table(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        self.keys_left -= 1 + len(pairs)
        if self.keys_left < 0:
            raise ReadError(f"more than {self.most_keys:,} keys", "put long lists into a file of their own")
        if len(table) < len(pairs):
            seen: set[str] = set()
            twice = next(name for name, _ in pairs if name in seen or seen.add(name))
            places = list(
                re.finditer(re.escape(json.dumps(twice, ensure_ascii=False)) + r"(?=\s*:)", self.text)
            )
            shown = twice if len(twice) <= 40 else twice[:37] + "..."
            self.fail(f'"{shown}" is given twice', "keep one of the two", places[1] if places[1:] else None)
        return table

    def constant(self, name: str) -> NoReturn:
        self.fail(f"{name} is not a number that can be used", "write a finite number", self.bare(name))

    def whole(self, digits: str) -> int:
        if len(digits) > _LONGEST_NUMBER:
            what = f"a number of {len(digits)} digits is larger than anything that can be computed with"
            self.fail(what, "write a smaller one", self.bare(digits))
        return int(digits)

    def fraction(self, digits: str) -> float:
        number = float(digits)
        if number in (float("inf"), float("-inf")):
            shown = digits if len(digits) <= 40 else digits[:37] + "..."
            message = f"{shown} is larger than any number that can be computed with"
            self.fail(message, "write a smaller one", self.bare(digits))
        return number

    def bare(self, token: str) -> re.Match[str] | None:
        """Return the place of a number or word outside all strings."""
        pattern = re.compile(
            f"{_STRING.pattern}|(?P<it>(?<![\\w.+-]){re.escape(token)}(?![\\w.+-]))", re.DOTALL
        )
        at = next((found.start() for found in pattern.finditer(self.text) if found["it"]), None)
        return None if at is None else re.compile(re.escape(token)).match(self.text, at)


def json_data(text: str, file: str, deepest: int = DEEPEST, most_keys: int | None = None) -> Any:
    """Decode a JSON text. ``file``: its name, for places. Raises :class:`ReadError`."""
    reader = _Reader(text, file, most_keys)
    try:
        data = json.loads(
            text,
            object_pairs_hook=reader.table,
            parse_constant=reader.constant,
            parse_int=reader.whole,
            parse_float=reader.fraction,
        )
        check_depth(data, deepest)
    except json.JSONDecodeError as error:
        words = error.msg[:1].lower() + error.msg[1:]
        if error.pos >= len(text.rstrip()):
            words += " at the end of the file"
        raise ReadError(f"not JSON: {words}", _HINT, place_at(text, error.pos, 1, file)) from None
    except RecursionError:
        raise ReadError("nested too deeply", f"at most {deepest} levels") from None
    if "\\u" in text or _SURROGATE.search(text):
        _no_surrogates(data, reader)
    return data


def check_depth(data: Any, deepest: int) -> None:
    """Raise RecursionError if tables and lists are nested deeper than ``deepest``."""
    level = [data]
    for _ in range(deepest):
        level = [
            inner
            for value in level
            if isinstance(value, dict | list)
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return
    raise RecursionError


def strings(data: Any) -> list[str]:
    """Return all strings in the data, including keys."""
    found, todo = list[str](), [data]
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            found += value
            todo += value.values()
        elif isinstance(value, list):
            todo += value
    return found


def has_surrogate(text: str) -> bool:
    """Whether the text contains a lone surrogate, which cannot be encoded."""
    return _SURROGATE.search(text) is not None


def _no_surrogates(data: Any, reader: _Reader) -> None:
    if not any(has_surrogate(text) for text in strings(data)):
        return
    at = None
    for found in _STRING.finditer(reader.text):
        with contextlib.suppress(ValueError):
            if has_surrogate(json.loads(found[0])):
                at = found
                break
    reader.fail("half of a character (a lone surrogate) in a string", "write the whole character", at)
