"""Fabrics and packets as other programs describe them: one small reader per kind, from files to a scenario.

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
from .packets import Packets, packets

KINDS: dict[str, Callable[[Sequence[Path]], Imported]] = {
    "ibnetdiscover": ibnetdiscover,
    "anynet": anynet,
    "hpcc": hpcc,
}
"""The reader of each kind of fabric; lists of packets have :func:`packets`."""

__all__ = ["KINDS", "Imported", "Packets", "ReadError", "packets", "read"]


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
        near = nearest(kind, [*KINDS, "packets"])
        hint = f"did you mean {near}?" if near else f"there are {', '.join(KINDS)}, and packets"
        raise ReadError(f'fabrics of the kind "{kind[:40]}" are not read', hint)
    if not files:
        raise ReadError("no file is named", f"name the files of {kind}")
    return reader([Path(file) for file in files])
