"""Characters that a terminal obeys instead of showing: a name with them could forge what is printed."""

from __future__ import annotations

import re

# Control characters but line ends and tabs; separators of lines; turns of direction; halves of characters.
_OBEYED = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_CONTROL = re.compile(f"[{_OBEYED}]")
_IN_NAMES = re.compile(f"[{_OBEYED}\t\n]")


def escaped(text: str) -> str:
    """The text with what a terminal would obey as ``\\u001b``, which is also what JSON calls it."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def refused_in(text: str, lines: bool = False) -> str:
    """The first character that a name must not have, as ``U+001B``, or nothing.

    ``lines``: a text of several lines, with tabs.
    """
    found = (_CONTROL if lines else _IN_NAMES).search(text.replace("\r", "") if lines else text)
    return f"U+{ord(found[0]):04X}" if found else ""
