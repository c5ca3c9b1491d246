"""A scenario whose runs take milliseconds, and the command that studies it."""

from __future__ import annotations

from typing import Any

from fabriloom.cli.app import app
from typer.testing import CliRunner, Result


def text(duration: str, replications: int) -> str:
    """A study of a crossbar at eight loads."""
    return f"""
name = "Small"
[topology]
kind = "crossbar"
terminals = 4
[run]
duration = "{duration}"
warmup = "10 us"
precision = 0.0
[sweep]
"traffic.load" = {{ from = 0.1, to = 0.8, count = 8 }}
[study]
replications = {replications}
"""


def command(*words: Any) -> Result:
    """``fabriloom study`` with these words."""
    return CliRunner().invoke(app, ["study", *map(str, words)])
