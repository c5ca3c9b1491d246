"""Control characters: a terminal obeys them, so a name that contains them could forge what is printed."""

from __future__ import annotations

import re

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
