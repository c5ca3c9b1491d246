"""Tables of routers as arrays in C, as ``fabriloom export`` writes them: for each router one of port masks.

What is read are arrays of any type with their elements, ``NAME[...] = {...}``; an array of arrays has one for
each router, in the order of the network. Elements are numbers, or numbers joined as in ``1u << 3 | 0x40``,
with their places, ``[40] = 0x2``, or without. Comments and lines of the preprocessor are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..topology.port_addresses import FIRST_ADDRESS
from .routers import identifiers
from .table import RoutingError

_PASSED_OVER = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*|^[ \t]*#(?:\\.|[^\\\n])*", re.DOTALL | re.MULTILINE)
_ARRAY = re.compile(r"\b([A-Za-z_]\w*)\s*\[[^\[\]{};=]*\]\s*(\[[^\[\]{};=]*\]\s*)?=\s*\{")
_ELEMENT = re.compile(r"(?:\s*\[\s*(\w+)\s*\]\s*=)?([^{},;\[\]]*)([{},])")
_AFTER_ARRAY = re.compile(r"\s*([,}])")
_NUMBER = r"0[xX][0-9a-fA-F]{1,16}|0[bB][01]{1,64}|[1-9][0-9]{0,19}|0[0-7]{0,22}"
_TERM = re.compile(rf"({_NUMBER})[uUlL]{{0,3}}(?:\s*<<\s*([0-9]{{1,2}})[uUlL]{{0,3}})?", re.ASCII)


class CArrays:
    """The arrays of a text; ``switches``: names of the routers, in their order."""

    def __init__(self, text: str, switches: Sequence[str]) -> None:
        self._text = _PASSED_OVER.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        self._switches = switches
        self._at = 0
        """What is before this place has been read."""
        self._line, self._counted = 1, 0

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line of each element with ports, and its router, logical address and ports.

        Raises RoutingError with the line.
        """
        by_name = dict(zip(identifiers(self._switches), self._switches, strict=True))
        while array := _ARRAY.search(self._text, self._at):
            self._at = array.end()
            if array[2]:
                for place, element in self._elements():
                    if element != "{" or place >= len(self._switches):
                        some = f"{len(self._switches)} routers"
                        raise self._error(f"{array[1]} is no array of arrays, one for each of {some}")
                    yield from self._router(self._switches[place])
            elif array[1] in by_name:
                yield from self._router(by_name[array[1]])
            else:
                there = ", ".join([*by_name][:8])
                raise self._error(f'there is no router "{array[1]}"; arrays have the names {there}')
        if not self._at:
            raise self._error("there is no array with elements; write it as fabriloom export does")

    def _router(self, router: str) -> Iterator[tuple[int, list[str]]]:
        for address, element in self._elements():
            mask = _number(element)
            if mask is None:
                raise self._error(f'"{element[:40]}" is no mask of ports; that of 1 and 2 is 0x06')
            if mask and not (address < FIRST_ADDRESS and mask == 1 << address):  # that of a path address
                ports = " ".join(str(port) for port in range(mask.bit_length()) if mask >> port & 1)
                yield self._line_here(), [router, str(address), ports, "", "", ""]

    def _elements(self) -> Iterator[tuple[int, str]]:
        """Yield place and text of each element up to the end of these braces; an array in them is a brace."""
        place, end = 0, ","
        while end != "}":
            match = _ELEMENT.match(self._text, self._at)
            if match is None:
                raise self._error("these elements have no end, or are no numbers")
            self._at = match.start(2) + len(match[2].rstrip())
            given, text, end = match[1], match[2].strip(), match[3]
            if given is not None:
                number = _number(given)
                if number is None:
                    raise self._error(f'"{given[:40]}" is no place of an element; write a number')
                place = number
            if end == "{":
                self._at = match.end()
                yield place, f"{text}{end}"
                after = _AFTER_ARRAY.match(self._text, self._at)
                if after is None:
                    raise self._error("a comma or the end of the array is missing")
                self._at, end = after.end(), after[1]
            else:
                if text or given is not None or end == ",":
                    yield place, text
                self._at = match.end()
            place += 1

    def _line_here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _error(self, message: str) -> RoutingError:
        return RoutingError(f"line {self._line_here()}: {message}", "path")


def _number(text: str) -> int | None:
    """Return the value of numbers joined by ``|`` and ``<<``, or None."""
    found = 0
    for part in text.replace("(", " ").replace(")", " ").split("|"):
        term = _TERM.fullmatch(part.strip())
        if term is None:
            return None
        octal = term[1].startswith("0") and term[1].isdigit()
        found |= int(term[1], 8 if octal else 0) << int(term[2] or 0)
    return found
