"""What the topology tests share: example graphs of every family and a comparison of graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from fabriloom.topology import Graph

EXAMPLES: list[tuple[str, dict[str, Any]]] = [
    ("crossbar", {"terminals": 5}),
    ("ring", {"switches": 6, "terminals_per_switch": 2, "links_per_edge": 3}),
    ("ring", {"switches": 2, "terminals_per_switch": 2, "links_per_edge": 2}),
    ("grid", {"shape": [8, 8], "terminals_per_switch": 16, "links_per_edge": 4}),
    ("grid", {"shape": [4, 4], "terminals_per_switch": 16, "links_per_edge": 4}),
    ("grid", {"shape": [3, 2, 4], "terminals_per_switch": 2}),
    ("grid", {"shape": [5], "terminals_per_switch": 1}),
    ("torus", {"shape": [8, 8], "terminals_per_switch": 16, "links_per_edge": 4}),
    ("torus", {"shape": [2, 3], "terminals_per_switch": 2, "links_per_edge": 2}),
    ("hypercube", {"dimensions": 4, "terminals_per_switch": 2}),
    ("clos", {"terminals": 64}),
    ("clos", {"terminals": 128}),
    ("clos", {"terminals": 256}),
    ("clos", {"terminals": 512}),
    ("clos", {"terminals": 96}),
    ("clos", {"terminals": 8, "switch_ports": 4}),
    ("clos", {"terminals": 48, "terminals_per_switch": 12, "centre_switches": 3, "links_per_pair": 2}),
    ("clos5", {"terminals": 1024}),
    ("clos5", {"terminals": 640}),
    ("fat_tree", {"arity": 4, "levels": 3}),
    ("fat_tree", {"arity": 2, "levels": 1}),
    ("dragonfly", {"switches_per_group": 4, "global_links": 2, "terminals_per_switch": 2}),
    ("dragonfly", {"switches_per_group": 2, "global_links": 3, "groups": 3}),
    ("dragonfly", {"switches_per_group": 4, "global_links": 2, "arrangement": "absolute"}),
    ("dragonfly_plus", {"leaves": 2, "spines": 2, "global_links": 1, "terminals_per_switch": 2}),
    ("slim_fly", {"order": 3}),
    ("slim_fly", {"order": 4, "terminals_per_switch": 1}),
    ("polarfly", {"order": 3, "terminals_per_switch": 2}),
    ("hyperx", {"shape": [4, 3], "terminals_per_switch": 4, "links_per_dimension": [2, 1]}),
    ("hammingmesh", {"board": [2, 2], "boards": [2, 3]}),
    ("jellyfish", {"switches": 10, "degree": 3, "terminals_per_switch": 2}),
    ("twisted_torus", {"shape": [3, 6], "twist": [3], "terminals_per_switch": 2}),
    ("xgft", {"children": [2, 2, 3], "parents": [1, 2, 2]}),
    ("kautz", {"degree": 2, "length": 3}),
    ("de_bruijn", {"degree": 2, "length": 3}),
    ("banyan", {"terminals": 16}),
    ("banyan", {"terminals": 16, "variant": "flip"}),
    ("banyan", {"terminals": 16, "variant": "butterfly"}),
    ("banyan", {"terminals": 16, "variant": "baseline"}),
    ("banyan", {"terminals": 16, "variant": "indirect-cube"}),
    ("banyan", {"terminals": 16, "variant": "generalized-cube"}),
    ("banyan", {"terminals": 16, "variant": "omega", "base": 4}),
    ("star", {"arms": 5, "terminals_per_switch": 3, "links_per_edge": 2}),
    ("tree", {"arity": 3, "depth": 2, "terminals_per_switch": 2, "links_per_edge": 2}),
]


def example_id(example: tuple[str, dict[str, Any]]) -> str:
    kind, parameters = example
    return kind + "-" + "-".join(str(value).replace(" ", "") for value in parameters.values())


def assert_same(one: Graph, other: Graph) -> None:
    """Assert that two graphs are equal in everything a file keeps."""
    assert one.switch_names == other.switch_names
    assert one.terminal_names == other.terminal_names
    assert one.link_names == other.link_names
    for column in ("link_source", "link_target", "link_reverse"):
        np.testing.assert_array_equal(getattr(one, column), getattr(other, column))
    assert one.attributes.keys() == other.attributes.keys()
    for key, values in one.attributes.items():
        np.testing.assert_array_equal(values, other.attributes[key])
    assert (one.positions is None) == (other.positions is None)
    if one.positions is not None and other.positions is not None:
        np.testing.assert_array_equal(one.positions, other.positions)
