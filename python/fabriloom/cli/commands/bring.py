"""``fabriloom import``: a scenario from the files of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import exits
from ..exits import Mistake, say
from ..frame import Call, command, path_argument
from ..house import folders, imports, output, scenario, show


@command("", "out force", name="import")
def bring(
    call: Call,
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="ibnetdiscover, anynet, booksim, hpcc, htsim, simgrid, ratatoskr, packets, dumpi, "
            "liballprof, chakra or netrace.",
            show_default=False,
        ),
    ],
    files: Annotated[list[Path], path_argument("FILES", "The files of this kind.")],
    by_host: Annotated[
        bool,
        typer.Option(
            "--by-host",
            help="ibnetdiscover: the ports of a host are those of one terminal, which joins rails.",
        ),
    ] = False,
) -> None:
    """Make a scenario from a fabric as another program describes it: its cables, rates and routing tables; or
    from a list of packets or the trace of an application.

    Without --out, what was read is summed up.
    """
    with call.output() as folder:
        try:
            found = imports.read(kind, *files, by_host=by_host)
        except imports.ReadError as error:
            if error.place is None:
                raise Mistake(f"{error.message}\n  {error.hint}") from None
            place = scenario.Place(*error.place)
            raise scenario.ScenarioError(error.message, None, error.hint, place) from None
        show.pairs(found.summary())
        for remark in found.remarks:
            exits.complain(f"warning: {remark}")
        if folder is None:
            say("add --out DIR for a scenario")
            return
        for name, parts in found.files(files[0].stem).items():
            with folder.file(name) as file:
                file.writelines(map(output.encoded, parts))
        with exits.undisturbed():
            place = folder.finish()
    say(f"Written to {folders.shown(place)}; next: fabriloom check {folders.shown(place / 'scenario.toml')}")
