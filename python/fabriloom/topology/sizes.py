"""What links get from their ends: buffers and lanes from the one they lead to, the cycle from the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .raw import RawGraph


def give(raw: RawGraph) -> None:
    """Give links the cycle of the vertex that they leave and, if they have no buffer or lanes, those of the
    vertex that they lead to.
    """
    if not any(vertex.numbers for vertex in raw.vertices.values()):
        return
    for link in raw.links:
        source, vertex = raw.vertices.get(link.source), raw.vertices.get(link.target)
        if source is None or vertex is None:
            continue
        has_buffer = any(name.startswith("buffer") for name in link.numbers)
        given = {
            name: value
            for name, value in vertex.numbers.items()
            if name != "cycle_ps" and not (has_buffer and name.startswith("buffer"))
        }
        link.numbers = given | link.numbers
        if "cycle_ps" in source.numbers:
            link.numbers["cycle_ps"] = source.numbers["cycle_ps"]
