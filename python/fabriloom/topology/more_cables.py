"""Cables besides those of a family or a file: what if these two switches were joined as well?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..units import nearest
from .graph import MAX_LINKS, Graph, GraphError, counted

_HERE = "more_cables"
_KEPT = ("addresses",)
"""What holds of a network whatever else is joined; the rest of a layout is the structure of its family."""


def with_cables(graph: Graph, cables: Sequence[Sequence[str]]) -> Graph:
    """Return a network with a cable more between each pair of switches, as fast as the technology has it.

    Routing, lanes and traffic take it for any graph, as one of a file; switches keep their places in
    drawings.

    Raises:
        GraphError: there is no such switch, a cable has one end, or terminals have several ports.
    """
    if not cables:
        return graph
    if graph.several is not None or not graph.network_kind.cables:
        raise GraphError("more_cables is for networks of links whose terminals have one port", _HERE)
    links = graph.links + 2 * len(cables)
    if links > MAX_LINKS:
        raise GraphError(f"more_cables makes {counted(links)} links; at most {MAX_LINKS:,} are built", _HERE)
    number = {name: place for place, name in enumerate(graph.switch_names)}
    pairs = np.array([[_switch(number, name) for name in _two(cable)] for cable in cables], np.int64)
    kept = {key: graph.layout[key] for key in _KEPT if key in graph.layout}
    ends = pairs.repeat(2, axis=0)
    ends[1::2] = pairs[:, ::-1]
    return replace(
        graph,
        link_source=np.concatenate([graph.link_source, ends[:, 0]]),
        link_target=np.concatenate([graph.link_target, ends[:, 1]]),
        link_reverse=np.concatenate([graph.link_reverse, graph.links + (np.arange(len(ends)) ^ 1)]),
        link_names=[*graph.link_names, *_names(graph, ends)],
        family="file",
        layout={"parameters": {}, "made_of": graph.family, **kept},
        attributes={name: np.append(own, [np.nan] * len(ends)) for name, own in graph.attributes.items()},
    )


def _two(cable: Sequence[str]) -> Sequence[str]:
    if len(cable) != 2 or cable[0] == cable[1]:
        raise GraphError(f"a cable joins two switches, not {', '.join(cable) or 'none'}", _HERE)
    return cable


def _switch(number: dict[str, int], name: str) -> int:
    if name in number:
        return number[name]
    near = nearest(name, [*number][:20_000])
    hint = f'did you mean "{near}"?' if near else f'switches are called as in "{next(iter(number), "")}"'
    raise GraphError(f'there is no switch "{name[:60]}"; {hint}', _HERE)


def _names(graph: Graph, ends: np.ndarray) -> list[str]:
    """Return names of links: of parallel ones the number too, whether those before have one or not."""
    parallel = Counter(name.split("#")[0] for name in graph.link_names)
    found = list[str]()
    for one, other in ends.tolist():
        plain = f"{graph.switch_names[one]}>{graph.switch_names[other]}"
        found.append(f"{plain}#{parallel[plain]}" if parallel[plain] else plain)
        parallel[plain] += 1
    return found
