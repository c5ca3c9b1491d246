"""Buffers and lanes that a switch gives to the links that lead to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .raw import RawGraph


def give(raw: RawGraph) -> None:
    """Give links without a buffer or lanes of their own those of the vertices that they lead to."""
    if not any(vertex.numbers for vertex in raw.vertices.values()):
        return
    for link in raw.links:
        vertex = raw.vertices.get(link.target)
        if vertex is None:
            continue
        has_buffer = any(name.startswith("buffer") for name in link.numbers)
        given = {
            name: value
            for name, value in vertex.numbers.items()
            if not (has_buffer and name.startswith("buffer"))
        }
        link.numbers = given | link.numbers
