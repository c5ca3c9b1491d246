"""``fabriloom new``: a commented scenario as a starting point."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..exits import Mistake, say
from ..frame import Call, ForceFile, at_home, check_file, command, words, write_file
from ..house import templates, units


@command()
def new(
    call: Call,
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="cluster, daq, grid, noc, sci or spacecraft.",
            autocompletion=words("cluster", "daq", "grid", "noc", "sci", "spacecraft"),
        ),
    ] = "",
    to: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="File to write; if not given, it is printed.", callback=at_home),
    ] = None,
    force: ForceFile = False,
) -> None:
    """Write a commented scenario as a starting point."""
    kinds, kind = templates.names(), templates.known(kind)
    if kind not in kinds:
        near = units.nearest(kind, kinds) if kind else None
        offer = f"did you mean {near}? " if near else ""
        asked = f"there is no scenario {kind} to start from" if kind else "name a kind of network"
        raise Mistake(f"{asked}; {offer}choose from: {', '.join(kinds)}")
    text = templates.text(kind)
    if to is None:
        return say(text.rstrip("\n"))
    check_file(to, force, "", "a scenario to start from is TOML", (".toml",))
    write_file(to, text.replace(f"{kind}.toml", to.name))
    say(f"Written to {to}; next: fabriloom check {to}")
    return None
