"""``fabriloom import``: a scenario from the files of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import exits
from .exits import Mistake
from .options import Force, Out, at_home


@exits.guarded
def bring(
    kind: Annotated[
        str,
        typer.Argument(metavar="KIND", help="ibnetdiscover, anynet, hpcc or packets.", show_default=False),
    ],
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILES", help="The files of this kind.", show_default=False, callback=at_home),
    ],
    out: Out = None,
    force: Force = False,
) -> int:
    """Make a scenario from a fabric as another program describes it: its cables, rates and routing tables; or
    from a list of packets.

    Without --out, what was read is summed up.
    """
    from .. import imports
    from ..output import encoded
    from ..scenario.errors import Place, ScenarioError
    from . import folders, show

    with folders.taken(out, "import", force) as folder:
        try:
            found = imports.packets(files) if kind == "packets" else imports.read(kind, *files)
        except imports.ReadError as error:
            if error.place is None:
                raise Mistake(f"{error.message}\n  {error.hint}") from None
            raise ScenarioError(error.message, None, error.hint, Place(*error.place)) from None
        show.pairs(found.summary())
        for remark in found.remarks:
            exits.complain(f"warning: {remark}")
        if folder is None:
            show.line("add --out DIR for a scenario")
            return exits.OK
        for name, text in found.files(files[0].stem).items():
            with folder.file(name) as file:
                file.write(encoded(text))
        with exits.undisturbed():
            place = folder.finish()
    show.line(
        f"Written to {folders.shown(place)}; next: fabriloom check {folders.shown(place / 'scenario.toml')}"
    )
    return exits.OK
