"""Arguments and options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer


def at_home(value: Any) -> Any:
    """Paths with ``~`` for the home folder, which a shell leaves alone in quotes."""
    if isinstance(value, list | tuple):
        return [at_home(path) for path in value]
    return value and Path(os.path.expanduser(value))


File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="Scenario: TOML, YAML or JSON.", show_default=False, callback=at_home
    ),
]
RequirementsFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="Requirements: TOML, YAML or JSON.", show_default=False, callback=at_home
    ),
]
Finalists = Annotated[
    int, typer.Option("--finalists", metavar="N", min=1, max=50, help="Networks that meet everything.")
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PATH=VALUE", help="Change a setting, such as traffic.load=0.3; repeatable."
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", min=0, max=2**63 - 1, help="Start of every random stream."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Write results and report.html here.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an earlier result of fabriloom.")]
ForceFile = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]
Csv = Annotated[bool, typer.Option("--csv", help="Write every table as CSV too; with --out.")]
Loads = Annotated[
    str | None, typer.Option("--loads", metavar="LOAD,LOAD…", help="Offered loads, such as 0.1,0.3,0.5.")
]
CurvePoints = Annotated[
    int | None,
    typer.Option(
        "--points",
        metavar="N",
        min=4,
        max=500,
        help="This many loads: a few from 10 to 100 %, or --loads, then more where the curve bends.",
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, max=1024, help="Runs at a time.")]
Fault = Annotated[
    str | None,
    typer.Option("--fault", metavar="WHAT", help="Every single failure: all, cables or switches."),
]
Bisection = Annotated[
    int,
    typer.Option(
        "--bisection",
        metavar="N",
        min=0,
        max=100_000,
        help="Count the effective bisection bandwidth over N random pairings of the terminals.",
    ),
]
