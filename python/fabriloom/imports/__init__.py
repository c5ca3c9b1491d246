"""Fabrics, packets and traces as other programs describe them: one reader per kind, from files to a scenario.

>>> from fabriloom import imports
>>> sorted(imports.KINDS)[:5]
['anynet', 'booksim', 'chakra', 'dumpi', 'hpcc']
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ..reading import ReadError
from ..units import nearest
from .anynet import anynet
from .booksim import Configuration, booksim
from .chakra import chakra
from .common import Imported
from .dumpi import dumpi
from .hpcc import hpcc
from .htsim import htsim
from .infiniband import ibnetdiscover
from .liballprof import liballprof
from .netrace import netrace
from .packets import Packets, packets
from .ratatoskr import ratatoskr
from .simgrid import simgrid
from .traces import Trace

KINDS: dict[str, Callable[[Sequence[Path]], Configuration | Imported | Packets | Trace]] = {
    "ibnetdiscover": ibnetdiscover,
    "anynet": anynet,
    "booksim": booksim,
    "hpcc": hpcc,
    "htsim": htsim,
    "simgrid": simgrid,
    "ratatoskr": ratatoskr,
    "packets": packets,
    "dumpi": dumpi,
    "liballprof": liballprof,
    "chakra": chakra,
    "netrace": netrace,
}
"""The reader of each kind; what it returns has a ``summary``, ``remarks`` and the ``files`` of a scenario."""

__all__ = ["KINDS", "Configuration", "Imported", "Packets", "ReadError", "Trace", "packets", "read"]


def read(kind: str, *files: str | Path, by_host: bool = False) -> Configuration | Imported | Packets | Trace:
    """Read a fabric, a list of packets, or the trace of an application.

    Args:
        kind: one of ``KINDS``.
        files: the files of this kind, in any order; the reader knows them by their content.
        by_host: of ibnetdiscover: the ports of all adapters of a host are those of one terminal, which joins
            several subnets.

    Raises:
        ReadError: the kind or a file cannot be used; ``place`` is its line.
    """
    if kind not in KINDS:
        near, (*others, last) = nearest(kind, list(KINDS)), KINDS
        hint = f"did you mean {near}?" if near else f"there are {', '.join(others)}, and {last}"
        raise ReadError(f'fabrics of the kind "{kind[:40]}" are not read', hint)
    if not files:
        raise ReadError("no file is named", f"name the files of {kind}")
    if by_host and kind != "ibnetdiscover":
        message = f"hosts with several adapters are those of ibnetdiscover, not of {kind}"
        raise ReadError(message, "leave it out")
    paths = [Path(file) for file in files]
    return ibnetdiscover(paths, by_host) if by_host else KINDS[kind](paths)
