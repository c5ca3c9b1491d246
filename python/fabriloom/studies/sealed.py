"""JSON texts that begin with the checksum of the rest, so that a changed byte anywhere is noticed."""

from __future__ import annotations

import hashlib
import json
from typing import Any

_HEAD = '{"checksum": "'
_DIGITS = 24
_FULL = len(_HEAD) + _DIGITS + 2


def sealed(value: dict[str, Any], **form: Any) -> str:
    """Return a mapping, not an empty one, as JSON after its checksum; ``form``: for ``json.dumps``."""
    rest = json.dumps(value, **form)[1:]
    return f'{_HEAD}{_checksum(rest)}",{rest}'


def rest_of(text: str) -> str | None:
    """Return the text behind the checksum, a mapping without its first brace; None if it was changed."""
    rest = text[_FULL:]
    return rest if text[:_FULL] == f'{_HEAD}{_checksum(rest)}",' else None


def unsealed(text: str) -> dict[str, Any] | None:
    """Return the mapping in a text; None if it was cut short or changed."""
    rest = rest_of(text.removesuffix("\n"))
    return None if rest is None else json.loads("{" + rest)


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
