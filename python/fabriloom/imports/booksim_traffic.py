"""The traffic patterns of BookSim."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn

from .booksim_networks import Network

_BITS: dict[str, Callable[[int, int], int]] = {
    "bitcomp": lambda node, bits: ~node & ((1 << bits) - 1),
    "transpose": lambda node, bits: (node >> bits // 2) | ((node & ((1 << bits // 2) - 1)) << bits // 2),
    "bitrev": lambda node, bits: int(f"{node:0{bits}b}"[::-1], 2),
    "shuffle": lambda node, bits: ((node << 1) | (node >> (bits - 1))) & ((1 << bits) - 1),
}
_DIGITS: dict[str, Callable[[int], int]] = {"tornado": lambda k: (k + 1) // 2 - 1, "neighbor": lambda k: 1}
"""How far along each dimension a packet goes."""
_ALIKE = {"bitcomp": "bit-complement", "tornado": "tornado"}
"""Patterns of meshes and tori that do not depend on the order of the dimensions."""
KNOWN = ("uniform", *_BITS, *_DIGITS, "randperm", "hotspot({node})")
Fail = Callable[[str, str], NoReturn]


def pattern(text: str, network: Network, kind: str, fail: Fail) -> tuple[dict[str, Any], str]:
    """Return the pattern of a scenario, and a remark on what differs."""
    terminals = network.graph.terminals
    name, _, arguments = text.partition("(")
    hot = re.fullmatch(r"\{?(\d{1,7})\}?\)", arguments)
    if name == "uniform" and not arguments:
        return {"kind": "uniform", "include_self": True}, ""
    if name == "randperm" and not arguments:
        return {"kind": "permutation", "random": True}, "randperm: a random permutation, but another one"
    if name == "hotspot" and hot:
        if int(hot[1]) >= terminals:
            fail(f"there is no node {hot[1]} of {terminals}", "nodes count from 0")
        return _mapped([int(hot[1])] * terminals, network, kind)
    bits = terminals.bit_length() - 1
    if name in _BITS and not arguments:
        if 1 << bits != terminals or (name == "transpose" and bits % 2):
            fail(
                f"{name} needs a power of {4 if name == 'transpose' else 2} of nodes, not {terminals}",
                "change k or n",
            )
        if kind in ("mesh", "torus") and name in _ALIKE:
            return {"kind": _ALIKE[name]}, ""
        return _mapped([_BITS[name](node, bits) for node in range(terminals)], network, kind)
    if name in _DIGITS and not arguments and network.digits:
        if kind in ("mesh", "torus") and name in _ALIKE:
            return {"kind": _ALIKE[name]}, ""
        k, n = network.digits
        ahead = [
            sum((node // k**at + _DIGITS[name](k)) % k * k**at for at in range(n))
            for node in range(terminals)
        ]
        return _mapped(ahead, network, kind)
    return fail(f'traffic = "{text[:40]}" has no counterpart for {kind}', f"there are {', '.join(KNOWN)}")


def _mapped(targets: list[int], network: Network, kind: str) -> tuple[dict[str, Any], str]:
    """Return the destinations by the terminals' numbers here."""
    here = list(range(len(targets)))
    if kind in ("mesh", "torus") and network.digits:
        k, n = network.digits
        here = [sum(node // k**at % k * k ** (n - 1 - at) for at in range(n)) for node in range(len(targets))]
    found = [0] * len(targets)
    for node, target in enumerate(targets):
        found[here[node]] = here[target]
    own = sum(target == number for number, target in enumerate(found))
    remarks = ["nodes are numbered router by router"] if kind in ("cmesh", "flatfly") else []
    remarks += [f"{own} nodes that would send to themselves are silent"] if own else []
    return {"kind": "map", "map": found}, "; ".join(remarks)
