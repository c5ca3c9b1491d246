"""The options that several commands share, each defined once."""

from __future__ import annotations

import os
from collections.abc import Callable
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any

import typer


def words(*choices: str) -> Callable[[str], list[str]]:
    """Return the shell completion of an argument that takes one of these words."""
    return lambda incomplete: [word for word in choices if word.startswith(incomplete)]


def at_home(value: Any) -> Any:
    """Replace ``~`` in paths by the home folder; a shell does not do so inside quotes."""
    if isinstance(value, list | tuple):
        return [at_home(path) for path in value]
    return value and Path(os.path.expanduser(value))


def path_argument(metavar: str, help: str) -> Any:
    """Return an argument that is a path, or several."""
    return typer.Argument(metavar=metavar, help=help, show_default=False, callback=at_home)


def path_option(name: str, metavar: str, help: str, *more: str) -> Any:
    """Return an option that takes a path; ``more``: its other names."""
    return typer.Option(*more, name, metavar=metavar, help=help, callback=at_home)


File = Annotated[Path, path_argument("FILE", "Scenario: TOML, YAML or JSON.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PATH=VALUE", help="Change a setting, such as traffic.load=0.3; repeatable."
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", min=0, max=2**63 - 1, help="Seed of all random streams."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Write all that comes out into this folder.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace an earlier result of fabriloom.")]
ForceFile = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]
Csv = Annotated[bool, typer.Option("--csv", help="With --out: write every table as CSV too.")]
Loads = Annotated[
    str | None, typer.Option("--loads", metavar="LOAD,LOAD…", help="Offered loads, such as 0.1,0.3,0.5.")
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", metavar="N", min=1, max=1024, help="Parallel runs.")]


SHARED = {
    name: Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    for name, annotation, default in (
        ("file", File, Parameter.empty),
        ("settings", Set, None),
        ("seed", Seed, None),
        ("jobs", Jobs, 2),
        ("json", Json, False),
        ("out", Out, None),
        ("force", Force, False),
        ("csv", Csv, False),
    )
}
"""What a command may ask for by name, see ``frame.command``."""
