"""Check the form of a request; the workers check its content."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from . import limits

_LONGEST_MS = 1e9
_SPEC = {"shelf", "file", "text"}
_MOST_FILES = 16
_DEEPEST = 4
"""Levels of lists and tables within the value of a setting."""
_NAME = re.compile(r"[\w. ()+,=@-]{1,120}")


class BadRequest(Exception):
    """A request that our page never makes; its text is the message."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


async def body_of(request: Request) -> dict[str, Any]:
    """Return the JSON table of a request. Raises BadRequest, immediately if it is longer than allowed."""
    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > limits.BODY_BYTES:
            most = limits.BODY_BYTES // 1000
            raise BadRequest(f"This is longer than {most} kB, the most that the page accepts.", 413)
    try:
        body = json.loads(content)
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise BadRequest("A character in this request is incomplete.") from None
    except (ValueError, RecursionError):
        raise BadRequest("This request is not JSON.") from None
    if not isinstance(body, dict):
        raise BadRequest("This request is not a table of JSON.")
    return body


def sides(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the one or two scenarios that a request names. Raises BadRequest."""
    first, beside = body.get("first"), body.get("beside")
    return {"first": _spec(first), "beside": None if beside is None else _spec(beside)}


def _spec(value: Any) -> dict[str, Any]:
    """Return ``{"shelf": name}`` or ``{"file": name, "text": text}``, with ``settings`` and ``files``."""
    if not isinstance(value, dict) or not ("shelf" in value or "text" in value):
        raise BadRequest("There is no scenario in this request.")
    named = {name: value[name] for name in _SPEC if name in value}
    if not all(isinstance(text, str) for text in named.values()):
        raise BadRequest("The name and the text of a scenario are texts.")
    return {**named, "settings": _settings(value.get("settings")), "files": _files(value.get("files"))}


def _files(value: Any) -> dict[str, str]:
    """Return the files sent with a scenario, by names without a folder, under which they are stored."""
    files = {} if value is None else value
    if not isinstance(files, dict) or len(files) > _MOST_FILES:
        raise BadRequest(f"The files of a scenario are a table of names and texts, {_MOST_FILES} at most.")
    for name, text in files.items():
        if not isinstance(text, str) or not _NAME.fullmatch(name) or name.startswith("."):
            raise BadRequest("A file that comes with a scenario has a plain name, and is text.")
    return files


def _settings(value: Any) -> dict[str, Any]:
    settings = {} if value is None else value
    if not isinstance(settings, dict) or not all(map(_is_setting, settings.values())):
        raise BadRequest("Settings are a table of paths and values.")
    if not all(all(path.split(".")) for path in settings):
        raise BadRequest("The path of a setting is words with dots between them.")
    return settings


def _is_setting(value: Any, depth: int = 0) -> bool:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return depth < _DEEPEST and all(_is_setting(one, depth + 1) for one in inner)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, bool | int | str)


def moment(body: Mapping[str, Any]) -> float | None:
    """Return the start of the replay in ms of the run, or None for its end. Raises BadRequest."""
    value = body.get("from_ms")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LONGEST_MS:
        raise BadRequest("The time from which packets are replayed must be 0 ms or more.")
    return float(value)
