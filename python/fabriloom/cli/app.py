"""The program ``fabriloom`` and its groups of commands."""

from __future__ import annotations

from typing import Annotated

import typer

import fabriloom

from . import commands as commands
from .frame import Commands, StudyCommands

_EPILOG = (
    "Exit codes: 0 done, also when saturated; 1 with --strict or --twin: numbers or engines disagree, or a "
    "requirement is missed or cannot be told; 2 a mistake in the arguments or the scenario; 3 deadlock; 4 a "
    "fault of the program; 130 interrupted, with partial results."
)

app = typer.Typer(
    cls=Commands,
    help="Simulate lossless packet fabrics, from a scenario file to a report.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
study = typer.Typer(
    cls=StudyCommands,
    help="Run many points in one folder, continuing after any interruption.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(study, name="study")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"fabriloom {fabriloom.__version__}")
        raise typer.Exit


@app.callback(epilog=_EPILOG)
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
