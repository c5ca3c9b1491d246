"""``fabriloom draw``: the network as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ..exits import say
from ..frame import Call, ForceFile, check_file, command, path_option, write_file
from ..house import compile, drawing


@command("file settings")
def draw(
    call: Call,
    to: Annotated[Path | None, path_option("--output FILE.svg", "Write to this file.", "-o")] = None,
    force: ForceFile = False,
) -> None:
    """Draw the network as SVG, to standard output or to a file."""
    scenario = call.scenario()
    if to is not None:
        check_file(to, force, "-o", "a drawing is SVG", (".svg", ""))
    svg = drawing.fabric_svg(compile.graph_of(scenario))
    if to is None:
        return say(svg)
    write_file(to, svg)
    return say(f"Written to {to}")
