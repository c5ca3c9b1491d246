"""Requirements of flows of terminals with several ports: what each flow was seen to need is its own."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from fabriloom import Scenario, run

CHOICES = ("round-robin", "destination", "shortest-queue", "first-free", "nominal")
LANES: dict[str, Any] = {"preset": "generic", "lanes": 2}


def flow(source: int, target: int, length: str, period: str) -> dict[str, Any]:
    return {"source": source, "target": target, "length": length, "period": period, "requirement": "1 ms"}


@pytest.mark.parametrize("technology", [{"preset": "spacewire-200"}, LANES], ids=["links", "lanes"])
@pytest.mark.parametrize("choice", CHOICES)
def test_what_a_flow_was_seen_to_need_is_its_own(choice: str, technology: dict[str, Any]) -> None:
    flows = [flow(0, 2, "1 kB", "100 us"), flow(1, 2, "64 B", "300 us"), flow(2, 0, "16 B", "500 us")]
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": 3, "replicate": 2},
            "technology": technology,
            "ports": {"choice": choice},
            "traffic": {"pattern": {"kind": "flows", "flows": flows}},
            "run": {"duration": "3 ms", "warmup": "0 s", "precision": 0},
            "output": {"trace": True},
        }
    )
    results = run(scenario)
    total = pl.col("delivered_ns") - pl.col("created_ns")
    traced = results.trace.group_by("source", "target").agg(total.max(), pl.len().alias("packets"))
    longest = {(a, b): (packets, most) for a, b, most, packets in traced.rows()}
    seen = results.requirements.select("source", "target", "packets", "total_latency_ns_max").rows()
    assert {(a, b): tuple(rest) for a, b, *rest in seen} == longest
    assert min(packets for _, _, packets, _ in seen) >= 6
