"""``fabriloom new``: a commented scenario as a starting point."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ..output import encoded, file
from ..printable import escaped
from ..units import nearest
from . import exits, templates
from .exits import Mistake


def new(kind: str, output: Path | None, force: bool) -> int:
    """Print or write a commented scenario as a starting point."""
    kinds = templates.names()
    if kind not in kinds:
        near = nearest(kind, kinds) if kind else None
        offer = f"did you mean {near}? " if near else ""
        asked = f"there is no scenario {kind} to start from" if kind else "name a kind of network"
        raise Mistake(f"{asked}; {offer}choose from: {', '.join(kinds)}")
    text = templates.text(kind)
    if output is None:
        _line(text.rstrip("\n"))
        return exits.OK
    if output.suffix.lower() != ".toml":
        raise Mistake(
            f"{output}: a scenario to start from is TOML; name it {output.with_suffix('.toml').name}"
        )
    if os.path.lexists(output) and not force:
        raise Mistake(f"{output}: the file exists; name another one, or add --force to replace it")
    with file(output) as out:
        out.write(encoded(text.replace(f"{kind}.toml", output.name)))
    _line(f"Written to {output}; next: fabriloom check {output}")
    return exits.OK


def _line(text: str) -> None:
    sys.stdout.write(escaped(text) + "\n")  # ``show`` would import all that results need
