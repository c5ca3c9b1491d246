"""Positions of switches for graphs that give none.

Switches are placed so that distances in the drawing follow distances in the network (stress majorisation: E.
R. Gansner, Y. Koren, S. North, 2004), starting from classical scaling. The result is deterministic.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...topology import Graph

Points = NDArray[Any]

MAX_STRESS_SWITCHES = 600
ROUNDS = 60


def switch_positions(graph: Graph) -> Points:
    """Return positions of the switches, shape (switches, 2), scaled so that the nearest two are 1 apart."""
    placed = graph.positions if graph.positions is not None else _placed(graph)
    placed = np.array(placed, np.float64)
    if graph.switches < 2:
        return np.zeros((graph.switches, 2))
    placed -= placed.min(axis=0)
    nearest = nearest_distance(placed)
    spread = float(np.ptp(placed, axis=0).max())
    if not np.isfinite(spread) or spread == 0 or nearest < 1e-3 * spread:
        # Positions coincide, or nearly: a wrong file should still give a picture.
        placed = _apart(
            _grid_like(graph.switches) if not spread > 0 else placed / spread * graph.switches**0.5
        )
        nearest = nearest_distance(placed)
    return (placed - placed.min(axis=0)) / nearest


def nearest_distance(points: Points) -> float:
    """Return the smallest distance between two of the points."""
    nearest = np.inf
    for at in range(0, len(points), 512):
        square = ((points[at : at + 512, None] - points[None]) ** 2).sum(axis=2)
        square[np.arange(len(square)), at + np.arange(len(square))] = np.inf
        nearest = min(nearest, float(square.min()))
    return float(np.sqrt(nearest))


def _placed(graph: Graph) -> Points:
    if graph.switches < 3:
        return np.column_stack([np.arange(graph.switches) * 1.0, np.zeros(graph.switches)])
    steps = _steps(graph)
    start = _scaled(steps)
    if graph.switches > MAX_STRESS_SWITCHES:
        return _apart(start)
    return _upright(_apart(_relaxed(start, steps)))


PIVOTS = 40


def pivoted(graph: Graph) -> Points:
    """Return places of the switches of a large graph that show its structure: distances to some switches far
    from each other, projected to a plane (U. Brandes, C. Pich: Eigensolver methods for progressive
    multidimensional scaling, 2006). Switches that coincide are spread around their place.
    """
    start, near = _neighbours(graph)
    far = np.full(graph.switches, np.inf)
    rows, pivot = [], 0
    for _ in range(min(PIVOTS, graph.switches)):
        steps = _distances(start, near, pivot)
        rows.append(np.where(steps < 0, steps.max() + 1, steps))
        far = np.minimum(far, rows[-1])
        pivot = int(far.argmax())
    square = np.array(rows, np.float64).T ** 2
    centred = square.mean(axis=0) + square.mean(axis=1)[:, None] - square - square.mean()
    _, vectors = np.linalg.eigh(centred.T @ centred)
    plane = centred @ vectors[:, :-3:-1]
    plane /= max(float(np.ptp(plane, axis=0).max()), 1e-9)
    keys, group = np.unique(np.round(plane, 4), axis=0, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    turn = np.empty(graph.switches)
    turn[order] = np.arange(graph.switches) - np.searchsorted(group.ravel()[order], group.ravel()[order])
    angle = turn * 2.399963
    step = 0.4 / np.sqrt(max(len(keys), graph.switches))
    return plane + step * np.sqrt(turn)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def _neighbours(graph: Graph) -> tuple[Points, Points]:
    """Return the neighbours of all switches, one after another, and where those of each begin."""
    links = graph.switch_links
    source = np.concatenate([graph.link_source[links], graph.link_target[links]])
    target = np.concatenate([graph.link_target[links], graph.link_source[links]])
    order = np.argsort(source, kind="stable")
    start = np.searchsorted(source[order], np.arange(graph.switches + 1))
    return start, target[order]


def _distances(start: Points, near: Points, first: int) -> Points:
    """Return the number of cables from one switch to every other, in any direction; -1: there is no way."""
    steps = np.full(len(start) - 1, -1)
    frontier, distance = np.array([first]), 0
    while frontier.size:
        steps[frontier] = distance
        distance += 1
        counts = start[frontier + 1] - start[frontier]
        at = np.repeat(start[frontier + 1] - np.cumsum(counts), counts) + np.arange(counts.sum())
        found = np.unique(near[at])
        frontier = found[steps[found] < 0]
    return steps


def _steps(graph: Graph) -> Points:
    """Return the number of cables on a shortest path between every two switches, ignoring directions."""
    start, near = _neighbours(graph)
    steps = np.array([_distances(start, near, switch) for switch in range(graph.switches)], np.float64)
    return np.where(steps < 0, steps.max() + 1, steps)


def _scaled(steps: Points) -> Points:
    """Return the projection to two axes that best preserves squared distances, with definite signs."""
    square = steps**2
    centred = -0.5 * (square - square.mean(axis=0) - square.mean(axis=1)[:, None] + square.mean())
    values, vectors = np.linalg.eigh(centred)
    plane = vectors[:, -2:][:, ::-1] * np.sqrt(np.maximum(values[-2:][::-1], 1e-9))
    plane *= np.where(plane[np.abs(plane).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    # Switches with the same neighbours coincide; a small spiral separates them.
    turn = np.arange(len(steps)) * 2.399963
    return plane + 0.05 * np.column_stack([np.cos(turn), np.sin(turn)])


def _relaxed(points: Points, steps: Points) -> Points:
    """Lower the stress: the sum over pairs of (distance in the drawing / steps - 1) squared."""
    weight = 1 / np.maximum(steps, 1) ** 2
    np.fill_diagonal(weight, 0)
    laplacian = -weight
    np.fill_diagonal(laplacian, weight.sum(axis=1))
    inverse = np.linalg.pinv(laplacian)
    for _ in range(ROUNDS):
        apart = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
        pull = -weight * steps / np.maximum(apart, 1e-6)
        np.fill_diagonal(pull, 0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        points = inverse @ (pull @ points)
    return points


def _apart(points: Points, least: float = 0.75) -> Points:
    """Separate points that are nearer than ``least``."""
    points = points.copy()
    number = np.arange(len(points))
    for _ in range(40):
        gap = points[:, None] - points[None]
        apart = np.sqrt((gap**2).sum(axis=2))
        np.fill_diagonal(apart, np.inf)
        if apart.min() >= least:
            break
        turn = (number[:, None] * 2.399963 + number[None] * 0.7) % (2 * np.pi)
        spiral = np.stack([np.cos(turn), np.sin(turn)], axis=2)
        direction = np.where(apart[..., None] > 1e-6, gap / np.maximum(apart, 1e-6)[..., None], spiral)
        short = np.maximum(least - apart, 0) * 0.5
        points += (direction * short[..., None]).sum(axis=1)
    return points


def _upright(points: Points) -> Points:
    """Rotate the longest extent to the x axis."""
    centred = points - points.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    return centred @ (axes * np.where(axes[:, :1].sum(axis=1, keepdims=True) < 0, -1, 1)).T


def _grid_like(count: int) -> Points:
    width = int(np.ceil(np.sqrt(count)))
    return np.stack(np.divmod(np.arange(count), width), axis=1)[:, ::-1].astype(np.float64)
