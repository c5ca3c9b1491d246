"""Fixed destinations by the position of the switch: mirrored, transposed, or nearly half way round."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabriloom.traffic import pairs
from fabriloom.traffic.kinds import Ints, Network, TrafficError, homes


def point_mirror(network: Network) -> Ints:
    """Return the destinations mirrored about the centre: terminal k of a switch to terminal k of the opposite
    switch.

    A switch in the centre is its own opposite; its terminals are paired first with last. Without coordinates
    the numbers of the terminals are mirrored.
    """
    place = _places(network)
    if place is None:
        return pairs.mirror(network.terminals)
    coordinates, shape = place
    return _moved(network, shape - 1 - coordinates, shape, "point-mirror")


def axis_mirror(network: Network, axis: int) -> Ints:
    """Return the destinations mirrored along dimension ``axis``: terminal k of a switch to terminal k."""
    place = _places(network)
    if place is None:
        if axis:
            message = (
                f"axis {axis}: this network has no coordinates, only axis 0 (the numbers of the terminals)"
            )
            raise TrafficError(message, "pattern.axis", "use axis = 0")
        return pairs.mirror(network.terminals)
    coordinates, shape = place
    if axis >= len(shape):
        message = f"axis {axis}: the network has {len(shape)} dimension{'s' if len(shape) > 1 else ''}"
        raise TrafficError(message, "pattern.axis", f"use an axis from 0 to {len(shape) - 1}")
    target = coordinates.copy()
    target[:, axis] = shape[axis] - 1 - target[:, axis]
    return _moved(network, target, shape, "axis-mirror")


def transpose(network: Network) -> Ints:
    """Return the transposed destinations: on a square grid terminal k of (x, y) to terminal k of (y, x);
    elsewhere by terminal number."""
    place = _places(network)
    if place is None or len(place[1]) != 2 or place[1][0] != place[1][1]:
        return pairs.transpose(network.terminals)
    coordinates, shape = place
    return _moved(network, coordinates[:, ::-1], shape, "transpose", reverse_own=False)


def tornado(network: Network) -> Ints:
    """Return the destinations ceil(k / 2) - 1 switches along each dimension of k, terminal k to terminal k;
    without coordinates the k terminals are one dimension (Dally and Towles 2004, table 3.1).
    """
    place = _places(network)
    if place is None:
        return pairs.without_self(
            (np.arange(network.terminals) + _half(network.terminals)) % network.terminals
        )
    coordinates, shape = place
    return _moved(network, (coordinates + _half(shape)) % shape, shape, "tornado", reverse_own=False)


def _half(length: Any) -> Any:
    return (length + 1) // 2 - 1


def _places(network: Network) -> tuple[Ints, Ints] | None:
    """Return the coordinates of each switch and the shape of the lattice, if the network is one."""
    layout = network.layout
    if "coordinates" not in layout or "shape" not in layout or not network.network_kind.cables:
        return None
    return np.asarray(layout["coordinates"], np.int64), np.asarray(layout["shape"], np.int64)


def _moved(network: Network, target: Ints, shape: Ints, name: str, reverse_own: bool = True) -> Ints:
    """Return the destinations from terminal k of each switch to terminal k of the switch at ``target``."""
    coordinates, _ = _places(network) or (target, shape)
    switch_at = np.full(int(np.prod(shape)), -1, np.int64)
    switch_at[np.ravel_multi_index(tuple(coordinates.T), tuple(shape))] = np.arange(len(coordinates))
    other = switch_at[np.ravel_multi_index(tuple(target.T), tuple(shape))]
    home = homes(network)
    counts = np.bincount(home, minlength=network.switches)
    order = np.argsort(home, kind="stable")
    start = np.concatenate([[0], np.cumsum(counts)])
    within = np.empty(len(home), np.int64)
    within[order] = np.arange(len(home)) - start[home[order]]
    goal = other[home]
    if np.any(counts[goal] != counts[home]):
        raise TrafficError(f"{name} needs as many terminals at each switch", "pattern", "use another pattern")
    own = goal == home
    if reverse_own:
        within = np.where(own, counts[home] - 1 - within, within)
    return pairs.without_self(order[start[goal] + within])
