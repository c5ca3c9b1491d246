"""The command in the process of the test."""

from __future__ import annotations

from typing import Any

from fabriloom.cli.app import app
from typer.testing import CliRunner, Result


def command(*words: Any) -> Result:
    """What ``fabriloom`` with these words does; its errors are told on standard error."""
    return CliRunner().invoke(app, [str(word) for word in words])
