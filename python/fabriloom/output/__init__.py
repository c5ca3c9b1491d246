"""Everything that is written for a user: whole or not at all, and nothing of the user's in its place.

``whole``: one file. ``manifest``: the list by which a folder proves what the program wrote into it.
``working``: a folder under a lock in which results come into being.
``folder``: the output folder of a command. ``pieces``: finished pieces of longer work.
"""

from __future__ import annotations

from .folder import Output
from .pieces import Pieces, stamp
from .refusal import OutputError
from .whole import Files, Plain, encoded, file, remove, settle
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
]
