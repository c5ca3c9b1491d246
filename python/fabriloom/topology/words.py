"""Kautz and de Bruijn networks: switches are words, and each leads to those that follow it, one letter on.

W. H. Kautz, 1968; N. G. de Bruijn, 1946. All links between switches are one-way. A shortest path is the
only one of its length.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from .family import Depth, Several, TerminalsPerSwitch, family
from .graph import MAX_TERMINALS, Graph, Ints, check_size, terminals_at, whole

Degree = Annotated[Several, Field(description="d: links out of a switch, and into it")]
Letters = Annotated[Depth, Field(description="n: letters of a word, and the diameter")]


@family("kautz", "Words without equal neighbours, one-way links to the words one letter on.")
def kautz(degree: Degree, length: Letters, terminals_per_switch: TerminalsPerSwitch = 1) -> Graph:
    """Build (d + 1) d^(n - 1) switches ``s(word)``: words of d + 1 letters, neighbours never equal."""
    d, n = _checked(degree, length)
    count = (d + 1) * d ** (n - 1)
    check_size(count, (count * (d + 2) + 1) // 2, "length")
    letters = np.arange(d + 1)[:, None]
    for _ in range(n - 1):
        # The next letter is one of d: those below the last one, or those above it.
        step = np.tile(np.arange(d), len(letters))
        longer = np.repeat(letters, d, axis=0)
        letters = np.column_stack([longer, step + (step >= longer[:, -1])])
    return _words("kautz", letters, d + 1, d, terminals_per_switch)


@family("de_bruijn", "Words of equal length, one-way links to the words one letter on.")
def de_bruijn(degree: Degree, length: Letters, terminals_per_switch: TerminalsPerSwitch = 1) -> Graph:
    """Build d^n switches ``s(word)``; links from a switch to itself are left out."""
    d, n = _checked(degree, length)
    check_size(d**n, (d**n * (d + 2) + 1) // 2, "length")
    letters = np.arange(d**n)[:, None] // d ** np.arange(n - 1, -1, -1) % d
    return _words("de_bruijn", letters, d, d, terminals_per_switch)


def _checked(degree: int, length: int) -> tuple[int, int]:
    whole(degree, "degree", 2, MAX_TERMINALS, "the links out of a switch")
    return degree, whole(length, "length", 1, 20, "the letters of a word")


def _words(family: str, letters: Ints, alphabet: int, degree: int, per: int) -> Graph:
    terminals_at(per)
    switches = len(letters)
    check_size(switches * per, switches * (2 * per + degree) // 2, "terminals_per_switch")
    near, far = _links(letters, alphabet)
    home = np.repeat(np.arange(switches), per)
    names = ["s(" + ",".join(map(str, word)) + ")" for word in letters.tolist()]
    terminals = [f"t{names[switch][1:]}.{number}" for switch in range(switches) for number in range(per)]
    vertex = switches + np.arange(len(terminals))
    source = np.concatenate([np.column_stack([vertex, home]).ravel(), near])
    target = np.concatenate([np.column_stack([home, vertex]).ravel(), far])
    reverse = np.full(len(source), -1, np.int64)
    reverse[: 2 * len(terminals)] = np.arange(2 * len(terminals)) ^ 1
    called = [*names, *terminals]
    return Graph(
        switch_names=names,
        terminal_names=terminals,
        link_source=source,
        link_target=target,
        link_reverse=reverse,
        link_names=[
            f"{called[a]}>{called[b]}" for a, b in zip(source.tolist(), target.tolist(), strict=True)
        ],
        family=family,
        positions=on_circle(switches),
    )


def _links(letters: Ints, alphabet: int) -> tuple[Ints, Ints]:
    """Return the ends of the links: a word without its first letter, and any letter behind it."""
    weights = alphabet ** np.arange(letters.shape[1] - 1, -1, -1)
    values = letters @ weights
    place = np.full(alphabet ** letters.shape[1], -1, np.int64)
    place[values] = np.arange(len(letters))
    near = np.repeat(np.arange(len(letters)), alphabet)
    letter = np.tile(np.arange(alphabet), len(letters))
    far = place[values[near] % weights[0] * alphabet + letter]
    kept = (far >= 0) & (near != far)
    return near[kept], far[kept]


# Places of switches in drawings that several families share.
def on_circle(switches: int) -> NDArray[np.float64]:
    """Return places on a circle, neighbours about one apart, the first at the top."""
    angle = 2 * np.pi * np.arange(switches) / switches
    return max(switches / (2 * np.pi), 0.6) * np.column_stack([np.sin(angle), -np.cos(angle)])


def groups_on_circle(groups: int, size: int) -> NDArray[np.float64]:
    """Return places: groups on a circle, the switches of each group on a smaller circle."""
    own = on_circle(size)
    turn = 2 * np.pi * np.arange(groups) / groups
    radius = max(groups * (2 * np.abs(own).max() + 1.2) / (2 * np.pi), 1.5)
    centres = radius * np.column_stack([np.sin(turn), -np.cos(turn)])
    return (centres[:, None, :] + own[None, :, :]).reshape(-1, 2)
