"""Packets on their ways, as the page plays them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..results import Results
from ..results.tables import column

HOPS = 12_000
"""The newest of so many stays of packets on links are kept; some thousand packets."""
PACKETS = 20_000
"""A recorded run ends when so many were delivered, if it does not end by itself."""
_NOBODY = 2**32 - 1


def recording(results: Results) -> dict[str, Any]:
    """Every stay of a packet on a link, in ns from the first: columns of equal length.

    ``packet`` numbers what moves as one, -1 for echoes; ``kind`` is 0 for packets and requests, 1 for
    responses, 2 for echoes, 3 for busy echoes, 4 more when it is sent again; ``last``: it arrives by it.
    """
    native, graph = results.native, results.graph
    tick_ns = results.tick_ps / 1000
    begin = column(native, "hop_begin_ticks").astype(np.int64)
    if not len(begin):
        return {"rows": 0, "dropped": 0}
    # The engine knows ahead of its clock what moves on undisturbed; what begins after the end is not shown.
    order = np.argsort(begin, kind="stable")
    order = order[begin[order] <= int(native["end_time_ticks"])]
    columns = {name: column(native, f"hop_{name}")[order] for name in ("source", "target", "link", "kind")}
    started, end = (
        column(native, f"hop_{name}_ticks")[order].astype(np.int64) for name in ("started", "end")
    )
    begin = begin[order]
    packet, first = _packets(columns, started)
    ends = np.where(end < 0, -1, end - begin[0])
    into = np.asarray(graph.terminal_in_links)[np.minimum(columns["target"], graph.terminals - 1)]
    names = list(graph.terminal_names)
    return {
        "rows": len(begin),
        "dropped": int(native["hops_dropped"]),
        "from_ns": float(begin[0] * tick_ns),
        "until_ns": float((int(native["end_time_ticks"]) - begin[0]) * tick_ns),
        "packet": packet.tolist(),
        "link": columns["link"].tolist(),
        "kind": columns["kind"].tolist(),
        "begin": np.round((begin - begin[0]) * tick_ns, 2).tolist(),
        "end": np.where(ends < 0, -1, np.round(ends * tick_ns, 2)).tolist(),
        "last": (columns["link"] == into).astype(int).tolist(),
        "packets": [
            [names[columns["source"][at]], names[columns["target"][at]], float(started[at] * tick_ns)]
            for at in first
        ],
        "reason": results.summary["end"]["reason"],
        "message": results.summary["end"]["message"],
        "cycle": column(native, "deadlock_links").tolist(),
        "rings": graph.rings is not None,
    }


def _packets(
    columns: Mapping[str, NDArray[Any]], started: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A number per row for what it is a part of, and the first row of each number."""
    known = columns["source"] != _NOBODY
    source, kind = (columns[name].astype(np.int64) for name in ("source", "kind"))
    keys = np.stack([source, started, kind & 3])[:, known]
    _, first, inverse = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    packet = np.full(len(started), -1, np.int64)
    packet[known] = inverse.ravel()
    return packet, np.flatnonzero(known)[first]
