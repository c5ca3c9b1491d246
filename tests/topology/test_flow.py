"""The maximum flow is that of a well-known library, for graphs drawn at random."""

from __future__ import annotations

import random

import networkx
import pytest
from fabriloom.topology.flow import maximum_flow


@pytest.mark.parametrize("seed", range(100))
def test_flow_is_that_of_the_library(seed: int) -> None:
    draw = random.Random(seed)
    vertices = draw.randint(2, 20)
    pairs = {tuple(sorted(draw.sample(range(vertices), 2))) for _ in range(draw.randint(1, 3 * vertices))}
    edges = [(a, b, draw.randint(1, 9)) for a, b in pairs]
    graph = networkx.Graph()
    graph.add_nodes_from(range(vertices))
    graph.add_weighted_edges_from(edges, "capacity")
    assert maximum_flow(vertices, edges, 0, 1) == networkx.maximum_flow_value(graph, 0, 1)
