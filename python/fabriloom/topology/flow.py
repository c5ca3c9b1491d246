"""The maximum flow between two vertices of a graph whose edges carry the same both ways (Dinic 1970)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable


def maximum_flow(vertices: int, edges: Iterable[tuple[int, int, int]], source: int, sink: int) -> int:
    """Return the maximum flow from ``source`` to ``sink``; ``edges``: two vertices and a capacity each."""
    to: list[int] = []
    left: list[int] = []
    """Per direction of an edge, the capacity that is not used; the opposite direction is its neighbour."""
    out: list[list[int]] = [[] for _ in range(vertices)]
    for a, b, capacity in edges:
        for start, end in ((a, b), (b, a)):
            out[start].append(len(to))
            to.append(end)
            left.append(capacity)
    flow = 0
    while (levels := _levels(to, left, out, source))[sink] > 0:
        flow += _blocking(to, left, out, levels, source, sink)
    return flow


def _levels(to: list[int], left: list[int], out: list[list[int]], source: int) -> list[int]:
    """Return the distance of each vertex from the source over edges with capacity; -1: out of reach."""
    levels = [-1] * len(out)
    levels[source] = 0
    waiting = deque([source])
    while waiting:
        vertex = waiting.popleft()
        for edge in out[vertex]:
            if left[edge] and levels[to[edge]] < 0:
                levels[to[edge]] = levels[vertex] + 1
                waiting.append(to[edge])
    return levels


def _blocking(
    to: list[int], left: list[int], out: list[list[int]], levels: list[int], source: int, sink: int
) -> int:
    """Fill shortest paths until none is left; returns the flow that they carry."""
    tried = [0] * len(out)
    path: list[int] = []
    flow, vertex = 0, source
    while True:
        if vertex == sink:
            pushed = min(left[edge] for edge in path)
            for edge in path:
                left[edge] -= pushed
                left[edge ^ 1] += pushed
            flow, path, vertex = flow + pushed, [], source
        elif tried[vertex] == len(out[vertex]):
            if not path:
                return flow
            vertex = to[path.pop() ^ 1]
            tried[vertex] += 1
        else:
            edge = out[vertex][tried[vertex]]
            if left[edge] and levels[to[edge]] == levels[vertex] + 1:
                path.append(edge)
                vertex = to[edge]
            else:
                tried[vertex] += 1
