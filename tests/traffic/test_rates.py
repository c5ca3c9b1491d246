"""How long packets are and how often they are made: columns, and what the engine makes of them."""

from __future__ import annotations

from typing import Any

import fabriloom
import numpy as np
import pytest
from fabriloom.scenario import Scenario
from fabriloom.technology import technology
from fabriloom.traffic import TrafficError
from fabriloom.traffic.kinds import LENGTH_FIXED, LENGTH_TABLE, LENGTH_UNIFORM

from .common import GRAIN_PS, LINK, build, grid

PACKET_GRAINS = LINK.packet_ps(64) / GRAIN_PS


def test_fixed_uniform_and_given_lengths() -> None:
    graph = grid(2, 2)
    fixed = build(graph)
    assert (fixed["source_length"][0], fixed["length_min"][0], fixed["length_max"][0]) == (
        LENGTH_FIXED,
        64,
        64,
    )
    spread = build(graph, length={"kind": "uniform", "min_bytes": 10, "max_bytes": 20})
    assert (spread["source_length"][0], spread["length_min"][0], spread["length_max"][0]) == (
        LENGTH_UNIFORM,
        10,
        20,
    )
    given = {"kind": "table", "lengths_bytes": [8, 16, 32, 64], "weights": [1, 0, 2, 1]}
    table = build(graph, length=given)
    assert table["source_length"][0] == LENGTH_TABLE
    assert table["length_values"].tolist() == [8, 32, 64]
    assert table["length_cumulative"].tolist() == [0.25, 0.75, 1.0]


def test_load_is_a_fraction_of_packets_back_to_back() -> None:
    graph = grid(2, 2)
    for kind in ("poisson", "constant"):
        columns = build(graph, load=0.25, arrivals={"kind": kind})
        assert columns["source_interval_grains"] == pytest.approx(4 * PACKET_GRAINS)
    for kind in ("wait", "random-wait"):
        columns = build(graph, load=0.25, arrivals={"kind": kind})
        assert columns["source_interval_grains"] == pytest.approx(3 * PACKET_GRAINS)
    assert build(graph, load=1.0, arrivals={"kind": "wait"})["source_interval_grains"].tolist() == [0] * 4
    explicit = build(graph, load=None, arrivals={"kind": "wait", "wait_ps": 2_000_000})
    assert explicit["source_interval_grains"].tolist() == [2000] * 4


def test_mean_length_decides() -> None:
    given = {"kind": "table", "lengths_bytes": [32, 96], "weights": None}
    assert build(grid(2, 2), length=given)["source_interval_grains"] == pytest.approx(2 * PACKET_GRAINS)


def test_bursts_have_the_load() -> None:
    columns = build(grid(2, 2), load=0.2, arrivals={"kind": "on-off", "burst_packets": 8, "on_load": 0.8})
    names = ("burst", "interval_grains", "gap_grains")
    burst, interval, gap = (columns[f"source_{name}"][0] for name in names)
    assert burst == 8
    assert interval == pytest.approx(PACKET_GRAINS / 0.8)
    assert burst * PACKET_GRAINS / (burst * interval + gap) == pytest.approx(0.2)
    with pytest.raises(TrafficError, match="above the on_load"):
        build(grid(2, 2), load=0.9, arrivals={"kind": "on-off", "burst_packets": 8, "on_load": 0.8})


def test_header_to_an_intermediate_counts() -> None:
    ticks = build(grid(2, 2), load=1.0, via=True)["source_interval_grains"][0]
    assert ticks == pytest.approx(LINK.packet_ps(64, via=True) / GRAIN_PS)


def test_load_follows_the_rate_of_each_terminal() -> None:
    graph = grid(2, 2)
    rates = np.full(graph.links, np.nan)
    rates[graph.terminal_out_links[2]] = 50e6
    graph.attributes["rate_bits_per_s"] = rates
    interval = build(graph, load=1.0)["source_interval_grains"]
    assert interval.tolist() == pytest.approx(
        [PACKET_GRAINS, PACKET_GRAINS, 2 * PACKET_GRAINS, PACKET_GRAINS]
    )


def test_flits() -> None:
    """A packet of L flits is L - 1 characters and the end of packet, L cycles in all."""
    flits = technology("generic")
    columns = build(grid(2, 2), technology=flits, length={"kind": "fixed", "value_bytes": 40}, load=1.0)
    assert columns["length_min"].tolist() == [40] * 4
    assert columns["source_interval_grains"] == pytest.approx(5 * flits.character_ps() / GRAIN_PS)


@pytest.mark.parametrize("load", [0, -0.5, 1.5, None])
def test_refused_loads(load: Any) -> None:
    with pytest.raises(TrafficError) as caught:
        build(grid(2, 2), load=load)
    assert caught.value.parameter == "load"


@pytest.mark.parametrize(
    "arrivals",
    [
        {"kind": "poisson"},
        {"kind": "constant"},
        {"kind": "wait"},
        {"kind": "random-wait"},
        {"kind": "on-off", "burst_packets": 4, "on_load": 1},
    ],
    ids=lambda a: a["kind"],
)
def test_engine_offers_the_load(arrivals: dict[str, Any]) -> None:
    """Pairs on one switch never wait for each other, so all that is offered is accepted."""
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": 16},
            "traffic": {"pattern": {"kind": "shift", "by": 1}, "arrivals": arrivals, "load": 0.4},
            "run": {"duration": "5 ms", "warmup": "200 us", "precision": 0},
        }
    )
    summary = fabriloom.run(scenario).summary
    full = 16 * LINK.payload_bytes_per_s(64) / 1e6
    assert summary["accepted_mbytes_per_s"] / full == pytest.approx(0.4, rel=0.05)
