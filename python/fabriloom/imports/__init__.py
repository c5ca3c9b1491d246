"""Fabrics as other programs describe them: one small reader per kind, from their files to a graph and routes.

>>> from fabriloom import imports
>>> sorted(imports.KINDS)
['anynet', 'hpcc', 'ibnetdiscover']
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..reading import ReadError
from ..units import nearest
from .anynet import anynet
from .common import Imported
from .hpcc import hpcc
from .infiniband import ibnetdiscover

KINDS: dict[str, Callable[[Sequence[Path]], Imported]] = {
    "ibnetdiscover": ibnetdiscover,
    "anynet": anynet,
    "hpcc": hpcc,
}
"""The reader of each kind."""

__all__ = ["KINDS", "Imported", "ReadError", "read"]


def read(kind: str, *files: str | Path) -> Imported:
    """Read a fabric.

    Args:
        kind: one of ``KINDS``.
        files: the files of this kind, in any order; the reader knows them by their content.

    Raises:
        ReadError: the kind or a file cannot be used; ``place`` is its line.
    """
    reader: Any = KINDS.get(kind)
    if reader is None:
        near = nearest(kind, list(KINDS))
        hint = f"did you mean {near}?" if near else f"there are {', '.join(KINDS)}"
        raise ReadError(f'fabrics of the kind "{kind[:40]}" are not read', hint)
    if not files:
        raise ReadError("no file is named", f"name the files of {kind}")
    return reader([Path(file) for file in files])
