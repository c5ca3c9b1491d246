"""Writing files for a user: each file appears complete or not at all, and no file of the user is replaced.

``whole``: one file, and finished pieces of longer work. ``manifest``: the checksum list that proves which
files of a folder the program wrote. ``working``: a locked folder in which a command works. ``folder``: the
output folder of a command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..process.libraries import names
from .manifest import OutputError
from .whole import Files, Pieces, Plain, encoded, file, remove, settle, stamp, sweep

if TYPE_CHECKING:
    from .folder import Output
    from .working import Working, lock

__all__ = [
    "Files",
    "Output",
    "OutputError",
    "Pieces",
    "Plain",
    "Working",
    "encoded",
    "file",
    "lock",
    "remove",
    "settle",
    "stamp",
    "sweep",
]

__getattr__ = names(globals(), {"Output": ".folder", "Working": ".working", "lock": ".working"})
"""A command without a folder needs none of these."""
