"""The durations of a link, and all durations of a network of links by the setting that gives them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..technology import Technology
from ..technology.model import Ps, Rate
from .columns import Times, whole


def times_of(
    tech: Technology, tenths: int | None, rate: Rate | None, length_m: float | None
) -> dict[str, Ps]:
    """Return the durations of a link whose opposite direction has this load."""
    tech = tech if tenths is None else tech.beside(Fraction(tenths, 10))
    return {
        "character": tech.character_ps(rate),
        "end": tech.end_ps(rate),
        "arrival": tech.arrival_ps(rate, length_m),
        "credit": tech.credit_ps(rate, length_m),
        "flow_control": tech.flow_control_ps(rate),
        "receiver": tech.receiver_ps(rate),
        "transmitter": tech.transmitter_ps(rate),
    }


def durations_ps(technologies: Sequence[Technology], times: Times) -> dict[str, Any]:
    """Return every duration, with zeros, by the setting that influences it most.

    ``technologies`` has one per clock.
    """

    def each(duration: Callable[[Technology], Ps]) -> Any:
        return whole([duration(one) for one in technologies])

    tech = technologies[0]
    characters = np.concatenate([times[name] for name in ("character", "end", "flow_control")])
    if tech.in_flits:
        return {
            "cycle": np.concatenate(
                [characters, each(lambda tech: tech.crossbar_ps), each(lambda tech: tech.grain_ps)]
            ),
            "router_cycles": each(lambda tech: tech.decode_latency_ps),
            "forward_cycles": each(lambda tech: tech.forward_latency_ps),
            "link_cycles": times["arrival"],
            "turn_around_cycles": times["credit"],
            "handover_cycles": each(lambda tech: tech.release_ps),
            "next_head_cycles": each(lambda tech: tech.front_ps),
        }
    return {
        "link_rate": np.append(characters, whole([tech.crossbar_ps])),
        "decode_latency": tech.decode_latency_ps,
        "forward_latency": tech.forward_latency_ps,
        "handover": [tech.release_ps, tech.front_ps],
        "cable_length": times["arrival"],
        "turn_around": times["credit"],
    }
