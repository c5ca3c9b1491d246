"""A mirrored network with its traffic mirrored delivers the same, and no traffic is more than the bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from fabriloom import Scenario
from fabriloom.codes import ARRIVAL
from fabriloom.compile import compile
from fabriloom.studies.kinds import inspection_of

from . import laws
from .test_moments import column

Seeds = Callable[[int], Iterator[int]]
pytestmark = pytest.mark.seeds


def flows_on(one: laws.Drawn, shape: list[int], dice: Random) -> list[dict[str, Any]]:
    """Flows of which no two packets are made at one time: then nothing is decided by numbers of ports."""
    terminals = int(np.prod(shape))
    count = min(40, terminals * (terminals - 1))
    bytes_of = dice.choice([8, 64, 200])
    apart_ns = 2 + int(one.compiled.technology.grain_ps / 1000)  # more than that to which times are rounded
    period_ns = max(apart_ns * 100, one.duration_ps // 1000 // 12)
    moments = dice.sample(range(0, period_ns - apart_ns, apart_ns), count)
    pairs = [(a, b) for a in range(terminals) for b in range(terminals) if a != b]
    return [
        {
            "source": source,
            "target": target,
            "length": f"{bytes_of} B",
            "period": f"{period_ns} ns",
            "phase": f"{moment} ns",
        }
        for moment, (source, target) in zip(moments, dice.sample(pairs, count), strict=True)
    ]


def test_a_mirrored_grid_delivers_the_same(seeds: Seeds) -> None:
    """Packets that compete are of different ages, and the oldest goes first."""
    packets = 0
    for number, one in enumerate(laws.drawn(seeds(60))):
        if "program" in one.written:
            continue
        dice = Random(number)
        kind = dice.choice(["grid", "torus"])
        shape = [dice.choice([2, 3, 4] if kind == "grid" else [3, 5]) for _ in range(dice.choice([2, 2, 3]))]
        axis = dice.randrange(len(shape))
        places = list(np.ndindex(*shape))
        mirror = [places.index((*at[:axis], shape[axis] - 1 - at[axis], *at[axis + 1 :])) for at in places]
        found = flows_on(one, shape, dice)
        mirrored = [{**flow, **{end: mirror[flow[end]] for end in ("source", "target")}} for flow in found]
        technology = laws.free_of_numbers(one.written["technology"], "oldest-first")
        routing: dict[str, Any] = {"kind": "dimension-order", "adaptive": False}
        if kind == "torus":
            routing["variant"] = "minimal"
        base = {
            "seed": number,
            "topology": {"kind": kind, "shape": shape, "terminals_per_switch": 1},
            "technology": technology,
            "routing": routing,
        }
        both = []
        for flows in (found, mirrored):
            written = {**base, "traffic": {"pattern": {"kind": "flows", "flows": flows}}}
            try:
                both.append(laws.deliveries_ps(laws.ran(written, one.duration_ps)))
            except laws.REFUSED:
                break
        if len(both) < 2:
            continue
        usual, other = both
        other[:, 3:5] = np.array(mirror)[other[:, 3:5].astype(int)]
        other = other[np.lexsort(other.T[::-1])]
        assert np.array_equal(usual, other), (written, len(usual), len(other))
        packets += len(usual)
    assert packets > 500


def test_overload_carries_no_more_than_the_bound(seeds: Seeds) -> None:
    """Where every sender has one receiver, the slowest gets no more than its part of what `check` says."""
    packets = near = 0
    for one in laws.drawn(seeds(36)):
        if "program" in one.written or one.written["routing"]["universal"]:
            continue
        count = one.compiled.graph.terminals
        pairs = {"kind": "permutation", "random": True} if count > 2 else {"kind": "shift", "by": 1}
        length = {"kind": "fixed", "value": f"{one.compiled.arrays['length_max'].max()} B"}
        traffic = {"pattern": pairs, "length": length, "arrivals": "backlog"}
        written = {**one.written, "traffic": traffic}
        try:
            compiled = compile(Scenario.from_dict(written))
            network = inspection_of(compiled).network()
            results = laws.ran(written, 4 * one.duration_ps)
        except laws.REFUSED:
            continue
        sent = np.bincount(column(results, "trace_source"), column(results, "trace_length"), count)
        sends = compiled.arrays["source_arrival"] != ARRIVAL.SILENT
        load, of_wire = network["channel_load"], network["link"]["limited_by"] == "wire"
        if load["shared_load_bound"] is None or (one.written["routing"].get("traffic_class") and not of_wire):
            continue
        exact = 1e-9 if of_wire else 0.01  # what else limits a path is found by a run of one, without classes
        more = load["shared_load_bound"] / load["load_bound"] * (1 + exact)
        most = more * load["accepted_mbytes_per_s_bound"] * results.summary["simulated_ns"] / 1e3
        assert sent[sends].min() <= most / sends.sum(), written
        if load["shared_load_bound"] == 1:
            assert sent.sum() <= most, written
        near += sent[sends].min() > 0.8 * most / sends.sum()
        packets += results.native["delivered"]
    assert packets > 500
    assert near > 3
